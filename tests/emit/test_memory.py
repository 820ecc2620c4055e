"""Where buffers live, and what the functions that tell sizes say."""

from __future__ import annotations

import numpy as np
import pytest

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.emit import emit
from adgen.emit.memory import Plan, plan_memory
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.reader import parse_function
from tests.native import Native

pytestmark = pytest.mark.quick

HEAD = """function f(%A: f64[:,:], %n: i64) -> () {
  %z = const {type="i64", value=0} : i64
  %three = const {type="i64", value=3} : i64
  %k = dim %A {axis=1} : i64
  for %z, %n {exit=false, step=1} (%i: i64) {
"""


def nested(lines: str) -> Function:
    """A function that makes a buffer `u` in a loop over `i`."""
    return parse_function(f"{HEAD}{lines}\n    yield\n  }}\n  return\n}}", ops.ROWS)


def home(plan: Plan) -> str:
    """Where the only buffer lives."""
    return "local" if plan.local else "workspace" if plan.workspace else "heap"


@pytest.mark.parametrize(
    ("lines", "where", "workspace"),
    [
        ("%u = alloc %three {element='f64', zero=true} : f64[:]", "local", "0"),
        ("%b = mul %k, %three : i64\n%u = alloc %b {element='f64', zero=true} : f64[:]", "workspace", "24*A_n1"),
        ("%a = add %i, %three : i64\n%u = alloc %a {element='f32', zero=true} : f32[:]", "workspace", "4*(n + 2)"),
        (
            "%a = add %i, %three : i64\n%b = sub %a, %i : i64\n%u = alloc %b, %k {element='f64', zero=true} : f64[:,:]",
            "workspace",
            "24*A_n1",
        ),
        ("%b = mul %i, %k : i64\n%u = alloc %b {element='bool', zero=true} : bool[:]", "workspace", "A_n1*n - A_n1"),
        ("%b = sub %n, %i : i64\n%u = alloc %b, %b {element='f64', zero=true} : f64[:,:]", "workspace", "8*n*n"),
        ("%b = mul %i, %n : i64\n%u = alloc %b {element='f64', zero=true} : f64[:]", "heap", "0"),
    ],
)
def test_homes(lines: str, where: str, workspace: str) -> None:
    """Constant and small: the stack; bounded at entry: the workspace; else the heap."""
    function = nested(lines.replace("'", '"'))
    assert home(plan_memory(function)) == where
    assert emit([function], "m").interfaces["f"].workspace == workspace


def test_many_small_arrays_do_not_overflow_the_stack() -> None:
    """Beyond a total, constant sizes too are taken from the workspace."""
    lines = "\n".join(f'%u{k} = alloc %size {{element="f64", zero=false}} : f64[:]' for k in range(100))
    text = f'function f() -> () {{\n%size = const {{type="i64", value=64}} : i64\n{lines}\nreturn\n}}'
    plan = plan_memory(parse_function(text, ops.ROWS))
    assert len(plan.local) == 64 and len(plan.workspace) == 36


def test_the_shape_of_a_result_must_be_known_at_entry() -> None:
    """A shape that depends on computed values is refused, with the line."""
    function = parse_function(
        """function f(%x: f64[:]) -> (out) {
          %z = const {type="i64", value=0} : i64
          %n = dim %x {axis=0} : i64
          %last = for %z, %n, %z {exit=false, step=1} (%i: i64, %m: i64) {
            yield %i
          } : i64
          %out = alloc %last {element="f64", zero=true} : f64[:]
          return %out
        }""",
        ops.ROWS,
    )
    with pytest.raises(AdgenError) as raised:
        emit([function], "m")
    assert raised.value.code == "AD320" and "shape" in raised.value.message


SIZES = """function f(%n: i64, %m: i64) -> (out) {
  %u = alloc %n, %m {element="f64", zero=true} : f64[:,:]
  %z = const {type="i64", value=0} : i64
  %out = alloc %n {element="f64", zero=true} : f64[:]
  for %z, %n {exit=false, step=1} (%i: i64) {
    for %z, %m {exit=false, step=1} (%j: i64) {
      %a = load %u, %i, %j : f64
      accumulate %out, %a, %i
      yield
    }
    yield
  }
  return %out
}"""


