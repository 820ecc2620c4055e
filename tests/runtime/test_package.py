"""The functions of a compiled package: NumPy in and out, every wrong argument a clear error."""

from __future__ import annotations

import inspect
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError

SOURCE = """
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


@dataclass
class Spring:
    stiffness: float
    rest: float


class Pair(NamedTuple):
    total: float
    parts: "f64[n]"


def weighted(x: "f64[n]", w: "f64[n]", power: int = 2) -> float:
    total = 0.0
    for i in range(len(x)):
        total += w[i] * x[i] ** power
    return total


def shift(x: "f64[n]", by: "f64[n]") -> None:
    for i in range(len(x)):
        x[i] += by[i]


def rows(a: "f64[n,3]") -> "f64[3]":
    out = np.zeros(3)
    for i in range(a.shape[0]):
        for j in range(3):
            out[j] += a[i, j] * a[i, j]
    return out


def stretch(spring: Spring, x: float) -> float:
    return 0.5 * spring.stiffness * (x - spring.rest) ** 2


def both(x: "f64[n]") -> Pair:
    parts = x * x
    return Pair(np.sum(parts), parts)


def pick(x: "f64[n]", i: int) -> float:
    assert i < 100
    return math.log(x[i])


def counted(data: NDArray[np.uint8], start: np.int16) -> "i32[4]":
    counts = np.full(4, start, np.int32)
    for item in data:
        counts[item & 3] += 1
    return counts


def mode(x: float, kind: str = "square") -> float:
    return x * x if kind == "square" else x
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """The package of the functions above, imported without their module."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "bank.py").write_text(SOURCE)
    command = [sys.executable, "-m", "adgen", "compile", "bank.py", "--emit", "value,grad,jvp,vjp,hvp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and "skipped" not in done.stdout, done.stdout + done.stderr
    return adgen.load(folder / "build" / "bank_ad")


X, W = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 2.0])


def test_gradient(package: ModuleType) -> None:
    """Several gradients come as a NamedTuple by parameter."""
    gradient = package.weighted_grad(X, W)
    np.testing.assert_allclose(gradient.x, 2 * W * X)
    np.testing.assert_allclose(gradient.w, X**2)


def test_defaults_and_keywords(package: ModuleType) -> None:
    """Parameters keep their names and defaults."""
    assert package.weighted(X, W) == package.weighted(w=W, x=X, power=2)
    np.testing.assert_allclose(package.weighted_grad(X, W, power=3).x, 3 * W * X**2)
    assert str(inspect.signature(package.weighted_jvp)) == "(x, w, power=2, *, tangent)"


def test_short_calls(package: ModuleType) -> None:
    """What is plain goes straight to C once it has been seen; extents that must agree are compared there."""
    for _ in range(3):
        np.testing.assert_allclose(package.weighted_grad(X, W).x, 2 * W * X)
        np.testing.assert_allclose(package.weighted_grad(X, W, 3).x, 3 * W * X**2)
        assert package.mode(3.0) == package.mode(3.0, "square") == 9.0
        with pytest.raises(AdgenError, match="AD174"):
            package.mode(3.0, "cube")
        assert package.rows(np.ones((2, 3))).tolist() == [2.0, 2.0, 2.0]
        with pytest.raises(AdgenError, match="extent 2 on axis 0, but `n` is 3"):
            package.weighted_grad(X, W[:2], 2)
        with pytest.raises(AdgenError, match="AD175"):
            package.rows(np.ones((2, 4)))
    for function in (package.weighted_grad, package.rows, package.mode):
        assert type(function.__globals__["_call"]).__name__ == "Call"


def test_bound_calls(package: ModuleType) -> None:
    """Functions of a package have `bind` and `out` too."""
    x, out = X.copy(), (np.zeros(3), np.zeros(3))
    bound = package.weighted_grad.bind(x, W)
    first = bound()
    x[0] = 5.0
    assert bound().x is first.x and first.x[0] == 5.0
    assert package.weighted_grad(x, W, out=out) is out and np.array_equal(out[0], first.x)
    pushed = package.weighted_jvp.bind(x, W, tangent=(np.ones(3), np.zeros(3)))
    assert pushed()[1] == np.sum(first.x)
    with pytest.raises(AdgenError, match="AD166"):
        package.weighted_grad(x, W, out=(x, np.zeros(3)))


def test_products(package: ModuleType) -> None:
    """`jvp`, `vjp` and `hvp` agree with the gradient."""
    v = (np.array([1.0, 0.0, -1.0]), np.zeros(3))
    value, tangent = package.weighted_jvp(X, W, tangent=v)
    again, pullback = package.weighted_vjp(X, W)
    assert value == again and np.isclose(tangent, pullback(1.0).x @ v[0])
    np.testing.assert_allclose(package.weighted_hvp(X, W, tangent=v).x, 2 * W * v[0])


def test_conversions(package: ModuleType) -> None:
    """Lists, integers, other layouts and smaller floats are converted."""
    expected = package.weighted(X, W)
    assert package.weighted([1, 2, 3], W.astype(np.float32)) == expected
    assert package.weighted(np.repeat(X, 2)[::2], W) == expected


