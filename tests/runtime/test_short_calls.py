"""The short way of a call gives what the long way gives: values, types, exceptions, memory."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.operators import specialise
from adgen.runtime import shortway
from adgen.toolchain import fast_calls, fastcall, find_compiler
from adgen.toolchain.cc import python_headers
from adgen.toolchain.fastcall import HOME, load_calls

pytestmark = pytest.mark.quick


class Pair(NamedTuple):
    first: Any
    second: Any


class Labelled(np.ndarray):
    """A subclass of arrays."""


def weighted(x: Any, k: Any = 2, flag: Any = True) -> Any:
    total = 0.0
    for i in range(k):
        total += x[i] * x[i] if flag else x[i]
    return total


def numbers(a: Any, b: Any) -> Any:
    return a * b * b


def cubed(x: Any) -> Any:
    return x * x * x


def moved(x: Any, y: Any) -> Any:
    x[:] = 2.0 * x + y
    return np.sum(x)


def several(x: Any, n: Any) -> Any:
    return {"a": x * 2.0, "b": [n + 1, n > 2], "c": Pair(np.sum(x), (np.float32(1.5), None)), "d": x[0] + 1j * x[1]}


def stretched(x: Any, y: Any) -> Any:
    return np.sum(x * y)


def prefix_sums(x: Any) -> Any:
    total, held = 0.0, np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        held[i] = np.sin(x[i]) * (held[i - 1] if i else 1.0)
        total += held[i] * held[i]
    return total


def fresh(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as another object, so that nothing is known about it yet."""
    made = type(function)(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    made.__annotations__ = {}
    return made


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[Any, Any]]]:
    """Makes an operator on a function twice: with and without the short way."""

    def both(operator: Callable[..., Any], function: Callable[..., Any], *first: Any) -> tuple[Any, Any]:
        short = operator(fresh(function))
        outcome(short, *first)
        with monkeypatch.context() as patched:
            patched.setattr(specialise, "fast_calls", lambda: None)
            long = operator(fresh(function))
            outcome(long, *first)
        assert not is_short(long)
        return short, long

    yield both


def is_short(function: Any) -> bool:
    return type(function.__adgen__.short.namespace["_call"]).__name__ == "Call"


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a call gives, in a form that can be compared: values with their types, or the exception with its text."""
    try:
        return described(function(*args))
    except Exception as error:
        return [kind.__name__ for kind in type(error).__mro__], str(error)


def described(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return type(value).__name__, [described(item) for item in value]
    return type(value), value


def test_the_module_is_there() -> None:
    """Where there are headers and a compiler, as here, calls are short."""
    module = fast_calls()
    assert module is not None
    gradient = adgen.grad(fresh(weighted))
    gradient(np.ones(3))
    (entry,) = gradient.__adgen__.entries.values()
    assert type(entry.raw) is module.Call and is_short(gradient)


def test_the_module_compiles_without_warnings(tmp_path: Path) -> None:
    """It is held to what emitted code is held to."""
    headers = [f"-isystem{folder}" for folder in (python_headers(), np.get_include())]
    strict = ["-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers", "-std=c11", "-fsyntax-only"]
    find_compiler().run([*strict, *headers, str(HOME / "module.c")], tmp_path)


def test_a_module_that_does_not_fit_is_not_used(tmp_path: Path) -> None:
    """One that is missing, damaged or of another kind is as good as none."""
    broken = tmp_path / "_adgen_calls.so"
    assert load_calls(broken) is None
    broken.write_bytes(b"no library")
    assert load_calls(broken) is None


def test_where_it_cannot_be_had(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler, or on another Python, there is none, and that is no error."""
    monkeypatch.setenv("CC", "no-such-compiler")
    assert fastcall.calls_library() is None
    monkeypatch.setattr(fastcall, "supported", lambda: False)
    assert fastcall.calls_library() is None and load_calls(HOME / "module.c") is None


def unaligned(values: Any) -> Any:
    return np.frombuffer(b"\0" + np.asarray(values, float).tobytes(), "u1")[1:].view("f8")


def read_only(values: Any) -> Any:
    array = np.array(values)
    array.flags.writeable = False
    return array


