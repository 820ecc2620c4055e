"""The entries of a sparse matrix at some arguments, and the structure that they come in.

Comes in: an operator, arguments, a `Matrix`.  Goes out: one compiled product for each colour, read into CSR arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from adgen.frontend.specs import OutputLeaf, OutputTree, output_leaves
from adgen.ir.types import Buffer
from adgen.operators.core import Operator
from adgen.operators.products import pulled
from adgen.operators.sparse.blocks import Block, Matrix, Schedule
from adgen.runtime.calls import Entry
from adgen.runtime.convert import DTYPES
from adgen.runtime.programs import COTANGENT, WIDTH, Program
from adgen.runtime.pullback import leaves_of
from adgen.runtime.trees import assembled, flatten

Array = np.ndarray[Any, Any]


def places(operator: Operator, arguments: Mapping[str, Any], matrix: Matrix) -> Any:
    """The rows and columns of each block."""
    return _arranged(operator.entry_for(arguments), matrix, lambda k, j, leaf: _places(matrix.blocks[k][j]))


def _places(block: Block) -> tuple[Array, Array]:
    return block.rows.copy(), block.columns.copy()


def values(operator: Operator, arguments: Mapping[str, Any], matrix: Matrix) -> Any:
    """Each block as a CSR array."""
    entry = operator.entry_for(arguments)
    primals = leaves_of(entry, arguments)
    schedule = matrix.schedule(_width(entry.program, primals))
    data, done = np.empty(schedule.size), 0
    computed = [_forward(entry, primals, schedule)] if schedule.forward else []
    computed += [_reverse(operator, arguments, matrix, schedule)] if schedule.reverse else []
    for result, elements in chain(*computed):
        own = data[done : done + len(elements)]
        if result.dtype == own.dtype:
            np.take(result, elements, out=own, mode="clip")  # the fastest way that NumPy has
        else:
            own[:] = result[elements]
        done += len(elements)

    def block(k: int, j: int, leaf: OutputLeaf) -> Any:
        return matrix.blocks[k][j].filled(data, schedule.blocks[k][j], DTYPES[leaf.element])

    return _arranged(entry, matrix, block)


def _width(program: Program, primals: Sequence[Any]) -> int:
    """How many tangents a program takes at once."""
    shapes = [np.shape(primals[position]) for position in program.differentiated]
    tangents = zip(program.leaves[len(primals) :], shapes)
    return WIDTH if any(isinstance(x.kind, Buffer) and x.kind.rank > len(shape) for x, shape in tangents) else 1


class Seeds:
    """Directions of some parts, a few at a time: arrays that are all zero but for a few elements."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any], width: int) -> None:
        own = (width,) if width > 1 else ()
        self.parts = [np.zeros((*shape, *own), dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
        self.ends = np.cumsum([0, *(part.size for part in self.parts)])

    def at(self, elements: Array, number: float) -> list[Any]:
        """Set the elements, numbered through all parts; gives the parts."""
        for part, first, end in zip(self.parts, self.ends, self.ends[1:]):
            inside = elements if len(self.parts) == 1 else elements[(elements >= first) & (elements < end)]
            part.reshape(-1)[inside - first] = number
        return [part if part.ndim else float(part) for part in self.parts]


def _forward(entry: Entry, primals: Sequence[Any], schedule: Schedule) -> Iterator[tuple[Array, Array]]:
    """The results of each batch as one vector, and which of its elements are entries."""
    program = entry.program
    shapes = [np.shape(primals[position]) for position in program.differentiated]
    tangents = program.leaves[len(primals) :]
    seeds = Seeds(shapes, [DTYPES[leaf.spec.element] for leaf in tangents], schedule.width)
    order = [leaf.index for leaf in _ordered(program.output)]
    for chosen, elements in schedule.forward:
        result = entry.raw(*primals, *seeds.at(chosen, 1.0))
        parts = {leaf.index: part for leaf, part, _ in flatten(program.output, result, "result")}
        yield _joined([parts[index] for index in order]), elements
        seeds.at(chosen, 0.0)


def _reverse(
    operator: Operator, arguments: Mapping[str, Any], matrix: Matrix, schedule: Schedule
) -> Iterator[tuple[Array, Array]]:
    """The same of products with cotangents."""
    pullback = pulled(operator, arguments)
    program, given = pullback.entry.program, pullback.zeros()
    places = [leaf.path[1] for leaf in program.leaves if leaf.path[0] == COTANGENT]
    floats = sorted({leaf.index for leaf, _, _ in flatten(pullback.primal.program.output, pullback.value, "value")})
    slots = [places.index(index) for index in floats if index in places]
    seeds = Seeds(matrix.pattern.results, [np.asarray(given[slot]).dtype for slot in slots], 1)
    assert program.directions is not None
    for chosen, elements in schedule.reverse:
        for slot, part in zip(slots, seeds.at(chosen, 1.0), strict=True):
            given[slot] = part
        gradient = flatten(program.directions, pullback.pull(given), "gradient")
        yield _joined([part for _, part, _ in gradient]), elements
        seeds.at(chosen, 0.0)


def _joined(parts: Sequence[Any]) -> Array:
    return np.ravel(parts[0]) if len(parts) == 1 else np.concatenate([np.ravel(part) for part in parts])


# -- structures --------------------------------------------------------------------------------------------------


def _ordered(tree: OutputTree) -> list[OutputLeaf]:
    """The different leaves of a structure, in the order of a pattern's results."""
    return sorted({leaf.index: leaf for leaf in output_leaves(tree)}.values(), key=lambda leaf: leaf.index)


def _arranged(entry: Entry, matrix: Matrix, make: Callable[[int, int, OutputLeaf], Any]) -> Any:
    """For each result the structure of the parameters, with what is made of each block, by its row and column."""
    tree, inputs = entry.program.output, entry.program.directions
    assert inputs is not None
    rows = {leaf.index: k for k, leaf in enumerate(_ordered(tree))}

    def row(leaf: OutputLeaf) -> Any:
        columns = count()
        return assembled(inputs, lambda _: make(rows[leaf.index], next(columns), leaf))

    return assembled(tree, row)
