"""Which independent loops run in blocks of iterations.

Comes in: a function.  Goes out: the loops to take in blocks, with what their iterations do.  Guaranteed: every one of
them is independent, counts up or down by one, and can be taken apart as `lanes` does it.

A loop is worth blocks when most of what its innermost statements touch is the iteration's own memory, or the same for
all iterations: such accesses become contiguous, or scalars.  Where they walk along rows of shared arrays, the inner
loop over the row is the better one to vectorise; so is one over several directions of a derivative.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk, walk_one
from adgen.ir.types import is_float
from adgen.passes.independence import Independence, checks_first, independence, keeps_order
from adgen.passes.indices import Definitions, Indices
from adgen.passes.lane_rows import Rows, is_strided
from adgen.passes.variance import Kind, Variance

DEEPER = 8  # how many times as often an inner loop's statements run, when nothing is known
STRIDED = 0.3  # largest share of accesses along the rows of shared arrays
ARITHMETIC = 0.25  # accesses that a floating-point operation weighs
FEWEST = 16  # iterations, where their number is known
APART = (Kind.AGREED, Kind.ONE_BY_ONE)
WIDTHS = (64, 8)  # iterations of a block
VECTORS = 8  # iterations that fill the vectors of all machines
NEAR = 24_000  # bytes of a block that stay in the nearest cache
FEWEST_ABREAST = 4  # directions that fill a vector
LEAST = 6  # floating-point operations of a straight body that are worth taking apart


@dataclass(frozen=True)
class Blocks:
    """How a loop is taken in blocks.

    `width` is the number of iterations in one.  Where the last iteration may be computed several times, so that the
    loops over a block have whole vectors, `vector` is how many iterations these are made for, else 1.
    """

    variance: Variance
    rows: Rows
    width: int
    vector: int


class Choice:
    """The choice among the loops of one function; with `everywhere` all that can be taken in blocks are."""

    def __init__(self, function: Function, root: Mapping[Value, Value], everywhere: bool) -> None:
        self.root = root
        self.definitions = Definitions(function)
        self.indices = Indices(self.definitions)
        self.parameters = set(function.parameters)
        self.everywhere = everywhere

    def among(self, region: Region) -> Iterator[tuple[Operation, Blocks]]:
        """The loops to take in blocks: of nested ones the outermost."""
        for operation in region.operations:
            if operation.row is core.FOR:
                found = self.suitable(operation)
                if found is not None:
                    yield operation, found
                    continue
            for inner in operation.regions:
                yield from self.among(inner)

    def suitable(self, loop: Operation) -> Blocks | None:
        """How to take a loop in blocks, when it is one for that."""
        if abs(loop.attributes["step"]) != 1 or (_few(loop, self.definitions) and not self.everywhere):
            return None
        found = independence(loop, self.root)
        if not isinstance(found, Independence):
            return None
        if not loop.attributes.get("unordered") and not keeps_order(loop, found, self.root):
            return None
        if not checks_first(loop, found, self.root, self.parameters):
            return None
        if not self.everywhere and self.has_vectors(loop, found):
            return None
        variance = Variance(loop, found, self.root)
        rows = Rows(loop, variance, self.indices)
        if not self.everywhere and not _pays(loop, variance, rows):
            return None
        return Blocks(variance, rows, self.width(loop, variance), VECTORS if _only_stores(loop, variance) else 1)

    def has_vectors(self, loop: Operation, found: Independence) -> bool:
        """True when directions of a derivative stand side by side in memory that iterations share."""
        abreast = [o for o in walk(loop.regions[0]) if o.attributes.get("abreast", 0) >= FEWEST_ABREAST]
        inside = [inner for owner in abreast for inner in walk_one(owner) if inner.row in core.ACCESSES]
        return any(self.root[access.operands[0]] not in found.private for access in inside)

    def width(self, loop: Operation, variance: Variance) -> int:
        """How many iterations a block has: fewer, where each of them surely has much memory."""
        operations = list(walk(loop.regions[0]))
        total = sum(
            prod(self.least_extents(operation, operations))
            for operation in operations
            if operation.row is core.ALLOC and operation.result in variance.memory
        )
        return next((width for width in WIDTHS if 8 * width * total <= NEAR), WIDTHS[-1])

    def least_extents(self, alloc: Operation, operations: Sequence[Operation]) -> Iterator[int]:
        """The extents of an array; one that is not known is as long as the constant indices need."""
        known = self.definitions.known
        accesses = [core.indices_of(o) for o in operations if o.row in core.ACCESSES and o.operands[0] is alloc.result]
        for axis, extent in enumerate(alloc.operands):
            number = known(extent)
            used = [known(indices[axis]) for indices in accesses]
            yield int(number) if number is not None else max((1 + int(k) for k in used if k is not None), default=0)


def _only_stores(loop: Operation, variance: Variance) -> bool:
    """True when iterations change shared memory where nobody looks, each its own: all else may be done again."""
    if loop.regions[0].arguments[1:] or variance.found.added:
        return False
    touched = {variance.root[o.operands[0]] for o in walk(loop.regions[0]) if o.row is core.LOAD}
    inside = [o for owner, kind in variance.kinds.items() if kind in APART for o in walk_one(owner)]
    changed = {variance.root[o.operands[0]] for o in inside if o.row in (core.STORE, core.ACCUMULATE)}
    return not variance.found.own & (touched | changed)


def _few(loop: Operation, definitions: Definitions) -> bool:
    """True when the loop is known to have few iterations."""
    start, stop = (definitions.known(value) for value in loop.operands[:2])
    return start is not None and stop is not None and abs(stop - start) < FEWEST


@dataclass
class _Accesses:
    """Weights of what a body does."""

    strided: float = 0.0
    good: float = 0.0
    loops: int = 0
    broken: bool = False


def _pays(loop: Operation, variance: Variance, rows: Rows) -> bool:
    weights = _Accesses()
    _weigh(loop.regions[0], 1.0, rows, variance, weights)
    if weights.broken:
        return False
    if not weights.loops:
        return _straight(loop, variance)
    return weights.strided <= STRIDED * (weights.strided + weights.good)


def _straight(loop: Operation, variance: Variance) -> bool:
    """True for a body without loops that a vector unit could run but for checks, or additions anywhere."""
    operations = list(walk(loop.regions[0]))
    numbers = sum(o.row.pure and any(is_float(v.type) for v in o.results) for o in operations)
    scattered = any(
        o.row is core.ACCUMULATE
        and variance.root[o.operands[0]] in variance.found.added
        and any(value in variance.values for value in o.operands[2:])
        for o in operations
    )
    return numbers >= LEAST and (scattered or any(o.row is core.CHECK for o in operations))


def _weigh(region: Region, weight: float, rows: Rows, variance: Variance, weights: _Accesses) -> None:
    for operation in region.operations:
        kind = variance.kinds.get(operation, Kind.UNIFORM)
        if kind is Kind.UNIFORM:
            continue
        if kind is Kind.ONE_BY_ONE:
            weights.broken |= operation.row in core.LOOPS
        elif operation.row in core.ACCESSES:
            if operation not in rows.of and is_strided(operation, variance):
                weights.strided += weight
            else:
                weights.good += weight
        elif operation.row.pure and any(is_float(value.type) for value in operation.results):
            weights.good += ARITHMETIC * weight
        for inner in operation.regions if kind in (Kind.AROUND, Kind.AGREED) else ():
            weights.loops += operation.row is core.FOR
            _weigh(inner, weight * (DEEPER if operation.row is core.FOR else 1), rows, variance, weights)
