"""Integer values as polynomials of others, so that they can be compared, bounded and rewritten.

Comes in: `i64` values.  Goes out: `Form`s, polynomials in atoms; an atom is a value that is not itself a sum,
difference, product, constant, or half of a product of neighbours such as `i * (i + 1) // 2`.  Guaranteed: exact for
integers that do not overflow; forms stay small: a value whose form would be large is an atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Operation, Row, Value
from adgen.passes.indices import Known
from adgen.passes.polynomials import Form, number

LARGEST_FORM = 8  # terms
LARGEST_DEGREE = 3


class Forms:
    """The forms of the values of a function or of a builder, and the atoms they are made of."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.atoms: list[Value] = []
        self._numbers: dict[Value, int] = {}
        self._forms: dict[Value, Form] = {}

    def atom(self, value: Value) -> int:
        """The number of a value as an atom."""
        if value not in self._numbers:
            self._numbers[value] = len(self.atoms)
            self.atoms.append(value)
        return self._numbers[value]

    def maker(self, atom: int) -> Operation | None:
        """The operation that makes an atom; None for an argument."""
        return self.known.definitions.get(self.atoms[atom])

    def of(self, value: Value) -> Form:
        """The form of a value."""
        stack = [value]
        while stack:
            current = stack[-1]
            if current in self._forms:
                stack.pop()
                continue
            missing = [operand for operand in self._parts(current) if operand not in self._forms]
            if missing:
                stack.extend(missing)
            else:
                self._forms[current] = self._made(current)
        return self._forms[value]

    def single(self, value: Value) -> Form:
        """The form of a value taken as it is: a constant or one atom."""
        constant = self.known.known(value)
        return Form({(self.atom(value),): 1}) if constant is None else number(int(constant))

    def full(self, form: Form) -> Form:
        """The form with every atom replaced by the form of its value."""
        for atom in form.atoms:
            inner = self.of(self.atoms[atom])
            if inner.atoms != (atom,):
                form = form.replaced(atom, inner)
        return form

    def opened(self, form: Form, stays: Callable[[Value], bool]) -> Form:
        """The form with the atoms that do not stay replaced by what they are computed from, as far as that goes."""
        for _ in range(LARGEST_FORM):
            moving = [atom for atom in form.atoms if self._parts(self.atoms[atom]) and not stays(self.atoms[atom])]
            if not moving or len(form.terms) > LARGEST_FORM:
                break
            for atom in moving:
                value = self.atoms[atom]
                parts = [self.single(operand) for operand in self._parts(value)]
                form = form.replaced(atom, _combined(self.known.definitions[value].row, parts))
        return form

    def define(self, value: Value, form: Form) -> None:
        """Set the form of a value that would be an atom otherwise."""
        self._forms[value] = form

    def _parts(self, value: Value) -> tuple[Value, ...]:
        operation = self.known.definitions.get(value)
        if operation is None:
            return ()
        if operation.row is ops.FLOORDIV and self.known.known(operation.operands[1]) == 2:
            return self._neighbours(operation.operands[0])
        return operation.operands if operation.row in ARITHMETIC else ()

    def _neighbours(self, value: Value) -> tuple[Value, ...]:
        """The factors of a product, when they differ by one: then the product is even."""
        product = self.known.definitions.get(value)
        if product is None or product.row is not ops.MUL:
            return ()
        for one, other in (product.operands, product.operands[::-1]):
            next_one = self.known.definitions.get(one)
            if next_one is None or next_one.row not in (ops.ADD, ops.SUB) or next_one.operands[0] is not other:
                continue
            if self.known.known(next_one.operands[1]) in (1, -1):
                return product.operands
        return ()

    def _made(self, value: Value) -> Form:
        constant = self.known.known(value)
        if constant is not None:
            return number(int(constant))
        parts = [self._forms[operand] for operand in self._parts(value)]
        form = None
        if parts:
            form = _combined(self.known.definitions[value].row, parts)
        if form is None or len(form.terms) > LARGEST_FORM or any(len(m) > LARGEST_DEGREE for m in form.terms):
            return Form({(self.atom(value),): 1})
        return form

    def shortest(self, form: Form) -> Form:
        """The form, or the full one if that is shorter."""
        full = self.full(form)
        return full if len(full.terms) < len(form.terms) else form

    def emit(self, builder: Builder, form: Form, replacements: Mapping[int, Value] | None = None) -> Value:
        """The value of a form: what is added, then what is subtracted."""
        form, factor = form.whole()
        if factor != 1:
            return builder.op(ops.FLOORDIV, self.emit(builder, form, replacements), builder.index(factor))
        terms = sorted(form.terms.items(), key=lambda item: (item[0] == (), item[1] < 0))
        total: Value | None = None
        for monomial, coefficient in terms:
            values = [(replacements or {}).get(atom, self.atoms[atom]) for atom in monomial]
            if total is None:
                total = _product(builder, values, int(coefficient))
            else:
                row = ops.ADD if coefficient > 0 else ops.SUB
                total = builder.op(row, total, _product(builder, values, abs(int(coefficient))))
        return builder.index(0) if total is None else total

    def at_least_zero(self, builder: Builder, form: Form) -> Value:
        """The condition `form >= 0`, as a comparison of the terms that are added with those that are subtracted."""
        form, _ = self.shortest(form).whole()
        offset = form.terms.get((), 0)
        added = Form({monomial: c for monomial, c in form.terms.items() if c > 0 and monomial})
        taken = Form({monomial: -c for monomial, c in form.terms.items() if c < 0 and monomial})
        if offset == -1:
            return builder.op(ops.LT, self.emit(builder, taken), self.emit(builder, added))
        if offset >= 0 or not added.terms:
            added = added + offset
        else:
            taken = taken - offset
        return builder.op(ops.LE, self.emit(builder, taken), self.emit(builder, added))


ARITHMETIC = (ops.ADD, ops.SUB, ops.NEG, ops.MUL)


def _combined(row: Row, parts: Sequence[Form]) -> Form:
    if row is ops.ADD:
        return parts[0] + parts[1]
    if row is ops.SUB:
        return parts[0] - parts[1]
    if row is ops.NEG:
        return -parts[0]
    product = parts[0] * parts[1]
    return product * number(Fraction(1, 2)) if row is ops.FLOORDIV else product


def _product(builder: Builder, values: Iterable[Value], coefficient: int) -> Value:
    factors = list(values)
    if coefficient != 1 or not factors:
        factors.append(builder.index(coefficient))
    product = factors[0]
    for factor in factors[1:]:
        product = builder.op(ops.MUL, product, factor)
    return product
