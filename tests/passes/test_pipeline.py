"""The lists of passes: what they achieve together, and that their work grows with the program and no faster."""

import sys
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Value
from adgen.ir.types import F64, I64, Buffer
from adgen.passes.adjoint import adjoint
from adgen.passes.lanes import lanes
from adgen.passes.localise import localise
from adgen.passes.pipeline import EMITTED, PRIMAL, simplify
from tests.oracles import floats
from tests.passes.support import arguments, assert_same, parse, rows
from tests.passes.test_sink_buffers import depth

MIXTURE = """function f(%means: f64[:,:], %w: f64[:], %x: f64[:,:]) -> (out) {
  %0 = const {type="i64", value=0} : i64
  %1 = const {type="i64", value=1} : i64
  %z = const {type="f64", value=0.0} : f64
  %K = dim %means {axis=0} : i64
  %d = dim %means {axis=1} : i64
  %N = dim %x {axis=0} : i64
  %e = dim %x {axis=1} : i64
  %main = alloc %K {element="f64", zero=true} : f64[:]
  %xc = alloc %d {element="f64", zero=true} : f64[:]
  %total = for %0, %N, %z {exit=false, step=1} (%n: i64, %t: f64) {
    for %0, %K {exit=false, step=1} (%k: i64) {
      for %0, %d {exit=false, step=1} (%i: i64) {
        %in = lt %i, %e : bool
        check %in, %i, %e {exception="IndexError", message="index {0} is out of bounds for size {1}"}
        %a = load %x, %n, %i : f64
        %b = load %means, %k, %i : f64
        %c = sub %a, %b : f64
        store %xc, %c, %i
        yield
      }
      %q, %p = for %0, %d, %z, %0 {exit=false, step=1} (%i: i64, %s: f64, %r: i64) {
        %first = add %i, %1 : i64
        %r9 = for %first, %d, %r {exit=false, step=1} (%j: i64, %r1: i64) {
          %u = load %w, %r1 : f64
          %v = load %xc, %i : f64
          %uv = mul %u, %v : f64
          accumulate %xc, %uv, %j
          %r2 = add %r1, %1 : i64
          yield %r2
        } : i64
        %a = load %xc, %i : f64
        %b = load %xc, %i : f64
        %c = mul %a, %b : f64
        %s1 = add %s, %c : f64
        yield %s1, %r9
      } : f64, i64
      store %main, %q, %k
      yield
    }
    %m = for %0, %K, %t {exit=false, step=1} (%k: i64, %s: f64) {
      %a = load %main, %k : f64
      %b = exp %a : f64
      %c = add %s, %b : f64
      yield %c
    } : f64
    yield %m
  } : f64
  return %total
}"""


@pytest.mark.quick
def test_a_mixture_is_made_local() -> None:
    """Temporaries move into the loops that fill them, the counter of the triangle and the checks in loops go."""
    before = parse(MIXTURE)
    after = simplify(before)
    text = str(after)
    assert depth(after) == 1 and text.index("alloc %K") < text.index("alloc %d")
    assert "zero=true" not in text
    assert rows(after)["check"] == sum(o.row.name == "check" for o in after.body.operations) == 1
    assert sum(len(o.results) for o in _loops(after)) == 3
    assert_same(before, after, seeds=2, extent=3)


def test_operations_fall() -> None:
    """Fewer elements are read, and no more is computed."""
    before = parse(MIXTURE)
    inputs = arguments(before, 1, 3)
    old, new = run(before, inputs).counts, run(simplify(before), inputs).counts
    assert new.loads < old.loads and new.operations <= old.operations
    assert new.rows["check"] == 1 < old.rows["check"]


def _loops(function: Function) -> list:
    from adgen.ir.nodes import walk

    return [operation for operation in walk(function.body) if operation.row.name == "for"]


def straight_line(size: int) -> Function:
    """Arithmetic, checked loads and stores, one after the other."""
    builder = Builder()
    parameters = [Value(F64, "x"), Value(Buffer(F64, 1), "A"), Value(I64, "n")]
    x, memory, n = parameters
    with builder.block(parameters) as block:
        extent = builder.dim(memory, 0)
        for k in range(size):
            index = builder.op(ops.ADD, n, builder.index(k % 7))
            builder.check(builder.op(ops.LT, index, extent), "IndexError", "{0}", (index,))
            x = builder.op(ops.ADD, builder.op(ops.SIN, x), builder.load(memory, (index,)))
            if k % 3 == 0:
                builder.store(memory, x, (index,))
        block.results = (x,)
    return builder.function("f", block, ("out",))


