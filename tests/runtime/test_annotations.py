"""Argument types as users write them."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import ArraySpec, ScalarSpec, StaticSpec, StructSpec, UnknownSpec
from adgen.ir.types import BOOL, F32, F64, I16, I32, I64, U8
from adgen.runtime.annotations import from_annotation, parse_argument, parse_type_text, signature_specs

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("f64", ScalarSpec(F64)),
        ("float", ScalarSpec(F64)),
        (" int ", ScalarSpec(I64)),
        ("bool", ScalarSpec(BOOL)),
        ("f64[n]", ArraySpec(F64, 1, ("n",))),
        ("f32[n, 3]", ArraySpec(F32, 2, ("n", 3))),
        ("i64[:,:]", ArraySpec(I64, 2, (":", ":"))),
        ("f64[_]", ArraySpec(F64, 1, (":",))),
        ("f64[]", ArraySpec(F64, 0, ())),
        ("i32[n]", ArraySpec(I32, 1, ("n",))),
        ("uint8[:,3]", ArraySpec(U8, 2, (":", 3))),
        ("i16", ScalarSpec(I16, weak=False)),
        ("float32[b, h, w]", ArraySpec(F32, 3, ("b", "h", "w"))),
    ],
)
def test_type_text(text: str, spec: object) -> None:
    """Scalars and arrays by their short and long names."""
    assert parse_type_text(text) == spec


@pytest.mark.parametrize(
    "text", ["", "f65", "f64[n", "f64[n,]", "f64[n m]", "f64[[n]]", "list", "f64[-1]", "u64[n]", "i24"]
)
def test_other_text_is_no_type(text: str) -> None:
    """Anything else is None, and an error for `--arg`."""
    assert parse_type_text(text) is None
    with pytest.raises(AdgenError, match="argument type"):
        parse_argument(f"x: {text}")


@pytest.mark.parametrize("text", ["x", "2x: f64", "x=f64", ": f64"])
def test_argument_needs_a_name(text: str) -> None:
    """`--arg` is `name: type`."""
    with pytest.raises(AdgenError, match="not of the form"):
        parse_argument(text)


def test_argument() -> None:
    """A name and its spec."""
    assert parse_argument("x : f64[n,d]") == ("x", ArraySpec(F64, 2, ("n", "d")))


@dataclass
class Pair:
    a: float
    b: f64[n]  # noqa: F821


class Named(NamedTuple):
    a: int
    b: float


class Shaped:
    """What jaxtyping's annotations look like."""

    dim_str = "n 3"
    dtypes: typing.ClassVar = ["float64"]


@pytest.mark.parametrize(
    ("annotation", "spec"),
    [
        (float, ScalarSpec(F64)),
        ("float", ScalarSpec(F64)),
        (int, ScalarSpec(I64)),
        (bool, ScalarSpec(BOOL)),
        (np.float32, ScalarSpec(F32)),
        ("f64[n,m]", ArraySpec(F64, 2, ("n", "m"))),
        ("'f64[n,m]'", ArraySpec(F64, 2, ("n", "m"))),
        (np.int16, ScalarSpec(I16, weak=False)),
        (np.int64, ScalarSpec(I64)),
        (np.uint64, UnknownSpec()),
        ("NDArray[np.int32]", UnknownSpec(I32)),
        (NDArray[np.uint8], UnknownSpec(U8)),
        (NDArray[np.uint64], UnknownSpec()),
        (np.ndarray, UnknownSpec()),
        ("NDArray[np.float64]", UnknownSpec()),
        (NDArray[np.float64], UnknownSpec()),
        ("NoSuchName[3]", UnknownSpec()),
        ("x y z", UnknownSpec()),
        (Any, UnknownSpec()),
        (float | None, UnknownSpec()),
        (Shaped, ArraySpec(F64, 2, ("n", 3))),
        (tuple[float, int], StructSpec(tuple, (("0", ScalarSpec(F64)), ("1", ScalarSpec(I64))))),
    ],
)
def test_annotations(annotation: object, spec: object) -> None:
    """Annotations as objects and as text; what does not say is left to inference."""
    assert from_annotation(annotation, globals()) == spec


def test_structures() -> None:
    """Dataclasses and NamedTuples are structures of what their fields are annotated with."""
    pair, named = from_annotation(Pair, globals()), from_annotation(Named, globals())
    assert pair == StructSpec(Pair, (("a", ScalarSpec(F64)), ("b", ArraySpec(F64, 1, ("n",)))))
    assert named == StructSpec(Named, (("a", ScalarSpec(I64)), ("b", ScalarSpec(F64))))


def test_signature() -> None:
    """`--arg` wins over the annotation, that over the default; a number with a default is not fixed."""

    def f(a: float, b, c=2.0, d=3, e="cubic", g=None):
        return a

    specs = signature_specs(f, {"b": ArraySpec(F64, 1, ("n",))})
    statics = {name: spec.value for name, spec in specs.items() if isinstance(spec, StaticSpec)}
    assert statics == {"e": "cubic", "g": None}
    assert {name: spec for name, spec in specs.items() if name not in statics} == {
        "a": ScalarSpec(F64),
        "b": ArraySpec(F64, 1, ("n",)),
        "c": ScalarSpec(F64),
        "d": UnknownSpec(),
    }


def test_unknown_parameter() -> None:
    """A type for a parameter that is not there is refused, and the parameters are named."""

    def f(alpha, beta):
        return alpha

    with pytest.raises(AdgenError, match="no parameter `gamma`") as caught:
        signature_specs(f, {"gamma": ScalarSpec(F64)})
    assert "`alpha`, `beta`" in str(caught.value)
