"""Reverse mode: a function that computes values and then, backwards, cotangents.

Comes in: a pure function and the positions of the parameters to differentiate for.  Goes out: an ordinary function
whose body is the forward sweep followed by the reverse sweep.  Guaranteed: every scalar has one cotangent, every
active buffer one shadow; the reverse sweep reads forward values only as `residuals` allows, so it is right whatever
the function overwrites.

    y = load A[i]        ->   accumulate A_bar[i], y_bar
    store A[i], v        ->   v_bar += load A_bar[i];  store A_bar[i], 0
    accumulate A[i], v   ->   v_bar += load A_bar[i]

A loop whose iterations do not need each other's values is not recorded: its reverse runs the body again and reverses
it, iteration by iteration, with memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.ir import core
from adgen.ir.builder import Builder, sharing_key
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import F32, Buffer, Scalar, is_float
from adgen.passes.activity import active
from adgen.passes.callees import Callees, floats, types_of
from adgen.passes.custom import inlined, require_rule, zeros, zeros_like
from adgen.passes.dead_code import dead_code
from adgen.passes.exporters import Side
from adgen.passes.linear import require_linear
from adgen.passes.localise import add_into, copy_into, copy_of
from adgen.passes.overwrites import Overwrites
from adgen.passes.residuals import Fate
from adgen.passes.reverse_control import reverse_branch, reverse_for, reverse_while
from adgen.passes.strong_zeros import Fragile, guarded


def adjoint(
    function: Function,
    wrt: Sequence[int | Value],
    seeds: Literal["parameters", "one"] = "parameters",
    fates: list[Fate] | None = None,
) -> Function:
    """The VJP of a pure function for `wrt`: the positions of parameters, and results of `tap` operations.

    Parameters: those of the function, then with `seeds="parameters"` the cotangent `r_bar` of every floating-point
    result.  With `seeds="one"` the first result, a scalar, has the cotangent 1 and the others 0.
    Results: those of the function, then the gradient `x_bar` of everything in `wrt`.
    How the forward values that the reverse sweep reads get there is noted in `fates`.
    """
    callees = Callees(function.callees, {"grad": _gradient_of, "vjp": _cotangents_of, "transpose": transpose})
    values = [function.parameters[k] if isinstance(k, int) else k for k in wrt]
    reverse = Reverse(function, values, callees)
    if fates is not None:
        reverse.fates = fates
    made = reverse.build(seeds)
    return replace(made, callees=callees.finished()) if function.callees else made


def _gradient_of(function: Function, callees: Callees, _: int) -> Function:
    return Reverse(function, [function.parameters[k] for k in floats(function.parameters)], callees).build("one")


def _cotangents_of(function: Function, callees: Callees, _: int) -> Function:
    return _pullback(function, [function.parameters[k] for k in floats(function.parameters)], callees)


def transpose(function: Function, callees: Callees, last: int) -> Function:
    """The transpose of a function that is linear in its last parameters: from cotangents of the results to theirs."""
    return _pullback(function, function.parameters[len(function.parameters) - last :], callees)


def _pullback(function: Function, wrt: Sequence[Value], callees: Callees) -> Function:
    return without_values(Reverse(function, wrt, callees).build("parameters"), function)


def without_values(derived: Function, function: Function) -> Function:
    """A derivative of a function without the results of the function itself, which come first."""
    first = len(function.results)
    body = replace(derived.body, results=derived.results[first:])
    return dead_code(replace(derived, body=body, result_names=derived.result_names[first:]))


class Reverse:
    """The state of one reverse sweep: cotangents of scalars, shadows of buffers, and the builder of reverse code."""

    def __init__(self, function: Function, wrt: Sequence[Value], callees: Callees) -> None:
        self.function = function
        self.callees = callees
        self.wrt = wrt
        self.builder = Builder()
        for operation in walk(function.body):
            for value in operation.results:
                self.builder.definitions[value] = operation
        results = [value for value in function.results if is_float(value.type)]
        self.active = active(function, wrt, results)
        self.memory = Overwrites(function)
        self.cotangent: dict[Value, Value] = {}
        self.shadow: dict[Value, Value] = {}
        self.plain: set[Value] = set()  # cotangents that no mask or memory has made zero
        self.fragile = Fragile(function)
        self.loop_depth = 0
        self.running_again = False
        self.fates: list[Fate] = []

    def build(self, seeds: str) -> Function:
        function, builder = self.function, self.builder
        floats = [
            (value, name)
            for value, name in zip(function.results, function.result_names, strict=True)
            if is_float(value.type)
        ]
        builder.span = function.span
        given = {}
        if seeds == "parameters":
            given = {k: Value(value.type, f"{name}_bar") for k, (value, name) in enumerate(floats)}
        with builder.block((*function.parameters, *given.values())) as block:
            for value in self.wrt:
                if isinstance(value.type, Buffer):
                    self.shadow[value] = builder.alloc(value.type.element, builder.dims(value), f"{value.name}_bar")
            forward = self.region(function.body.operations, lambda: self._seed(floats, given))
            gradients = [self._gradient(value) for value in self.wrt]
            self._note(forward, block.operations)
            block.operations[:0] = forward
            block.results = (*function.results, *gradients)
        names = (*function.result_names, *(f"{value.name}_bar" for value in self.wrt))
        return builder.function(f"{function.name}_vjp", block, names, **function.notes)

    def _note(self, forward: Sequence[Operation], reverse: Sequence[Operation]) -> None:
        """What stands outside of loops and branches is still there."""
        made = {value: operation for operation in forward for value in operation.results}
        for operation in walk(Region((), tuple(reverse), ())):
            for value in operation.operands:
                if value in made:
                    self.fates.append(Fate("kept", value, made.pop(value), operation.span))

    def _seed(self, floats: Sequence[tuple[Value, str]], given: dict[int, Value]) -> None:
        for k, (value, _) in enumerate(floats):
            if value not in self.active:
                continue
            if isinstance(value.type, Buffer):
                if k in given:
                    copy_into(self.builder, given[k], self.shadow[value])
            elif k in given:
                self.add(value, given[k])
            elif k == 0:
                one = self.builder.const(1.0, value.type)
                self.plain.add(one)
                self.add(value, one)

    def _gradient(self, value: Value) -> Value:
        if isinstance(value.type, Buffer):
            return self.shadow[value]
        return self.take(value) or self.builder.const(0.0, value.type)

    # -- cotangents ----------------------------------------------------------------------------------------------

    def add(self, value: Value, contribution: Value | None) -> None:
        """Add to the cotangent of a scalar."""
        if contribution is None or value not in self.active:
            return
        known = self.cotangent.get(value)
        total = contribution if known is None else self.builder.op(ops.ADD, known, contribution)
        if not total.name and value.name:
            total.name = f"{value.name}_bar"
        if contribution in self.plain and (known is None or known in self.plain):
            self.plain.add(total)
        self.cotangent[value] = total

    def take(self, value: Value) -> Value | None:
        """The finished cotangent of a scalar, None for zero."""
        return self.cotangent.pop(value, None)

    def cast(self, cotangent: Value, value: Value) -> Value:
        """A cotangent in the type of another value."""
        if cotangent.type == value.type:
            return cotangent
        return self.builder.op(ops.TO_F32 if value.type == F32 else ops.TO_F64, cotangent)

    def or_zero(self, cotangent: Value | None, value: Value) -> Value:
        """A cotangent made explicit."""
        return self.builder.const(0.0, value.type) if cotangent is None else cotangent

    # -- regions -------------------------------------------------------------------------------------------------

    def region(self, operations: Sequence[Operation], seed: Callable[[], None] = lambda: None) -> list[Operation]:
        """Emit the reverse of a list of operations; give the operations for the forward sweep."""
        known = self.builder.blocks[-1].shared
        for operation in operations:
            self._make_shadow(operation)
            if operation.row.pure:  # what a partial computes again is a forward value like any other
                key = sharing_key(operation.row, operation.operands, operation.attributes)
                known.setdefault(key, operation.results)
        seed()
        replaced: list[list[Operation]] = []
        for operation in reversed(operations):
            self.builder.span = operation.span
            rule = _RULES.get(operation.row, _elementwise)
            changed = rule(self, operation)
            replaced.append([operation] if changed is None else changed)
        return [operation for group in reversed(replaced) for operation in group]

    def _make_shadow(self, operation: Operation) -> None:
        row, builder = operation.row, self.builder
        if row not in (core.ALLOC, core.STACK, core.RESHAPE) or operation.result not in self.active:
            return
        builder.span = operation.span
        name = f"{operation.result.name}_bar"
        operands = operation.operands
        attributes = operation.attributes
        if row is core.ALLOC:
            attributes = {**attributes, "zero": True}
        elif row is core.RESHAPE:
            operands = (self.shadow[operands[0]], *operands[1:])
        (self.shadow[operation.result],) = builder.emit(row, operands, attributes, (), (name,))


def _elementwise(reverse: Reverse, operation: Operation) -> None:
    if len(operation.results) != 1:
        return
    cotangent = reverse.take(operation.result)
    if cotangent is None:
        return
    needed = tuple(value in reverse.active for value in operation.operands)
    if not any(needed):
        return
    pullback = operation.row.pullback  # type: ignore[attr-defined]
    given = cotangent
    if operation.row is ops.MUL and operation.operands[0] is operation.operands[1]:
        two = reverse.builder.const(2.0, cotangent.type)  # other squares may have the same cotangent
        given, needed = reverse.builder.op(ops.MUL, two, cotangent), (True, False)
    parts = pullback(reverse.builder, operation.operands, operation.result, given, needed)
    plain = cotangent in reverse.plain and operation.row is not ops.SELECT
    for position, (value, part) in enumerate(zip(operation.operands, parts, strict=True)):
        if part is not None and plain:
            reverse.plain.add(part)
        elif part is not None and reverse.fragile.at(operation, position):
            part = guarded(reverse.builder, cotangent, part)
        reverse.add(value, part)


def _nothing(reverse: Reverse, operation: Operation) -> None:
    """Operations without a derivative: their results are never active."""


def _load(reverse: Reverse, operation: Operation) -> None:
    cotangent = reverse.take(operation.result)
    buffer, *index = operation.operands
    if cotangent is not None and buffer in reverse.active:
        once = reverse.memory.root[buffer] in reverse.memory.read_once  # then the shadow is zero here
        add = reverse.builder.store if once else reverse.builder.accumulate
        add(reverse.shadow[buffer], cotangent, index)


def _store(reverse: Reverse, operation: Operation) -> None:
    buffer, value, *index = operation.operands
    if buffer not in reverse.active:
        return
    shadow = reverse.shadow[buffer]
    if value in reverse.active:
        reverse.add(value, reverse.builder.load(shadow, index))
    if reverse.memory.root[buffer] not in reverse.memory.written_once:  # else nobody reads the shadow again
        reverse.builder.store(shadow, reverse.builder.const(0.0, value.type), index)


def _accumulate(reverse: Reverse, operation: Operation) -> None:
    buffer, value, *index = operation.operands
    if buffer in reverse.active and value in reverse.active:
        reverse.add(value, reverse.builder.load(reverse.shadow[buffer], index))


def _push(reverse: Reverse, operation: Operation) -> None:
    stack, value = operation.operands
    if stack in reverse.active:
        (cotangent,) = reverse.builder.emit(core.POP, (reverse.shadow[stack],))
        reverse.add(value, cotangent)


def _pop(reverse: Reverse, operation: Operation) -> None:
    stack = operation.operands[0]
    if stack in reverse.active:
        cotangent = reverse.or_zero(reverse.take(operation.result), operation.result)
        reverse.builder.emit(core.PUSH, (reverse.shadow[stack], cotangent))


def _call(reverse: Reverse, operation: Operation) -> list[Operation] | None:
    """A call of the callee's derivative: in the forward sweep for one number, else in the reverse sweep."""
    operands, results = operation.operands, operation.results
    moved = [results[k] for k in floats(results)]
    if not any(value in reverse.cotangent for value in moved):
        return None
    name, inputs = operation.attributes["callee"], [operands[k] for k in floats(operands)]
    if len(moved) > 1:
        cotangents = [reverse.or_zero(reverse.take(value), value) for value in moved]
        attributes = {"callee": reverse.callees.derivative(name, "vjp"), "types": types_of(inputs)}
        names = [f"{value.name}_bar" for value in inputs]
        made = reverse.builder.emit(core.CALL, (*operands, *cotangents), attributes, (), names)
        for value, part in zip(inputs, made, strict=True):
            reverse.add(value, part)
        return None
    cotangent = reverse.take(moved[0])
    assert cotangent is not None
    partials = tuple(Value(value.type, f"{moved[0].name}_{value.name}_bar") for value in inputs)
    attributes = {"callee": reverse.callees.derivative(name, "grad"), "types": types_of((*results, *partials))}
    for value, partial in zip(inputs, partials, strict=True):
        if value in reverse.active:
            reverse.add(value, reverse.builder.op(ops.MUL, reverse.cast(cotangent, value), partial))
    return [replace(operation, results=(*results, *partials), attributes=attributes)]


