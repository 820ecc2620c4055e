"""What the derivative of one operation looks like: nothing that is not needed, in the form a person would write."""

from __future__ import annotations

import pytest

from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, Scalar
from adgen.ops import TABLE


def written(
    name: str, types: list[Scalar], places: list[int] | None = None, constants: dict[int, float] | None = None
) -> str:
    """The operations of a pullback with cotangent `g`, in one line; operand k is `places[k]`'s argument."""
    builder = Builder()
    arguments = [Value(kind, hint) for kind, hint in zip(types, "xyz")]
    names = dict(zip(arguments, "xyz"))
    with builder.block(arguments) as block:
        fixed = {k: builder.const(number, types[k]) for k, number in (constants or {}).items()}
        operands = [fixed.get(k, arguments[k]) for k in places or range(len(arguments))]
        result = builder.op(TABLE[name], *operands)
        cotangent = Value(result.type, "g")
        names.update({value: str(builder.known(value)) for value in fixed.values()})
        names.update({cotangent: "g", result: "out"})
        before = len(block.operations)
        gained = TABLE[name].pullback(builder, operands, result, cotangent, [True] * len(operands))
        for operation in block.operations[before:]:
            known = operation.attributes.get("value")
            inner = ", ".join(names[value] for value in operation.operands)
            names[operation.result] = str(known) if known is not None else f"{operation.row.name}({inner})"
    return "; ".join("-" if value is None else names[value] for value in gained)


@pytest.mark.parametrize(
    "name, types, wanted",
    [
        ("add", [F64, F64], "g; g"),
        ("sub", [F64, F64], "g; neg(g)"),
        ("mul", [F64, F64], "mul(y, g); mul(x, g)"),
        ("div", [F64, F64], "div(g, y); neg(mul(out, div(g, y)))"),
        ("exp", [F64], "mul(out, g)"),
        ("sqrt", [F64], "div(g, mul(2.0, out))"),
        ("log", [F64], "div(g, x)"),
        ("tanh", [F64], "mul(sub(1.0, mul(out, out)), g)"),
        ("sin", [F64], "mul(cos(x), g)"),
        ("cos", [F64], "neg(mul(sin(x), g))"),
        ("atan", [F64], "div(g, add(1.0, mul(x, x)))"),
        ("select", [BOOL, F64, F64], "-; select(x, g, 0.0); select(x, 0.0, g)"),
        ("to_f64", [F32], "to_f32(g)"),
        ("floor", [F64], "-"),
        ("lt", [F64, F64], "-; -"),
    ],
)
def test_pullbacks_read_well(name: str, types: list[Scalar], wanted: str) -> None:
    """Ones are not multiplied, quotients divide, selections select, conversions convert back."""
    assert written(name, types) == wanted


def test_an_operand_that_occurs_twice_gets_one_sum() -> None:
    """The derivative of a square is `2 x`."""
    assert written("mul", [F64], [0, 0]) == "mul(2.0, mul(x, g)); -"


def test_guards_vanish_when_the_exponent_is_known() -> None:
    """What protects `0**0` is decided when compiling."""
    assert written("pow", [F64, F64], [0, 1], {1: 2.5}).split("; ")[0] == "mul(mul(2.5, pow(x, 1.5)), g)"


def test_pushforward_of_a_selection_is_one_selection() -> None:
    """Tangents are chosen by the condition that chose the values."""
    builder = Builder()
    p, x, y, dx, dy = Value(BOOL), Value(F64), Value(F64), Value(F64), Value(F64)
    with builder.block([p, x, y, dx, dy]) as block:
        result = builder.op(TABLE["select"], p, x, y)
        tangent = TABLE["select"].pushforward(builder, (p, x, y), result, (None, dx, dy))
        assert [operation.row.name for operation in block.operations] == ["select", "select"]
        assert block.operations[-1].operands == (p, dx, dy) and block.operations[-1].result is tangent
