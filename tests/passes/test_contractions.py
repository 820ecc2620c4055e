"""Products of matrices, however their loops are written, become one operation that means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.driver import lower_function
from adgen.emit import emit
from adgen.frontend.specs import ArraySpec
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.types import F32, F64, I64, Buffer, Scalar
from adgen.ir.verify import verify
from adgen.passes.contractions import contractions
from adgen.passes.pipeline import optimise
from adgen.runtime.differentiate import differentiate
from adgen.runtime.wrt import resolve
from adgen.toolchain import blas, extension, find_compiler
from adgen.toolchain.cc import WARNINGS
from tests.native import Native
from tests.passes.support import parse

KEYS = "mnk"


def product_nest(
    order: tuple[str, ...],
    transposed: tuple[bool, bool],
    steps: tuple[int, int, int],
    offset: int,
    carried: bool,
    element: Scalar = F64,
    unordered: bool = True,
    batch: bool = False,
) -> Function:
    """`c[m, n] += s * sum(a[m, k] * b[k, n])` by loops in some order over parts of the buffers from `offset` on."""
    b, rank = Builder(), 3 if batch else 2
    a, right, c = (Value(Buffer(element, rank), name) for name in "abc")
    s = Value(element, "s")
    extents = {key: Value(I64, key) for key in KEYS}
    with b.block([a, right, c, s, *extents.values()]) as block:
        shift, zero, end = b.index(offset), b.index(0), b.index(-1)
        last = {key: b.op(ops.SUB, extent, b.index(1)) for key, extent in extents.items()}

        def at(indices: dict[str, Value], first: str, second: str, swapped: bool) -> list[Value]:
            keys = (second, first) if swapped else (first, second)
            whole = [b.op(ops.ADD, indices[key], shift) for key in keys]
            return [indices["batch"], *whole] if batch else whole

        def term(indices: dict[str, Value]) -> Value:
            x = b.load(a, at(indices, "m", "k", transposed[0]))
            y = b.load(right, at(indices, "k", "n", transposed[1]))
            return b.op(ops.MUL, b.op(ops.MUL, s, x), y)

        def loop(depth: int, indices: dict[str, Value]) -> None:
            key, step = order[depth], steps[depth]
            bounds = (zero, extents[key]) if step > 0 else (last[key], end)
            start = (b.const(0.0, element),) if carried and depth == 2 else ()

            def body(index: Value, *total: Value) -> tuple[Value, ...]:
                inner = {**indices, key: index}
                if depth < 2:
                    loop(depth + 1, inner)
                elif total:
                    return (b.op(ops.ADD, total[0], term(inner)),)
                else:
                    b.accumulate(c, term(inner), at(inner, "m", "n", False))
                return ()

            found = b.loop(*bounds, start, body, step=step, name=key, unordered=unordered)
            if found:
                b.accumulate(c, found[0], at(indices, "m", "n", False))

        if batch:
            b.loop(b.index(0), b.dim(a, 0), (), lambda i: (loop(0, {"batch": i}), ())[1], name="i")
        else:
            loop(0, {})
    return verify(b.function("f", block, ()))


def count(function: Function, row: Any) -> int:
    return sum(operation.row is row for operation in walk(function.body))


def arguments(m: int, n: int, k: int, offset: int, transposed: tuple[bool, bool], dtype: Any, batch: int) -> list[Any]:
    rng = np.random.default_rng(m * 100 + n * 10 + k)
    shapes = [(m, k)[:: -1 if transposed[0] else 1], (k, n)[:: -1 if transposed[1] else 1], (m, n)]
    lead = (batch,) if batch else ()
    arrays = [rng.normal(size=(*lead, *(e + offset + 1 for e in shape))).astype(dtype) for shape in shapes]
    return [*arrays, dtype(1.5), m, n, k]


SIZES = st.integers(0, 5)


@settings(max_examples=60, deadline=None)
@given(
    st.permutations(KEYS),
    st.tuples(st.booleans(), st.booleans()),
    st.tuples(*[st.sampled_from((1, -1))] * 3),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
    st.tuples(SIZES, SIZES, SIZES),
)
def test_any_order_of_loops(
    order: Any, transposed: Any, steps: Any, offset: int, carried: bool, batch: bool, sizes: Any
) -> None:
    """The interpreter gives the same before and after, and nothing of the loops is left."""
    carried = carried and order[2] == "k"
    before = product_nest(tuple(order), transposed, steps, offset, carried, batch=batch)
    after = verify(contractions(before))
    assert count(after, core.CONTRACT) == 1 and count(after, core.FOR) == batch
    mine, theirs = (arguments(*sizes, offset, transposed, np.float64, 2 * batch) for _ in range(2))
    run(before, mine)
    counts = run(after, theirs).counts
    for one, other in zip(mine[:3], theirs[:3]):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13)
    assert counts.rows["accumulate"] == np.prod(sizes) * (2 if batch else 1)


@pytest.mark.parametrize("element", [F64, F32], ids=str)
@pytest.mark.parametrize("sizes", [(3, 4, 5), (0, 3, 2), (3, 0, 2), (3, 2, 0), (31, 23, 37)], ids=str)
def test_compiled(element: Scalar, sizes: tuple[int, int, int]) -> None:
    """C agrees for every layout, below and above the size from which on a library does the work."""
    dtype: Any = np.float64 if element == F64 else np.float32
    layouts = [(first, second) for first in (False, True) for second in (False, True)]
    functions = [product_nest(("m", "n", "k"), layout, (1, 1, 1), 1, True, element) for layout in layouts]
    for number, (function, layout) in enumerate(zip(functions, layouts)):
        native = Native([optimise(function)], f"products{number}")
        mine, theirs = (arguments(*sizes, 1, layout, dtype, 0) for _ in range(2))
        run(function, mine)
        status, _ = native.call("f", theirs)
        assert status == 0
        np.testing.assert_allclose(mine[2], theirs[2], rtol=1e-12 if element == F64 else 1e-4)


def test_the_text_works_without_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no BLAS is installed the C does its own products."""
    monkeypatch.setattr(extension, "library_for", lambda text: blas.Library())
    function = product_nest(("m", "k", "n"), (False, True), (1, 1, 1), 0, False)
    native = Native([optimise(function)], "alone")
    mine, theirs = (arguments(31, 23, 37, 0, (False, True), np.float64, 0) for _ in range(2))
    run(function, mine)
    native.call("f", theirs)
    np.testing.assert_allclose(mine[2], theirs[2], rtol=1e-12)