def _custom(reverse: Reverse, operation: Operation) -> list[Operation] | None:
    """The rule, in the reverse sweep.  Of memory that it reads and later code overwrites it reads copies."""
    inputs, outputs = core.moving(operation), core.moved(operation)
    if not any(value in reverse.active for value in inputs) or not any(value in reverse.active for value in outputs):
        return None
    require_rule(operation)
    builder, definitions = reverse.builder, reverse.builder.definitions
    sides = Side(definitions), Side(definitions)
    kept: dict[Value, Value] = {}
    for side, values in zip(sides, (core.inputs_of(operation), core.outputs_of(operation))):
        for value in dict.fromkeys(values):
            if isinstance(value.type, Buffer) and not reverse.memory.stays(operation, value):
                kept[value] = _saved(side, value)
    cotangents = [_cotangent_of(reverse, value) for value in outputs]
    given = [kept.get(value, value) for value in core.known_to_rules(operation)]
    rule = reverse.callees.table.get(operation.attributes["vjp"])
    transposed = rule is None
    if rule is None:
        rule = reverse.callees.transpose(operation.attributes["jvp"], len(inputs))
        given += [kept.get(value, value) for value in inputs]  # in place of tangents: it is linear in them
    if rule is None:
        raise AdgenError(
            "AD146",
            "the jvp rule of this function calls the function itself, so it has no vjp",
            operation.span,
            "give it a vjp rule too",
        )
    if transposed:
        require_linear(reverse.callees.table[operation.attributes["jvp"]], len(inputs), "jvp", operation.span)
    parts = inlined(builder, rule, (*given, *cotangents))
    builder.span = operation.span
    for value, part, nothing in zip(inputs, parts, zeros(rule), strict=True):
        if isinstance(value.type, Buffer):
            if not nothing and value in reverse.active:
                add_into(builder, part, reverse.shadow[value])
        else:
            reverse.add(value, part)
    for value in core.outputs_of(operation):
        if value in reverse.active and not reverse.memory.is_first(operation, value):
            _zero_all(reverse, value)
    return [*sides[0].operations, operation, *sides[1].operations]


