"""Recognising nests of loops that copy a whole buffer."""

from __future__ import annotations

from dataclasses import dataclass

from adgen.ir import core
from adgen.ir.nodes import Operation, Value
from adgen.passes.indices import Definitions, Indices


@dataclass(frozen=True)
class Copy:
    """A nest that copies all elements of `target` from the same places of `source`; `extents` are the target's.

    One that `clears` leaves zeros behind, as what moves a cotangent does.
    """

    nest: Operation
    source: Value
    target: Value
    extents: tuple[Value, ...]
    clears: bool = False


def copy_nest(nest: Operation, definitions: Definitions) -> Copy | None:
    """The copy that an operation makes and nothing else, if it does."""
    indices: list[Value] = []
    extents: list[Value] = []
    current = nest
    while current.row is core.FOR:
        if len(current.operands) != 2 or current.attributes["exit"] or current.attributes["step"] != 1:
            return None
        if definitions.known(current.operands[0]) != 0:
            return None
        (region,) = current.regions
        indices.append(region.arguments[0])
        extents.append(current.operands[1])
        if len(region.operations) in (2, 3):
            load, *stores = region.operations
            kept = [each for each in stores if load.row is core.LOAD and each.operands[1:2] == load.results]
            if len(kept) != 1 or kept[0].row is not core.STORE:
                return None
            if load.operands[1:] != tuple(indices) or kept[0].operands[2:] != tuple(indices):
                return None
            clearing = [each for each in stores if each is not kept[0]]
            if any(not _clears(each, load, definitions) for each in clearing):
                return None
            return Copy(nest, load.operands[0], kept[0].operands[0], tuple(extents), bool(clearing))
        if len(region.operations) != 1:
            return None
        (current,) = region.operations
    return None


def _clears(operation: Operation, load: Operation, definitions: Definitions) -> bool:
    """True for a store of zero to the element that was loaded."""
    if operation.row is not core.STORE or (operation.operands[0], *operation.operands[2:]) != load.operands:
        return False
    return definitions.known(operation.operands[1]) == 0


def same_extents(definitions: Definitions, first: tuple[Value, ...], second: tuple[Value, ...]) -> bool:
    """True when two shapes are surely equal."""
    indices = Indices(definitions)
    return len(first) == len(second) and all(indices.split(a) == indices.split(b) for a, b in zip(first, second))


def fills(copy: Copy, definitions: Definitions) -> bool:
    """True when the target is a local buffer and the copy covers all of it."""
    alloc = definitions.definitions.get(copy.target)
    return alloc is not None and alloc.row is core.ALLOC and same_extents(definitions, alloc.operands, copy.extents)
