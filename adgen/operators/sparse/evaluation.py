"""The entries of a sparse matrix at some arguments, and the structure that they come in.

Comes in: an operator, arguments, a `Matrix`.  Goes out: CSR arrays, of entries that one compiled function computes for
all colours where the products are with tangents, else one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adgen.frontend.specs import OutputLeaf, OutputTree, output_leaves
from adgen.operators.core import Operator
from adgen.operators.products import pulled
from adgen.operators.sparse.blocks import Block, Matrix
from adgen.operators.sparse.loops import Integers
from adgen.operators.sparse.patterns import tree_of
from adgen.runtime.bound import bound_call
from adgen.runtime.calls import Entry
from adgen.runtime.convert import DTYPES
from adgen.runtime.differentiate import WIDTHS
from adgen.runtime.programs import COTANGENT, LISTS
from adgen.runtime.pullback import given_leaves, leaves_of
from adgen.runtime.trees import assembled, flatten

Array = np.ndarray[Any, Any]


def places(operator: Operator, arguments: Mapping[str, Any], pattern: Entry, matrix: Matrix) -> Any:
    """The rows and columns of each block."""
    return _arranged(pattern, matrix, lambda block, _: (block.rows.copy(), block.columns.copy()))


def values(operator: Operator, arguments: Mapping[str, Any], pattern: Entry, matrix: Matrix) -> Any:
    """Each block as a CSR array."""
    return _filled(pattern, matrix, _computed(operator, arguments, pattern, matrix))


def bound(operator: Operator, arguments: Mapping[str, Any], pattern: Entry, matrix: Matrix) -> Callable[[], Any]:
    """A function that gives the same CSR arrays each time, with the entries at what the arguments hold then.

    Integers, and with them the pattern, are fixed from now on.
    """
    entry = _entries(operator, arguments, matrix)
    dtypes = {DTYPES[leaf.element] for leaf in output_leaves(tree_of(pattern))}
    if entry is None or not _is_listed(entry) or matrix.plan.reverse or len(dtypes) > 1:
        return _refilled(pattern, lambda: values(operator, arguments, pattern, matrix))
    call = bound_call(entry, [*given_leaves(entry, arguments), *matrix.lists(_width(matrix))])
    made = _filled(pattern, matrix, call())

    def evaluated() -> Any:
        """The matrix, as it is now."""
        call()
        return made

    return evaluated


def _refilled(pattern: Entry, compute: Callable[[], Any]) -> Callable[[], Any]:
    """As `bound`, by computing all anew."""
    made = compute()
    kept = _listed(pattern, made)

    def evaluated() -> Any:
        """The matrix, as it is now."""
        for block, now in zip(kept, _listed(pattern, compute()), strict=True):
            block.data[:] = now.data
        return made

    return evaluated


def _computed(operator: Operator, arguments: Mapping[str, Any], pattern: Entry, matrix: Matrix) -> Array:
    """All entries."""
    entry, primals = _entries(operator, arguments, matrix), leaves_of(pattern, arguments)
    if entry is not None and _is_listed(entry):
        vector: Array = entry.raw(*primals, *matrix.lists(_width(matrix)))
    else:
        vector = np.empty(len(matrix.places))
        if entry is not None:
            _forward(entry, primals, matrix, vector)
    if matrix.plan.reverse:
        _reverse(operator, arguments, matrix, vector)
    return vector


def _width(matrix: Matrix) -> int:
    """How many tangents to take at once."""
    return next((width for width in WIDTHS if len(matrix.plan.forward) <= width), WIDTHS[-1])


def _entries(operator: Operator, arguments: Mapping[str, Any], matrix: Matrix) -> Entry | None:
    """What computes with tangents, if there is a product with one."""
    kind, _, _ = operator.product.partition("_")
    return operator.entry_for(arguments, f"{kind}_entries{_width(matrix)}") if matrix.plan.forward else None


def _is_listed(entry: Entry) -> bool:
    """True for a program that takes all products; else it takes the tangents of one."""
    return any(leaf.path[0] == LISTS for leaf in entry.program.leaves)


def _parts(tree: OutputTree, result: Any) -> list[Array]:
    """The arrays of a result, in the order of a pattern's results."""
    parts = {leaf.index: part for leaf, part, _ in flatten(tree, result, "result")}
    return [parts[leaf.index] for leaf in _ordered(tree)]