def _saved(side: Side, value: Value) -> Value:
    return side.emit(lambda builder: copy_of(builder, value, f"{value.name}_saved"))


def _cotangent_of(reverse: Reverse, value: Value) -> Value:
    """The cotangent of a result or output, made explicit."""
    if isinstance(value.type, Buffer):
        if value in reverse.active:
            return reverse.shadow[value]
        return zeros_like(reverse.builder, value, f"{value.name}_bar")
    return reverse.or_zero(reverse.take(value), value)


def _zero_all(reverse: Reverse, value: Value) -> None:
    builder, shadow = reverse.builder, reverse.shadow[value]
    assert isinstance(value.type, Buffer)
    zero = builder.const(0.0, value.type.element)
    builder.nest(builder.dims(value), lambda *index: builder.store(shadow, zero, index))


Rule = Callable[[Reverse, Operation], "list[Operation] | None"]
_RULES: dict[object, Rule] = {
    core.CONST: _nothing,
    core.TABLE: _nothing,
    core.TAP: _nothing,
    core.DIM: _nothing,
    core.CHECK: _nothing,
    core.ALLOC: _nothing,
    core.STACK: _nothing,
    core.RESHAPE: _nothing,
    core.LOAD: _load,
    core.STORE: _store,
    core.ACCUMULATE: _accumulate,
    core.PUSH: _push,
    core.POP: _pop,
    core.FOR: reverse_for,
    core.WHILE: reverse_while,
    core.IF: reverse_branch,
    core.CALL: _call,
    core.CUSTOM: _custom,
}

__all__ = ["Reverse", "Scalar", "adjoint"]
