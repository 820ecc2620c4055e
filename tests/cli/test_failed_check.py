"""A derivative that fails its check is not written, and the message says which and by how much.

The fault is put in by differentiating another function in place of the user's.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adgen.ahead import Options, check_file, compile_file, units
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.runtime.differentiate import differentiate

RIGHT = "import math\ndef f(x: float, y: float) -> float:\n    return x * math.sin(y)\n"
WRONG = RIGHT.replace("x * math.sin(y)", "x * math.sin(y) + 1e-6 * x * y")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """The user's file."""
    path = tmp_path / "subject.py"
    path.write_text(RIGHT)
    return path


@pytest.fixture
def fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`fault("vjp", ...)` makes these products those of a slightly different function."""
    (tmp_path / "other.py").write_text(WRONG)
    namespace: dict[str, Any] = {}
    exec(compile(WRONG, str(tmp_path / "other.py"), "exec"), namespace)

    def put(*products: str) -> None:
        def faulty(primal: Any, product: str, wrt: Any, states: bool = False) -> Any:
            chosen = lower_function(namespace["f"], primal.specs) if product in products else primal
            return differentiate(chosen, product, wrt, states)

        monkeypatch.setattr(units, "differentiate", faulty)

    return put


def silent(text: str) -> None:
    """Progress that nobody looks at."""


@pytest.mark.parametrize(
    ("products", "named"),
    [
        (("vjp",), "jvp, vjp: dot product"),
        (("jvp",), "jvp, vjp: dot product"),
        (("jvp", "vjp"), "jvp, vjp: differences"),
        (("grad",), "grad: as the pullback"),
        (("value_and_grad",), "value_and_grad: as the pullback"),
        (("hvp",), "hvp: differences"),
        (("pure",), "vjp: as in Python"),
        (("value",), "value: as in Python"),
    ],
)
def test_fault_is_found(
    products: tuple[str, ...], named: str, source: Path, fault: Callable[..., None], tmp_path: Path
) -> None:
    """Whichever entry point is wrong by one part in a million, some check sees it, and nothing is written."""
    fault(*products)
    options = Options(function="f", products=("value", "grad", "jvp", "vjp", "hvp"))
    with pytest.raises(AdgenError, match="fails its check") as caught:
        compile_file(source, tmp_path / "out", options, silent)
    assert caught.value.code == "AD189" and named in str(caught.value)
    assert not (tmp_path / "out").exists()
    with pytest.raises(AdgenError, match="fails its check"):
        check_file(source, options, silent)


def test_no_check_writes_it(source: Path, fault: Callable[..., None], tmp_path: Path) -> None:
    """Without checks it is written all the same, and the report holds none."""
    fault("vjp")
    report = compile_file(source, tmp_path / "out", Options(check=False), silent)
    assert not report.functions[0].checks and (tmp_path / "out" / "subject_ad" / "report.json").is_file()


def test_right_one_passes(source: Path, tmp_path: Path) -> None:
    """Without the fault all is well."""
    assert compile_file(source, tmp_path / "out", Options(), silent).passed


def test_checks_do_not_need_their_products(source: Path, fault: Callable[..., None], tmp_path: Path) -> None:
    """A package with a gradient alone is checked with products that are not in it."""
    assert compile_file(source, tmp_path / "out", Options(products=("grad",)), silent).passed
    fault("grad")
    with pytest.raises(AdgenError, match="as the pullback"):
        compile_file(source, tmp_path / "again", Options(products=("grad",), arguments=("x: float",)), silent)