ARGUMENTS = {
    "plain": (np.array([1.0, 2.0, 3.0]), 2, True),
    "other flag": (np.array([1.0, 2.0, 3.0]), 2, False),
    "left out": (np.array([1.0, 2.0, 3.0]),),
    "strided": (np.arange(6.0)[::2], 2, True),
    "reversed": (np.arange(3.0)[::-1], 3, True),
    "single": (np.array([1.0, 2.0], "f4"), 2, True),
    "big-endian": (np.array([1.0, 2.0], ">f8"), 2, True),
    "unaligned": (unaligned([1.0, 2.0]), 2, True),
    "read-only": (read_only([1.0, 2.0]), 2, True),
    "subclass": (np.array([1.0, 2.0]).view(Labelled), 2, True),
    "masked": (np.ma.masked_array([1.0, 2.0]), 2, True),
    "metadata": (np.array([1.0, 2.0], np.dtype("f8", metadata={"unit": "m"})), 2, True),
    "empty": (np.zeros(0), 0, True),
    "too short": (np.zeros(1), 2, True),
    "matrix": (np.ones((2, 2)), 2, True),
    "0-d": (np.array(1.0), 1, True),
    "list": ([1.0, 2.0], 2, True),
    "integers": (np.array([1, 2]), 2, True),
    "numpy integer": (np.ones(2), np.int64(2), True),
    "numpy bool": (np.ones(2), 2, np.True_),
    "bool for an integer": (np.ones(2), True, True),
    "float for an integer": (np.ones(2), 2.0, True),
    "huge integer": (np.ones(2), 2**70, True),
    "negative huge integer": (np.ones(2), -(2**70), True),
    "large integer": (np.ones(2), 2**62, True),
    "text": ("text", 2, True),
    "nothing": (None, 2, True),
    "too many": (np.ones(2), 2, True, 4),
    "too few": (),
}


@pytest.mark.parametrize("case", ARGUMENTS)
def test_any_argument(ways: Any, case: str) -> None:
    """Values, types and errors are the same, at the first call with such arguments and at the next."""
    short, long = ways(adgen.grad, weighted, np.ones(3), 2, True)
    assert is_short(short)
    for _ in range(2):
        assert outcome(short, *ARGUMENTS[case]) == outcome(long, *ARGUMENTS[case])
    assert outcome(short, *ARGUMENTS["plain"]) == outcome(long, *ARGUMENTS["plain"])


def test_numbers_of_every_kind(ways: Any) -> None:
    """Each kind of number is learned, and results are of the type that belongs to it."""
    short, long = ways(adgen.value_and_grad, numbers, 2.0, 3.0)
    for _ in range(2):
        for a in (float(2), np.float64(2), np.float32(2), 2, True, np.array(2.0)):
            assert outcome(short, a, 3.0) == outcome(long, a, 3.0)


def test_keywords_take_the_long_way(ways: Any) -> None:
    """So do arguments that are passed twice or are unknown."""
    short, long = ways(adgen.grad, numbers, 2.0, 3.0)
    for given in ({"b": 3.0}, {"c": 3.0}, {"a": 1.0, "b": 2.0}):
        assert outcome(lambda *args: short(*args, **given), 2.0) == outcome(lambda *args: long(*args, **given), 2.0)


def test_directions(ways: Any) -> None:
    """Products along a direction are short as well; one of another shape, dtype or structure is treated as ever."""
    x, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    for operator, function, first in ((adgen.hvp, prefix_sums, x), (adgen.jvp, cubed, 2.0)):
        short, long = ways(operator, function, first)
        same = [
            v,
            v[::-1],
            v[:2],
            v.astype("f4"),
            v.astype(int),
            v + 0j,
            [1.0, 0.0, 2.0],
            np.ones((3, 1)),
            (v,),
            "v",
            None,
        ]
        for tangent in (*same, x, 1.0, 2, True, np.float64(2.0), np.array(2.0), v):
            call = [lambda *args, f=f: f(*args, tangent=tangent) for f in (short, long)]
            for _ in range(2):
                assert outcome(call[0], first) == outcome(call[1], first)
        assert is_short(short)
        assert outcome(short, first) == outcome(long, first)


def test_exceptions_have_the_line(ways: Any) -> None:
    """And are the classes that Python would raise."""
    short, long = ways(adgen.grad, weighted, np.ones(3), 2, True)
    for gradient in (short, long):
        with pytest.raises(IndexError, match="index 1") as caught:
            gradient(np.ones(1), 2, True)
        assert isinstance(caught.value, AdgenError)
        assert caught.value.lineno == weighted.__code__.co_firstlineno + 3


def test_structures(ways: Any) -> None:
    """Dicts, lists, NamedTuples, numbers of NumPy, constants and complex numbers."""
    short, long = ways(adgen.jit, several, np.array([1.0, 2.0]), 3)
    found = short(np.array([1.0, 2.0]), 3)
    assert described(found) == described(long(np.array([1.0, 2.0]), 3))
    assert type(found["c"]) is Pair and found["b"] == [4, True] and found["d"] == 1 + 2j


def test_writes_reach_the_caller(ways: Any) -> None:
    """Once, whether the array is plain or not, and arrays that overlap or cannot be written are refused alike."""
    short, long = ways(adgen.jit, moved, np.ones(3), np.ones(3))
    memory = np.arange(8.0)
    pairs = [
        lambda: (np.ones(3), np.ones(3)),
        lambda: (np.ones(6)[::2], np.ones(3)),
        lambda: (read_only(np.ones(3)), np.ones(3)),
        lambda: (memory[:3], memory[2:5]),
        lambda: (memory[:3], memory[:3]),
        lambda: (memory[:3], memory[3:6].copy()),
        lambda: (np.zeros(0), np.zeros(0)),
    ]
    for make in pairs:
        found = []
        for function in (short, long):
            memory[:] = np.arange(8.0)
            x, y = make()
            found.append((outcome(function, x, y), described(x), described(y)))
        assert found[0] == found[1]
    one = np.ones(3)
    assert outcome(short, one, one) == outcome(long, one, one)


