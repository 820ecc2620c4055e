"""Moving one check outward through a nest of loops: which test before the loop stands for all iterations?

Comes in: a condition (a form that must not be negative, or any truth value), the enclosing loops, what is known of
ranges.  Goes out: how far the check can move, the test to make there, and the guards under which it is made.
Guaranteed: the test fails there exactly when the check would fail in some iteration that is executed.

Which iterations execute the check is a range of the index: that of the loop, narrowed by the guards that inner loops
left behind.  A form that only grows or only falls over that range is least at one end, and is tested there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adgen import ops
from adgen.ir.nodes import Operation, Value
from adgen.passes.polynomials import ZERO, Form
from adgen.passes.ranges import Ranges
from adgen.passes.scoped import ScopedBuilder


@dataclass
class Enclosing:
    """An open region: for a `for`, its index as an atom and its bounds as forms; for others `index` is None.

    `checked` are conditions known to hold in the rest of the region, `tested` the forms that moved checks in it
    test and their guards, `raising` the exceptions of the checks that stand in it so far.
    """

    operation: Operation | None
    index: int | None = None
    start: Form = ZERO
    stop: Form = ZERO
    step: int = 1
    checked: set[Value] = field(default_factory=set)
    tested: list[tuple[Form, list[Form]]] = field(default_factory=list)
    raising: set[str] = field(default_factory=set)

    @property
    def forwards(self) -> int:
        """1 when the index grows, -1 when it falls."""
        return 1 if self.step > 0 else -1

    @property
    def runs(self) -> Form:
        """Not negative exactly when the loop has an iteration."""
        return (self.stop - self.start if self.step > 0 else self.start - self.stop) - 1

    @property
    def least(self) -> Form:
        """A lower bound of the index."""
        return self.start if self.step > 0 else self.stop + 1

    @property
    def greatest(self) -> Form:
        """An upper bound of the index."""
        return self.stop - 1 if self.step > 0 else self.start


@dataclass(frozen=True)
class Crossed:
    """A loop that a check has left: the iterations that make it, the test, and whether that grows or falls."""

    index: int
    first: Form
    last: Form
    step: int
    part: Form | Value
    direction: int

    def opened(self, open_form: Callable[[Form], Form]) -> Crossed:
        """The same in terms of values that are made further out."""
        part = open_form(self.part) if isinstance(self.part, Form) else self.part
        return replace(self, first=open_form(self.first), last=open_form(self.last), part=part)

    @property
    def forms(self) -> list[Form]:
        """What must be known to find the first iteration that fails."""
        return [self.first, self.last, *([self.part] if isinstance(self.part, Form) else [])]


@dataclass
class Moving:
    """A check on its way out: the test so far, its guards (all must be not negative), and where it is.

    `limits` are the details at which the test would just fail: what is reported where the first iteration that fails
    cannot be computed.
    """

    part: Form | Value
    details: list[Form]
    limits: list[Form]
    level: int
    guards: list[Form] = field(default_factory=list)
    crossed: list[Crossed] = field(default_factory=list)

    def opened(self, open_form: Callable[[Form], Form]) -> Moving:
        """The same in terms of values that are made further out."""
        return Moving(
            open_form(self.part) if isinstance(self.part, Form) else self.part,
            [open_form(form) for form in self.details],
            [open_form(form) for form in self.limits],
            self.level,
            [open_form(form) for form in self.guards],
            [loop.opened(open_form) for loop in self.crossed],
        )


def move(builder: ScopedBuilder, ranges: Ranges, enclosing: list[Enclosing], moving: Moving, exception: str) -> Moving:
    """The check moved out of as many loops as it can leave."""
    for loop in reversed(enclosing):
        if loop.index is None or loop.raising - {exception}:
            break
        moved = _left(builder, ranges, loop, loop.index, moving)
        if moved is None:
            break
        moving = moved
    return moving


def _left(builder: ScopedBuilder, ranges: Ranges, loop: Enclosing, index: int, moving: Moving) -> Moving | None:
    """The check outside of one loop; None when it cannot leave."""
    level = moving.level
    inside = moving.opened(lambda form: ranges.forms.opened(form, lambda value: builder.level([value]) < level))
    first, last, guards, narrowed = _range(builder, ranges, loop, index, inside)
    direction = 0
    if isinstance(inside.part, Form):
        known = _direction(ranges, inside.part, loop, index, first, last)
        if known is None:
            return None
        direction = known
    # the iteration that decides: where the test is least, and where the guards hold if they hold anywhere
    ends = {-direction}
    for guard in guards:
        known = _direction(ranges, guard, loop, index, first, last)
        if known is None:
            return None
        ends.add(known)
    ends.discard(0)
    assert loop.operation is not None
    if len(ends) > 1 or (ends == {1} and loop.operation.attributes["exit"]):
        return None
    decisive = last if ends == {1} else first
    runs = (last - first if loop.step > 0 else first - last) if narrowed else loop.runs
    outside = Moving(
        inside.part.replaced(index, decisive) if isinstance(inside.part, Form) else inside.part,
        _details(inside, index),
        inside.limits,
        level - 1,
        [*(form.replaced(index, decisive) for form in guards), runs],
        [*inside.crossed, Crossed(index, first, last, loop.step, inside.part, direction)],
    )
    return outside if _available(builder, ranges, outside) else None


def _details(moving: Moving, index: int) -> list[Form]:
    """The details of a check that leaves the loop of an index in which its test is not linear: the limits."""
    crossed = {index, *(loop.index for loop in moving.crossed)}
    if not isinstance(moving.part, Form) or moving.part.split(index) is not None:
        return moving.details
    pairs = zip(moving.details, moving.limits)
    return [detail if crossed & set(limit.atoms) else limit for detail, limit in pairs]


def limits(part: Form | Value, details: list[Form]) -> list[Form]:
    """For each detail the value, next to those that pass, at which a test fails that is a bound of the detail."""
    if not isinstance(part, Form):
        return details
    either = ((detail + part + 1, detail - part - 1) for detail in details)
    return [min(pair, key=lambda form: len(form.atoms)) for pair in either]


def _available(builder: ScopedBuilder, ranges: Ranges, moving: Moving) -> bool:
    """True when everything that a moved check reads is known where it goes."""
    crossed = {loop.index for loop in moving.crossed}
    forms = [*moving.guards, *([moving.part] if isinstance(moving.part, Form) else [])]
    needed = [*moving.details, *(form for loop in moving.crossed for form in loop.forms)]
    values = [ranges.forms.atoms[atom] for form in forms for atom in form.atoms]
    values += [ranges.forms.atoms[atom] for form in needed for atom in form.atoms if atom not in crossed]
    if not isinstance(moving.part, Form):
        values.append(moving.part)
    return builder.level(values) <= moving.level


def _range(
    builder: ScopedBuilder, ranges: Ranges, loop: Enclosing, index: int, moving: Moving
) -> tuple[Form, Form, list[Form], bool]:
    """The first and last index for which the check is made, the guards that are left, whether any was used up.

    A guard is used up when it bounds the index and is known to bound it more than the loop does, or less.
    """
    first, last = loop.start, _last_index(builder, ranges, loop, moving.level - 1)
    guards, narrowed, sign = [], False, loop.forwards
    assert loop.operation is not None
    exact = abs(loop.step) == 1 and not loop.operation.attributes["exit"]

    def holds(difference: Form) -> bool:
        return ranges.proves(difference if sign > 0 else -difference, moving.level)

    for guard in moving.guards:
        parts = guard.split(index)
        slope = None if parts is None else parts[0].constant
        if parts is None or slope not in (1, -1) or not exact:
            guards.append(guard)
            continue
        bound = parts[1] if slope == -1 else -parts[1]
        if slope == -sign and holds(last - bound):
            last, narrowed = bound, True
        elif slope == sign and holds(bound - first):
            first, narrowed = bound, True
        elif not holds(bound - last if slope == -sign else first - bound):
            guards.append(guard)
    return first, last, guards, narrowed


def _last_index(builder: ScopedBuilder, ranges: Ranges, loop: Enclosing, level: int) -> Form:
    """The index of a loop's last iteration, if it has one."""
    if abs(loop.step) == 1:
        return loop.stop - loop.step
    with builder.at(level):
        rest = ranges.forms.emit(builder, loop.runs)
        whole = builder.op(ops.FLOORDIV, rest, builder.index(abs(loop.step)))
        return loop.start + ranges.forms.single(builder.op(ops.MUL, whole, builder.index(loop.step)))