def nested(size: int) -> Function:
    """Loops and branches side by side, each with memory of its own and a counter."""
    builder = Builder()
    parameters = [Value(F64, "x"), Value(Buffer(F64, 1), "A"), Value(I64, "n")]
    x, memory, n = parameters
    zero = None
    with builder.block(parameters) as block:
        zero, one = builder.index(0), builder.index(1)
        extent = builder.dim(memory, 0)
        buffers = [builder.alloc(F64, (extent,), "t") for _ in range(size)]
        for k, buffer in enumerate(buffers):

            def body(i: Value, s: Value, c: Value, buffer: Value = buffer, k: int = k) -> tuple[Value, ...]:
                index = builder.op(ops.ADD, i, builder.index(k % 5))
                builder.check(builder.op(ops.LT, index, extent), "IndexError", "{0}", (index,))
                builder.store(buffer, builder.load(memory, (index,)), (i,))
                builder.check(builder.op(ops.LT, c, extent), "IndexError", "{0}", (c,))
                return builder.op(ops.MUL, s, builder.load(buffer, (i,))), builder.op(ops.ADD, c, one)

            x, _ = builder.loop(zero, n, (x, zero), body, names=("s", "c"))
            known = x
            (x,) = builder.branch(
                builder.op(ops.LT, x, builder.const(float(k))),
                lambda: (builder.op(ops.SIN, builder.load(memory, (zero,))),),
                lambda known=known: (known,),
            )
        block.results = (x,)
    return builder.function("f", block, ("out",))


def deep_counter(size: int) -> Function:
    """A long chain of integer sums, each checked."""
    builder = Builder()
    parameters = [Value(F64, "x"), Value(Buffer(I64, 1), "A")]
    with builder.block(parameters) as block:
        extent = builder.dim(parameters[1], 0)
        total = builder.index(0)
        for k in range(size):
            total = builder.op(ops.ADD, total, builder.load(parameters[1], (builder.index(k),)))
            builder.check(builder.op(ops.LT, total, extent), "IndexError", "{0}", (total,))
        block.results = (total,)
    return builder.function("f", block, ("out",))


def side_by_side(size: int) -> Function:
    """A loop over rows, with loops and memory inside that belong to one row."""
    builder = Builder()
    parameters = [Value(Buffer(F64, 2), "A")]
    (memory,) = parameters
    with builder.block(parameters) as block:
        zero = builder.index(0)
        rows, columns = builder.dim(memory, 0), builder.dim(memory, 1)

        def row(i: Value, total: Value) -> tuple[Value, ...]:
            s = builder.load(memory, (i, zero))
            for k in range(size):
                buffer = builder.alloc(F64, (columns,), "t")

                def fill(j: Value, s: Value = s, buffer: Value = buffer) -> tuple[Value, ...]:
                    builder.store(buffer, builder.op(ops.MUL, s, builder.load(memory, (i, j))), (j,))
                    return ()

                def add(j: Value, r: Value, buffer: Value = buffer, k: int = k) -> tuple[Value, ...]:
                    scaled = builder.op(ops.MUL, builder.load(buffer, (j,)), builder.const(float(k)))
                    return (builder.op(ops.ADD, r, scaled),)

                builder.loop(zero, columns, (), fill)
                (r,) = builder.loop(zero, columns, (s,), add, names=("r",))
                s = builder.op(ops.SIN, r)
            return (builder.op(ops.ADD, total, s),)

        block.results = builder.loop(zero, rows, (builder.const(0.0),), row, names=("total",))
    return builder.function("f", block, ("out",))


def steps(passes: Callable[[Function], object], function: Function) -> int:
    """How many lines of Python a run executes: the same on every machine."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        passes(function)
    finally:
        sys.settrace(previous)
    return count


def chain(function: Function, derived: bool) -> Iterator[tuple[str, int]]:
    """Every pass on the way to C, in turn, with the steps that it takes; `lanes` wherever it can."""
    passes: list[Callable[[Function], Function]] = [*PRIMAL]
    if derived:
        passes += [localise, lambda each: adjoint(each, floats(each), "one")]
    passes += [partial(lanes, everywhere=True) if step is lanes else step for step in EMITTED]
    for place, step in enumerate(passes):
        made: list[Function] = []
        taken = steps(lambda each, step=step, made=made: made.append(step(each)), function)
        yield f"{place}: {getattr(step, '__name__', step)}", taken
        (function,) = made


@pytest.mark.parametrize("make", [straight_line, nested, deep_counter, side_by_side])
def test_work_grows_linearly(make: Callable[[int], Function]) -> None:
    """Four times the program, about four times the steps, in each pass and in the reverse sweep."""
    small, large = (dict(chain(make(size), derived=make is not deep_counter)) for size in (8, 32))
    assert {name: (small[name], taken) for name, taken in large.items() if taken > 4.8 * small[name]} == {}


def test_lanes_are_among_what_grows() -> None:
    """The loops of the program above do become blocks."""
    assert "step=64" in str(lanes(simplify(side_by_side(2)), everywhere=True))
