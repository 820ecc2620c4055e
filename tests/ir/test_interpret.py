"""The interpreter: the meaning of every core row, faults, exact counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.interpret import Counts, InternalError, ProgramError, run
from adgen.ir.nodes import Function, Value
from adgen.ir.printer import print_function
from adgen.ir.reader import parse_function
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar
from tests.strategies import arguments, functions


def read(parameters: str, body: str, names: str = "r") -> Function:
    """A function from its text."""
    return parse_function(f"function f({parameters}) -> ({names}) {{ {body} }}", ops.ROWS)


def value(function: Function, *given: Any) -> Any:
    """The only result."""
    (result,) = run(function, given).results
    return result


def counts(function: Function, *given: Any) -> Counts:
    return run(function, given).counts


# -- control flow -----------------------------------------------------------------------------------------------------

COUNTED = """%a = for %start, %stop, %s {exit=false, step=STEP} (%i: i64, %b: i64) {
    %ten = const {type="i64", value=10} : i64
    %c = mul %b, %ten : i64
    %d = add %c, %i : i64
    yield %d
} : i64
return %a"""


@pytest.mark.parametrize(
    ("start", "stop", "step", "digits"), [(1, 4, 1, 123), (1, 6, 2, 135), (3, 0, -1, 321), (2, 2, 1, 0), (3, 1, 1, 0)]
)
def test_for_visits_what_range_visits(start: int, stop: int, step: int, digits: int) -> None:
    function = read("%start: i64, %stop: i64, %s: i64", COUNTED.replace("STEP", str(step)))
    assert value(function, start, stop, 0) == digits


def test_carried_values_are_assigned_at_once() -> None:
    """Swapping two carried values swaps them."""
    function = read(
        "%zero: i64, %n: i64, %x: f64, %y: f64",
        "%a, %b = for %zero, %n, %x, %y {exit=false, step=1} (%i: i64, %c: f64, %d: f64) { yield %d, %c } : f64, f64 "
        "return %a, %b",
        "a, b",
    )
    assert run(function, (0, 3, 1.0, 2.0)).results == (2.0, 1.0)
    assert run(function, (0, 4, 1.0, 2.0)).results == (1.0, 2.0)


def test_exit_ends_after_the_iteration_that_yields_false() -> None:
    function = read(
        "%n: i64, %m: i64",
        "%a = for %n, %n, %n {exit=false, step=1} (%i: i64, %b: i64) { yield %i } : i64 "
        '%last = for %a, %m, %a {exit=true, step=1} (%j: i64, %c: i64) { %three = const {type="i64", value=3} : i64 '
        "%go = lt %j, %three : bool yield %go, %j } : i64 return %last",
    )
    assert value(function, 0, 10) == 3
    assert value(function, 0, 2) == 1


def test_exit_may_be_a_carried_value() -> None:
    """What decides is the value yielded, not the one that the same name holds for the next iteration."""
    function = read(
        "%a: i64, %n: i64, %go: bool",
        "%b, %last = for %a, %n, %go, %a {exit=true, step=1} (%i: i64, %c: bool, %l: i64) { %d = not %c : bool "
        "yield %c, %d, %i } : bool, i64 return %b, %last",
        "b, last",
    )
    assert run(function, (0, 10, True)).results == (True, 1)
    assert run(function, (0, 10, False)).results == (True, 0)


def test_while_tests_first() -> None:
    function = read(
        "%x: f64, %limit: f64",
        "%a = while %x (%b: f64) { %go = lt %b, %limit : bool yield %go } "
        "(%c: f64) { %d = add %c, %c : f64 yield %d } : f64 return %a",
    )
    assert value(function, 1.0, 100.0) == 128.0
    assert value(function, 1.0, 0.5) == 1.0
    assert counts(function, 1.0, 100.0).rows["lt"] == 8


def test_only_the_taken_branch_is_executed() -> None:
    function = read(
        "%c: bool, %x: f64, %A: f64[]",
        '%r = if %c {types=["f64"]} () { store %A, %x %s = sin %x : f64 yield %s } () { yield %x } : f64 return %r',
    )
    array = np.array(7.0)
    assert value(function, False, 2.0, array) == 2.0 and array == 7.0
    assert value(function, True, 2.0, array) == math.sin(2.0) and array == 2.0
    assert counts(function, False, 2.0, array).rows == {"if": 1}


def test_deep_nests_are_executed() -> None:
    """Python would refuse more than twenty nested loops, or a hundred nested branches, in one function."""
    b = Builder()
    n, x, array = Value(I64, "n"), Value(F64, "x"), Value(Buffer(F64, 0), "A")

    def level(depth: int, carried: Value) -> Value:
        if depth == 0:
            b.accumulate(array, x)
            return b.op(ops.ADD, carried, x)
        if depth % 2:
            return b.loop(b.index(0), n, (carried,), lambda i, inner: (level(depth - 1, inner),))[0]
        return b.branch(
            b.op(ops.GT, n, b.index(0)), lambda: (level(depth - 1, carried),), lambda: (carried,)
        )[0]  # fmt: skip

    with b.block((n, x, array)) as block:
        block.results = (level(120, x),)
    function = b.function("deep", block, ("r",))
    accumulator = np.array(0.0)
    assert value(function, 1, 2.0, accumulator) == 4.0 and accumulator == 2.0
    assert counts(function, 1, 2.0, accumulator).rows["for"] == 60
    assert value(function, 0, 2.0, accumulator) == 2.0


# -- memory -----------------------------------------------------------------------------------------------------------


def test_parameters_are_written_in_place() -> None:
    function = read("%A: f64[:,:], %i: i64, %v: f64", "store %A, %v, %i, %i accumulate %A, %v, %i, %i return", "")
    array = np.ones((2, 2))
    run(function, (array, 1, 3.0))
    assert array.tolist() == [[1.0, 1.0], [1.0, 6.0]]


def test_alloc_is_fresh_every_time() -> None:
    function = read(
        "%n: i64, %zero: i64, %x: f64",
        "%s = for %zero, %n, %x {exit=false, step=1} (%i: i64, %a: f64) { "
        '%b = alloc %n {element="f64", zero=true} : f64[:] '
        "%old = load %b, %zero : f64 store %b, %x, %zero yield %old } : f64 return %s",
    )
    assert value(function, 3, 0, 5.0) == 0.0


@pytest.mark.parametrize(("kind", "expected"), [(F64, math.nan), (F32, math.nan), (I64, -(2**62)), (BOOL, True)])
def test_unwritten_memory_is_noticed(kind: Scalar, expected: Any) -> None:
    function = read("%n: i64", f'%a = alloc %n {{element="{kind}", zero=false}} : {kind}[:] return %a')
    np.testing.assert_array_equal(value(function, 2), [expected] * 2)


def test_an_alloc_has_no_negative_extent() -> None:
    function = read("%n: i64", '%a = alloc %n {element="f64", zero=true} : f64[:] return %a')
    assert value(function, -3).shape == (0,)


def test_reshape_is_the_same_memory() -> None:
    function = read(
        "%A: f64[:,:], %n: i64, %v: f64",
        "%b = reshape %A, %n : f64[:] %last = dim %b {axis=0} : i64 %one = const {type=\"i64\", value=1} : i64 "
        "%i = sub %last, %one : i64 store %b, %v, %i return",
        "",
    )  # fmt: skip
    array = np.zeros((2, 3))
    run(function, (array, 6, 4.0))
    assert array[1, 2] == 4.0
    with pytest.raises(InternalError, match="cannot have the shape"):
        run(function, (array, 5, 4.0))


def test_a_stack_gives_back_the_last_first() -> None:
    function = read(
        "%x: f64, %y: f64",
        '%s = stack {element="f64"} : stack<f64> push %s, %x push %s, %y '
        "%a = pop %s : f64 %b = pop %s : f64 return %a, %b",
        "a, b",
    )
    assert run(function, (1.0, 2.0)).results == (2.0, 1.0)
    empty = read("", '%s = stack {element="f64"} : stack<f64> %a = pop %s : f64 return %a')
    with pytest.raises(InternalError):
        run(empty, ())


@pytest.mark.parametrize("index", [-1, 2, 2**62])
@pytest.mark.parametrize("body", ["%r = load %A, %i : f64 return %r", "store %A, %v, %i return %v"])
def test_an_index_out_of_range_is_the_front_ends_fault(index: int, body: str) -> None:
    with pytest.raises(InternalError):
        run(read("%A: f64[:], %v: f64, %i: i64", body), (np.zeros(2), 1.0, index))


def test_tables_are_read_only() -> None:
    """Even if the IR is wrong, and even if the array in the attribute is writable."""
    text = '%t = table {data=array("f8", [], [1.0]), element="f64"} : f64[] store %t, %x return %x'
    function = read("%x: f64", text)
    function.body.operations[0].attributes["data"].flags.writeable = True
    with pytest.raises(ValueError, match="read-only"):
        run(function, (1.0,))


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_division_by_zero_is_ieee() -> None:
    function = read("%x: f64, %y: f64", "%r = div %x, %y : f64 return %r")
    assert value(function, 1.0, 0.0) == math.inf
    assert value(function, -1, 0) == -math.inf
    assert math.isnan(value(function, 0.0, 0.0))


def test_f32_stays_f32() -> None:
    function = read("%x: f32, %A: f32[]", "%y = mul %x, %x : f32 accumulate %A, %y %z = load %A : f32 return %z")
    array = np.array(1.0, np.float32)
    result = value(function, 0.1, array)
    assert type(result) is np.float32
    assert result == np.float32(0.1) * np.float32(0.1) + np.float32(1.0)


@pytest.mark.parametrize(("x", "y", "product"), [(3, 4, 12), (2**62, 2, -(2**63)), (2**63 - 1, 2, -2)])
def test_i64_is_that_of_the_machine(x: int, y: int, product: int) -> None:
    result = value(read("%x: i64, %y: i64", "%r = mul %x, %y : i64 return %r"), x, y)
    assert result == product and type(result) is int


def test_elements_are_python_integers_and_truth_values() -> None:
    function = read("%A: i64[], %B: bool[]", "%a = load %A : i64 %b = load %B : bool return %a, %b", "a, b")
    a, b = run(function, (np.array(3), np.array(True))).results
    assert type(a) is int and type(b) is bool


# -- checks and arguments ---------------------------------------------------------------------------------------------


def test_a_failed_check_is_the_programs_exception() -> None:
    function = read(
        "%c: bool, %n: i64, %m: i64",
        'check %c, %n, %m {exception="IndexError", message="index {0} is out of {1}, {0}"} return',
        "",
    )
    run(function, (True, 1, 2))
    with pytest.raises(ProgramError) as caught:
        run(function, (False, 5, 3))
    assert (caught.value.exception, caught.value.message) == ("IndexError", "index 5 is out of 3, 5")
    assert str(caught.value) == "IndexError: index 5 is out of 3, 5"


def test_arguments_must_fit() -> None:
    function = read("%A: f64[:], %x: f64", "return %x")
    for given_ in [(np.zeros(2),), (np.zeros(2, np.float32), 1.0), (np.zeros((2, 2)), 1.0), (np.zeros(4)[::2], 1.0)]:
        with pytest.raises(TypeError):
            run(function, given_)


# -- counts -----------------------------------------------------------------------------------------------------------


def test_counts_of_a_double_loop() -> None:
    """`for i < n: for j < m: A[i] += sin(A[i]) * x`: n*m of each row inside, n inner loops, one outer."""
    b = Builder()
    array, x, n, m = Value(Buffer(F64, 1), "A"), Value(F64, "x"), Value(I64, "n"), Value(I64, "m")
    with b.block((array, x, n, m)) as block:
        b.nest((n, m), lambda i, j: b.accumulate(array, b.op(ops.MUL, b.op(ops.SIN, b.load(array, (i,))), x), (i,)))
    found = counts(b.function("f", block, ()), np.ones(3), 2.0, 3, 5)
    assert found.rows == {"const": 1, "for": 1 + 3, "load": 15, "sin": 15, "mul": 15, "accumulate": 15}
    assert (found.loads, found.stores) == (15, 15)
    assert found.operations == 15 * (ops.SIN.cost + ops.MUL.cost)


def test_only_floating_point_operations_are_counted_as_such() -> None:
    """Results or first operands of floating-point type; integer arithmetic and copies cost nothing."""
    function = read(
        "%x: f64, %i: i64, %c: bool",
        "%j = add %i, %i : i64 %k = lt %i, %j : bool %l = and %k, %c : bool "
        "%a = add %x, %x : f64 %b = lt %x, %a : bool %d = select %b, %x, %a : f64 return %d",
    )
    found = counts(function, 1.0, 2, True)
    assert found.operations == ops.ADD.cost + ops.LT.cost + ops.SELECT.cost
    assert (found.loads, found.stores) == (0, 0)


def test_counts_follow_the_path_taken() -> None:
    function = read(
        "%n: i64, %x: f64",
        """%zero = const {type="i64", value=0} : i64
        %a = for %zero, %n, %x {exit=false, step=1} (%i: i64, %b: f64) {
          %two = const {type="i64", value=2} : i64
          %odd = mod %i, %two : i64
          %c = eq %odd, %zero : bool
          %d = if %c {types=["f64"]} () { %e = mul %b, %b : f64 yield %e } () { %f = add %b, %b : f64 yield %f } : f64
          yield %d
        } : f64
        return %a""",
    )
    found = counts(function, 7, 1.0).rows
    assert (found["mul"], found["add"], found["if"], found["eq"], found["const"]) == (4, 3, 7, 7, 8)


def test_a_second_run_counts_from_zero() -> None:
    function = read("%x: f64", "%r = sin %x : f64 return %r")
    assert counts(function, 1.0) == counts(function, 2.0)
    assert counts(function, 1.0).rows == {"sin": 1}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(functions(), st.data())
def test_runs_are_deterministic(function: Function, data: st.DataObject) -> None:
    """The same function twice, and the function read back from its text: bits, counts and effects are equal."""
    given_ = data.draw(arguments(function))

    def outcome(function: Function) -> str:
        copies = [argument.copy() if isinstance(argument, np.ndarray) else argument for argument in given_]
        try:
            found = run(function, copies)
        except ProgramError as error:
            return f"{error} {copies!r}"
        return f"{found!r} {copies!r}"

    first = outcome(function)
    assert outcome(function) == first
    assert outcome(parse_function(print_function(function), ops.ROWS)) == first
