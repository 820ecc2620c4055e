"""Sums of products over shared axes: `@`, dot, outer, einsum, trace.

All are one contraction: operands whose axes carry labels, and the labels of the result.  An element is a loop over the
labels that are summed.  A matrix product whose right operand is stored by rows is computed row by row into memory
instead, so that the innermost loop runs along memory both here and in the derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.arrays.broadcasting import stretch
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import elementwise
from adgen.frontend.arrays.indexing import getitem
from adgen.frontend.arrays.loops import NAMES, fold, nest
from adgen.frontend.arrays.model import Array, Axis, Frame, View, expression
from adgen.frontend.arrays.reduce import sum_
from adgen.frontend.arrays.registry import expands
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.shapes import Extents, broadcast, same_extent
from adgen.frontend.arrays.storage import allocate, finish, settle
from adgen.frontend.complexes.types import Complex
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Labels = tuple[str, ...]
SMALL = 8
MISMATCH = "matmul: mismatch in a core dimension: {0} is not {1}"


def contract(
    ctx: Context, arrays: Sequence[Array], labels: Sequence[Labels], output: Labels, message: str = MISMATCH
) -> Array:
    """The sum over all labels that are not in `output` of the product of the operands."""
    extents = _extents(ctx, arrays, labels, message)
    element = scalars.promote([(array.element, False) for array in arrays])
    element = I64 if element == BOOL else element
    every = set(extents)
    operands = [settle(ctx, x, 2 if set(mine) == every else 0) for x, mine in zip(arrays, labels)]
    if _by_rows(ctx, operands, labels, output, extents):
        return _rows(ctx, operands, labels, output, extents, element)
    summed = tuple(label for label in extents if label not in output)

    def reader(ctx: Context, indices: tuple[Value, ...]) -> Value:
        outer = dict(zip(output, indices))
        if not summed:
            return _term(ctx, operands, labels, outer, element)

        def step(inner: tuple[Value, ...], total: Value) -> Sequence[Value]:
            return (
                ctx.builder.op(
                    ops.ADD, total, _term(ctx, operands, labels, {**outer, **dict(zip(summed, inner))}, element)
                ),
            )

        zero = ctx.builder.const(0, element)
        names = NAMES[len(output) :] + "qrstuv"
        return fold(ctx, [extents[label] for label in summed], (zero,), step, names, ("total",))[0]

    cost = 100 if summed else 1 + sum(getattr(x, "cost", 0) for x in operands)
    return expression(ctx, element, [extents[label] for label in output], reader, operands, cost)


def _extents(ctx: Context, arrays: Sequence[Array], labels: Sequence[Labels], message: str) -> dict[str, Value]:
    extents: dict[str, Value] = {}
    for array, mine in zip(arrays, labels):
        for label, extent in zip(mine, array.extents):
            if label not in extents:
                extents[label] = extent
            else:
                same_extent(ctx, extents[label], extent, message)
                if ctx.builder.known(extent) is not None:
                    extents[label] = extent
    return extents


def _term(
    ctx: Context, operands: Sequence[Array], labels: Sequence[Labels], at: dict[str, Value], element: Scalar
) -> Value:
    """The product of one element of each operand."""
    result: Value | None = None
    for array, mine in zip(operands, labels):
        factor = scalars.convert(ctx, array.read(ctx, [at[label] for label in mine]), element)
        result = factor if result is None else ctx.builder.op(ops.MUL, result, factor)
    assert result is not None
    return result


def _by_rows(
    ctx: Context, operands: Sequence[Array], labels: Sequence[Labels], output: Labels, extents: dict[str, Value]
) -> bool:
    """True for `(i) k, k j -> (i) j` where j runs along memory in the right operand and is not known to be small."""
    if len(operands) != 2 or not output or len(set(output)) != len(output):
        return False
    right, last = operands[1], output[-1]
    known = ctx.builder.known(extents[last])
    if not isinstance(right, View) or right.rank != 2 or (known is not None and known <= SMALL):
        return False
    along = [k for k, step in right.frame.axes[-1].terms if step in (1, -1)] if right.frame.axes else []
    return (
        labels[1] == (labels[0][-1], last)
        and last not in labels[0]
        and labels[0][:-1] == output[:-1]
        and along == [1]
        and labels[0][-1] not in output
    )


def _rows(
    ctx: Context,
    operands: Sequence[Array],
    labels: Sequence[Labels],
    output: Labels,
    extents: dict[str, Value],
    element: Scalar,
) -> View:
    """The product accumulated row by row."""
    left, right = operands
    target = allocate(ctx, element, [extents[label] for label in output])
    middle = labels[0][-1]

    def row(indices: tuple[Value, ...]) -> None:
        outer = dict(zip(labels[0], indices))
        factor = scalars.convert(ctx, left.read(ctx, indices), element)

        def entry(inner: tuple[Value, ...]) -> None:
            other = scalars.convert(ctx, right.read(ctx, (outer[middle], inner[0])), element)
            place = (*(outer[label] for label in output[:-1]), inner[0])
            ctx.builder.accumulate(target.base, ctx.builder.op(ops.MUL, factor, other), place)

        nest(ctx, [extents[output[-1]]], entry, names=NAMES[len(indices)])

    nest(ctx, [extents[label] for label in labels[0]], row, unordered=True)
    ctx.writes.written(target.base)
    return target


# -- the functions -----------------------------------------------------------------------------------------------


@expands(np.matmul)
def matmul(ctx: Context, a: Any, b: Any) -> Any:
    """`a @ b`, with leading axes broadcast."""
    left, right = as_array(ctx, a), as_array(ctx, b)
    if isinstance(left, Selection) and isinstance(right, Selection):
        return sum_(ctx, elementwise(ctx, np.multiply, [left, right]))
    if not left.rank or not right.rank:
        ctx.fail("AD339", "`@` needs arrays, not numbers", "use `*`")
    row = () if left.rank == 1 else ("row",)
    column = () if right.rank == 1 else ("column",)
    before, after = left.rank - len(row) - 1, right.rank - len(column) - 1
    count = max(before, after)
    names = tuple(f"batch{k}" for k in range(count))
    if not (before and after):
        labels = [(*names[:before], *row, "inner"), (*names[:after], "inner", *column)]
        return finish(ctx, contract(ctx, [left, right], labels, (*names, *row, *column)))
    batch = broadcast(ctx, [left.extents[:before], right.extents[:after]])
    left = _batched(ctx, left, batch, before)
    right = _batched(ctx, right, batch, after)
    labels = [(*names, *row, "inner"), (*names, "inner", *column)]
    return finish(ctx, contract(ctx, [left, right], labels, (*names, *row, *column)))


def _batched(ctx: Context, array: Array, batch: Extents, axes: int) -> Array:
    """The operand with its leading axes broadcast."""
    return stretch(ctx, settle(ctx, array), (*batch, *array.extents[axes:]))


@expands(np.dot, method="dot")
def dot(ctx: Context, a: Any, b: Any) -> Any:
    """`np.dot`: the sum over the last axis of `a` and the last but one of `b`."""
    left, right = as_array(ctx, a), as_array(ctx, b)
    if isinstance(left, Selection) and isinstance(right, Selection):
        return sum_(ctx, elementwise(ctx, np.multiply, [left, right]))
    if not left.rank or not right.rank:
        return elementwise(ctx, np.multiply, [a, b])
    first = tuple(f"a{k}" for k in range(left.rank - 1))
    second = tuple(f"b{k}" for k in range(right.rank - 1))
    labels = [(*first, "inner"), (*second[:-1], "inner", *second[-1:])]
    message = "shapes are not aligned: {0} is not {1}"
    return finish(ctx, contract(ctx, [left, right], labels, (*first, *second), message))


@expands(np.inner)
def inner(ctx: Context, a: Any, b: Any) -> Any:
    """`np.inner`: the sum over the last axes."""
    left, right = as_array(ctx, a), as_array(ctx, b)
    if not left.rank or not right.rank:
        return elementwise(ctx, np.multiply, [a, b])
    first = tuple(f"a{k}" for k in range(left.rank - 1))
    second = tuple(f"b{k}" for k in range(right.rank - 1))
    labels = [(*first, "inner"), (*second, "inner")]
    return finish(
        ctx, contract(ctx, [left, right], labels, (*first, *second), "shapes are not aligned: {0} is not {1}")
    )


@expands(np.vdot)
def vdot(ctx: Context, a: Any, b: Any) -> Any:
    """`np.vdot`: the sum of all products with the conjugate of `a`."""
    from adgen.frontend.arrays.reshaping import reshape

    left, right = (reshape(ctx, as_array(ctx, x), (-1,)) for x in (a, b))
    return dot(ctx, elementwise(ctx, np.conjugate, [left]) if isinstance(left.element, Complex) else left, right)


@expands(np.outer)
def outer(ctx: Context, a: Any, b: Any) -> Any:
    """`np.outer` of vectors."""
    from adgen.frontend.arrays.reshaping import reshape

    vectors = [x if x.rank == 1 else reshape(ctx, x, (-1,)) for x in (as_array(ctx, a), as_array(ctx, b))]
    vectors = [settle(ctx, x, 0) for x in vectors]
    return contract(ctx, vectors, [("i",), ("j",)], ("i", "j"))


@expands(np.tensordot)
def tensordot(ctx: Context, a: Any, b: Any, axes: Any = 2) -> Any:
    """`np.tensordot` over static axes."""
    left, right = as_array(ctx, a), as_array(ctx, b)
    if isinstance(axes, int):
        pairs = [(left.rank - axes + k, k) for k in range(axes)]
    else:
        first, second = (list(x) if isinstance(x, tuple | list) else [x] for x in axes)
        pairs = [(int(p) % left.rank, int(q) % right.rank) for p, q in zip(first, second, strict=True)]
    a_labels = [f"a{k}" for k in range(left.rank)]
    b_labels = [f"b{k}" for k in range(right.rank)]
    for p, q in pairs:
        b_labels[q] = a_labels[p]
    summed = {a_labels[p] for p, _ in pairs}
    output = tuple(label for label in (*a_labels, *b_labels) if label not in summed)
    message = "shapes are not aligned: {0} is not {1}"
    return finish(ctx, contract(ctx, [left, right], [tuple(a_labels), tuple(b_labels)], output, message))


@expands(np.einsum)
def einsum(ctx: Context, subscripts: Any, *operands: Any, optimize: Any = False) -> Any:
    """`np.einsum` with a subscript string; more than two operands are contracted from left to right."""
    if not isinstance(subscripts, str):
        ctx.fail("AD234", "`einsum` needs a subscript string", 'write it as in `np.einsum("ij,jk->ik", a, b)`')
    arrays = [as_array(ctx, x) for x in operands]
    terms, output = _subscripts(ctx, subscripts, arrays)
    arrays = [_diagonal(ctx, array, term) for array, term in zip(arrays, terms)]
    message = "einsum: an axis of length {0} meets one of length {1} under the same label"
    if len(arrays) == 1 and isinstance(arrays[0], View) and set(output) == set(terms[0]):
        return finish(ctx, _relabelled(ctx, arrays[0], terms[0], output, message))
    while len(arrays) > 2:
        later = {label for term in terms[2:] for label in term} | set(output)
        kept = tuple(dict.fromkeys(label for term in terms[:2] for label in term if label in later))
        arrays = [contract(ctx, arrays[:2], terms[:2], kept, message), *arrays[2:]]
        terms = [kept, *terms[2:]]
    return finish(ctx, contract(ctx, arrays, terms, output, message))


def _subscripts(ctx: Context, text: str, arrays: Sequence[Array]) -> tuple[list[Labels], Labels]:
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = [tuple(term) for term in left.split(",")]
    if "." in text or not all(label.isalpha() for term in (*terms, tuple(right)) for label in term):
        ctx.fail("AD234", f"`einsum`: the subscripts {text!r} are not supported", "name every axis with a letter")
    if len(terms) != len(arrays):
        ctx.fail("AD234", f"`einsum`: {len(terms)} terms in the subscripts but {len(arrays)} operands")
    for term, array in zip(terms, arrays):
        if len(term) != array.rank:
            ctx.fail("AD234", f"`einsum`: {''.join(term)!r} labels {len(term)} axes of an array of rank {array.rank}")
    every = [label for term in terms for label in term]
    output = tuple(right) if arrow else tuple(sorted(label for label in set(every) if every.count(label) == 1))
    if len(set(output)) != len(output) or not set(output) <= set(every):
        ctx.fail("AD234", f"`einsum`: the output subscripts {right!r} are not valid")
    return terms, output


def _relabelled(ctx: Context, view: View, term: Labels, output: Labels, message: str) -> View:
    """The axes of a view in another order, those with one label as one: NumPy gives a view too."""
    extents = {label: view.extents[term.index(label)] for label in output}
    for label, extent in zip(term, view.extents):
        same_extent(ctx, extent, extents[label], message)
    axes = tuple(Axis(0, ((output.index(label), 1),)) for label in term)
    return view.framed(ctx, Frame(tuple(extents.values()), axes))


def _diagonal(ctx: Context, array: Array, term: Labels) -> Array:
    """The array itself; what is read several times and expensive is computed first."""
    return settle(ctx, array) if len(set(term)) < len(term) else array


@expands(np.trace, method="trace")
def trace(ctx: Context, a: Any) -> Any:
    """`np.trace` of a matrix: the sum of the main diagonal."""
    from adgen.frontend.arrays.diagonals import diagonal

    return sum_(ctx, diagonal(ctx, a), 0 if as_array(ctx, a).rank == 2 else -1)


def _pairwise(ufunc: Any) -> Any:
    """A ufunc's `outer`: every element of the one with every element of the other."""

    def outer(ctx: Context, a: Any, b: Any) -> Any:
        left, right = as_array(ctx, a), as_array(ctx, b)
        for _ in range(right.rank):
            left = getitem(ctx, left, (Ellipsis, None)) if left.rank else left
        return elementwise(ctx, ufunc, [left, right])

    return outer


for _ufunc in (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum):
    expands(_ufunc.outer)(_pairwise(_ufunc))
