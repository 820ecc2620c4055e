"""What is known about integers while a program is lowered: loop indices, extents, conditions that hold.

Comes in: facts (`declare` for a loop index, `assume` for a condition).  Goes out: proofs (`nonnegative`, `below`,
`equal`).  Guaranteed: an answer of True holds in every run in which the current place is reached; False means "not
proved".  A fact holds as long as the block it was stated in is open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from weakref import WeakKeyDictionary

from adgen.frontend.affine import Affine, Forms
from adgen.ir.builder import Block, Builder
from adgen.ir.nodes import Operation, Value
from adgen.ir.types import I64

Terms = frozenset[tuple[Value, int]]
Sides = tuple[frozenset[int], frozenset[int]]

FUEL = 6  # the depth of a proof

INVERSE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}


class Ranges:
    """Facts about the i64 values of one builder, and proofs from them."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self._facts: WeakKeyDictionary[Block, dict[Terms, Affine]] = WeakKeyDictionary()
        self._about: WeakKeyDictionary[Block, dict[Value, dict[Terms, Affine]]] = WeakKeyDictionary()
        self._meanings: dict[Value, dict[Value, Sides]] = {}
        self._codes: WeakKeyDictionary[Block, list[tuple[Value, bool, frozenset[int]]]] = WeakKeyDictionary()
        self._noted: WeakKeyDictionary[Block, set[Hashable]] = WeakKeyDictionary()
        self._bounds: dict[Value, tuple[Affine, Affine, int]] = {}
        self._representatives: dict[Hashable, Value] = {}
        self._unified: dict[Value, Affine] = {}
        self._forms = Forms(builder, self._atom)
        self.raw = Forms(builder)  # forms in the very values at hand, from which operations may be made

    # -- facts ---------------------------------------------------------------------------------------------------

    def declare(self, index: Value, low: Value, high: Value) -> None:
        """`index`, an argument of the innermost open block, lies in `[low, high)`, which is therefore not empty."""
        first, end = self.form(low), self.form(high)
        self._bounds[index] = (first, end.shifted(-1), len(self._bounds))
        self._state(end.plus(first, -1).shifted(-1))

    def assume(self, condition: Value, truth: bool = True) -> None:
        """The condition is known to be `truth` from here to the end of the innermost open block."""
        for value, sides in self._meanings.get(condition, {}).items():
            self._note_codes(value, False, sides[not truth])
        operation = self.builder.definitions.get(condition)
        if operation is None:
            return
        name, operands = operation.row.name, operation.operands
        if name == "not":
            self.assume(operands[0], not truth)
        elif name == ("and" if truth else "or"):
            for operand in operands:
                self.assume(operand, truth)
        elif name in INVERSE and operands[0].type == I64:
            code = self.builder.known(operands[1])
            if name in ("eq", "ne") and code is not None:
                self._note_codes(operands[0], (name == "eq") == truth, frozenset((code,)))
            self._compared(name if truth else INVERSE[name], self.form(operands[0]), self.form(operands[1]))

    def _note_codes(self, value: Value, among: bool, codes: frozenset[int]) -> None:
        self._codes.setdefault(self.builder.blocks[-1], []).append((value, among, codes))

    def excludes(self, condition: Value, value: Value, yes: frozenset[int], no: frozenset[int]) -> None:
        """Where the condition holds `value` is none of `yes`, where it does not none of `no`."""
        known = self._meanings.setdefault(condition, {}).get(value, (yes, no))
        self._meanings[condition][value] = (known[0] & yes, known[1] & no)

    def possible(self, value: Value, among: Iterable[int], *closed: Block) -> frozenset[int]:
        """Those of the codes that the value may have here, or at the end of blocks that have been closed."""
        found = frozenset(among)
        for block in (*self.builder.blocks, *closed):
            for about, inside, codes in self._codes.get(block, ()):
                if about is value:
                    found = found & codes if inside else found - codes
        return found

    def _compared(self, name: str, a: Affine, b: Affine) -> None:
        if name in ("lt", "le", "eq"):
            self._state(b.plus(a, -1).shifted(-1 if name == "lt" else 0))
        if name in ("gt", "ge", "eq"):
            self._state(a.plus(b, -1).shifted(-1 if name == "gt" else 0))

    def _state(self, form: Affine, block: Block | None = None) -> None:
        if not form.terms or not self.builder.blocks:
            return
        block, terms = block or self.builder.blocks[-1], frozenset(form.terms)
        facts = self._facts.setdefault(block, {})
        if terms in facts and facts[terms].constant <= form.constant:
            return  # a stronger one is known
        facts[terms] = form
        about = self._about.setdefault(block, {})
        for value, _ in form.terms:
            about.setdefault(value, {})[terms] = form
        for value, coefficient in form.terms:
            operation = self.builder.definitions.get(value)
            if operation is None or operation.row.name not in ("maximum", "minimum"):
                continue
            a, b = (form.replaced(value, self.form(x)) for x in operation.operands)
            if (operation.row.name == "minimum") == (coefficient > 0):
                self._state(a)  # the least of both satisfies it, so both do
                self._state(b)
            elif self.proves(a.times(-1).shifted(-1)):
                self._state(b)  # one of both satisfies it, and it is not the other one
            elif self.proves(b.times(-1).shifted(-1)):
                self._state(a)
            return

    def unify(self, value: Value, zero: Affine) -> None:
        """`zero`, a form in which the value has the coefficient 1 or -1, is 0 from here to the end of the function.

        The value has no form of its own any more, but that of the others.
        """
        for fact in (zero, zero.times(-1)):
            self.grant(fact)
        solved = zero.replaced(value, Affine(0)).times(-zero.coefficient(value))
        self._unified = {known: form.replaced(value, solved) for known, form in self._unified.items()}
        self._unified[value] = solved
        self._forms = Forms(self.builder, self._atom)

    def grant(self, form: Affine) -> None:
        """`form >= 0` from here to the end of the function."""
        self._state(form, self.builder.blocks[0])

    def saved(self) -> Callable[[], None]:
        """A function that forgets what is stated about the innermost open block from here on."""
        block = self.builder.blocks[-1]
        facts, noted = dict(self._facts.get(block, {})), set(self._noted.get(block, ()))
        about = {value: dict(forms) for value, forms in self._about.get(block, {}).items()}
        codes = list(self._codes.get(block, ()))

        def restore() -> None:
            self._facts[block], self._noted[block] = dict(facts), set(noted)
            self._about[block] = {value: dict(forms) for value, forms in about.items()}
            self._codes[block] = list(codes)

        return restore

    def noted(self, key: Hashable) -> bool:
        """True when `note(key)` was called in a block that is still open."""
        return any(key in self._noted.get(block, ()) for block in self.builder.blocks)

    def note(self, key: Hashable) -> None:
        """Remember a key until the innermost open block is closed."""
        self._noted.setdefault(self.builder.blocks[-1], set()).add(key)

    def facts(self) -> Iterator[Affine]:
        """Forms that are not negative here, the innermost block's first."""
        for block in reversed(self.builder.blocks):
            yield from reversed(list(self._facts.get(block, {}).values()))

    def _facts_about(self, value: Value) -> Iterator[Affine]:
        """The facts in which a value occurs, the innermost block's first."""
        for block in reversed(self.builder.blocks):
            if block in self._about:
                yield from reversed(list(self._about[block].get(value, {}).values()))

    # -- proofs --------------------------------------------------------------------------------------------------

    def nonnegative(self, value: Value) -> bool:
        """`value >= 0` is proved."""
        return self.proves(self.form(value))

    def below(self, value: Value, extent: Value) -> bool:
        """`value < extent` is proved."""
        return self.proves(self.form(extent).plus(self.form(value), -1).shifted(-1))

    def equal(self, a: Value, b: Value) -> bool:
        """`a == b` is proved."""
        if a is b:
            return True
        difference = self.form(a).plus(self.form(b), -1)
        if not difference.terms:
            return difference.constant == 0
        return self.proves(difference) and self.proves(difference.times(-1))

    def proves(self, form: Affine, fuel: int = FUEL) -> bool:
        """`form >= 0` is proved."""
        if not form.terms:
            return form.constant >= 0
        if fuel == 0:
            return False
        return (
            self._without_index(form, fuel)
            or self._without_structure(form, fuel)
            or self._without_nonnegative(form, fuel)
            or self._with_fact(form, fuel)
        )

    def _without_index(self, form: Affine, fuel: int) -> bool:
        """Put the extreme value of the innermost loop's index in its place."""
        declared = [(self._bounds[v][2], v, c) for v, c in form.terms if v in self._bounds]
        if not declared:
            return False
        _, index, coefficient = max(declared, key=lambda item: item[0])
        low, high, _ = self._bounds[index]
        return self.proves(form.replaced(index, low if coefficient > 0 else high), fuel)

    def _without_structure(self, form: Affine, fuel: int) -> bool:
        """Put the operands of a maximum, minimum, selection, quotient or remainder in its place."""
        for value, coefficient in form.terms:
            operation = self.builder.definitions.get(value)
            if operation is None:
                continue
            name, operands = operation.row.name, operation.operands
            if name in ("maximum", "minimum"):
                parts = [self.proves(form.replaced(value, self.form(x)), fuel - 1) for x in operands]
                return any(parts) if (name == "maximum") == (coefficient > 0) else all(parts)
            if name == "select":
                return all(self.proves(form.replaced(value, self.form(x)), fuel - 1) for x in operands[1:])
            if name == "mod" and self.proves(self.form(operands[1]).shifted(-1), fuel - 1):
                bound = Affine(0) if coefficient > 0 else self.form(operands[1]).shifted(-1)
                return self.proves(form.replaced(value, bound), fuel - 1)
            if name == "floordiv":
                divisor = self.builder.known(operands[1])
                if divisor is not None and divisor > 0:
                    return self._without_quotient(form, value, coefficient, self.form(operands[0]), divisor, fuel)
        return False

    def _without_quotient(
        self, form: Affine, value: Value, coefficient: int, dividend: Affine, divisor: int, fuel: int
    ) -> bool:
        """`divisor * quotient` lies in `[dividend - divisor + 1, dividend]`."""
        rest = Affine(form.constant, tuple((v, c) for v, c in form.terms if v is not value)).times(divisor)
        bound = dividend.shifted(1 - divisor) if coefficient > 0 else dividend
        return self.proves(rest.plus(bound, coefficient), fuel - 1)

    def _without_nonnegative(self, form: Affine, fuel: int) -> bool:
        """Drop what can only add."""
        kept = tuple((v, c) for v, c in form.terms if c < 0 or not self._sizelike(v, fuel))
        return len(kept) < len(form.terms) and self.proves(Affine(form.constant, kept), fuel - 1)

    def _sizelike(self, value: Value, fuel: int) -> bool:
        operation = self.builder.definitions.get(value)
        if operation is None:
            return False
        name = operation.row.name
        if name in ("dim", "abs"):
            return True
        if name == "mul":
            return all(self.proves(self.form(x), fuel - 1) for x in operation.operands)
        return name == "to_i64" and str(operation.operands[0].type) == "bool"

    def _with_fact(self, form: Affine, fuel: int) -> bool:
        """Subtract a fact that cancels a term."""
        for value, present in form.terms:
            for fact in self._facts_about(value):
                coefficient = fact.coefficient(value)
                if present * coefficient > 0 and present % coefficient == 0:
                    rest = form.plus(fact, -(present // coefficient))
                    if len(rest.terms) <= len(form.terms) and self.proves(rest, fuel - 2 if fuel > 2 else 0):
                        return True
        return False

    # -- forms ---------------------------------------------------------------------------------------------------

    def form(self, value: Value) -> Affine:
        """The affine form of a value; equal expressions from different blocks have equal forms."""
        return self._forms.of(value)

    def _atom(self, value: Value) -> Affine:
        operation = self.builder.definitions.get(value)
        if operation is None or not operation.row.pure:
            return Affine(0, ((value, 1),))
        representative = self._representatives.setdefault(self._key(operation), value)
        return self._unified.get(representative) or Affine(0, ((representative, 1),))

    def _key(self, operation: Operation) -> Hashable:
        operands = tuple(self.form(x).key if x.type == I64 else x for x in operation.operands)
        attributes = tuple(sorted((name, repr(item)) for name, item in operation.attributes.items()))
        return (operation.row.name, operands, attributes)
