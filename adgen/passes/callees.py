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

from adgen.ir.nodes import Function, Value
from adgen.passes.activity import is_float

Derive = Callable[[Function, "Callees"], Function]


class Callees:
    """The callees of a function, and the derivatives of them that are asked for."""

    def __init__(self, known: Mapping[str, Function], derive: Mapping[str, Derive]) -> None:
        self.derive = derive
        self.table = dict(known)
        self.pending: list[tuple[str, str, str]] = []
        self.names: dict[object, str] = {
            callee.notes["derived"]: name for name, callee in known.items() if "derived" in callee.notes
        }

    def derivative(self, name: str, product: str) -> str:
        """The name of the derivative of a callee; it is made by `finished`."""
        key = (name, product)
        if key not in self.names:
            made, number = f"{name}_{product}", 2
            while made in self.table or made in self.names.values():
                made, number = f"{name}_{product}_{number}", number + 1
            self.names[key] = made
            self.pending.append((name, product, made))
        return self.names[key]

    def finished(self) -> Mapping[str, Function]:
        """All callees, once every derivative that they need is made."""
        while self.pending:
            name, product, made = self.pending.pop()
            function = self.derive[product](self.table[name], self)
            notes = MappingProxyType({**function.notes, "derived": (name, product)})
            self.table[made] = replace(function, name=made, notes=notes, callees={})
        return self.table


def floats(values: Sequence[Value]) -> list[int]:
    """The positions of the floating-point values."""
    return [position for position, value in enumerate(values) if is_float(value.type)]


def types_of(values: Sequence[Value]) -> tuple[str, ...]:
    """The types of values, as the attribute of a call has them."""
    return tuple(str(value.type) for value in values)


__all__ = ["Callees", "floats", "types_of"]