class Seeds:
    """Directions of some parts: arrays that are all zero but for a few elements."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> None:
        self.parts = [np.zeros(shape, dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]
        self.ends = np.cumsum([0, *(part.size for part in self.parts)])

    def at(self, elements: Integers, number: float) -> list[Any]:
        """Set the elements, numbered through all parts; gives the parts."""
        for part, first, end in zip(self.parts, self.ends, self.ends[1:]):
            part.reshape(-1)[elements[(elements >= first) & (elements < end)] - first] = number
        return [part if part.ndim else float(part) for part in self.parts]


def _forward(entry: Entry, primals: Sequence[Any], matrix: Matrix, vector: Array) -> None:
    """Products with one tangent after the other."""
    program = entry.program
    tangents = program.leaves[len(primals) :]
    seeds = Seeds(matrix.pattern.inputs, [DTYPES[leaf.spec.element] for leaf in tangents])
    for chosen, elements, mine in matrix.plan.forward:
        found = _parts(program.output, entry.raw(*primals, *seeds.at(chosen, 1.0)))
        vector[matrix.places[mine]] = _joined(found)[elements]
        seeds.at(chosen, 0.0)


def _reverse(operator: Operator, arguments: Mapping[str, Any], matrix: Matrix, vector: Array) -> None:
    """Products with one cotangent after the other."""
    pullback = pulled(operator, arguments)
    program, given = pullback.entry.program, pullback.zeros()
    cotangents = [leaf.path[1] for leaf in program.leaves if leaf.path[0] == COTANGENT]
    floats = sorted({leaf.index for leaf, _, _ in flatten(pullback.primal.program.output, pullback.value, "value")})
    slots = [cotangents.index(index) for index in floats if index in cotangents]
    seeds = Seeds(matrix.pattern.results, [np.asarray(given[slot]).dtype for slot in slots])
    assert program.directions is not None
    for chosen, elements, mine in matrix.plan.reverse:
        for slot, part in zip(slots, seeds.at(chosen, 1.0), strict=True):
            given[slot] = part
        gradient = flatten(program.directions, pullback.pull(given), "gradient")
        vector[matrix.places[mine]] = _joined([part for _, part, _ in gradient])[elements]
        seeds.at(chosen, 0.0)


def _joined(parts: Sequence[Any]) -> Array:
    return np.ravel(parts[0]) if len(parts) == 1 else np.concatenate([np.ravel(part) for part in parts])


# -- structures --------------------------------------------------------------------------------------------------


def _ordered(tree: OutputTree) -> list[OutputLeaf]:
    """The different leaves of a structure, in the order of a pattern's results."""
    return sorted({leaf.index: leaf for leaf in output_leaves(tree)}.values(), key=lambda leaf: leaf.index)


def _filled(pattern: Entry, matrix: Matrix, vector: Array) -> Any:
    return _arranged(pattern, matrix, lambda block, leaf: block.filled(vector, DTYPES[leaf.element]))


def _arranged(pattern: Entry, matrix: Matrix, make: Callable[[Block, OutputLeaf], Any]) -> Any:
    """For each result the structure of the parameters, with what is made of each block."""
    tree, inputs = tree_of(pattern), pattern.program.directions
    assert inputs is not None
    rows = {leaf.index: matrix.blocks[k] for k, leaf in enumerate(_ordered(tree))}

    def row(leaf: OutputLeaf) -> Any:
        blocks = iter(rows[leaf.index])
        return assembled(inputs, lambda _: make(next(blocks), leaf))

    return assembled(tree, row)


def _listed(pattern: Entry, made: Any) -> list[Any]:
    """The blocks of what is arranged."""
    inputs = pattern.program.directions
    assert inputs is not None
    rows = flatten(tree_of(pattern), made, "value")
    return [block for _, row, _ in rows for _, block, _ in flatten(inputs, row, "gradient")]
