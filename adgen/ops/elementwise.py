"""The row class of elementwise operations: everything known about one of them.

Comes in: one expression in a file of the table.  Goes out: an `ir.Row` that also knows its Python callables, its
derivative in both modes, and its C form.  Guaranteed: both modes come from the same partials, and those from sympy
or from an override that states its reason; nothing is emitted for a zero, and partials of one cost nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from adgen.ir.builder import Builder
from adgen.ir.nodes import Attributes, Row, Value
from adgen.ir.types import BOOL, F32, F64, I64, NARROW, Scalar, Type
from adgen.ops.emission import Emission
from adgen.ops.kinks import Kink
from adgen.ops.registry import register
from adgen.ops.spelling import Spelling
from adgen.ops.terms import Operand, Out, Term, apply

FLOATS = (F64, F32)
NUMBERS = (F64, F32, I64)
INTEGERS = (I64,)
BOOLS = (BOOL,)
ANYTHING = (F64, F32, I64, BOOL, *NARROW)

Partials = tuple[Term | None, ...]
Simplify = Callable[[Builder, tuple[Value, ...]], Value | None]


@dataclass(frozen=True, eq=False)
class Elementwise(Row):
    """A row whose operands and result are scalars.

    `kinds` are the types that the operands may have, all the same, but for the positions in `fixed`; the result is of
    that type unless `result` names one.  `evaluate` takes NumPy scalars (and arrays) of these types.
    `sympy` is the meaning as sympy text in the names of `operands`; `override` gives the partials where sympy's are
    numerically poor, and `reason` says why.  `formula` is the meaning, or another form of it, from which no partial is
    derived.  A row with neither `sympy` nor `override` is `piecewise_constant`, or not `differentiable` at all as no
    operand is a real number.  `special` is the function of `scipy.special` that means the row for some arguments only.
    `singular` rows have a partial that is infinite, or not a number, at finite operands, other than by overflow.
    `called` is what messages call it, if not by the name of one of these callables.
    `kinks` are where real operands have no derivative, or none that is continuous, and the value is finite.
    `refuses` says for which arguments Python raises; None: not known.
    `domain` is where tests may sample each operand.
    """

    operands: tuple[str, ...] = ()
    kinds: tuple[Scalar, ...] = FLOATS
    result: Scalar | None = None
    fixed: Mapping[int, Scalar] = field(default_factory=dict)
    python: tuple[Callable[..., Any], ...] = ()
    called: str = ""
    scipy: tuple[str, ...] = ()
    sympy: str = ""
    formula: str = ""
    special: str = ""
    override: Callable[..., Partials] | None = None
    reason: str = ""
    piecewise_constant: bool = False
    differentiable: bool = True
    singular: bool = False
    kinks: tuple[Kink, ...] = ()
    refuses: Any = None
    domain: tuple[tuple[float, float], ...] = ()
    c: Spelling = field(default_factory=Spelling)

    @property
    def arity(self) -> int:
        """The number of operands."""
        return len(self.operands)

    @property
    def reference(self) -> Callable[..., Any]:
        """What the operation computes, on NumPy scalars and arrays."""
        assert self.evaluate is not None
        return self.evaluate

    def __call__(self, *arguments: Term | float) -> Term:
        """The row applied to terms, for writing partials."""
        return apply(self, arguments)

    @cached_property
    def partials(self) -> Partials:
        """The partial derivative for each operand; None: there is none, or it is zero everywhere."""
        if self.override is not None:
            operands = (Operand(k, self.fixed.get(k) == I64) for k in range(self.arity))
            return self.override(*operands, Out())
        if not self.sympy:
            return (None,) * self.arity
        from adgen.ops.written import known

        found = known(self)
        if found is None:
            from adgen.ops.derive import derive

            found = derive(self)
        return found

    def distance(self, kink: Kink, builder: Builder, operands: Sequence[Value], result: Value) -> Value:
        """How far real operands are from a kink; it may be negative."""
        real = next(value for value in (result, *operands) if _is_float(value.type))
        terms = (Operand(k, value.type == I64) for k, value in enumerate(operands))
        return Emission(builder, operands, real).value(kink.distance(*terms, Out()))

    def pushforward(
        self, builder: Builder, operands: Sequence[Value], result: Value, tangents: Sequence[Value | None]
    ) -> Value | None:
        """The result's tangent from the operands' (None is zero); None when it is zero."""
        if not _is_float(result.type) or all(tangent is None for tangent in tangents):
            return None
        emission = Emission(builder, operands, result)
        pairs = [
            (emission.converted(tangent, result.type), partial)
            for tangent, partial in zip(tangents, self.partials, strict=True)
            if tangent is not None and partial is not None
        ]
        return emission.combined(pairs)

    def pullback(
        self,
        builder: Builder,
        operands: Sequence[Value],
        result: Value,
        cotangent: Value,
        needed: Sequence[bool],
    ) -> tuple[Value | None, ...]:
        """What each operand's cotangent gains; None when that is zero or not needed.

        An operand that occurs twice gets all of it at its first place.
        """
        if not _is_float(result.type):
            return (None,) * self.arity
        emission = Emission(builder, operands, result)
        pairs: dict[Value, list[tuple[Value, Term]]] = {}
        for operand, partial, wanted in zip(operands, self.partials, needed, strict=True):
            if wanted and partial is not None and _is_float(operand.type):
                pairs.setdefault(operand, []).append((cotangent, partial))
        gained: list[Value | None] = []
        for operand in operands:
            total = emission.combined(pairs.pop(operand, []))
            gained.append(None if total is None else emission.converted(total, operand.type))
        return tuple(gained)


def _is_float(kind: Type) -> bool:
    return isinstance(kind, Scalar) and kind.is_float


def elementwise(
    name: str,
    operands: str,
    *,
    evaluate: Callable[..., Any],
    c: Spelling,
    kinds: tuple[Scalar, ...] = FLOATS,
    result: Scalar | None = None,
    fixed: Mapping[int, Scalar] | None = None,
    domain: Sequence[tuple[float, float]] = (),
    cost: int = 1,
    **facts: Any,
) -> Elementwise:
    """A row of the table; `operands` are the operands' names, separated by blanks."""
    names = tuple(operands.split())
    fixed = fixed or {}
    row = Elementwise(
        name,
        infer=_rule(name, len(names), kinds, result, fixed),
        pure=True,
        evaluate=evaluate,
        cost=cost,
        operands=names,
        kinds=kinds,
        result=result,
        fixed=fixed,
        domain=tuple(domain) or ((-3.0, 3.0),) * len(names),
        c=c,
        **facts,
    )
    return register(row)


