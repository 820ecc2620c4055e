"""Proofs about integers: is a form never negative, here?

Comes in: the ranges of the indices of the enclosing loops, conditions known to hold, and a form.  Goes out: True when
the form is proved to be zero or more.  Guaranteed: sound for integers that do not overflow; every question takes a
bounded number of steps.

A proof replaces what is bounded by the bound that makes the form least, the innermost loop's index first, and
subtracts known facts, until only constants and values that cannot be negative are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from adgen import ops
from adgen.ir import core
from adgen.ir.nodes import Operation, Value
from adgen.ir.types import I64, is_natural
from adgen.passes.forms import Forms
from adgen.passes.polynomials import ZERO, Form, number

STEPS = 40  # of one proof
DEPTH = 8
FACTS = 4  # the latest ones about an atom


@dataclass
class Scope:
    """What holds inside a region: facts (forms that are not negative) and, for a loop, the range of its index."""

    facts: list[Form] = field(default_factory=list)
    index: int | None = None
    least: Form = field(default_factory=lambda: number(0))
    greatest: Form = field(default_factory=lambda: number(0))


class Ranges:
    """A stack of scopes, and proofs in it.  `limit` restricts a proof to the outermost scopes."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.scopes: list[Scope] = []
        self._facts: dict[int, list[tuple[int, Form]]] = {}
        self._bounds: dict[int, int] = {}
        self._steps = 0

    def open(self, scope: Scope) -> None:
        """Enter a region."""
        self.scopes.append(scope)
        if scope.index is not None:
            self._bounds[scope.index] = len(self.scopes)
            scope.least, scope.greatest = self.forms.full(scope.least), self.forms.full(scope.greatest)
        facts, scope.facts = scope.facts, []
        for fact in facts:
            self.assume(fact)

    def close(self) -> None:
        """Leave it: what was assumed in it is forgotten."""
        scope = self.scopes.pop()
        if scope.index is not None:
            del self._bounds[scope.index]
        for fact in scope.facts:
            for atom in fact.atoms:
                self._facts[atom] = [entry for entry in self._facts[atom] if entry[0] <= len(self.scopes)]

    def assume(self, fact: Form, level: int | None = None) -> None:
        """From now on, as long as the scope at `level` (the innermost by default) is open, the form is not negative."""
        level = len(self.scopes) if level is None else level
        fact = self.forms.full(fact)
        self.scopes[level - 1].facts.append(fact)
        for atom in fact.atoms:
            entries = self._facts.setdefault(atom, [])
            if len(entries) > 2 * FACTS:
                del entries[: -2 * FACTS]
            entries.append((level, fact))

    @contextmanager
    def assuming(self, facts: Iterable[Form]) -> Iterator[None]:
        """What the facts imply is provable in the `with` body."""
        self.open(Scope(list(facts)))
        try:
            yield
        finally:
            self.close()

    def proves(self, form: Form, limit: int | None = None) -> bool:
        """True when the form is proved to be zero or more."""
        self._steps = STEPS
        return self._proves(self.forms.full(form), len(self.scopes) if limit is None else limit, DEPTH)

    def sign(self, form: Form) -> int | None:
        """1 when the form is proved not negative, -1 when not positive, 0 when zero, None when neither is known."""
        if form.constant is not None:
            return (form.constant > 0) - (form.constant < 0)
        return 1 if self.proves(form) else -1 if self.proves(-form) else None

    def _sign(self, form: Form, limit: int, depth: int) -> int | None:
        if form.constant is not None:
            return 1 if form.constant >= 0 else -1
        return 1 if self._proves(form, limit, depth) else -1 if self._proves(-form, limit, depth) else None

    def _proves(self, form: Form, limit: int, depth: int) -> bool:
        if form.constant is not None:
            return form.constant >= 0
        self._steps -= 1
        if self._steps < 0 or depth < 0:
            return False
        if all(c > 0 and all(self._natural(atom) for atom in monomial) for monomial, c in form.terms.items()):
            return True
        if self._by_facts(form, limit, depth - 1):
            return True
        for atom in reversed(form.atoms):
            answer = self._by_operation(form, atom, limit, depth - 1)
            if answer is not None:
                return answer
        return self._by_index(form, limit, depth - 1)

    def _natural(self, atom: int) -> bool:
        """True for atoms that are never negative whatever happens."""
        operation = self.forms.maker(atom)
        if operation is None:
            return False
        if operation.row is core.DIM or operation.row is ops.ABS:
            return True
        if operation.row is ops.TO_I64:
            return is_natural(operation.operands[0].type)
        if operation.row is ops.MAXIMUM:
            constants = (self.forms.of(value).constant for value in operation.operands)
            return any(constant is not None and constant >= 0 for constant in constants)
        return False

    def _by_facts(self, form: Form, limit: int, depth: int) -> bool:
        """Subtract a fact that shares a term with the form, and prove the rest."""
        tried: set[int] = set()
        for monomial, coefficient in form.terms.items():
            for level, fact in self._facts.get(monomial[-1], ())[-FACTS:] if monomial else ():
                if level > limit or fact.terms.get(monomial) != coefficient or id(fact) in tried:
                    continue
                tried.add(id(fact))
                rest = form - fact
                if len(rest.atoms) <= len(form.atoms) and self._proves(rest, limit, depth):
                    return True
        return False

    def _by_operation(self, form: Form, atom: int, limit: int, depth: int) -> bool | None:
        """Replace an atom by what its operation says of it; None when it says nothing."""
        operation = self.forms.maker(atom)
        parts = form.split(atom)
        if operation is None or parts is None:
            return None
        row = operation.row
        if row not in (ops.MAXIMUM, ops.MINIMUM, ops.SELECT, ops.MOD, ops.FLOORDIV):
            return None
        sign = self._sign(parts[0], limit, depth)
        if sign is None:
            return None
        if row is ops.SELECT:
            return self._by_select(form, atom, operation, limit, depth)
        first, second = (self.forms.of(value) for value in operation.operands)
        if row in (ops.MAXIMUM, ops.MINIMUM):
            either = any if (row is ops.MAXIMUM) == (sign > 0) else all
            return either(self._proves(form.replaced(atom, by), limit, depth) for by in (first, second))
        if row is ops.MOD:
            if not self._proves(second - 1, limit, depth):
                return None
            return self._proves(form.replaced(atom, number(0) if sign > 0 else second - 1), limit, depth)
        if (second.constant or 0) <= 0 or not self._proves(first, limit, depth):
            return None
        return self._proves(form.replaced(atom, number(0) if sign > 0 else first), limit, depth)

    def _by_select(self, form: Form, atom: int, operation: Operation, limit: int, depth: int) -> bool:
        condition, *branches = operation.operands
        for truth, branch in zip((True, False), branches):
            with self.assuming(self.consequences(condition, truth, depth - 1)):
                inner = limit if limit < len(self.scopes) - 1 else len(self.scopes)
                if not self._proves(form.replaced(atom, self.forms.of(branch)), inner, depth):
                    return False
        return True

    def _by_index(self, form: Form, limit: int, depth: int) -> bool:
        inside = [atom for atom in form.atoms if self._bounds.get(atom, limit + 1) <= limit]
        if not inside:
            return False
        atom = max(inside, key=lambda atom: self._bounds[atom])
        parts = form.split(atom)
        scope = self.scopes[self._bounds[atom] - 1]
        if parts is None:
            lower = self._lower_degree(form, atom, scope, limit, depth)
            return lower is not None and self._proves(lower, limit, depth)
        sign = self._sign(parts[0], limit, depth)
        if sign is None:
            return False
        return self._proves(form.replaced(atom, scope.least if sign > 0 else scope.greatest), limit, depth)

    def _lower_degree(self, form: Form, atom: int, scope: Scope, limit: int, depth: int) -> Form | None:
        """A form that is not greater, in which a natural index occurs to a lower power."""
        if not self._proves(scope.least, limit, depth):
            return None
        result = ZERO
        for monomial, coefficient in form.terms.items():
            term = Form({monomial: coefficient})
            if monomial.count(atom) > 1:
                at = monomial.index(atom)
                others = (*monomial[:at], *monomial[at + 1 :])
                if not all(other == atom or self._natural(other) for other in others):
                    return None
                term = Form({others: coefficient}) * (scope.least if coefficient > 0 else scope.greatest)
            result = result + term
        return result

    def conjuncts(self, condition: Value, truth: bool = True) -> tuple[list[Form], bool]:
        """Forms that are not negative when a condition has a truth value; True when that holds the other way too."""
        operation = self.forms.known.definitions.get(condition)
        if operation is None:
            return [], False
        row = operation.row
        if row is ops.NOT:
            return self.conjuncts(operation.operands[0], not truth)
        if row is (ops.AND if truth else ops.OR):
            parts = [self.conjuncts(value, truth) for value in operation.operands]
            return [*parts[0][0], *parts[1][0]], parts[0][1] and parts[1][1]
        if row not in COMPARISONS or operation.operands[0].type != I64:
            return [], False
        first, second = (self.forms.single(value) for value in operation.operands)
        row = row if truth else NEGATED[row]
        if row is ops.EQ:
            return [first - second, second - first], True
        if row is ops.NE:
            return [], False
        if row in (ops.GT, ops.GE):
            first, second = second, first
        return [second - first - (1 if row in (ops.LT, ops.GT) else 0)], True

    def consequences(self, condition: Value, truth: bool, depth: int | None = None) -> Sequence[Form]:
        """Forms that are not negative when a condition has a truth value, here; `depth` is what is left of a proof."""
        facts, _ = self.conjuncts(condition, truth)
        operation = self.forms.known.definitions.get(condition)
        if operation is None or operation.row is not (ops.NE if truth else ops.EQ):
            return facts
        if operation.operands[0].type != I64:
            return facts
        first, second = (self.forms.of(value) for value in operation.operands)
        for difference in (first - second, second - first):
            if self.proves(difference) if depth is None else self._proves(difference, len(self.scopes), depth):
                return [difference - 1]
        return facts

    def decides(self, operation: Operation) -> bool | None:
        """The truth of an integer comparison, when it is proved."""
        if operation.row not in COMPARISONS or operation.operands[0].type != I64:
            return None
        if operation.row in (ops.EQ, ops.NE):
            first, second = (self.forms.of(value) for value in operation.operands)
            if self.proves(first - second - 1) or self.proves(second - first - 1):
                return operation.row is ops.NE
        for truth in (True, False):
            forms, exact = self.conjuncts(operation.result, truth)
            if exact and all(self.proves(form) for form in forms):
                return truth
        return None


COMPARISONS = (ops.LT, ops.LE, ops.GT, ops.GE, ops.EQ, ops.NE)
NEGATED = {ops.LT: ops.GE, ops.GE: ops.LT, ops.LE: ops.GT, ops.GT: ops.LE, ops.EQ: ops.NE, ops.NE: ops.EQ}
