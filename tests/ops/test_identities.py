"""The builder with the table's identities: what becomes what, and that no value changes."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar
from adgen.ops import TABLE
from tests.ops.support import DTYPES, execute, straight


class Expression:
    """Python's operators as the builder's, so that the cases below read as formulas."""

    def __init__(self, builder: Builder, value: Value) -> None:
        self.builder = builder
        self.value = value

    def apply(self, name: str, *others: Any) -> Expression:
        operands = [self.value]
        for other in others:
            known = isinstance(other, Expression)
            operands.append(other.value if known else self.builder.const(other, self.value.type))
        return Expression(self.builder, self.builder.op(TABLE[name], *operands))

    def __add__(self, other: Any) -> Expression:
        return self.apply("add", other)

    def __sub__(self, other: Any) -> Expression:
        return self.apply("sub", other)

    def __rsub__(self, other: Any) -> Expression:
        return Expression(self.builder, self.builder.const(other, self.value.type)).apply("sub", self)

    def __mul__(self, other: Any) -> Expression:
        return self.apply("mul", other)

    def __radd__(self, other: Any) -> Expression:
        return Expression(self.builder, self.builder.const(other, self.value.type)).apply("add", self)

    def __rmul__(self, other: Any) -> Expression:
        return Expression(self.builder, self.builder.const(other, self.value.type)).apply("mul", self)

    def __truediv__(self, other: Any) -> Expression:
        return self.apply("div", other)

    def __floordiv__(self, other: Any) -> Expression:
        return self.apply("floordiv", other)

    def __mod__(self, other: Any) -> Expression:
        return self.apply("mod", other)

    def __neg__(self) -> Expression:
        return self.apply("neg")


def check_same(kind: Scalar, left: Callable[..., Any], right: Callable[..., Any]) -> None:
    """Both sides become one SSA value; a plain number on the right means that constant."""
    builder = Builder()
    arguments = [Value(kind, name) for name in "abc"]
    with builder.block(arguments):
        operands = [Expression(builder, value) for value in arguments]
        got, wanted = left(*operands), right(*operands)
        if isinstance(wanted, Expression):
            assert got.value is wanted.value
        else:
            assert builder.known(got.value) == wanted and str(builder.known(got.value)) == str(wanted)


AFFINE = {
    "(a - 1) + 1 = a": (lambda a, b, c: (a - 1) + 1, lambda a, b, c: a),
    "1 + (a - 1) = a": (lambda a, b, c: 1 + (a - 1), lambda a, b, c: a),
    "a + 0 = a": (lambda a, b, c: 0 + (a + 0), lambda a, b, c: a),
    "a * 1 = a": (lambda a, b, c: 1 * (a * 1), lambda a, b, c: a),
    "a * 0 = 0": (lambda a, b, c: a * 0, lambda a, b, c: 0),
    "a - a = 0": (lambda a, b, c: a - a, lambda a, b, c: 0),
    "(a + 2) + 3 = a + 5": (lambda a, b, c: (a + 2) + 3, lambda a, b, c: a + 5),
    "(a + 3) - (a + 1) = 2": (lambda a, b, c: (a + 3) - (a + 1), lambda a, b, c: 2),
    "(a + b) - b = a": (lambda a, b, c: (a + b) - b, lambda a, b, c: a),
    "(a + b) - a = b": (lambda a, b, c: (a + b) - a, lambda a, b, c: b),
    "(a - b) + b = a": (lambda a, b, c: (a - b) + b, lambda a, b, c: a),
    "b + (a - b) = a": (lambda a, b, c: b + (a - b), lambda a, b, c: a),
    "a - (a - b) = b": (lambda a, b, c: a - (a - b), lambda a, b, c: b),
    "(a + 1 + b) - b = a + 1": (lambda a, b, c: (a + 1 + b) - b, lambda a, b, c: a + 1),
    "(a + 2) - (b + 1) = (a - b) + 1": (lambda a, b, c: (a + 2) - (b + 1), lambda a, b, c: (a - b) + 1),
    "(b + a) - (b + c) = a - c": (lambda a, b, c: (b + a) - (b + c), lambda a, b, c: a - c),
    "a + b = b + a": (lambda a, b, c: a + b, lambda a, b, c: b + a),
    "a * b = b * a": (lambda a, b, c: a * b, lambda a, b, c: b * a),
    "a + a = 2 * a": (lambda a, b, c: a + a, lambda a, b, c: 2 * a),
    "2 * (a + 1) = 2 * a + 2": (lambda a, b, c: (a + 1) * 2, lambda a, b, c: 2 * a + 2),
    "2 * (3 * a) = 6 * a": (lambda a, b, c: 2 * (a * 3), lambda a, b, c: a * 6),
    "5 - (5 - a) = a": (lambda a, b, c: 5 - (5 - a), lambda a, b, c: a),
    "(5 - a) - 5 = -a": (lambda a, b, c: (5 - a) - 5, lambda a, b, c: -a),
    "-(-a) = a": (lambda a, b, c: -(-a), lambda a, b, c: a),
    "a + (-b) = a - b": (lambda a, b, c: a + (-b), lambda a, b, c: a - b),
    "a - (-b) = a + b": (lambda a, b, c: a - (-b), lambda a, b, c: a + b),
    "-(a - b) = b - a": (lambda a, b, c: -(a - b), lambda a, b, c: b - a),
    "a // 1 = a": (lambda a, b, c: a // 1, lambda a, b, c: a),
    "a % 1 = 0": (lambda a, b, c: a % 1, lambda a, b, c: 0),
    "(4 * a + 3) // 2 = 2 * a + 1": (lambda a, b, c: (4 * a + 3) // 2, lambda a, b, c: 2 * a + 1),
    "(4 * a + 3) % 2 = 1": (lambda a, b, c: (4 * a + 3) % 2, lambda a, b, c: 1),
    "(a % 5) % 5 = a % 5": (lambda a, b, c: (a % 5) % 5, lambda a, b, c: a % 5),
    "a + 1 < a + 2": (lambda a, b, c: (a + 1).apply("lt", a + 2), lambda a, b, c: True),
    "a == a": (lambda a, b, c: a.apply("eq", a), lambda a, b, c: True),
    "a != a + 1": (lambda a, b, c: a.apply("ne", a + 1), lambda a, b, c: True),
    "a >= a + 1": (lambda a, b, c: a.apply("ge", a + 1), lambda a, b, c: False),
    "max(a, a) = a": (lambda a, b, c: a.apply("maximum", a), lambda a, b, c: a),
    "max(a - 2, 0) shared": (
        lambda a, b, c: (a - 2).apply("maximum", 0),
        lambda a, b, c: ((a - 1) - 1).apply("maximum", 0),
    ),
    "max(a + 1, a + 3) = a + 3": (lambda a, b, c: (a + 1).apply("maximum", a + 3), lambda a, b, c: a + 3),
    "min(a + 1, a + 3) = a + 1": (lambda a, b, c: (a + 1).apply("minimum", a + 3), lambda a, b, c: a + 1),
    "max(max(a, 0), 0) = max(a, 0)": (
        lambda a, b, c: a.apply("maximum", 0).apply("maximum", 0),
        lambda a, b, c: a.apply("maximum", 0),
    ),
    "max(max(a, 3), 5) = max(a, 5)": (
        lambda a, b, c: a.apply("maximum", 3).apply("maximum", 5),
        lambda a, b, c: a.apply("maximum", 5),
    ),
    "min(max(a, 3), 2) = 2": (lambda a, b, c: a.apply("maximum", 3).apply("minimum", 2), lambda a, b, c: 2),
    "max(a, 0) >= 0": (lambda a, b, c: a.apply("maximum", 0).apply("ge", 0), lambda a, b, c: True),
    "a % 4 < 0": (lambda a, b, c: (a % 4).apply("lt", 0), lambda a, b, c: False),
    "not (a < b) = (a >= b)": (lambda a, b, c: a.apply("lt", b).apply("not"), lambda a, b, c: a.apply("ge", b)),
}

REAL = {
    "(-x == 0) = (x == 0)": (lambda x, y, z: (-x).apply("eq", 0.0), lambda x, y, z: x.apply("eq", 0.0)),
    "(0 != -x) = (x != 0)": (lambda x, y, z: (-x).apply("ne", -0.0), lambda x, y, z: x.apply("ne", -0.0)),
    "x * 1 = x": (lambda x, y, z: 1.0 * (x * 1.0), lambda x, y, z: x),
    "x * -1 = -x": (lambda x, y, z: x * -1.0, lambda x, y, z: -x),
    "x / 1 = x": (lambda x, y, z: x / 1.0, lambda x, y, z: x),
    "x - 0.0 = x": (lambda x, y, z: x - 0.0, lambda x, y, z: x),
    "x + -0.0 = x": (lambda x, y, z: x + -0.0, lambda x, y, z: x),
    "-0.0 - x = -x": (lambda x, y, z: -0.0 - x, lambda x, y, z: -x),
    "-(-x) = x": (lambda x, y, z: -(-x), lambda x, y, z: x),
    "x + (-y) = x - y": (lambda x, y, z: x + (-y), lambda x, y, z: x - y),
    "-x + y = y - x": (lambda x, y, z: (-x) + y, lambda x, y, z: y - x),
    "x - (-y) = x + y": (lambda x, y, z: x - (-y), lambda x, y, z: x + y),
    "-x * y = -(x * y)": (lambda x, y, z: (-x) * y, lambda x, y, z: -(x * y)),
    "-x * -y = x * y": (lambda x, y, z: (-x) * (-y), lambda x, y, z: x * y),
    "x / -y = -(x / y)": (lambda x, y, z: x / (-y), lambda x, y, z: -(x / y)),
    "x + x = 2 * x": (lambda x, y, z: x + x, lambda x, y, z: 2.0 * x),
    "x * y = y * x": (lambda x, y, z: x * y, lambda x, y, z: y * x),
    "x + y = y + x": (lambda x, y, z: x + y, lambda x, y, z: y + x),
    "abs(-x) = abs(x)": (lambda x, y, z: (-x).apply("abs"), lambda x, y, z: x.apply("abs")),
    "x ** 2.0 = x * x": (lambda x, y, z: x.apply("pow", 2.0), lambda x, y, z: x * x),
    "x ** 0.0 = 1": (lambda x, y, z: x.apply("pow", 0.0), lambda x, y, z: 1.0),
    "floor(floor(x)) = floor(x)": (lambda x, y, z: x.apply("floor").apply("floor"), lambda x, y, z: x.apply("floor")),
    "max(x, x) = x": (lambda x, y, z: x.apply("maximum", x), lambda x, y, z: x),
    "x < x": (lambda x, y, z: x.apply("lt", x), lambda x, y, z: False),
    "not (x == y) = (y != x)": (
        lambda x, y, z: x.apply("eq", y).apply("not"),
        lambda x, y, z: y.apply("ne", x),
    ),
}

LOGIC = {
    "not not p = p": (lambda p, q, r: p.apply("not").apply("not"), lambda p, q, r: p),
    "p and True = p": (lambda p, q, r: p.apply("and", True), lambda p, q, r: p),
    "p and False": (lambda p, q, r: p.apply("and", False), lambda p, q, r: False),
    "p or True": (lambda p, q, r: p.apply("or", True), lambda p, q, r: True),
    "p or p = p": (lambda p, q, r: p.apply("or", p), lambda p, q, r: p),
    "p and not p": (lambda p, q, r: p.apply("and", p.apply("not")), lambda p, q, r: False),
    "p and q = q and p": (lambda p, q, r: p.apply("and", q), lambda p, q, r: q.apply("and", p)),
    "p xor True = not p": (lambda p, q, r: p.apply("xor", True), lambda p, q, r: p.apply("not")),
    "p == True = p": (lambda p, q, r: p.apply("eq", True), lambda p, q, r: p),
    "p ? q : q = q": (lambda p, q, r: p.apply("select", q, q), lambda p, q, r: q),
    "p ? True : False = p": (lambda p, q, r: p.apply("select", True, False), lambda p, q, r: p),
    "not p ? q : r = p ? r : q": (
        lambda p, q, r: p.apply("not").apply("select", q, r),
        lambda p, q, r: p.apply("select", r, q),
    ),
    "p ? (p ? q : r) : r = p ? q : r": (
        lambda p, q, r: p.apply("select", p.apply("select", q, r), r),
        lambda p, q, r: p.apply("select", q, r),
    ),
}


@pytest.mark.parametrize("name", AFFINE)
def test_equal_integers_are_one_value(name: str) -> None:
    """So that equal extents are found by identity."""
    check_same(I64, *AFFINE[name])


@pytest.mark.parametrize("name", REAL)
def test_float_identities(name: str) -> None:
    """Exact ones only."""
    check_same(F64, *REAL[name])


@pytest.mark.parametrize("name", LOGIC)
def test_logical_identities(name: str) -> None:
    """Known, equal and opposite operands."""
    check_same(BOOL, *LOGIC[name])


@pytest.mark.parametrize(
    "inexact",
    [
        lambda x, y: x + 0.0,
        lambda x, y: x * 0.0,
        lambda x, y: x - x,
        lambda x, y: x / x,
        lambda x, y: (x + y) - y,
        lambda x, y: 0.0 - x,
        lambda x, y: -(x - y),
        lambda x, y: x.apply("eq", x),
        lambda x, y: x.apply("lt", y).apply("not"),
    ],
)
def test_what_is_not_exact_stays(inexact: Callable[..., Expression]) -> None:
    """Signed zeros, infinities and nan would change."""
    builder = Builder()
    arguments = [Value(F64), Value(F64)]
    with builder.block(arguments) as block:
        got = inexact(*(Expression(builder, value) for value in arguments)).value
        assert got is block.operations[-1].result and len(block.operations) >= 1


def test_extents_are_not_negative() -> None:
    """So `max(n, 0)` of an extent is the extent, and a check that it is not negative is gone."""
    builder = Builder()
    buffer = Value(Buffer(F64, 2), "A")
    with builder.block([buffer]):
        n, m = (Expression(builder, value) for value in builder.dims(buffer))
        assert n.apply("maximum", 0).value is n.value
        assert (n * m + 1).apply("maximum", 1).value is (1 + m * n).value
        assert builder.known(n.apply("ge", 0).value) is True
        assert builder.known((n + 1).apply("lt", 1).value) is False
        assert n.apply("eq", m).value.type == BOOL


def test_conversions_that_lose_nothing_vanish() -> None:
    """f32 through f64 and booleans through numbers; not f64 through f32, nor integers through floats."""
    builder = Builder()
    x, p, i = Value(F32), Value(BOOL), Value(I64)
    with builder.block([x, p, i]):
        op = builder.op
        assert op(TABLE["to_f32"], op(TABLE["to_f64"], x)) is x
        assert op(TABLE["to_bool"], op(TABLE["to_i64"], p)) is p
        assert op(TABLE["to_f64"], op(TABLE["to_i64"], p)) is op(TABLE["to_f64"], p)
        assert op(TABLE["to_i64"], op(TABLE["to_f64"], i)) is not i
        wide = op(TABLE["to_f64"], i)
        assert op(TABLE["floor"], wide) is wide


def test_commuted_operands_are_shared_across_blocks() -> None:
    """`b * a` inside a loop is the `a * b` before it."""
    builder = Builder()
    a, b = Value(F64), Value(F64)
    with builder.block([a, b]):
        product = builder.op(TABLE["mul"], a, b)
        with builder.block() as inner:
            assert builder.op(TABLE["mul"], b, a) is product
            assert not inner.operations


# -- random formulas ---------------------------------------------------------------------------------------------


def plain(builder: Builder, name: str, *operands: Value) -> Value:
    """The operation without identities, folding or sharing."""
    row = TABLE[name]
    result = Value(row.infer(tuple(value.type for value in operands), {})[0])
    builder.append(core_operation(row, operands, result))
    return result


def core_operation(row: Any, operands: tuple[Value, ...], result: Value) -> Any:
    from adgen.ir.nodes import Operation

    return Operation(row, operands, (result,))


def constant(builder: Builder, number: Any, kind: Scalar) -> Value:
    (value,) = builder.emit(core.CONST, (), {"value": number, "type": str(kind)})
    return value


INTEGER_STEPS = [
    ("add", 2),
    ("sub", 2),
    ("mul", 2),
    ("neg", 1),
    ("floordiv", 2),
    ("mod", 2),
    ("maximum", 2),
    ("minimum", 2),
]
REAL_STEPS = [("add", 2), ("sub", 2), ("mul", 2), ("div", 2), ("neg", 1), ("abs", 1), ("maximum", 2), ("floor", 1)]


@pytest.mark.parametrize("kind, steps", [(I64, INTEGER_STEPS), (F64, REAL_STEPS)], ids=["i64", "f64"])
@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_keep_their_values(kind: Scalar, steps: list[tuple[str, int]], seed: int) -> None:
    """With identities and without, bit for bit, special numbers included; comparisons and selections on top."""
    script = np.random.default_rng(seed)
    constants = [0, 1, -1, 2, 3, -2] if kind == I64 else [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, np.inf]
    program: list[tuple[str, list[int]]] = []
    count = 3 + len(constants)
    for _ in range(25):
        name, arity = steps[script.integers(len(steps))]
        recent = [*range(3 + len(constants)), *range(max(0, count - 7), count), *range(max(0, count - 7), count)]
        program.append((name, [int(place) for place in script.choice(recent, arity)]))
        count += 1

    def build(make: Callable[..., Value]) -> Callable[..., Any]:
        def body(builder: Builder, *arguments: Value) -> list[Value]:
            values = [*arguments, *(constant(builder, number, kind) for number in constants)]
            for name, places in program:
                values.append(make(builder, name, *(values[k] for k in places)))
            flags = [make(builder, n, *values[-4 + k : -2 + k]) for k, n in enumerate(["lt", "eq"])]
            flags.append(make(builder, "not", make(builder, "and", *flags)))
            return [*values[-12:], *flags, make(builder, "select", flags[2], values[-1], values[-2])]

        return body

    clever = straight([kind] * 3, build(lambda b, name, *x: b.op(TABLE[name], *x)))
    simple = straight([kind] * 3, build(plain))
    inputs = [5, -7, 3, 0, 1] if kind == I64 else [1.5, -2.25, 0.0, -0.0, np.inf, np.nan]
    for numbers in itertools.islice(itertools.product(inputs, repeat=3), 60):
        got, wanted = execute(clever, numbers), execute(simple, numbers)
        for a, b in zip(got, wanted, strict=True):
            same = np.array(a, DTYPES.get(kind)), np.array(b, DTYPES.get(kind))
            assert np.array_equal(*same, equal_nan=True), (numbers, a, b)
            assert isinstance(a, float) is False or np.isnan(a) or operator.eq(*map(np.signbit, (a, b)))