def test_extents_of_one_are_stretched(ways: Any) -> None:
    """As NumPy does it, by other code."""
    short, long = ways(adgen.grad, stretched, np.ones(3), np.ones(3))
    for shapes in ((3, 3), (3, 1), (1, 3), (1, 1), (3, 2)):
        args = [np.arange(1.0, 1.0 + size) for size in shapes]
        assert outcome(short, *args) == outcome(long, *args)


def test_many_kinds_of_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are tried one after the other; those at the end take the long way and are right."""
    monkeypatch.setattr(shortway, "MOST", 2)
    square = adgen.jit(lambda x: x * x)
    values = [2.0, 2, np.ones(2), np.float64(2.0)]
    for _ in range(2):
        for x in values:
            assert np.array_equal(square(x), x * x) and type(square(x)) is type(x * x)
    assert len(square.__adgen__.short.learned) == 2 and len(square.__adgen__.short.direct) == 2


def test_calls_at_the_same_time() -> None:
    """Each has a workspace of its own."""
    gradient = adgen.grad(fresh(prefix_sums))
    inputs = [np.linspace(0.1, 1.0 + k, 50 * (k + 1)) for k in range(4)]
    expected = [gradient(x) for x in inputs]
    wrong: list[int] = []

    def call(k: int) -> None:
        for _ in range(300):
            if not np.array_equal(gradient(inputs[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def references(values: Any) -> list[int]:
    return [sys.getrefcount(value) for value in values]


def test_nothing_is_leaked(ways: Any) -> None:
    """By results, by exceptions, by arguments that take the longer way."""
    gradient, _ = ways(adgen.value_and_grad, weighted, np.ones(3), 2, True)
    both = adgen.jit(fresh(several))
    x, short, strided, values = np.ones(3), np.ones(1), np.ones(6)[::2], np.array([1.0, 2.0])
    bound = adgen.grad(fresh(weighted)).bind(x)
    names = ("x", "short", "strided", "values", "Pair", "dtype")
    kept = (x, short, strided, values, Pair, np.dtype(float))

    def calls(count: int) -> None:
        for _ in range(count):
            gradient(x, 2, True)
            both(values, 3)
            bound()
        for _ in range(count // 10):
            gradient(strided, 2, True)
            with pytest.raises(IndexError):
                gradient(short, 2, True)

    calls(100)
    gc.collect()
    tracemalloc.start()
    calls(10)
    gc.collect()
    before, size = references(kept), tracemalloc.get_traced_memory()[0]
    calls(2000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    assert [name for name, old, new in zip(names, before, references(kept)) if abs(old - new) > 20] == []
    assert grown < 20_000


def test_functions_can_be_collected() -> None:
    """Though they and their short calls refer to each other."""

    def alive() -> int:
        for _ in range(3):  # what a function is known by goes first, then what was known
            gc.collect()
        return sum(type(thing).__name__ in ("Call", "Bound") for thing in gc.get_objects())

    before = alive()
    gradient = adgen.grad(fresh(numbers))
    gradient(1.0, 2.0)
    bound = gradient.bind(1.0, 2.0)
    bound()
    assert alive() > before
    del gradient, bound
    assert alive() <= before


def test_descriptions_are_checked() -> None:
    """What the module is told is looked at before it is used."""
    module = fast_calls()
    assert module is not None
    good = {"function": 0, "sizes": 0, "measured": False, "failed": None, "otherwise": None}
    good |= {"parameters": (), "conditions": (), "results": (), "steps": (("constant", 0, 1),)}
    for wrong in (
        {"steps": ()},
        {"steps": (("number", 0, None),)},
        {"steps": (("tuple", 1, None),)},
        {"steps": (("constant", 0, 1), ("constant", 0, 2))},
        {"parameters": (("number", float, "f16"),)},
        {"parameters": (("absent", float, "f64"),)},
        {"parameters": (("array", float, "f64", 1, False, False),)},
        {"results": (("f64", np.dtype(float), 99),)},
        {"parameters": (("number", float, "f64"),) * 300},
        {"conditions": ((0, -1, 3),)},
    ):
        with pytest.raises(ValueError):
            module.Call(**{**good, **wrong})


def test_batches_do_not_loop_in_python() -> None:
    """`vmap` of a function, of its gradient and of its Jacobian: as few Python calls for many items as for two."""

    def events(function: Callable[..., Any], size: int) -> int:
        x = np.ones((size, 3))
        function(x)
        function(x)
        seen: list[str] = []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            function(x)
        finally:
            sys.setprofile(None)
        return len(seen)

    def cubes(x: Any) -> Any:
        return x[0] * x * x

    def total(x: Any) -> Any:
        return np.sum(x * x * x)

    for mapped in (adgen.vmap(total), adgen.vmap(adgen.grad(total)), adgen.vmap(adgen.jacobian(cubes))):
        assert events(mapped, 2) == events(mapped, 500) < 10
