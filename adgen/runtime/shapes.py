"""Finding extents for arrays of unknown shape by listening to what Python says about wrong ones.

Every unknown extent starts as a number of its own, larger than the constants of most programs.  So a number in an error
message names the extent it came from: `index 7 is out of bounds for axis 1 with size 7` makes that extent grow,
`shapes (5,) (9,)` makes two extents equal, or one equal to a constant of the program.  Guaranteed: it only proposes;
that the function runs on the result is for the caller to see.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

GROWTH = 1.5
LARGEST = 400
SHAPE = r"\(([\d,\s]*)\)"
OUT_OF_BOUNDS = re.compile(r"index (-?\d+) is out of bounds for axis \d+ with size (\d+)|index (-?\d+) .*size (\d+)")
DIFFERENT = re.compile(
    r"size (\d+) is different from (\d+)|(\d+) \(dim \d+\) != (\d+) \(dim \d+\)|size (\d+) .*size (\d+)"
)
UNPACKING = re.compile(r"expected (\d+), got (\d+)")

Axis = tuple[str, int]


@dataclass
class Extents:
    """A value for every unknown extent; axes with the same symbol share one."""

    symbol: dict[Axis, str] = field(default_factory=dict)
    value: dict[str, int] = field(default_factory=dict)

    @staticmethod
    def of(axes: Mapping[Axis, str | int], start: int) -> Extents:
        """Start values: known numbers stay, equal names are equal, the rest differ, from `start` on."""
        extents = Extents()
        for axis, known in axes.items():
            named = isinstance(known, str) and known.isidentifier() and known != "_"
            symbol = str(known) if named or isinstance(known, int) else f"{axis[0]}.{axis[1]}"
            extents.symbol[axis] = symbol
            if isinstance(known, int):
                extents.value[symbol] = known
            elif symbol not in extents.value:
                extents.value[symbol] = extents.unused(start)
        return extents

    def shape(self, name: str, rank: int) -> tuple[int, ...]:
        """The shape of an array."""
        return tuple(self.value[self.symbol[name, axis]] for axis in range(rank))

    def unused(self, least: int) -> int:
        """The smallest number from `least` on that no extent has."""
        while least in self.value.values():
            least += 1
        return least

    def repaired(self, message: str) -> bool:
        """Change an extent as an error message suggests; False when it suggests nothing."""
        for pattern, repair in ((OUT_OF_BOUNDS, self._grow), (DIFFERENT, self._equal), (UNPACKING, self._swap)):
            match = pattern.search(message)
            if match and repair(*(int(group) for group in match.groups() if group is not None)):
                return True
        shapes = [
            tuple(int(number) for number in text.split(",") if number.strip()) for text in re.findall(SHAPE, message)
        ]
        return len(shapes) >= 2 and self._broadcast(shapes[0], shapes[1])

    def square(self, extent: int) -> None:
        """Make all extents equal."""
        self.value = {symbol: symbol_value(symbol, extent) for symbol in self.value}

    def _grow(self, index: int, size: int) -> bool:
        symbols = self._with(size)
        if not symbols or abs(index) > LARGEST:
            return False
        self.value[symbols[0]] = self.unused(max(index + 1, round(size * GROWTH)))
        return True

    def _swap(self, expected: int, got: int) -> bool:
        return self._equal(got, expected)

    def _equal(self, first: int, second: int) -> bool:
        """Make the extents of these two values equal; a value that no extent has is a constant of the program."""
        if first == second:
            return False
        for symbols, other in ((self._with(second), first), (self._with(first), second)):
            if symbols:
                for symbol in symbols:
                    self.value[symbol] = other
                return True
        return False

    def _broadcast(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        pairs = [(a, b) for a, b in zip(first[::-1], second[::-1], strict=False) if a != b and 1 not in (a, b)]
        changes = [self._equal(a, b) for a, b in pairs]  # a list, so that every pair is looked at
        return any(changes)

    def _with(self, value: int) -> list[str]:
        return [symbol for symbol, known in self.value.items() if known == value and not symbol.isdecimal()]


def symbol_value(symbol: str, extent: int) -> int:
    """The extent, unless the symbol is a number itself."""
    return int(symbol) if symbol.isdecimal() else extent
