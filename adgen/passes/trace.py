"""Checks that find the operation that is the first to make a NaN or an infinity.

Comes in: a function, and in which words its operations are told from those that are checked already.  Goes out: the
function with a `check` after every operation on floats: its result is finite, or an operand is not.  So what passes on
a value that is not finite is not to blame, nor is a constant.  Guaranteed: nothing else changes; what has such a check
gets no other, so that a derivative of a function with checks is given those that it lacks.

A value that a selection or a branch throws away does not matter, as in `np.where(y == 0, 0, x / y)` and where a
cotangent of zero meets an infinite partial (see `strong_zeros`): its check holds also where the condition is against
it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from adgen import ops
from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping as Values
from adgen.ir.rebuild import clone, clone_operation, mapped, rebuild
from adgen.ir.types import BOOL, F32, Buffer, is_float
from adgen.passes.surgery import free_values

EXCEPTION = "FloatingPointError"
MARK = {"trace": True}
SHOWN = 4  # indices of an element that are told
Origins = Mapping[Span, str]
Choice = tuple[Value, bool, int]  # a condition, what it must be, and where the selection by it stands


def trace(function: Function, place: str = "in the function", origins: Origins | None = None) -> Function:
    """Check what every operation makes; `place` says where it is, `origins` what it is the derivative of.

    Before:  function f(%x: f64) -> (y) {
      %y = exp %x : f64
      return %y
    }
    After:   function f(%x: f64) -> (y) {
      %y = exp %x : f64
      %0 = isfinite %y : bool
      %1 = isfinite %x : bool
      %2 = not %1 : bool
      %3 = or %0, %2 : bool
      %4 = float_bits %x : i64
      %5 = float_bits %y : i64
      check %3, %4, %5 {exception="FloatingPointError", message="exp({0:f64}) is {1:f64}, in the function", trace=true}
      return %y
    }
    """
    called = set(_called(function.body, function, set()))

    def traced(each: Function) -> Function:
        return rebuild(each, _Tracer(each, place, origins or {}))

    callees = {name: traced(callee) if name in called else callee for name, callee in function.callees.items()}
    return replace(traced(function), callees=callees)


def _called(region: Region, function: Function, known: set[str]) -> Iterator[str]:
    """The callees that run when the function does: rules of derivatives are not among them."""
    for operation in walk(region):
        name = operation.attributes["callee"] if operation.row is core.CALL else None
        if name is not None and name not in known:
            known.add(name)
            yield name
            yield from _called(function.callees[name].body, function, known)


def trace_arguments(function: Function, names: Mapping[int, str]) -> Function:
    """Check that parameters hold no NaN; `names` are those of the parameters at some positions."""
    builder = Builder()
    builder.span = function.span
    parameters = tuple(Value(value.type, value.name) for value in function.parameters)
    values = dict(zip(function.parameters, parameters, strict=True))
    with builder.block(parameters) as block:
        for position, name in names.items():
            if is_float(parameters[position].type):
                _no_nan(builder, parameters[position], name)
        clone(builder, function.body.operations, values)
        block.results = mapped(function.results, values)
    return replace(function, body=block.region())


def _no_nan(builder: Builder, value: Value, name: str) -> None:
    def number(element: Value, *index: Value) -> None:
        shown = [*(f"{{{k}}}" for k in range(min(SHOWN, len(index)))), *["..."] * (len(index) > SHOWN)]
        message = f"argument `{name}` is nan{' at [' + ', '.join(shown) + ']' if index else ''}"
        _check(builder, builder.op(ops.NOT, builder.op(ops.ISNAN, element)), message, index[:SHOWN])

    if isinstance(value.type, Buffer):
        builder.nest(builder.dims(value), lambda *index: number(builder.load(value, index), *index))
    else:
        number(value)


def origins(function: Function) -> Origins:
    """What the operations of a function are called in NumPy, by their place in the source."""
    return {o.span: ops.title(o.row) for o in walk(function.body) if o.span is not None and _makes(o)}


def _makes(operation: Operation) -> bool:
    """True for an operation that may make what is not finite from what is."""
    elementwise = operation.row.evaluate is not None and is_float(operation.result.type)
    return elementwise and any(is_float(value.type) for value in operation.operands)


class _Tracer:
    """A transform for `rebuild`."""

    def __init__(self, function: Function, place: str, origins: Origins) -> None:
        self.place = place
        self.origins = origins
        self.known = set(_checked(function))
        self.choices: dict[int, list[Choice]] = {}  # of operations whose result is thrown away unless one holds
        self.late: dict[int, list[Operation]] = defaultdict(list)  # what is checked before a selection
        self._plan(function.body)

    def __call__(self, builder: Builder, operation: Operation, values: Values) -> bool:
        for earlier in self.late.pop(id(operation), ()):
            self._check(builder, earlier, values)
        if operation.row is core.ACCUMULATE and is_float(operation.operands[1].type):
            self._accumulate(builder, operation, values)
            return True
        clone_operation(builder, operation, values, self)
        if self._unknown(operation) and id(operation) not in self.choices:
            self._check(builder, operation, values)
        return True

    def _unknown(self, operation: Operation) -> bool:
        return _makes(operation) and operation.result not in self.known

    def _plan(self, region: Region) -> None:
        """Find the operations whose results are used by selections and branches of their region alone."""
        uses: dict[Value, list[tuple[int, Operation, int]]] = defaultdict(list)
        always = set(region.results)
        for number, operation in enumerate(region.operations):
            for position, value in enumerate(operation.operands):
                uses[value].append((number, operation, position))
            for position, inner in enumerate(operation.regions, 1):
                outer = free_values(inner.operations, inner.results)
                if operation.row is core.IF:
                    for value in outer:
                        uses[value].append((number, operation, position))
                else:
                    always.update(outer)
                self._plan(inner)
        for operation in reversed(region.operations):
            if _makes(operation) and operation.result not in always:
                choices = self._choices(uses[operation.result])
                if choices:
                    self.choices[id(operation)] = choices
                    if self._unknown(operation):
                        last = max(number for _, _, number in choices)
                        self.late[id(region.operations[last])].append(operation)

    def _choices(self, uses: Iterable[tuple[int, Operation, int]]) -> list[Choice]:
        """The conditions under one of which a result is used; none when it always is."""
        found: list[Choice] = []
        for number, user, position in uses:
            if user.row in (ops.SELECT, core.IF) and position > 0:
                found.append((user.operands[0], position == 1, number))
            elif _makes(user) and id(user) in self.choices:
                found.extend(self.choices[id(user)])
            else:
                return []
        return list(dict.fromkeys(found))

    def _check(self, builder: Builder, operation: Operation, values: Values) -> None:
        outer, builder.span = builder.span, operation.span or builder.span
        chosen = [(values.get(by, by), truth) for by, truth, _ in self.choices.get(id(operation), ())]
        self._finite(
            builder, ops.title(operation.row), mapped(operation.operands, values), values[operation.result], chosen
        )
        builder.span = outer

    def _accumulate(self, builder: Builder, operation: Operation, values: Values) -> None:
        """A sum in memory: what was there, what is added, what is there then."""
        buffer, value, *index = mapped(operation.operands, values)
        if "trace" in operation.attributes:
            clone_operation(builder, operation, values)
            return
        before = builder.load(buffer, index)
        builder.emit(operation.row, (buffer, value, *index), {**operation.attributes, **MARK})
        self._finite(builder, ops.title(ops.ADD), (before, value), builder.load(buffer, index), ())

    def _finite(
        self,
        builder: Builder,
        name: str,
        operands: Sequence[Value],
        result: Value,
        chosen: Sequence[tuple[Value, bool]],
    ) -> None:
        sound = builder.op(ops.ISFINITE, result)
        for value in operands:
            if is_float(value.type):
                sound = builder.op(ops.OR, sound, _not(builder, builder.op(ops.ISFINITE, value)))
        if chosen:
            used = builder.const(False)
            for by, truth in chosen:
                used = builder.op(ops.OR, used, by if truth else _not(builder, by))
            sound = builder.op(ops.OR, sound, _not(builder, used))
        shown = [value for value in operands if value.type != BOOL]
        texts = [f"{{{k}{':f64' * is_float(value.type)}}}" for k, value in enumerate((*shown, result))]
        origin = self.origins.get(builder.span) if builder.span else None
        message = f"{name}({', '.join(texts[:-1])}) is {texts[-1]}, {self.place}{f' of {origin}' if origin else ''}"
        _check(builder, sound, message, [_detail(builder, value) for value in (*shown, result)])


def _checked(function: Function) -> Iterator[Value]:
    """The values that are checked already."""
    made = {value: operation for operation in walk(function.body) for value in operation.results}
    for operation in walk(function.body):
        if operation.row is core.CHECK and "trace" in operation.attributes:
            value = operation.operands[-1]
            while value in made and made[value].row in (ops.FLOAT_BITS, ops.TO_F64):
                (value,) = made[value].operands
                yield value


def _not(builder: Builder, value: Value) -> Value:
    return builder.op(ops.NOT, value)


def _detail(builder: Builder, value: Value) -> Value:
    """A number as an i64, a float by its bits."""
    if not is_float(value.type):
        return builder.op(ops.TO_I64, value)
    return builder.op(ops.FLOAT_BITS, builder.op(ops.TO_F64, value) if value.type == F32 else value)


def _check(builder: Builder, sound: Value, message: str, details: Iterable[Value]) -> None:
    if builder.known(sound) is not True:
        builder.emit(core.CHECK, (sound, *details), {"exception": EXCEPTION, "message": message, **MARK})
