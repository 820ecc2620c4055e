"""The builder: what it shares, folds and simplifies, and where it must not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Block, Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Operation, Value
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar
from adgen.ir.verify import verify
from tests.strategies import FITTING, NUMBERS


def rows(block: Block) -> list[str]:
    return [operation.row.name for operation in block.operations]


# -- sharing ----------------------------------------------------------------------------------------------------------


def test_equal_pure_operations_are_shared() -> None:
    b = Builder()
    x, y = Value(F64, "x"), Value(F64, "y")
    with b.block((x, y)) as block:
        assert b.op(ops.SIN, x) is b.op(ops.SIN, x)
        assert b.op(ops.SIN, x) is not b.op(ops.SIN, y)
        assert b.op(ops.DIV, x, y) is not b.op(ops.DIV, y, x)
    assert rows(block) == ["sin", "sin", "div", "div"]


def test_a_shared_value_keeps_its_first_name_and_span() -> None:
    b = Builder()
    x = Value(F64, "x")
    with b.block((x,)) as block:
        b.span = Span("f.py", 1)
        first = b.op(ops.SIN, x, name="a")
        b.span = Span("f.py", 2)
        assert b.op(ops.SIN, x, name="b") is first
    assert first.name == "a"
    assert block.operations[0].span == Span("f.py", 1)


def test_memory_and_control_are_never_shared() -> None:
    b = Builder()
    array, i, c = Value(Buffer(F64, 1), "A"), Value(I64, "i"), Value(BOOL, "c")
    with b.block((array, i, c)) as block:
        assert b.load(array, (i,)) is not b.load(array, (i,))
        assert b.alloc(F64, (i,)) is not b.alloc(F64, (i,))
        assert b.stack(F64) is not b.stack(F64)
        b.check(c, "ValueError", "no")
        b.check(c, "ValueError", "no")
    assert rows(block) == ["load", "load", "alloc", "alloc", "stack", "stack", "check", "check"]


def test_an_outer_value_is_shared_inside() -> None:
    b = Builder()
    x, c = Value(F64, "x"), Value(BOOL, "c")
    with b.block((x, c)) as block:
        outer = b.op(ops.SIN, x)
        (result,) = b.branch(c, lambda: (b.op(ops.SIN, x),), lambda: (x,))
        block.results = (result,)
    branch = block.operations[-1]
    assert branch.regions[0].results == (outer,)
    assert branch.regions[0].operations == ()


def test_a_value_shared_inside_is_not_visible_outside() -> None:
    """Neither after the region nor in the other branch: each place makes its own."""
    b = Builder()
    x, c = Value(F64, "x"), Value(BOOL, "c")
    with b.block((x, c)) as block:
        (result,) = b.branch(c, lambda: (b.op(ops.SIN, x),), lambda: (b.op(ops.SIN, x),))
        after = b.op(ops.SIN, x)
        block.results = (result, after)
    branch = block.operations[0]
    made = {branch.regions[0].results[0], branch.regions[1].results[0], after}
    assert len(made) == 3
    verify(b.function("f", block, ("a", "b")))


def test_constants_made_inside_a_loop_are_made_again_after_it() -> None:
    b = Builder()
    n, x = Value(I64, "n"), Value(F64, "x")
    with b.block((n, x)) as block:
        b.loop(b.index(0), n, (x,), lambda i, a: (b.op(ops.MUL, a, b.const(2.5)),))
        block.results = (b.op(ops.ADD, x, b.const(2.5)),)
    verify(b.function("f", block, ("r",)))
    assert rows(block) == ["const", "for", "const", "add"]


def test_two_builders_share_nothing() -> None:
    x = Value(F64, "x")
    results = []
    for b in (Builder(), Builder()):
        with b.block((x,)):
            results.append(b.op(ops.SIN, x))
    assert results[0] is not results[1]


# -- constants --------------------------------------------------------------------------------------------------------


def test_constants_are_shared_by_bits_and_type() -> None:
    b = Builder()
    with b.block() as block:
        assert b.const(0.0) is b.const(0.0)
        assert b.const(math.nan) is b.const(math.nan)
        values = [b.const(0.0), b.const(-0.0), b.const(0), b.const(False), b.const(0.0, F32), b.const(math.nan)]
    assert len(set(values)) == len(values) == len(block.operations)
    assert [math.copysign(1.0, b.known(value)) for value in values[:2]] == [1.0, -1.0]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(1.0, F64), (np.float64(1), F64), (1, I64), (np.int64(1), I64), (True, BOOL), (np.bool_(True), BOOL)],
)
def test_the_type_of_a_constant_follows_the_number(number: Any, kind: Scalar) -> None:
    b = Builder()
    with b.block():
        value = b.const(number)
    assert value.type == kind
    assert type(b.known(value)) is {F64: float, I64: int, BOOL: bool}[kind]


def test_an_f32_constant_is_rounded() -> None:
    b = Builder()
    with b.block():
        value = b.const(0.1, F32)
    assert b.known(value) == float(np.float32(0.1)) != 0.1


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_an_integer_beyond_64_bits_is_refused(number: int) -> None:
    b = Builder()
    with b.block(), pytest.raises(OverflowError):
        b.const(number)


# -- folding and identities -------------------------------------------------------------------------------------------


def test_constants_are_folded() -> None:
    b = Builder()
    with b.block():
        assert b.known(b.op(ops.ADD, b.const(2.0), b.const(3.0))) == 5.0
        assert b.known(b.op(ops.MUL, b.const(6), b.const(7))) == 42
        assert b.known(b.op(ops.LT, b.const(1.0), b.const(2.0))) is True
        assert b.known(b.op(ops.DIV, b.const(1.0), b.const(0.0))) == math.inf
        assert math.isnan(b.known(b.op(ops.SQRT, b.const(-1.0))))
        third = b.known(b.op(ops.DIV, b.const(1.0, F32), b.const(3.0, F32)))
    assert third == float(np.float32(1) / np.float32(3))


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_folding_is_what_the_interpreter_does(data: st.DataObject) -> None:
    """Bit for bit, for every row: what the builder makes of constants is what executing the operation gives."""
    row, kinds = data.draw(st.sampled_from(FITTING))
    numbers = [data.draw(st.sampled_from(NUMBERS[kind])) for kind in kinds]
    (kind,) = row.infer(kinds, {})
    parameters = [Value(kind) for kind in kinds]
    b = Builder()
    with b.block(parameters) as block:
        folded = b.op(row, *map(b.const, numbers, kinds))
        executed = Value(kind)
        b.append(Operation(row, tuple(parameters), (executed,)))
        block.results = (folded, executed)
    first, second = run(verify(b.function("f", block, ("a", "b"))), numbers).results
    assert type(first) is type(second) or kind == BOOL
    assert np.array_equal(first, second, equal_nan=kind in (F64, F32))
    assert kind not in (F64, F32) or np.isnan(first) or np.signbit(first) == np.signbit(second)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_identities_hold_bit_for_bit(data: st.DataObject) -> None:
    """An operation of parameters and constants through the builder equals the operation as it is."""
    row, kinds = data.draw(st.sampled_from(FITTING))
    numbers = [data.draw(st.sampled_from(NUMBERS[kind])) for kind in kinds]
    constant = [data.draw(st.booleans()) for _ in kinds]
    same = data.draw(st.booleans()) and len(set(kinds)) == 1
    (kind,) = row.infer(kinds, {})
    parameters = [Value(kind) for kind in kinds]
    b = Builder()
    with b.block(parameters) as block:
        given_ = [b.const(n, p.type) if c else p for n, p, c in zip(numbers, parameters, constant, strict=True)]
        operands = tuple(given_[:1] * len(given_) if same else given_)
        plain = Value(kind)
        simplified = b.op(row, *operands)
        b.append(Operation(row, operands, (plain,)))
        block.results = (simplified, plain)
    first, second = run(verify(b.function("f", block, ("a", "b"))), numbers).results
    assert np.array_equal(first, second, equal_nan=kind in (F64, F32))
    assert kind not in (F64, F32) or np.isnan(first) or np.signbit(first) == np.signbit(second)


def test_zero_is_not_minus_zero() -> None:
    """`x + 0.0` turns -0.0 into 0.0 and stays; `x + -0.0` and `x - 0.0` are x; `0.0 * x` stays."""
    b = Builder()
    x = Value(F64, "x")
    with b.block((x,)):
        assert b.op(ops.ADD, x, b.const(-0.0)) is x
        assert b.op(ops.ADD, x, b.const(0.0)) is not x
        assert b.op(ops.SUB, x, b.const(0.0)) is x
        assert b.op(ops.MUL, x, b.const(1.0)) is x
        assert b.known(b.op(ops.MUL, x, b.const(0.0))) is None


def test_types_that_do_not_fit_are_refused() -> None:
    b = Builder()
    x, i, array = Value(F64, "x"), Value(I64, "i"), Value(Buffer(F64, 1), "A")
    with b.block((x, i, array)) as block:
        for mistake in (
            lambda: b.op(ops.ADD, x, i),
            lambda: b.op(ops.SIN, i),
            lambda: b.load(array, ()),
            lambda: b.load(array, (x,)),
            lambda: b.store(array, i, (i,)),
            lambda: b.check(x, "ValueError", ""),
            lambda: b.loop(i, i, (), lambda _: (), step=0),
        ):
            with pytest.raises(TypeError):
                mistake()
    assert block.operations == []


# -- the core rows ----------------------------------------------------------------------------------------------------


def test_extents_come_from_where_the_buffer_was_made() -> None:
    b = Builder()
    n, m, array = Value(I64, "n"), Value(I64, "m"), Value(Buffer(F64, 2), "A")
    with b.block((n, m, array)) as block:
        made = b.alloc(F64, (n, m))
        assert b.dims(made) == (n, m)
        assert b.dims(b.op(core.RESHAPE, made, m, n)) == (m, n)
        table = b.op(core.TABLE, data=np.zeros((2, 3)), element="f64")
        assert [b.known(extent) for extent in b.dims(table)] == [2, 3]
        assert b.dim(array, 1) is b.dim(array, 1)
    assert rows(block).count("dim") == 1


def test_tables_are_shared_by_bits() -> None:
    b = Builder()
    with b.block():
        tables = [b.op(core.TABLE, data=np.array(data), element="f64") for data in ([0.0], [0.0], [-0.0], [[0.0]])]
    assert tables[0] is tables[1]
    assert len(set(tables)) == 3


def test_a_check_known_to_hold_is_dropped() -> None:
    b = Builder()
    with b.block() as block:
        b.check(b.const(True), "ValueError", "no")
        b.check(b.const(False), "ValueError", "no")
    assert rows(block) == ["const", "const", "check"]


def test_a_nest_visits_the_index_space_in_order() -> None:
    b = Builder()
    n, m, array = Value(I64, "n"), Value(I64, "m"), Value(Buffer(I64, 1), "A")
    with b.block((n, m, array)) as block:
        cell = b.alloc(I64, ())

        def visit(i: Value, j: Value) -> None:
            count = b.load(cell)
            b.store(array, b.op(ops.ADD, b.op(ops.MUL, i, b.index(10)), j), (count,))
            b.accumulate(cell, b.index(1))

        b.nest((n, m), visit)
    visited = np.zeros(6, np.int64)
    run(verify(b.function("f", block, ())), (2, 3, visited))
    assert visited.tolist() == [0, 1, 2, 10, 11, 12]


def test_names_of_loops_follow_the_carried_values() -> None:
    b = Builder()
    n, x = Value(I64, "n"), Value(F64, "x")
    with b.block((n, x)) as block:
        (result,) = b.loop(n, n, (x,), lambda i, a: (a,), name="k")
    loop = block.operations[0]
    assert result.name == "x"
    assert [value.name for value in loop.regions[0].arguments] == ["k", "x"]


def test_spans_are_given_to_operations() -> None:
    b = Builder()
    x, here, there = Value(F64, "x"), Span("f.py", 3), Span("f.py", 9)
    with b.block((x,)) as block:
        b.span = here
        b.op(ops.SIN, x)
        b.emit(ops.COS, (x,), span=there)
    assert [operation.span for operation in block.operations] == [here, there]
    assert b.function("f", block, (), origin="test").notes == {"origin": "test"}