def _direction(ranges: Ranges, form: Form, loop: Enclosing, index: int, first: Form, last: Form) -> int | None:
    """How a form changes from one iteration to the next: 1 up, -1 down, 0 not at all, None unknown."""
    parts = form.split(index)
    if parts is not None:
        change = parts[0] if loop.step > 0 else -parts[0]
        return ranges.sign(change) if change.terms else 0
    here = Form({(index,): 1})
    change = form.replaced(index, here + loop.step) - form
    bounds = [here - first, last - loop.step - here]
    with ranges.assuming(bounds if loop.step > 0 else [-bound for bound in bounds]):
        return ranges.sign(change)


def emit_moved(builder: ScopedBuilder, ranges: Ranges, moving: Moving) -> tuple[Value, list[Value]]:
    """The condition and the details of a moved check, emitted into the open block.

    Guards that are known to hold there are left out, and so are those whose failure makes the test true anyway.
    """
    forms = ranges.forms
    distinct = {frozenset(forms.full(guard).terms.items()): guard for guard in moving.guards}
    moving.guards = [guard for guard in distinct.values() if not _needless(ranges, guard, moving)]
    condition = forms.at_least_zero(builder, moving.part) if isinstance(moving.part, Form) else moving.part
    for guard in reversed(moving.guards):
        idle = forms.at_least_zero(builder, -guard - 1)
        condition = builder.op(ops.OR, condition, idle)
    indices: dict[int, Value] = {}
    if any(loop.index in form.atoms for loop in moving.crossed for form in moving.details):
        for loop in reversed(moving.crossed):
            indices[loop.index] = _first_failing(builder, ranges, loop, indices)
    return condition, [forms.emit(builder, form, indices) for form in moving.details]