@pytest.mark.parametrize(
    ("n", "m", "work"),
    [
        (3, 5, 128),
        (0, 5, 64),
        (-1, -1, 64),
        (2**40, 2**40, 2**63 - 1),
        (2**62, 4, 2**63 - 1),
        (2**31, 2**31, 2**63 - 1),
    ],
)
def test_sizes_never_wrap(n: int, m: int, work: int) -> None:
    """Negative extents count as 0; what does not fit into 64 bits is the largest size, which no memory has."""
    native = Native([parse_function(SIZES, ops.ROWS)])
    sizes = native.ffi.new("int64_t[2]")
    native.lib.f_sizes(n, m, sizes)
    assert list(sizes) == [work, max(n, 0)]


def test_negative_extents_are_empty() -> None:
    """Nothing is cleared and nothing is read."""
    status, (out,) = Native([parse_function(SIZES, ops.ROWS)]).call("f", [-3, -2])
    assert status == 0 and out.shape == (0,)


def test_heap_memory_grows_and_is_freed() -> None:
    """A buffer whose size is computed is made anew in every iteration, cleared."""
    function = parse_function(
        """function f(%x: f64, %n: i64) -> (total) {
          %z = const {type="i64", value=0} : i64
          %one = const {type="i64", value=1} : i64
          %none = const {type="f64", value=0.0} : f64
          %size, %total = for %z, %n, %one, %none {exit=false, step=1} (%i: i64, %m: i64, %t: f64) {
            %u = alloc %m, %m {element="f64", zero=true} : f64[:,:]
            %last = sub %m, %one : i64
            %a = load %u, %last, %last : f64
            store %u, %x, %last, %last
            %b = load %u, %last, %last : f64
            %c = add %a, %b : f64
            %next = add %t, %c : f64
            %two = mul %m, %m : i64
            %more = add %two, %one : i64
            yield %more, %next
          } : i64, f64
          return %total
        }""",
        ops.ROWS,
    )
    native = Native([function])
    assert "free(u);" in native.emitted.c_source and native.emitted.interfaces["f"].grows
    assert native.call("f", [2.0, 4])[1] == list(run(function, [2.0, 4]).results) == [8.0]


def test_a_failure_frees_memory_and_no_memory_is_reported() -> None:
    """Status -1 when there is none; a failing check leaves through the same door."""
    function = parse_function(
        """function f(%x: f64, %least: i64) -> () {
          %n = to_i64 %x : i64
          %three = const {type="f64", value=3.0} : f64
          %half = mul %x, %three : f64
          %m = to_i64 %half : i64
          %u = alloc %m, %m {element="f64", zero=false} : f64[:,:]
          %fits = le %n, %least : bool
          check %fits, %n, %least {exception="ValueError", message="{0} {1}"}
          return
        }""",
        ops.ROWS,
    )
    native = Native([function])
    assert native.call("f", [2.0, 5])[0] == 0
    assert native.call("f", [7.0, 5])[0] == 1 and native.detail == [7, 5]
    assert native.call("f", [2.0**40, 5])[0] == -1


def test_a_stack_is_empty_each_time_it_is_made() -> None:
    """What an iteration leaves on a stack is not seen by the next one."""
    function = parse_function(
        """function f(%x: f64) -> (total) {
          %z = const {type="i64", value=0} : i64
          %two = const {type="i64", value=2} : i64
          %total = for %z, %two, %x {exit=false, step=1} (%i: i64, %t: f64) {
            %s = stack {element="f64"} : stack<f64>
            push %s, %t
            push %s, %x
            %top = pop %s : f64
            %sum = add %top, %t : f64
            yield %sum
          } : f64
          return %total
        }""",
        ops.ROWS,
    )
    assert Native([function]).call("f", [1.5])[1] == [4.5]


def test_empty_and_zero_dimensional_arrays() -> None:
    """Rank 0 is one element; an empty table and an empty array are fine."""
    function = parse_function(
        """function f(%a: f64[], %b: f64[:]) -> (out) {
          %z = const {type="i64", value=0} : i64
          %out = alloc {element="f64", zero=true} : f64[]
          %t = table {data=array("float64", [0], []), element="f64"} : f64[:]
          %n = dim %t {axis=0} : i64
          %m = dim %b {axis=0} : i64
          %k = add %n, %m : i64
          for %z, %k {exit=false, step=1} (%i: i64) {
            %v = load %b, %i : f64
            accumulate %a, %v
            yield
          }
          %w = load %a : f64
          store %out, %w
          return %out
        }""",
        ops.ROWS,
    )
    given = [np.array(2.0), np.array([1.0, 3.0])]
    status, (out,) = Native([function]).call("f", given)
    assert status == 0 and out == 6.0 and given[0] == 6.0
    assert Native([function]).call("f", [np.array(2.0), np.empty(0)])[1][0] == 2.0
