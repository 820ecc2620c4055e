"""Calls with fixed arguments, and results that go into arrays of the caller."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.operators import specialise

pytestmark = pytest.mark.quick


def weighted(x: Any, a: Any) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        if x[i] < -10.0:
            raise ValueError("too small")
        total += a * x[i] * x[i]
    return total


def cubes(x: Any) -> Any:
    return x * x * x


def moved(x: Any, y: Any) -> Any:
    x[:] = x + y
    return x * 2.0, np.sum(x)


def stretched(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def rooted(x: Any) -> Any:
    return {"all": np.sqrt(x), "sum": [np.sum(x)]}


@pytest.fixture(params=["short", "long"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the extension module and without it."""
    if request.param == "long":
        monkeypatch.setattr(specialise, "fast_calls", lambda: None)
    return str(request.param)


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as another object, so that nothing is known about it yet."""
    return type(function)(function.__code__, function.__globals__, function.__name__)


def test_arrays_are_read_where_they_are(way: str) -> None:
    """What they hold when it is called; numbers are fixed; results stay where they are."""
    x = np.array([1.0, 2.0, 3.0])
    bound = adgen.grad(fresh(weighted), wrt="x").bind(x, a=0.5)
    assert (type(bound).__name__ == "Bound") == (way == "short")
    first = bound()
    assert np.array_equal(first, x)
    x[:] = [5.0, 6.0, 7.0]
    assert bound() is first and np.array_equal(first, x)


def test_results_of_any_structure(way: str) -> None:
    """Numbers are new each time, arrays are the same ones."""
    x = np.array([1.0, 4.0])
    bound = adgen.jit(fresh(rooted)).bind(x)
    first = bound()
    x[0] = 9.0
    second = bound()
    assert second["all"] is first["all"] and first["all"].tolist() == [3.0, 2.0]
    assert first["sum"] == [5.0] and second["sum"] == [13.0]
    value, gradient = adgen.value_and_grad(fresh(weighted)).bind(x, 2.0)()
    assert value == 194.0 and type(gradient).__name__ == "Gradient" and gradient.a == 97.0


def test_every_product(way: str) -> None:
    """Products along a direction read that too; the Jacobian takes whichever mode is cheaper."""
    x, v = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    product = adgen.hvp(fresh(weighted), wrt="x").bind(x, 0.5, tangent=v)
    assert product().tolist() == [1.0, 0.0]
    v[1] = 2.0
    assert product().tolist() == [1.0, 2.0]
    push = adgen.jvp(fresh(cubes)).bind(x, tangent=v)
    assert push()[1].tolist() == [3.0, 24.0]
    jacobian, f = adgen.jacobian(fresh(cubes)), np.zeros((2, 2))
    assert jacobian.bind(x)().tolist() == [[3.0, 0.0], [0.0, 12.0]]
    assert jacobian(x, out=f) is f and f[1, 1] == 12.0
    out = np.zeros(2)
    assert adgen.hvp(fresh(weighted), wrt="x")(x, 0.5, tangent=v, out=out) is out and out.tolist() == [1.0, 2.0]
    with pytest.raises(AdgenError, match="needs a tangent"):
        adgen.hvp(fresh(weighted), wrt="x").bind(x, 0.5)


@pytest.mark.parametrize(
    "make",
    [lambda memory: memory[::2], lambda memory: memory[::2].astype("f4"), lambda memory: memory[::2].astype(">f8")],
    ids=["strided", "single", "big-endian"],
)
def test_arrays_of_any_kind(way: str, make: Callable[..., Any]) -> None:
    """What has to be copied is copied at each call."""
    x = make(np.arange(6.0))
    bound = adgen.grad(fresh(weighted), wrt="x").bind(x, 0.5)
    first = bound()
    x += 1.0
    assert bound() is first and np.array_equal(first, x) and first.dtype == x.dtype.newbyteorder("=")


def test_functions_that_write(way: str) -> None:
    """They write each time they are called, into strided arrays too."""
    memory, y = np.zeros(6), np.ones(3)
    for x in (np.zeros(3), memory[::2]):
        bound = adgen.jit(fresh(moved)).bind(x, y)
        assert x.sum() == 0.0
        first = bound()
        second = bound()
        assert second[0] is first[0] and x.tolist() == [2.0] * 3 and first[0].tolist() == [4.0] * 3
    with pytest.raises(AdgenError, match="overlap"):
        adgen.jit(fresh(moved)).bind(memory[:3], memory[1:4])


def test_extents_of_one_are_stretched(way: str) -> None:
    """By other code, into the same results."""
    x, y = np.ones(3), np.array([2.0])
    bound = adgen.grad(fresh(stretched)).bind(x, y)
    first = bound()
    assert first.x.tolist() == [2.0] * 3 and first.y.tolist() == [3.0]
    y[0] = 5.0
    assert bound().x is first.x and first.x.tolist() == [5.0] * 3


def test_failed_calls(way: str) -> None:
    """The exception is that of a plain call, and the next call is as good as ever."""
    x = np.ones(2)
    gradient = adgen.grad(fresh(weighted), wrt="x")
    bound = gradient.bind(x, 1.0)
    bound()
    x[1] = -11.0
    with pytest.raises(ValueError, match="too small") as caught:
        bound()
    with pytest.raises(ValueError) as plain:
        gradient(x, 1.0)
    assert str(caught.value) == str(plain.value) and isinstance(caught.value, AdgenError)
    x[1] = 3.0
    assert bound().tolist() == [2.0, 6.0]
    with pytest.raises(TypeError):
        bound(x)


def test_arrays_that_have_changed(way: str) -> None:
    """Another shape of an argument or of a result is an error, not a wrong number."""
    x = np.ones(4)
    bound = adgen.grad(fresh(weighted), wrt="x").bind(x, 1.0)
    result = bound()
    x.resize((3,), refcheck=False)
    with pytest.raises(AdgenError, match="AD154"):
        bound()
    x.resize((4,), refcheck=False)
    x.shape = (2, 2)
    with pytest.raises(AdgenError, match="AD166"):
        bound()
    x.shape = (4,)
    x[:] = 3.0
    assert bound() is result and result.tolist() == [6.0] * 4


def test_results_of_the_caller(way: str) -> None:
    """`out` is what is given back, and may have any layout."""
    x = np.array([1.0, 2.0])
    for out in (np.zeros(2), np.zeros(4)[::2], np.zeros(4).reshape(2, 2).T[0]):
        assert adgen.grad(fresh(weighted), wrt="x")(x, 0.5, out=out) is out and np.array_equal(out, x)
    outs = (np.zeros(2), np.zeros(()))
    bound = adgen.value_and_grad(fresh(weighted)).bind(x, 0.5, out=outs)
    value, same = bound()
    assert value == 2.5 and same is outs and outs[0].tolist() == [1.0, 2.0] and outs[1] == 5.0
    whole = adgen.jit(fresh(cubes)).bind(x, out=np.zeros(2))
    assert whole() is whole() and whole().tolist() == [1.0, 8.0]


def test_results_of_the_caller_are_as_short(way: str) -> None:
    """The second call with `out` is as the first, whatever is passed, stretched or fails."""
    x, out = np.array([1.0, 2.0]), np.zeros(2)
    gradient, both = adgen.grad(fresh(weighted), wrt="x"), adgen.value_and_grad(fresh(weighted), wrt="x")
    for step in range(3):
        x[0] = step
        assert gradient(x, 0.5, out=out) is out and np.array_equal(out, x)
        value, same = both(x, 2.0, out=out)
        assert same is out and value == 2.0 * (x @ x) and np.array_equal(out, 4.0 * x)
        assert gradient(x, 0.5, out=out, accumulate=True) is out and np.array_equal(out, 5.0 * x)
        for wrong in (x, np.zeros(3), np.zeros(2, "f4"), [0.0, 0.0], None):
            with pytest.raises(AdgenError, match="AD1(50|54|66)"):
                gradient(x, 0.5, out=wrong)
        with pytest.raises(ValueError, match="too small"):
            gradient(x - 20.0, 0.5, out=out)
        with pytest.raises(TypeError):
            gradient(x, 0.5, out=out, other=1)
    assert len(gradient.__adgen__.short.into) == (way == "short")
    slope = adgen.grad(fresh(stretched), wrt="x")
    for y in (np.array([3.0, 4.0]), np.array([5.0]), np.array([6.0, 7.0])):
        assert slope(x, y, out=out) is out and np.array_equal(out, y + np.zeros(2))
    written = adgen.jit(lambda x: move(x))
    for step in range(1, 4):
        assert written(x, out=out) is out and np.array_equal(out, x)


def move(x: Any) -> Any:
    x += 1.0
    return x * 1.0


def test_results_that_cannot_be_written(way: str) -> None:
    """Each is refused with its name; nothing is written."""
    x, good = np.array([1.0, 2.0]), np.zeros(2)
    fixed = np.zeros(2)
    fixed.flags.writeable = False
    gradient = adgen.grad(fresh(weighted))
    for out, words in [
        ((np.zeros(2, "f4"), np.zeros(())), r"AD154.*out\[0\] is an array of float32"),
        ((np.zeros((2, 1)), np.zeros(())), r"AD154.*shape \(2, 1\)"),
        ((fixed, np.zeros(())), r"AD154.*read-only"),
        ((good, 0.0), r"AD154.*out\[1\] is a float"),
        ((np.zeros(3), np.zeros(())), r"AD154"),
        (good, "AD15[04]"),
        ((x, np.zeros(())), r"AD166.*out\[0\] shares memory with argument `x`"),
        ((x[::-1], np.zeros(())), "AD166"),
        ((good, good[:1].reshape(())), r"AD166.*another part"),
    ]:
        with pytest.raises(AdgenError, match=words):
            gradient(x, 0.5, out=out)
        with pytest.raises(AdgenError, match=words):
            gradient.bind(x, 0.5, out=out)()
    assert not good.any() and x.tolist() == [1.0, 2.0]
    with pytest.raises(AdgenError, match="AD166.*complex"):
        adgen.jit(lambda x: x * 1j)(x, out=np.zeros(2, complex))


def test_the_first_call_of_several_threads() -> None:
    """All of them are right, and later calls agree on where results go."""
    x = np.linspace(0.0, 1.0, 20_000)
    bound = adgen.grad(fresh(weighted), wrt="x").bind(x, 0.5)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(bound())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and all(np.array_equal(result, x) for result in found)
    assert any(bound() is result for result in found) and bound() is bound()


def test_other_functions() -> None:
    """Compiled ones bind as well; a function with a parameter `out` has none to give; `vjp` of one has no `bind`."""
    x = np.ones(2)
    compiled = adgen.compile(fresh(cubes), arg="x: f64[:]", emit=["jacfwd"])
    assert compiled.bind(x)().tolist() == [1.0, 1.0] and compiled.jacfwd.bind(x)().shape == (2, 2)
    assert adgen.grad(lambda x, out: x * out, wrt="x").bind(2.0, out=5.0)() == 5.0
    assert not hasattr(adgen.vjp(adgen.grad(fresh(weighted))), "bind")
