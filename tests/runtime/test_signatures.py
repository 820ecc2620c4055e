"""From arguments to their types, and what `wrt` means for them."""

from __future__ import annotations

import enum
import inspect
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ArraySpec, ScalarSpec, StaticSpec, StructSpec
from adgen.ir.types import BOOL, F32, F64, I16, I64, U8
from adgen.runtime.signatures import bind, describe, describe_arguments, specs_key
from adgen.runtime.wrt import Wrt, check_form, check_taps, resolve

pytestmark = pytest.mark.quick


@dataclass
class Spring:
    stiffness: float
    name: str


NOTHING = StaticSpec(None)


class Pair(NamedTuple):
    left: Any
    right: Any


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (1.5, ScalarSpec(F64)),
        (2, ScalarSpec(I64)),
        (True, ScalarSpec(BOOL)),
        (np.float64(1.5), ScalarSpec(F64, False)),
        (np.float32(1.5), ScalarSpec(F32, False)),
        (np.int16(3), ScalarSpec(I16, False)),
        (np.bool_(True), ScalarSpec(BOOL, False)),
        (np.array(1.5), ScalarSpec(F64, False)),
        (np.zeros((2, 3), "f4"), ArraySpec(F32, 2)),
        (np.zeros(2, ">f8"), ArraySpec(F64, 1)),
        (np.zeros(2, "u1"), ArraySpec(U8, 1)),
        ([1.0, 2], StructSpec(list, (("0", ScalarSpec(F64)), ("1", ScalarSpec(I64))))),
        (Pair(1.0, None), StructSpec(Pair, (("left", ScalarSpec(F64)), ("right", NOTHING)))),
    ],
)  # fmt: skip
def test_types(value: Any, spec: Any) -> None:
    """Numbers and arrays have a dtype and a rank, containers their structure."""
    assert specs_key({"x": describe(value, "x")}) == specs_key({"x": spec})


@pytest.mark.parametrize("value", [None, "sum", np.sin, np, float, enum.Enum("Kind", "a b").a, len])
def test_static_values(value: Any) -> None:
    """Options are known when compiling."""
    spec = describe(value, "x")
    assert isinstance(spec, StaticSpec) and spec.value is value


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros(2, np.clongdouble), "dtype complex256"),
        (np.zeros(2, np.float16), "dtype float16"),
        (np.zeros(2, object), "dtype object"),
        (np.array(["a"]), "dtype <U1"),
        (np.ma.masked_array([1.0]), "MaskedArray"),
        ({1.0: 2}, "keys"),
        ({2.0}, "of type set"),
        (2**64, "64 bits"),
        (np.array([2**63], "u8"), "64 bits"),
        ((1.0, [object()]), r"`x\[1\]\[0\]` is of type object"),
    ],
)
def test_refused(value: Any, words: str) -> None:
    """What adgen does not compute with is named."""
    with pytest.raises(AdgenError, match=words) as caught:
        describe(value, "x")
    assert "`x" in str(caught.value) and isinstance(caught.value, TypeError)


def test_keys() -> None:
    """Equal types have equal keys, and options that compare equal but differ do not."""

    def key(*values: Any) -> Any:
        return specs_key(describe_arguments({str(k): v for k, v in enumerate(values)}))

    assert key(np.zeros(3), "a", [1.0]) == key(np.zeros(5), "a", [2.0])
    assert key("a") != key("b")
    assert key([1.0]) != key((1.0,)) and key(1.0) != key(np.float64(1.0))
    assert hash(key({"a": None})) == hash(key({"a": None}))


def f(x, y, k=2, *, mode="sum"):
    return x


def test_binding() -> None:
    """Arguments are bound as Python does, with its own words when they do not fit."""
    signature = inspect.signature(f)
    assert bind(signature, "f", (1.0,), {"y": 2.0}) == {"x": 1.0, "y": 2.0, "k": 2, "mode": "sum"}
    for args, kwargs, words in [
        ((1.0,), {}, "missing a required argument: 'y'"),
        ((1.0, 2.0, 3, 4), {}, "too many positional arguments"),
        ((1.0, 2.0), {"z": 1}, "unexpected keyword argument 'z'"),
        ((1.0, 2.0), {"x": 1}, "multiple values for argument 'x'"),
    ]:
        with pytest.raises(AdgenError, match=words):
            bind(signature, "f", args, kwargs)


SPECS = describe_arguments({"x": 1.0, "n": 2, "A": np.zeros(2), "o": "text", "s": Spring(1.0, "a"), "t": (1, 2)})


@pytest.mark.parametrize(
    ("wrt", "names", "packing"),
    [
        (None, ("x", "A", "s"), "named"),
        ("A", ("A",), "bare"),
        (0, ("x",), "bare"),
        (-2, ("s",), "bare"),
        (["A", 0], ("A", "x"), "tuple"),
        (("x",), ("x",), "tuple"),
        (np.int64(2), ("A",), "bare"),
    ],
)
def test_wrt(wrt: Any, names: tuple[str, ...], packing: Any) -> None:
    """A name or a position gives one gradient, a sequence a tuple, nothing every parameter with floats."""
    assert resolve(wrt, SPECS, "f") == Wrt(names, packing)


def test_one_float_is_bare() -> None:
    """With one floating-point parameter the gradient comes alone."""
    assert resolve(None, describe_arguments({"n": 2, "x": 1.0}), "f") == Wrt(("x",), "bare")


@pytest.mark.parametrize(
    ("wrt", "words"),
    [
        (6, "wrt is 6, but `f` has 6 arguments"),
        (-7, "wrt is -7"),
        ("X", "did you mean `x`"),
        ("n", "int64"),
        ("o", "a str"),
        ("t", "a tuple without"),
        ([0, "x"], "`x` twice"),
    ],
)
def test_wrong_wrt(wrt: Any, words: str) -> None:
    """The error says wrt, and what is wrong with it."""
    with pytest.raises(AdgenError, match=words) as caught:
        check_taps(resolve(wrt, SPECS, "f"), tuple(SPECS), (), "f")
    assert "wrt" in str(caught.value)


@pytest.mark.parametrize("wrt", [1.5, True, [], [None], {"x"}])
def test_malformed_wrt(wrt: Any) -> None:
    """What is no name or position is refused before any call."""
    with pytest.raises(AdgenError, match="wrt"):
        check_form(wrt)


def test_nothing_to_differentiate() -> None:
    """Without floating-point arguments the error names the dtypes and suggests floats."""
    with pytest.raises(AdgenError, match="int64"):
        resolve(None, describe_arguments({"n": 2}), "f")
