"""The sparsity pattern of a Jacobian or Hessian, found by a compiled program and kept.

Comes in: a pattern program and arguments.  Goes out: a `Pattern` of all results together against all parameters
together.  Guaranteed: no entry that can be other than zero is missing, whatever the floating-point arguments are; a
pattern is found once for each set of shapes and contents of integer arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from adgen.frontend.specs import OutputConstant, OutputStruct, OutputTree
from adgen.operators.sparse.loops import BITS, Integers, loop, reach, sweep
from adgen.runtime.calls import Entry

ROOM = 8  # places of a graph for each input and result, as a first guess


@dataclass(frozen=True)
class Pattern:
    """A pattern by rows: the columns of row k are `columns[starts[k]:starts[k + 1]]`, in ascending order.

    `results` and `inputs` are the shapes of the parts that rows and columns are numbered through.
    """

    results: tuple[tuple[int, ...], ...]
    inputs: tuple[tuple[int, ...], ...]
    starts: Integers
    columns: Integers

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are."""
        return len(self.starts) - 1, sum(map(size, self.inputs))

    @property
    def rows(self) -> Integers:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))


def size(shape: tuple[int, ...]) -> int:
    """How many elements an array has."""
    return int(np.prod(shape, dtype=np.int64))


def key_of(entry: Entry, primals: Sequence[Any]) -> tuple[Any, ...]:
    """Equal for arguments of one pattern: the same code, shapes and integers."""
    return (entry, *(_integers(value) for value in primals))


def _integers(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value if isinstance(value, int) else None
    if value.dtype.kind == "f":
        return value.shape
    return value.shape, blake2b(value.tobytes(), digest_size=16).digest()


def tree_of(entry: Entry) -> OutputTree:
    """The structure of what a pattern is of."""
    output = entry.program.output
    assert isinstance(output, OutputStruct)
    constant = output.items[-1][1]
    assert isinstance(constant, OutputConstant)
    tree: OutputTree = constant.value
    return tree


def found(entry: Entry, primals: Sequence[Any]) -> Pattern:
    """Run a pattern program; `primals` are the leaves of the arguments."""
    inputs = tuple(np.shape(primals[position]) for position in entry.program.differentiated)
    count = sum(map(size, inputs))
    room = ROOM * (count + 1)
    while True:
        edges = np.zeros(room, np.int64)
        used, *nodes, _ = entry.raw(*primals, edges)
        if used <= room:
            break
        room = used
    roots = np.concatenate([np.zeros(0, np.int64), *(np.ravel(part) for part in nodes)])
    return Pattern(tuple(map(np.shape, nodes)), inputs, *_reached(edges[: max(used, 1)], roots, count))


def _reached(edges: Integers, roots: Integers, inputs: int) -> tuple[Integers, Integers]:
    """The inputs that each root depends on, in ascending order.

    By following the edges of each root, unless the roots have so many in common that sweeps over all are cheaper.
    """
    limit = -(-len(roots) // BITS) * (len(edges) + BITS * inputs)
    starts = np.zeros(len(roots) + 1, np.int64)
    length = 2 * len(roots) + len(edges)
    while True:
        members, working = np.zeros(length, np.int64), np.zeros((2, len(edges) + inputs + 1), np.int64)
        run = loop(reach, len(edges) + len(roots))
        count = run(edges, roots, inputs, limit, starts, members, *working)
        if count < 0:
            return _swept(edges, roots, inputs)
        if count <= length:
            break
        length = count
    members = members[:count]
    return starts, members[np.lexsort((members, np.repeat(np.arange(len(roots)), np.diff(starts))))]


def _swept(edges: Integers, roots: Integers, inputs: int) -> tuple[Integers, Integers]:
    """The same, for a few roots at a time."""
    lists = [np.zeros(0, np.int64)]
    for first in range(0, len(roots), BITS):
        few = roots[first : first + BITS]
        masks = np.zeros(len(edges) + inputs + 1, np.int64)
        loop(sweep, len(edges))(edges, few, inputs, masks)
        lists += [np.flatnonzero(masks[1 : inputs + 1] & (1 << k)) for k in range(len(few))]
    return np.cumsum([0, *map(len, lists[1:])]), np.concatenate(lists)