def test_narrow_integers(package: ModuleType) -> None:
    """Arrays of exactly the type, or of a type that it holds; numbers that fit."""
    data = np.array([0, 7, 255, 4, 1], np.uint8)
    counts = package.counted(data, 2)
    assert counts.dtype == np.int32 and counts.tolist() == [4, 3, 2, 4]
    assert package.counted(data > 3, np.int64(-1)).tolist() == [1, 2, -1, -1]
    for wrong in ((data.astype(np.int16), 2), (data, 40000), (data, 2.0)):
        with pytest.raises(AdgenError, match="AD173"):
            package.counted(*wrong)


def test_in_place(package: ModuleType) -> None:
    """A function that writes its argument does so here too, strided ones included; its derivatives do not."""
    x = np.zeros(6)
    assert package.shift(x[::2], X) is None
    np.testing.assert_array_equal(x[::2], X)
    np.testing.assert_array_equal(package.shift_jvp(X, W, tangent=(W, W))[1], 2 * W)
    np.testing.assert_array_equal(X, [1.0, 2.0, 3.0])


def test_structures(package: ModuleType) -> None:
    """Dataclasses go in; without their module a NamedTuple of the same fields comes out."""

    class Spring:
        stiffness, rest = 2.0, 1.0

    assert package.stretch(Spring(), 3.0) == 4.0
    gradient = package.stretch_grad(Spring(), 3.0)
    assert gradient.x == 4.0 and gradient.spring == {"stiffness": 2.0, "rest": -4.0}
    total, parts = package.both(X)
    assert total == 14.0 and list(parts) == [1.0, 4.0, 9.0]


def call(package: ModuleType, name: str, *arguments: Any, **named: Any) -> AdgenError:
    with pytest.raises(AdgenError) as caught:
        getattr(package, name)(*arguments, **named)
    return caught.value


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("weighted_grad", (np.ones((2, 2)), W), ("`x`", "f64[n]", "rank 2")),
        ("weighted_grad", (1.0, W), ("`x`", "float")),
        ("weighted_grad", (X, W.astype(complex)), ("`w`", "complex")),
        ("weighted_grad", (X, W, 2.5), ("`power`", "i64", "float")),
        ("weighted_grad", (X, np.ones(4)), ("`w`", "extent 4", "`n` is 3")),
        ("weighted_grad", (X, "abc"), ("`w`", "str")),
        ("weighted_grad", (X, W, 2, 3), ("too many",)),
        ("weighted_grad", (X,), ("missing", "w")),
        ("rows", (np.ones((4, 2)),), ("extent 2 on axis 1", "3")),
        ("weighted_jvp", (X, W), ("tangent",)),
        ("stretch", (2.0, 3.0), ("`spring`", "stiffness")),
        ("mode", (2.0, "cube"), ("`kind`", "'cube'", "'square'")),
    ],
)
def test_wrong_arguments(package: ModuleType, name: str, arguments: tuple[Any, ...], words: tuple[str, ...]) -> None:
    """A wrong argument is an AdgenError, a TypeError too, that names it, what it is and what it must be."""
    error = call(package, name, *arguments)
    assert isinstance(error, TypeError)
    assert all(word in str(error) for word in words), str(error)


def test_wrong_tangents(package: ModuleType) -> None:
    """Directions of a wrong shape or structure are refused."""
    assert "shape (2,)" in str(call(package, "weighted_jvp", X, W, tangent=(np.ones(2), W)))
    assert "sequence of 2" in str(call(package, "weighted_jvp", X, W, tangent=(X, W, X)))
    _, pullback = package.rows_vjp(np.ones((2, 3)))
    with pytest.raises(AdgenError, match=r"shape \(2,\)"):
        pullback(np.ones(2))


def test_run_time_errors(package: ModuleType) -> None:
    """Exceptions of the program are Python's, with the Python line; negative indices wrap."""
    assert package.pick(X, -1) == np.log(3.0)
    error = call(package, "pick_grad", X, 3)
    assert isinstance(error, IndexError) and "x[i]" in str(error)
    assert isinstance(call(package, "pick", X, 100), AssertionError)


def test_overlap_and_read_only(package: ModuleType) -> None:
    """Arrays that a function writes must not overlap another, and must be writable; nothing is written."""
    x = np.ones(4)
    assert "overlap" in str(call(package, "shift", x[:3], x[1:]))
    x.setflags(write=False)
    assert "read-only" in str(call(package, "shift", x, np.ones(4)))
    np.testing.assert_array_equal(x, np.ones(4))


def test_empty(package: ModuleType) -> None:
    """Arrays without elements are fine."""
    value, gradient = package.weighted_value_and_grad(np.zeros(0), np.zeros(0))
    assert value == 0.0 and gradient.x.shape == (0,)


def test_threads(package: ModuleType) -> None:
    """Calls from many threads at a time do not disturb each other."""
    inputs = [np.arange(1.0, 200.0) * k for k in range(8)]
    expected = [package.weighted_grad(x, x).x for x in inputs]
    found: list[Any] = [None] * len(inputs)

    def work(k: int) -> None:
        for _ in range(50):
            found[k] = package.weighted_grad(inputs[k], inputs[k]).x

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_load_finds_a_new_package(tmp_path: Path) -> None:
    """After another compile into the same folder, `load` gives the new functions."""
    source = tmp_path / "again.py"
    command = [sys.executable, "-m", "adgen", "compile", "again.py"]
    for factor in (2.0, 3.0):
        source.write_text(f"def f(x: float) -> float:\n    return {factor} * x\n")
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert adgen.load(tmp_path / "build" / "again_ad").f(1.0) == factor
