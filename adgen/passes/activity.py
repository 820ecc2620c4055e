"""Activity: which values carry derivatives.

Comes in: a function and the parameters to differentiate for.  Goes out: the set of values that both depend on one of
them (varied) and can reach a floating-point result (useful).  Guaranteed: conservative; a buffer is active as a
whole, handles of the same memory together; a carried value, its region argument and its result agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import Buffer, Stack, is_float


def roots(function: Function) -> dict[Value, Value]:
    """For every buffer and stack the handle that its memory was made or passed in with."""
    found = {value: value for value in function.parameters if isinstance(value.type, Buffer)}
    for operation in walk(function.body):
        for value in operation.results:
            if isinstance(value.type, Buffer | Stack):
                found[value] = found[operation.operands[0]] if operation.row is core.RESHAPE else value
    return found


def varied(function: Function, wrt: Iterable[Value]) -> set[Value]:
    """The values that depend on a value of `wrt`; buffers by root."""
    root = roots(function)
    found = {root.get(value, value) for value in wrt}

    def mark(targets: Iterable[Value], sources: Iterable[Value]) -> None:
        if any(root.get(source, source) in found for source in sources):
            found.update(root.get(target, target) for target in targets if is_float(target.type))

    _until_stable(found, list(walk(function.body)), mark)
    return found


def useful(function: Function, results: Iterable[Value]) -> set[Value]:
    """The values that can change a value of `results`; buffers by root."""
    root = roots(function)
    found = {root.get(value, value) for value in results}

    def mark(targets: Iterable[Value], sources: Iterable[Value]) -> None:
        if any(root.get(target, target) in found for target in targets):
            found.update(root.get(source, source) for source in sources if is_float(source.type))

    _until_stable(found, list(walk(function.body))[::-1], mark)
    return found


def active(function: Function, wrt: Iterable[Value], results: Iterable[Value]) -> set[Value]:
    """Varied and useful values, with every handle of an active buffer."""
    both = varied(function, wrt) & useful(function, results)
    return both | {value for value, root in roots(function).items() if root in both}


Mark = Callable[[Iterable[Value], Iterable[Value]], None]
Pair = tuple[tuple[Value, ...], tuple[Value, ...]]


def _until_stable(found: set[Value], operations: Sequence[Operation], mark: Mark) -> None:
    size = -1
    while size != len(found):
        size = len(found)
        for operation in operations:
            _flow(operation, mark)


def _flow(operation: Operation, mark: Mark) -> None:
    """Report where the numbers of an operation flow, as `mark(targets, sources)`."""
    row, operands, results = operation.row, operation.operands, operation.results
    pairs: list[Pair]
    if row in (core.STORE, core.ACCUMULATE, core.PUSH):
        pairs = [((operands[0],), (operands[1],))]
    elif row is core.FOR:
        pairs = _carried(operation.regions[0], operands[2:], results, 1, bool(operation.attributes.get("exit")))
    elif row is core.WHILE:
        pairs = _carried(operation.regions[1], operands, results, 0, False)
    elif row is core.IF:
        pairs = [((r,), (y,)) for region in operation.regions for r, y in zip(results, region.results, strict=True)]
    elif row is core.CUSTOM:
        filled, inputs = (*results, *core.outputs_of(operation)), core.inputs_of(operation)
        kept = operation.attributes.get("kept", 0)  # inputs of which no rule gives a derivative
        pairs = [(filled, inputs[: len(inputs) - kept])]
        pairs += [] if kept else [(results, operation.regions[0].results)]
    elif getattr(row, "piecewise_constant", False) or row in (core.ALLOC, core.CHECK, core.DIM):
        pairs = []
    else:
        pairs = [(results, operands)]
    for targets, sources in pairs:
        mark(targets, sources)


def _carried(
    region: Region, initial: tuple[Value, ...], results: tuple[Value, ...], skip: int, exit: bool
) -> list[Pair]:
    """A carried value: the region argument takes from the start and the yield, the result from both, and back."""
    pairs: list[Pair] = []
    for start, argument, following, result in zip(
        initial, region.arguments[skip:], region.results[exit:], results, strict=True
    ):
        pairs.append(((argument, result), (start, following, argument, result)))
    return pairs
