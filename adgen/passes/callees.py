"""The derivatives of the functions that a function calls.

Comes in: a function that is being differentiated.  Goes out: its callees and those of their derivatives that are
called, each made once.  Guaranteed: a callee that calls itself has a derivative that calls itself, as references go by
name; all floating-point parameters of a callee count as active.

| product | takes besides the callee's parameters | gives |
|---|---|---|
| `jvp` | a tangent for each floating-point parameter | the results, the tangent of each floating-point one |
| `grad` | | the results, the derivative of the first floating-point one for each parameter |
| `vjp` | a cotangent for each floating-point result | a cotangent for each parameter |

A callee of one floating-point result is differentiated together with its value, by `grad`, in the forward sweep: then
the reverse sweep only multiplies, and no call is ever repeated.  Where there are more results, the reverse sweep calls
the `vjp`, which computes the callee's value again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from adgen.ir.calls import unused
from adgen.ir.nodes import Function, Value
from adgen.ir.types import is_float

Derive = Callable[[Function, "Callees", int], Function]
Key = tuple[str, str, int]


class Callees:
    """The callees of a function, and the derivatives of them that are asked for."""

    def __init__(self, known: Mapping[str, Function], derive: Mapping[str, Derive]) -> None:
        self.derive = derive
        self.table = dict(known)
        self.pending: list[tuple[Key, str]] = []
        self.open: set[str] = set()
        self.names: dict[object, str] = {
            callee.notes["derived"]: name for name, callee in known.items() if "derived" in callee.notes
        }

    def derivative(self, name: str, product: str, last: int = 0) -> str:
        """The name of the derivative of a callee; it is made by `finished`.

        `last` is how many of its last parameters the derivative is for, where that is not said by the product.
        """
        key = (name, product, last)
        if key not in self.names:
            made = unused(f"{name}_{product}", {*self.table, *self.names.values()})
            self.names[key] = made
            self.pending.append((key, made))
        return self.names[key]

    def finished(self) -> Mapping[str, Function]:
        """All callees, once every derivative that they need is made."""
        while self.pending:
            self._make(*self.pending.pop())
        return self.table

    def transpose(self, name: str, last: int) -> Function | None:
        """The transpose of a callee that is linear in its last parameters; None while that is being made."""
        made = self.derivative(name, "transpose", last)
        if made in self.open:
            return None
        if made not in self.table:
            self.open.add(made)
            self.pending.remove(((name, "transpose", last), made))
            self._make((name, "transpose", last), made)
            self.open.remove(made)
        return self.table[made]

    def _make(self, key: Key, made: str) -> None:
        name, product, last = key
        function = self.derive[product](self.table[name], self, last)
        notes = MappingProxyType({**function.notes, "derived": key})
        self.table[made] = replace(function, name=made, notes=notes, callees={})


def floats(values: Sequence[Value]) -> list[int]:
    """The positions of the floating-point values."""
    return [position for position, value in enumerate(values) if is_float(value.type)]


def types_of(values: Sequence[Value]) -> tuple[str, ...]:
    """The types of values, as the attribute of a call has them."""
    return tuple(str(value.type) for value in values)


__all__ = ["Callees", "floats", "types_of"]
