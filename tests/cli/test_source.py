"""The user's file: found, parsed, imported, its functions picked; every failure points at the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from adgen.ahead.source import functions, load, read
from adgen.diagnostics import AdgenError

pytestmark = pytest.mark.quick


def write(folder: Path, text: str, name: str = "user_file.py") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_public_functions_in_order(tmp_path: Path) -> None:
    """Own public functions are taken in the order of the file; imported and private ones and classes are not."""
    path = write(
        tmp_path, "from math import sin\ndef b(x): return x\ndef _p(x): return x\ndef a(x): return x\nclass C: pass\n"
    )
    assert [function.__name__ for function in functions(load(path), None)] == ["b", "a"]


def test_dataclasses_and_neighbours(tmp_path: Path) -> None:
    """The file may import its neighbours and define dataclasses."""
    write(tmp_path, "K = 3.0\n", "user_neighbour.py")
    path = write(
        tmp_path,
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom user_neighbour import K\n"
        "@dataclass\nclass P:\n    a: float\ndef f(p: P): return K * p.a\n",
    )
    assert functions(load(path), "f")[0](type("P", (), {"a": 2.0})()) == 6.0


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("x = 1\ndef f(:\n", "AD183", 2),
        ("x = 1\n\ny = 1 / 0\n", "AD184", 3),
        ("import no_such_module_at_all\n", "AD184", 1),
        ("import sys\nsys.exit(3)\n", "AD184", 2),
        ("x = 1\n", "AD185", None),
    ],
)
def test_failures_have_lines(tmp_path: Path, text: str, code: str, line: int | None) -> None:
    """Syntax errors and failing imports name the line."""
    with pytest.raises(AdgenError) as caught:
        functions(load(write(tmp_path, text)), None)
    assert (caught.value.code, caught.value.lineno) == (code, line)


def test_close_names_are_offered(tmp_path: Path) -> None:
    """A misspelt function or file is answered with the near one."""
    path = write(tmp_path, "def energy(x): return x\n")
    with pytest.raises(AdgenError, match="did you mean `energy`"):
        functions(load(path), "enregy")
    with pytest.raises(AdgenError, match=r"did you mean `.*user_file\.py`"):
        read(tmp_path / "user_flie.py")


def test_not_a_function(tmp_path: Path) -> None:
    """A constant or a class cannot be compiled."""
    path = write(tmp_path, "K = 1.0\ndef f(x): return x\n")
    with pytest.raises(AdgenError, match="`K` is not a function but a `float`"):
        functions(load(path), "K")


def test_binary_file(tmp_path: Path) -> None:
    """A file that is no text at all is not valid Python."""
    path = tmp_path / "blob.py"
    path.write_bytes(b"\x00\xff\x00")
    with pytest.raises(AdgenError) as caught:
        load(path)
    assert caught.value.code == "AD183"
