"""The verifier: it accepts what is well formed, and rejects everything else with a VerifyError."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.reader import parse_function
from adgen.ir.types import BOOL, F64, I64, Buffer
from adgen.ir.verify import VerifyError, verify
from tests.ir import mutations
from tests.strategies import functions

QUICK = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.filter_too_much]
)


@QUICK
@given(functions())
def test_random_functions_are_well_formed(function: Function) -> None:
    assert verify(function) is function


@pytest.mark.parametrize("mutation", mutations.MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_mutations_are_rejected(mutation: object) -> None:
    @settings(QUICK, max_examples=8)
    @given(functions(10), st.data())
    def check(function: Function, data: st.DataObject) -> None:
        broken = mutation(data.draw, function)  # type: ignore[operator]
        assume(broken is not None)
        with pytest.raises(VerifyError):
            verify(broken)

    check()


@settings(QUICK, max_examples=150)
@given(functions(8), st.data())
def test_the_verifier_is_total(function: Function, data: st.DataObject) -> None:
    """Whatever is done to an operation, the verifier accepts or raises VerifyError, and nothing else."""
    try:
        verify(mutations.scrambled(data.draw, function))
    except VerifyError:
        pass


def rejected(text: str) -> str:
    """Why a text, which reads as a function, is not well formed."""
    with pytest.raises(VerifyError) as caught:
        verify(parse_function(text, ops.ROWS))
    return str(caught.value)


def test_the_operation_is_named() -> None:
    """Function, row, line, result, and what is wrong."""
    a = Value(F64, "a")
    sin = Operation(ops.SIN, (Value(F64, "x"),), (a,), span=Span("f.py", 12))
    b = Builder()
    with b.block() as block:
        b.append(sin)
    with pytest.raises(VerifyError, match=r"^f: sin of line 12 \(%a\): %x: f64 is used before it is defined$"):
        verify(b.function("f", block, ()))


def test_use_outside_the_region() -> None:
    b = Builder()
    inner: list[Value] = []
    x, c = Value(F64, "x"), Value(BOOL, "c")
    with b.block((x, c)) as block:
        b.branch(c, lambda: inner.append(b.op(ops.SIN, x)) or ())  # type: ignore[func-returns-value]
        block.results = (inner[0],)
    with pytest.raises(VerifyError, match="results of function: .* is used outside its region"):
        verify(b.function("f", block, ("r",)))


def test_values_of_one_region_are_not_visible_in_the_next() -> None:
    b = Builder()
    x, c = Value(F64, "x"), Value(BOOL, "c")
    with b.block((x, c)) as block:
        with b.block() as first:
            value = b.op(ops.SIN, x)
            first.results = (value,)
        with b.block() as second:
            second.results = (value,)
        block.results = b.emit(core.IF, (c,), {"types": ("f64",)}, (first.region(), second.region()))
    with pytest.raises(VerifyError, match="outside its region"):
        verify(b.function("f", block, ("r",)))


def test_a_loop_with_exit_yields_a_bool_first() -> None:
    text = """function f(%n: i64, %x: f64) -> () {{
      %a = for %n, %n, %x {{exit={}, step=1}} (%i: i64, %b: f64) {{ yield {} }} : f64
      return
    }}"""
    verify(parse_function(text.format("false", "%b"), ops.ROWS))
    assert "for (%a): regions take and yield" in rejected(text.format("true", "%b"))
    assert "for (%a): regions take and yield" in rejected(text.format("false", "%i"))


def test_exit_is_a_truth_value() -> None:
    text = "function f(%n: i64) -> () { for %n, %n {exit=0, step=1} (%i: i64) { yield } return }"
    assert "exit must be true or false" in rejected(text)


def test_a_condition_yields_one_bool() -> None:
    text = "function f(%x: f64) -> () { %a = while %x (%b: f64) { yield %b } (%c: f64) { yield %c } : f64 return }"
    assert "while (%a): regions take and yield" in rejected(text)


def test_a_reshaped_table_is_not_written_either() -> None:
    text = """function f(%v: f64, %n: i64) -> () {
      %t = table {data=array("float64", [1], [1.0]), element="f64"} : f64[:]
      %r = reshape %t, %n, %n : f64[:,:]
      store %r, %v, %n, %n
      return
    }"""
    assert rejected(text) == "f: store: a table is never written"


@pytest.mark.parametrize("kind", ["parameter", "reshape", "inner alloc", "twice"])
def test_buffer_results_are_allocs_of_the_top_level(kind: str) -> None:
    b = Builder()
    n, array, c = Value(I64, "n"), Value(Buffer(F64, 1), "A"), Value(BOOL, "c")
    with b.block((n, array, c)) as block:
        made = b.alloc(F64, (n,))
        inner: list[Value] = []
        b.branch(c, lambda: inner.append(b.alloc(F64, (n,))) or ())  # type: ignore[func-returns-value]
        results = {
            "parameter": (array,),
            "reshape": (b.op(core.RESHAPE, made, n),),
            "inner alloc": tuple(inner),
            "twice": (made, made),
        }
        block.results = (made,)
    good = b.function("f", block, ("r",))
    verify(good)
    bad = results[kind]
    broken = replace(good, body=replace(good.body, results=bad), result_names=("r", "s")[: len(bad)])
    with pytest.raises(VerifyError, match="results"):
        verify(broken)


def test_a_check_has_four_details_at_most() -> None:
    check = 'check %c, %n, %n, %n, %n, %n {exception="ValueError", message=""}'
    text = f"function f(%c: bool, %n: i64) -> () {{ {check} return }}"
    assert "at most four details" in rejected(text)
