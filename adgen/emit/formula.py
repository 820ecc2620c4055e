"""The workspace as a formula for people: `8*(n*k + 2*d)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import gcd

import numpy as np

from adgen import ops
from adgen.emit.memory import Plan
from adgen.ir import core
from adgen.ir.nodes import Value
from adgen.ir.translate import DTYPES
from adgen.ir.types import Buffer

Polynomial = Counter[tuple[str, ...]]  # number of times that a product of names occurs

_SPELLED = {
    ops.MAXIMUM: "max({}, {})",
    ops.MINIMUM: "min({}, {})",
    ops.FLOORDIV: "({} // {})",
    ops.DIV: "({} / {})",
    ops.SELECT: "({1} if {0} else {2})",
    ops.LE: "{} <= {}",
    ops.LT: "{} < {}",
    ops.GE: "{} >= {}",
    ops.GT: "{} > {}",
    ops.AND: "{} and {}",
}
_SILENT = (ops.TO_F64, ops.TO_I64)
_DEEPEST = 40
_LONG = 24  # characters


def workspace_formula(plan: Plan, names: Mapping[Value, str], extents: Mapping[tuple[Value, int], str]) -> str:
    """Bytes of workspace in the names of parameters and their extents, but for the rounding up of each slice."""
    total: Polynomial = Counter()
    reader = _Reader(plan, names, extents)
    for buffer, sizes in plan.workspace.items():
        assert isinstance(buffer.type, Buffer)
        product: Polynomial = Counter({(): np.dtype(DTYPES[buffer.type.element]).itemsize})
        for extent in sizes:
            product = _times(product, reader.polynomial(extent))
        total.update(product)
    return ", ".join([_factored(total), *(f"{name} = {text}" for name, text in reader.named.items())])


class _Reader:
    def __init__(self, plan: Plan, names: Mapping[Value, str], extents: Mapping[tuple[Value, int], str]) -> None:
        self.plan = plan
        self.names = names
        self.extents = extents
        self.named: dict[str, str] = {}  # what is long and has a name

    def polynomial(self, value: Value, depth: int = 0) -> Polynomial:
        """An integer as a sum of products."""
        if value in self.names:
            return Counter({(self.names[value],): 1})
        operation = self.plan.definition[value]
        row = operation.row
        if row is core.CONST:
            number = int(operation.attributes["value"])
            return Counter({(): number} if number else {})
        if row is core.DIM:
            return Counter({(self.extents[operation.operands[0], operation.attributes["axis"]],): 1})
        if depth > _DEEPEST:
            return Counter({("...",): 1})
        if row in _SILENT:
            return self.polynomial(operation.operands[0], depth + 1)
        parts = [self.polynomial(operand, depth + 1) for operand in operation.operands]
        if row is ops.ADD:
            return _plus(parts[0], parts[1], 1)
        if row is ops.SUB:
            return _plus(parts[0], parts[1], -1)
        if row is ops.MUL:
            return _times(parts[0], parts[1])
        if row is ops.MAXIMUM and not all(parts):
            return parts[0] or parts[1]  # at least 0 goes without saying
        texts = [_sum(part) for part in parts]
        if row in (ops.FLOORDIV, ops.DIV):
            texts = [f"({text})" if " " in text and not text.startswith("max(") else text for text in texts]
        spelled = _SPELLED[row].format(*texts) if row in _SPELLED else f"{row.name}({', '.join(texts)})"
        if value.name and len(spelled) > _LONG and self.named.setdefault(value.name, spelled) == spelled:
            spelled = value.name
        return Counter({(spelled,): 1})


def _plus(first: Polynomial, second: Polynomial, sign: int) -> Polynomial:
    found = Counter(first)
    for term, number in second.items():
        found[term] += sign * number
    return Counter({term: number for term, number in found.items() if number})


def _times(first: Polynomial, second: Polynomial) -> Polynomial:
    found: Polynomial = Counter()
    for one, number in first.items():
        for other, factor in second.items():
            found[tuple(sorted(one + other))] += number * factor
    return found


def _factored(total: Polynomial) -> str:
    common = gcd(*total.values())
    if not common:
        return "0"
    rest: Polynomial = Counter({term: number // common for term, number in total.items()})
    text = _sum(rest)
    if common == 1:
        return text
    if text == "1":
        return str(common)
    return f"{common}*({text})" if len(rest) > 1 else f"{common}*{text}"


def _sum(polynomial: Polynomial) -> str:
    text = ""
    for term, number in sorted(polynomial.items(), key=lambda item: (-len(item[0]), item[0])):
        factors = [*([str(abs(number))] if abs(number) != 1 or not term else []), *term]
        sign = " - " if number < 0 else " + "
        text += ("-" if number < 0 else "") if not text else sign
        text += "*".join(factors)
    return text or "0"