def test_the_text_has_no_warnings_of_its_own(tmp_path: Path) -> None:
    """The helper's hint to the compiler is silent where the compiler is not told to follow hints."""
    emitted = emit([optimise(product_nest(("m", "k", "n"), (False, False), (1, 1, 1), 0, False))], "silent")
    (tmp_path / emitted.header_name).write_text(emitted.header)
    (tmp_path / "silent.c").write_text(emitted.c_source)
    assert "#pragma omp simd" in emitted.c_source
    find_compiler().run(["-std=c11", *WARNINGS, "-c", "silent.c", "-o", "silent.o"], tmp_path)


def test_sums_in_the_order_of_the_program_stay() -> None:
    """A loop whose order matters is left alone."""
    function = product_nest(("m", "n", "k"), (False, False), (1, 1, 1), 0, True, unordered=False)
    assert contractions(function) is function


REFUSED = {
    "a factor that is written": ("store %a, %z, %i, %l", "", "%i, %l", "%l, %j", "%i, %j"),
    "a target that is read": ("%w = load %c, %i, %l : f64", "", "%i, %l", "%l, %j", "%i, %j"),
    "a target that is overwritten": ("store %c, %z, %i, %l", "", "%i, %l", "%l, %j", "%i, %j"),
    "a check": ('check %t {exception="ValueError", message="no"}', "", "%i, %l", "%l, %j", "%i, %j"),
    "a convolution": ("", "%q = add %i, %l : i64", "%i, %q", "%l, %j", "%i, %j"),
    "a diagonal": ("", "", "%i, %i", "%l, %j", "%i, %j"),
    "three counters in one": ("", "", "%i, %l", "%i, %l", "%i, %j"),
    "no last axis": ("", "", "%i, %l", "%l, %j", "%i, %zero"),
}
NEST = """function f(%a: f64[:,:], %b: f64[:,:], %c: f64[:,:], %t: bool, %z: f64) -> () {{
  %zero = const {{type="i64", value=0}} : i64
  %n = dim %a {{axis=0}} : i64
  for %zero, %n {{exit=false, step=1, unordered=true}} (%i: i64) {{
    for %zero, %n {{exit=false, step=1, unordered=true}} (%l: i64) {{
      {0}
      for %zero, %n {{exit=false, step=1, unordered=true}} (%j: i64) {{
        {1}
        %x = load %a, {2} : f64
        %y = load %b, {3} : f64
        %v = mul %x, %y : f64
        accumulate %c, %v, {4}
        yield
      }}
      yield
    }}
    yield
  }}
  return
}}"""


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_product_stays(name: str) -> None:
    """Loops that do something else, or more, are left as they are."""
    function = parse(NEST.format(*REFUSED[name]))
    assert count(contractions(function), core.CONTRACT) == 0


def test_bounds_that_depend_on_a_counter_stay() -> None:
    """A triangle is not a matrix."""
    head = "{exit=false, step=1, unordered=true} (%j"
    text = NEST.format("", "", "%i, %l", "%l, %j", "%i, %j").replace(f"%n {head}", f"%i {head}")
    assert count(contractions(parse(text)), core.CONTRACT) == 0


def weighed(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(np.tanh(x @ w) @ w.T))


def test_several_sums_in_one_nest() -> None:
    """The reverse sweep of a product holds two: a sum for the one factor, additions for the other."""
    primal = lower_function(weighed, {name: ArraySpec(F64, 2) for name in "xw"})
    wrt = resolve(None, primal.specs, "weighed")
    reverse = optimise(differentiate(primal, "grad", wrt).function)
    assert count(reverse, core.CONTRACT) == 6