def _rule(
    name: str, arity: int, kinds: tuple[Scalar, ...], result: Scalar | None, fixed: Mapping[int, Scalar]
) -> Callable[[tuple[Type, ...], Attributes], tuple[Type, ...]]:
    """The type rule: equal operand types out of `kinds`, but for the fixed positions."""

    known: dict[tuple[Type, ...], tuple[Type, ...]] = {}

    def infer(types: tuple[Type, ...], attributes: Attributes) -> tuple[Type, ...]:
        if types not in known:
            known[types] = (check(types),)
        return known[types]

    def check(types: tuple[Type, ...]) -> Type:
        given = ", ".join(map(str, types))
        if len(types) != arity:
            raise TypeError(f"{name} takes {arity} operands, not {len(types)}")
        free = [kind for k, kind in enumerate(types) if k not in fixed]
        if any(types[k] != kind for k, kind in fixed.items()) or free[0] not in kinds:
            raise TypeError(f"{name} cannot take {given}")
        if any(kind != free[0] for kind in free):
            raise TypeError(f"{name} needs operands of one type, not {given}")
        return result or free[0]

    return infer


def callables(numpy: str = "", math_: str = "") -> tuple[Callable[..., Any], ...]:
    """The functions of NumPy and `math` by these names (separated by blanks), where this version has them."""
    found = [getattr(np, name, None) for name in numpy.split()]
    found += [getattr(math, name, None) for name in math_.split()]
    return tuple(dict.fromkeys(function for function in found if function is not None))
