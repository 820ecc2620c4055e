"""Between which numbers an integer is, whatever the program is given.

Comes in: a value.  Goes out: a range.  Guaranteed: nothing is assumed but the types and the operations that made it;
what may wrap is anywhere.
"""

from __future__ import annotations

from collections.abc import Callable

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64, INTEGERS, Scalar

DEPTH = 5
"""How many definitions deep facts are looked for."""


def bounds(builder: Builder, value: Value, depth: int = DEPTH) -> range:
    """Integers among which the value of an integer or a boolean is."""
    known = builder.known(value)
    if known is not None:
        return range(int(known), int(known) + 1)
    kind = value.type
    assert isinstance(kind, Scalar)
    every = range(2) if kind == BOOL else kind.numbers
    operation = builder.definitions.get(value)
    if operation is None or depth == 0:
        return every
    if operation.row is core.IF:
        place = operation.results.index(value)
        found = _union(*(bounds(builder, region.results[place], depth - 1) for region in operation.regions))
    elif operation.row.name in _RULES and not any(_is_float(x) for x in operation.operands):
        found = _RULES[operation.row.name](*(bounds(builder, x, depth - 1) for x in operation.operands))
    else:
        return every
    return found if within(found, every) else every


def within(inner: range, outer: range) -> bool:
    """True when all integers of one range are in another one."""
    return outer.start <= inner.start and inner.stop <= outer.stop


def compared(name: str, a: range, b: range) -> bool | None:
    """What a comparison of any number of one range with any of the other gives; None when that depends."""
    if name in ("eq", "ne"):
        apart = a.stop <= b.start or b.stop <= a.start
        return (name == "ne") if apart else None
    if name in ("gt", "ge"):
        return compared({"gt": "lt", "ge": "le"}[name], b, a)
    strict = name == "lt"
    if a.stop <= b.start + (not strict):
        return True
    return False if b.stop - 1 < a.start + strict else None


def _is_float(value: Value) -> bool:
    return isinstance(value.type, Scalar) and value.type.is_float


def _union(*ranges: range) -> range:
    return range(min(r.start for r in ranges), max(r.stop for r in ranges))


def _corners(function: Callable[[int, int], int]) -> Callable[[range, range], range]:
    def rule(x: range, y: range) -> range:
        ends = [function(a, b) for a in (x.start, x.stop - 1) for b in (y.start, y.stop - 1)]
        return range(min(ends), max(ends) + 1)

    return rule


def _masked(x: range, y: range) -> range:
    natural = [r.stop for r in (x, y) if r.start >= 0]
    return range(min(natural)) if natural else I64.numbers


def _remainder(x: range, y: range) -> range:
    return range(y.stop - 1) if y.start > 0 else I64.numbers


_RULES: dict[str, Callable[..., range]] = {
    **{f"to_{kind}": lambda x: x for kind in (BOOL, *INTEGERS)},
    "select": lambda condition, x, y: _union(x, y),
    "add": _corners(lambda a, b: a + b),
    "sub": _corners(lambda a, b: a - b),
    "mul": _corners(lambda a, b: a * b),
    "maximum": _corners(max),
    "minimum": _corners(min),
    "bit_and": _masked,
    "mod": _remainder,
}
