"""Forward mode: a function that computes values and tangents side by side.

Comes in: a pure function and the positions of the parameters to differentiate for.  Goes out: an ordinary function
with a tangent parameter `x_dot` for each of them, and after the results a tangent `r_dot` for every floating-point
result.  Guaranteed: each operation's tangent comes from its own row; values with no tangent cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value
from adgen.ir.rebuild import clone_operation
from adgen.ir.types import Buffer, Scalar, Stack, is_float
from adgen.passes.activity import roots, varied
from adgen.passes.adjoint import transpose
from adgen.passes.callees import Callees, floats, types_of
from adgen.passes.custom import inlined, require_rule, zeros_like
from adgen.passes.indices import Known
from adgen.passes.linear import require_linear
from adgen.passes.localise import copy_into
from adgen.passes.strong_zeros import Fragile, guarded

Mapping = dict[Value, Value]


def forward(function: Function, wrt: Sequence[int], sweep: type[Forward] | None = None) -> Function:
    """The JVP of a pure function for the parameters at positions `wrt`; `sweep` does it to the function itself."""
    callees = Callees(function.callees, {"jvp": _callee, "transpose": transpose})
    pushed = [function.parameters[k] for k in wrt]
    made = (sweep or Forward)(function, pushed, callees).build(pushed)
    return replace(made, callees=callees.finished()) if function.callees else made


def _callee(function: Function, callees: Callees, _: int) -> Function:
    pushed = [function.parameters[k] for k in floats(function.parameters)]
    return Forward(function, pushed, callees).build(pushed)


class Forward:
    """The state of one sweep: each value's twin, the tangents of those that have one, the builder."""

    def __init__(self, function: Function, wrt: Sequence[Value], callees: Callees) -> None:
        self.function = function
        self.callees = callees
        self.builder = Builder()
        found = varied(function, wrt)
        self.varied = found | {value for value, root in roots(function).items() if root in found}
        self.fragile = Fragile(function)
        self.primal: Mapping = {}
        self.tangent: Mapping = {}

    def build(self, wrt: Sequence[Value]) -> Function:
        function, builder = self.function, self.builder
        builder.span = function.span
        parameters = [Value(value.type, value.name) for value in function.parameters]
        self.primal.update(zip(function.parameters, parameters, strict=True))
        tangents = [Value(value.type, f"{value.name}_dot") for value in wrt]
        self.tangent.update(zip(wrt, tangents, strict=True))
        with builder.block((*parameters, *tangents)) as block:
            self.region(function.body.operations)
            pairs = [
                (self.result_tangent(value), f"{name}_dot")
                for value, name in zip(function.results, function.result_names, strict=True)
                if is_float(value.type)
            ]
            block.results = (*(self.primal[value] for value in function.results), *(value for value, _ in pairs))
        names = (*function.result_names, *(name for _, name in pairs))
        return builder.function(f"{function.name}_jvp", block, names, **function.notes)

    def result_tangent(self, value: Value) -> Value:
        known = self.tangent.get(value)
        if isinstance(value.type, Scalar):
            return known if known is not None else self.builder.const(0.0, value.type)
        assert isinstance(value.type, Buffer)
        if known is not None:
            return known
        return self.builder.alloc(value.type.element, self.builder.dims(self.primal[value]), f"{value.name}_dot")

    def region(self, operations: Sequence[Operation]) -> None:
        for operation in operations:
            self.builder.span = operation.span
            rule = _RULES.get(operation.row, Forward.elementwise)
            rule(self, operation)

    def copy(self, operation: Operation) -> None:
        operands = [self.primal[value] for value in operation.operands]
        names = [value.name for value in operation.results]
        results = self.builder.emit(operation.row, operands, operation.attributes, (), names)
        self.primal.update(zip(operation.results, results, strict=True))

    def elementwise(self, operation: Operation) -> None:
        self.copy(operation)
        if operation.results and operation.result in self.varied:
            operands = [self.primal[value] for value in operation.operands]
            tangents = [self.tangent.get(value) for value in operation.operands]
            made = self.primal[operation.result]
            self.set(operation.result, tangent_of(self.builder, operation, self.fragile, operands, made, tangents))

    def set(self, value: Value, tangent: Value | None) -> None:
        if tangent is not None:
            self.tangent[value] = tangent
            if not tangent.name and value.name:
                tangent.name = f"{value.name}_dot"

    def zero(self, value: Value) -> Value:
        """The tangent of a value, made explicit."""
        known = self.tangent.get(value)
        return known if known is not None else self.builder.const(0.0, value.type)

    def memory(self, operation: Operation) -> None:
        """Operations that make a handle: the tangent's memory is made the same way."""
        self.copy(operation)
        made = operation.result
        if made not in self.varied:
            return
        operands = [self.primal[value] for value in operation.operands]
        if operation.row is core.RESHAPE:
            operands[0] = self.tangent[operation.operands[0]]
        attributes = operation.attributes
        if operation.row is core.ALLOC and not attributes["zero"]:
            attributes = {**attributes, "zero": True}
        (tangent,) = self.builder.emit(operation.row, operands, attributes, (), [f"{made.name}_dot"])
        self.tangent[made] = tangent

    def load(self, operation: Operation) -> None:
        self.copy(operation)
        buffer, *index = operation.operands
        if buffer in self.tangent:
            indices = [self.primal[value] for value in index]
            self.set(operation.result, self.builder.load(self.tangent[buffer], indices))

    def write(self, operation: Operation) -> None:
        buffer, value, *index = operation.operands
        if buffer in self.tangent:
            known = self.tangent.get(value)
            if operation.row is core.STORE or known is not None:
                indices = [self.primal[item] for item in index]
                self.builder.emit(operation.row, (self.tangent[buffer], self.zero(value), *indices))
        self.copy(operation)

    def push(self, operation: Operation) -> None:
        stack, value = operation.operands
        if stack in self.tangent:
            self.builder.emit(core.PUSH, (self.tangent[stack], self.zero(value)))
        self.copy(operation)

    def pop(self, operation: Operation) -> None:
        self.copy(operation)
        if operation.operands[0] in self.tangent:
            (tangent,) = self.builder.emit(core.POP, (self.tangent[operation.operands[0]],))
            self.set(operation.result, tangent)

    def call(self, operation: Operation) -> None:
        """A call of the callee's own JVP."""
        operands, results = operation.operands, operation.results
        if not any(value in self.tangent for value in operands) or not floats(results):
            self.copy(operation)
            return
        tangents = [self.zero(operands[k]) for k in floats(operands)]
        moved = [results[k] for k in floats(results)]
        callee = self.callees.derivative(operation.attributes["callee"], "jvp")
        names = [value.name for value in results] + [f"{value.name}_dot" for value in moved]
        attributes = {"callee": callee, "types": types_of((*results, *moved))}
        given = [self.primal[value] for value in operands]
        made = self.builder.emit(core.CALL, (*given, *tangents), attributes, (), names)
        self.primal.update(zip(results, made, strict=False))
        self.tangent.update(zip(moved, made[len(results) :], strict=True))

    def custom(self, operation: Operation) -> None:
        """The rule, after the operation itself."""
        clone_operation(self.builder, operation, self.primal)
        inputs, outputs = core.moving(operation), core.moved(operation)
        if not any(value in self.tangent for value in inputs) or not outputs:
            return
        require_rule(operation)
        builder = self.builder
        tangents = [
            self.tangent.get(value) or zeros_like(builder, self.primal[value], f"{value.name}_dot") for value in inputs
        ]
        given = [self.primal[value] for value in core.known_to_rules(operation)]
        rule = self.callees.table.get(operation.attributes["jvp"])
        if rule is None:
            require_linear(self.callees.table[operation.attributes["vjp"]], len(outputs), "vjp", operation.span)
            rule = self.callees.transpose(operation.attributes["vjp"], len(outputs))
            given += [self.primal[value] for value in outputs]  # in place of cotangents: it is linear in them
        assert rule is not None  # nothing but a jvp rule needs the transpose of a jvp rule
        for value, part in zip(outputs, inlined(builder, rule, (*given, *tangents)), strict=True):
            if isinstance(value.type, Scalar):
                self.set(value, part)
            elif value in self.tangent:
                copy_into(builder, part, self.tangent[value])

    # -- control -------------------------------------------------------------------------------------------------

    def body(self, region: Region, arguments: Sequence[Value], yielded: Sequence[Value], extra: int) -> Region:
        """A region that carries tangents after the values; its first `extra` yields have none."""
        carried = region.arguments
        fresh = [Value(value.type, value.name) for value in carried]
        dots = [Value(value.type, f"{value.name}_dot") for value in arguments]
        self.primal.update(zip(carried, fresh, strict=True))
        self.tangent.update(zip(arguments, dots, strict=True))
        with self.builder.block((*fresh, *dots)) as block:
            self.region(region.operations)
            block.results = (
                *(self.primal[value] for value in region.results),
                *(self.zero(value) for value in yielded),
            )
        return block.region()

    def loop(self, operation: Operation) -> None:
        """`for` and `while`: varied carried values carry their tangents after all values."""
        skip, first = (1, 2) if operation.row is core.FOR else (0, 0)
        regions = operation.regions
        carried = regions[-1].arguments[skip:]
        exit = int(bool(operation.attributes.get("exit")))
        live = [k for k, value in enumerate(carried) if value in self.varied]
        initial = [self.primal[value] for value in operation.operands]
        initial += [self.zero(operation.operands[first + k]) for k in live]
        made = []
        for region in regions:
            condition = operation.row is core.WHILE and region is regions[0]
            arguments = [region.arguments[skip + k] for k in live]
            yielded = [] if condition else [region.results[exit + k] for k in live]
            made.append(self.body(region, arguments, yielded, exit))
        self.finish(operation, initial, made, live)

    def branch(self, operation: Operation) -> None:
        live = [k for k, value in enumerate(operation.results) if value in self.varied]
        made = [self.body(region, [], [region.results[k] for k in live], 0) for region in operation.regions]
        self.finish(operation, [self.primal[operation.operands[0]]], made, live)

    def finish(self, operation: Operation, operands: list[Value], regions: list[Region], live: list[int]) -> None:
        self.builder.span = operation.span
        results = operation.results
        names = [value.name for value in results] + [f"{results[k].name}_dot" for k in live]
        attributes = dict(operation.attributes)
        if operation.row is core.IF:
            attributes["types"] = tuple(str(value.type) for value in regions[0].results)
        made = self.builder.emit(operation.row, operands, attributes, regions, names)
        self.primal.update(zip(results, made, strict=False))
        self.tangent.update((results[k], dot) for k, dot in zip(live, made[len(results) :], strict=True))


