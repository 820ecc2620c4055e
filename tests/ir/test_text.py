"""The text form: what it looks like, that it is read back, and what the reader says to anything else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.printer import print_function
from adgen.ir.reader import ReadError, parse_function
from adgen.ir.types import F64, I64, Buffer
from adgen.ir.verify import verify
from tests.strategies import functions

QUICK = settings(max_examples=60, deadline=None, derandomize=True, database=None)

SUM = """\
function total(%A: f64[:], %n: i64) -> (s) {
  %0 = const {type="i64", value=0} : i64
  %1 = const {type="f64", value=0.0} : f64
  %s = for %0, %n, %1 {exit=false, step=1} (%i: i64, %a: f64) {
    %2 = load %A, %i : f64
    %3 = add %a, %2 : f64
    yield %3
  } : f64
  return %s
}
"""


def total() -> Function:
    b = Builder()
    b.span = Span("total.py", 7)
    array, n = Value(Buffer(F64, 1), "A"), Value(I64, "n")
    with b.block((array, n)) as block:
        block.results = b.loop(
            b.index(0), n, (b.const(0.0),), lambda i, a: (b.op(ops.ADD, a, b.load(array, (i,))),), names=("a",)
        )
        block.results[0].name = "s"
    return b.function("total", block, ("s",))


def constant(function: Function, kind: str) -> object:
    """The value of the first constant of a type."""
    found = [o for o in walk(function.body) if o.row is core.CONST and o.attributes["type"] == kind]
    return found[0].attributes["value"]


def returning(*operations: Operation) -> Function:
    """A function of these operations that returns the result of the last."""
    return Function("f", Region((), operations, operations[-1].results), ("r",))


def test_text_of_a_loop() -> None:
    assert print_function(total()) == SUM
    assert str(total()) == SUM


def test_text_is_read_back() -> None:
    assert parse_function(SUM, ops.ROWS) == total()


def test_spans_are_printed_when_asked_and_skipped_when_read() -> None:
    text = print_function(total(), spans=True)
    assert "%2 = load %A, %i : f64 @7\n" in text
    assert parse_function(text, ops.ROWS) == total()


def test_comments_and_layout_do_not_matter() -> None:
    text = "# a comment\n" + SUM.replace("\n  ", " # another\n\n")
    assert parse_function(text, ops.ROWS) == total()


def test_hints_are_kept_and_numbers_forgotten() -> None:
    """A printed number means that there is no hint; so reading and printing again gives the same text."""
    function = parse_function(SUM, ops.ROWS)
    assert [value.name for value in function.parameters] == ["A", "n"]
    assert [o.results[0].name for o in function.body.operations] == ["", "", "s"]


def test_names_that_collide_are_numbered() -> None:
    first, second, third = Value(F64, "x"), Value(F64, "x_1"), Value(F64, "x")
    odd = [Value(F64, name) for name in ("a b", "1", "%", "class", "α", "a·b")]
    function = Function("f", Region((first, second, third, *odd), (), (third,)), ("r",))
    text = print_function(function)
    assert text.startswith(
        "function f(%x: f64, %x_1: f64, %x_2: f64, %0: f64, %1: f64, %2: f64, %class: f64, %α: f64, %a·b"
    )
    assert parse_function(text, ops.ROWS) == function


@pytest.mark.parametrize("number", [0.0, -0.0, 1e-300, 5e-324, 1e22, 0.1, float("inf"), float("-inf"), float("nan")])
def test_float_constants_keep_their_bits(number: float) -> None:
    operation = Operation(core.CONST, (), (Value(F64),), {"type": "f64", "value": number})
    found = constant(parse_function(print_function(returning(operation)), ops.ROWS), "f64")
    assert isinstance(found, float)
    assert np.float64(found).tobytes() == np.float64(number).tobytes()


@pytest.mark.parametrize("number", [0, -1, 2**63 - 1, -(2**63)])
def test_integer_constants_stay_integers(number: int) -> None:
    operation = Operation(core.CONST, (), (Value(I64),), {"type": "i64", "value": number})
    found = constant(parse_function(print_function(returning(operation)), ops.ROWS), "i64")
    assert type(found) is int and found == number


@pytest.mark.parametrize(
    "data",
    [
        np.array([[0.0, -0.0, np.nan], [np.inf, -np.inf, 0.1]]),
        np.array([0.1, 3.4e38, -0.0], np.float32),
        np.array([-(2**63), 2**63 - 1]),
        np.array([True, False]),
        np.array(2.5),
        np.zeros((2, 0, 3)),
        np.arange(6.0).reshape(2, 3).T,
    ],
    ids=lambda data: f"{data.dtype}{list(data.shape)}",
)
def test_tables_keep_dtype_shape_and_bits(data: np.ndarray) -> None:
    element = {"float64": "f64", "float32": "f32", "int64": "i64", "bool": "bool"}[data.dtype.name]
    b = Builder()
    with b.block() as block:
        b.emit(core.TABLE, (), {"data": data, "element": element})
    function = verify(b.function("f", block, ()))
    copy = parse_function(print_function(function), ops.ROWS)
    found = verify(copy).body.operations[0].attributes["data"]
    assert (found.dtype, found.shape, found.tobytes()) == (data.dtype, data.shape, data.tobytes())
    assert not found.flags.writeable
    assert copy == function


def test_numpy_attributes_print_like_pythons() -> None:
    attributes = {"type": "f64", "value": np.float64(0.1), "k": np.int64(3), "flag": np.bool_(True), "text": 'a "b"\n'}
    text = print_function(returning(Operation(core.CONST, (), (Value(F64),), attributes)))
    assert '{flag=true, k=3, text="a \\"b\\"\\n", type="f64", value=0.1}' in text
    assert print_function(parse_function(text, ops.ROWS)) == text


@QUICK
@given(functions())
def test_every_function_is_read_back(function: Function) -> None:
    text = print_function(function)
    copy = parse_function(text, ops.ROWS)
    assert copy == function
    assert print_function(copy) == text
    verify(copy)


def test_functions_are_equal_when_they_print_the_same() -> None:
    assert total() == total()
    assert total() != parse_function(SUM.replace("add", "sub"), ops.ROWS)
    assert total() != SUM


FAULTS = {
    "": "expected function, found the end",
    "functoin f() -> () { return }": "expected function, found functoin",
    "function f(%x) -> () { return }": "expected :",
    "function f(x: f64) -> () { return }": "expected a value, found x",
    "function f(%x: f65) -> () { return }": "not a scalar type: f65",
    "function f(%x: f64, %x: f64) -> () { return }": "%x is defined twice",
    "function f() -> () { %a = sin %x : f64 return }": "%x is not defined here",
    "function f() -> () { nothing return }": "there is no row 'nothing'",
    "function f() -> () { return } more": "text after the function",
    "function f() -> (r) { return }": "as many results",
    "function f() -> (r) {": "there is no row ''",
    "function f(%x: f64) -> () { %a = sin %x : f32 return }": "sin gives f64",
    "function f(%x: f64) -> () { sin %x return }": "sin gives f64",
    "function f(%x: f64) -> () { %a = load : f64 return }": "load: ",
    "function f() -> () { %a = const {type=[], value=1} : f64 return }": "const: ",
    "function f() -> () { %a = const {type=yes} : f64 return }": "'yes' is not an attribute",
    'function f() -> () { %a = table {element="f64", data=array("f64", [2], [1.0])} : f64[:] return }': "not an array",
    'function f() -> () { %a = table {element="f64", data=array("f99", [1], [1.0])} : f64[:] return }': "not an array",
    "function f() -> () { ? return }": "cannot read",
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), FAULTS.items())
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(ReadError) as caught:
        parse_function(text, ops.ROWS)
    assert message in str(caught.value)


def test_faults_have_their_line() -> None:
    with pytest.raises(ReadError, match=r"^line 5: "):
        parse_function(SUM.replace("%i :", "%j :"), ops.ROWS)


@QUICK
@given(functions(8), st.data())
def test_the_reader_is_total(function: Function, data: st.DataObject) -> None:
    """Text with a piece cut out, doubled, or replaced gives a function or a ReadError."""
    text = print_function(function)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    piece = data.draw(
        st.sampled_from(["", text[start:end] * 2, "(", "}", '"', "%x", "1e999", "[", "array(", "\\", "{", "="])
    )
    try:
        parse_function(text[:start] + piece + text[end:], ops.ROWS)
    except ReadError:
        pass
