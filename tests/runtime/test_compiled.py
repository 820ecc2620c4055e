"""`compile` and `load`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import adgen
from adgen import AdgenError
from adgen.operators import specialise


def weighted(x: "f64[n]", w: "f64[n]", k: int) -> float:  # noqa: F821, UP037
    """A weighted sum."""
    return k * np.sum(x * w * x)


def inferred(x, scale):
    total = 0.0
    for i in range(x.shape[0]):
        total += scale * x[i]
    return total


def test_compiled_before_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call compiles any more, whatever its shapes; the products are attributes."""
    compiled = adgen.compile(weighted, emit=("grad", "hvp", "vjp"))
    monkeypatch.setattr(specialise, "make", lambda *arguments: pytest.fail("compiled again"))
    for n in (2, 3):
        x, w = np.arange(1.0, n + 1), np.full(n, 0.5)
        assert compiled(x, w, 2) == np.sum(x * x)
        assert np.allclose(compiled.grad(x, w, 2).x, 2 * x)
        assert np.allclose(compiled.hvp(x, w, 2, tangent=(x, 0 * w)).x, 2 * x)
        assert np.allclose(compiled.vjp(x, w, 2)[1](2.0).x, 4 * x)
    assert compiled.__doc__ == "A weighted sum."
    with pytest.raises(AttributeError, match="there is value, grad, hvp, vjp"):
        compiled.jvp


def test_types_from_text_and_use() -> None:
    """`arg` says what annotations do not, and use tells the rest."""
    assert np.array_equal(adgen.compile(inferred).grad(np.ones(2), 3.0).x, [3.0, 3.0])
    compiled = adgen.compile(inferred, arg="x: f32[n]", wrt="x", emit=["grad"])
    assert compiled.grad(np.ones(2, "f4"), 3.0).dtype == np.float32


def test_faults() -> None:
    """A product that does not exist, a parameter that does not exist, a folder that is no package."""
    with pytest.raises(AdgenError, match="`laplacian` cannot be emitted"):
        adgen.compile(weighted, emit=["laplacian"])
    with pytest.raises(AdgenError, match="no parameter `z`"):
        adgen.compile(weighted, arg="z: float")
    with pytest.raises(AdgenError, match="no compiled package"):
        adgen.load(Path(__file__).parent)


def test_load(tmp_path: Path) -> None:
    """A package is imported from anywhere, once."""
    folder = tmp_path / "some_package_ad"
    folder.mkdir()
    (folder / "__init__.py").write_text("from . import inner\nVALUE = inner.VALUE\n")
    (folder / "inner.py").write_text("VALUE = 3\n")
    assert adgen.load(folder).VALUE == 3 and adgen.load(str(folder)) is adgen.load(folder)