def _needless(ranges: Ranges, guard: Form, moving: Moving) -> bool:
    """True when a guard surely holds, or when the test holds where the guard does not."""
    if ranges.proves(guard, moving.level):
        return True
    if not isinstance(moving.part, Form):
        return False
    return ranges.proves(moving.part + guard + 1, moving.level)


def _first_failing(builder: ScopedBuilder, ranges: Ranges, loop: Crossed, indices: dict[int, Value]) -> Value:
    """The index of the first iteration in which a check fails, if it fails in one and the test is linear."""
    forms = ranges.forms
    first = forms.emit(builder, loop.first, indices)
    if loop.direction >= 0 or not isinstance(loop.part, Form):
        return first
    parts = loop.part.split(loop.index)
    fall = None if parts is None else parts[0].constant
    if fall is None:
        return forms.emit(builder, loop.last, indices)
    at_first, fall = loop.part.replaced(loop.index, loop.first), abs(int(fall * loop.step))
    if fall == 1:
        number = forms.emit(builder, at_first + 1, indices)
    else:
        whole = builder.op(ops.FLOORDIV, forms.emit(builder, at_first, indices), builder.index(fall))
        number = builder.op(ops.ADD, whole, builder.index(1))
    if not ranges.proves(at_first):
        number = builder.op(ops.MAXIMUM, number, builder.index(0))
    return builder.op(ops.ADD, first, builder.op(ops.MUL, number, builder.index(loop.step)))