def tangent_of(
    builder: Builder,
    operation: Operation,
    fragile: Fragile,
    operands: Sequence[Value],
    result: Value,
    tangents: Sequence[Value | None],
) -> Value | None:
    """The tangent of an elementwise operation, with these operands and this result, from those of the operands.

    A tangent of zero that may meet an infinite partial contributes zero, and so does one beside a constant zero.
    """
    tangents = [None if is_cancelled(builder, operation, operands, k) else x for k, x in enumerate(tangents)]
    row: ops.Elementwise = operation.row  # type: ignore[assignment]

    def pushed(chosen: Callable[[int], bool]) -> Value | None:
        given = [tangent if chosen(k) else None for k, tangent in enumerate(tangents)]
        return row.pushforward(builder, tuple(operands), result, given)

    weak = [k for k, tangent in enumerate(tangents) if tangent is not None and fragile.at(operation, k)]
    parts = [pushed(lambda k: k not in weak)]
    for k in weak:
        moving, part = tangents[k], pushed(lambda other, k=k: other == k)  # type: ignore[misc]
        assert moving is not None
        parts.append(None if part is None else guarded(builder, moving, part))
    found = [part for part in parts if part is not None]
    return reduce(partial(builder.op, ops.ADD), found) if found else None


def is_cancelled(known: Known, operation: Operation, operands: Sequence[Value], position: int) -> bool:
    """True for a factor beside a constant zero: the product does not depend on it."""
    return operation.row is ops.MUL and known.known(operands[1 - position]) == 0


_RULES: dict[object, Callable[[Forward, Operation], None]] = {
    core.CONST: Forward.copy,
    core.TABLE: Forward.copy,
    core.TAP: Forward.copy,
    core.DIM: Forward.copy,
    core.CHECK: Forward.copy,
    core.ALLOC: Forward.memory,
    core.STACK: Forward.memory,
    core.RESHAPE: Forward.memory,
    core.LOAD: Forward.load,
    core.STORE: Forward.write,
    core.ACCUMULATE: Forward.write,
    core.PUSH: Forward.push,
    core.POP: Forward.pop,
    core.FOR: Forward.loop,
    core.WHILE: Forward.loop,
    core.IF: Forward.branch,
    core.CALL: Forward.call,
    core.CUSTOM: Forward.custom,
}

__all__ = ["Forward", "Stack", "copy_into", "forward"]
