"""The derivative of a number that is found as the solution of an equation.

Comes in: a function with `custom` operations that name a residual.  Goes out: the function with a jvp rule in its
place, made by the theorem of implicit functions: `x_dot = -(f_p p_dot) / f_x` at the solution.  Guaranteed: the rule is
an ordinary function of the solution and of what the residual reads, so its own derivatives need nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.calls import reachable, unused
from adgen.ir.nodes import Function, Operation, Value, walk
from adgen.ir.rebuild import Mapping, clone_operation, rebuild
from adgen.ir.types import Buffer, is_float
from adgen.passes.custom import inlined
from adgen.passes.dead_code import dead_code
from adgen.passes.forward import forward


def implicit(function: Function) -> Function:
    """A residual becomes a jvp rule.

    Before:  function f(%a: f64) -> (out) {
               %x = custom %a {jvp="", outputs=0, residual="g", types=["f64"], vjp=""} () {
                 %0 = sqrt %a : f64
                 yield %0
               } : f64
               return %x
             }
             function g(%a: f64, %x: f64) -> (out) {
               %0 = mul %x, %x : f64
               %out = sub %0, %a : f64
               return %out
             }
    After:   function f(%a: f64) -> (out) {
               %x = custom %a {jvp="g_jvp", outputs=0, types=["f64"], vjp=""} () {
                 %0 = sqrt %a : f64
                 yield %0
               } : f64
               return %x
             }
             function g_jvp(%a: f64, %x: f64, %a_dot: f64) -> (out_dot) {
               %0 = const {type="f64", value=2.0} : f64
               %out_dot = mul %0, %x : f64
               %1 = div %a_dot, %out_dot : f64
               return %1
             }
    """
    if all(residual(op) == "" for each in (function, *function.callees.values()) for op in walk(each.body)):
        return function
    rules = _Rules(function)
    body = rules.ruled(function)
    callees = {name: rules.ruled(each) for name, each in function.callees.items()}
    return reachable(replace(body, callees={**callees, **rules.made}))


def residual(operation: Operation) -> str:
    """The residual that an operation names, if any."""
    return str(operation.attributes.get("residual", "")) if operation.row is core.CUSTOM else ""


class _Rules:
    """The rules made so far; what a residual calls has its rules first."""

    def __init__(self, function: Function) -> None:
        self.callees = dict(function.callees)
        self.names: dict[str, str] = {}
        self.made: dict[str, Function] = {}

    def ruled(self, function: Function) -> Function:
        """The function with rules in place of residuals."""

        def transform(builder: Builder, operation: Operation, mapping: Mapping) -> bool:
            name = residual(operation)
            if not name:
                return False
            attributes = {key: x for key, x in operation.attributes.items() if key not in ("residual", "solve")}
            attributes["jvp"] = self.names.get(name) or self._make(name, operation.attributes.get("solve", ""))
            changed = replace(operation, attributes=MappingProxyType(attributes))
            clone_operation(builder, changed, mapping, transform)
            return True

        if all(residual(operation) == "" for operation in walk(function.body)):
            return function
        return rebuild(function, transform)

    def _make(self, name: str, solve: str) -> str:
        rule = unused(f"{name}_jvp", {*self.callees, *self.made})
        self.names[name] = rule
        equation = self.ruled(self.callees[name])
        callees = {**self.callees, **self.made}
        made, callees = _rule(replace(equation, callees=callees), rule, callees.get(solve))
        self.made.update({key: each for key, each in callees.items() if key not in self.callees})
        self.made[rule] = made
        return rule


def pushed(equation: Function, position: int) -> Function:
    """The forward mode of a function for one parameter."""
    return forward(implicit(equation), [position])


def _rule(equation: Function, name: str, solve: Function | None) -> tuple[Function, dict[str, Function]]:
    """The jvp rule of what makes a function zero, and the callees that it needs; `solve` solves linear systems."""
    found = next(k for k, value in reversed(list(enumerate(equation.parameters))) if is_float(value.type))
    given = [k for k, value in enumerate(equation.parameters) if is_float(value.type) and k != found]
    change = forward(equation, given)
    slope = forward(replace(equation, callees={**equation.callees, **change.callees}), [found])
    parameters = [Value(value.type, value.name) for value in equation.parameters]
    tangents = [Value(parameters[k].type, f"{parameters[k].name}_dot") for k in given]
    builder = Builder()
    builder.span = equation.span
    with builder.block((*parameters, *tangents)) as block:
        moved = inlined(builder, change, (*parameters, *tangents))[-1]
        if solve is None:
            one = builder.const(1.0, parameters[found].type)
            steep = inlined(builder, slope, (*parameters, one))[-1]
            builder.span = equation.span
            block.results = (builder.op(ops.NEG, builder.op(ops.DIV, moved, steep)),)
        else:
            block.results = (_vector(builder, parameters, parameters[found], slope, solve, moved),)
    made = dead_code(builder.function(name, block, ["out_dot"], linear=True))
    return made, {**change.callees, **slope.callees}


def _vector(
    builder: Builder, parameters: Sequence[Value], x: Value, slope: Function, solve: Function, moved: Value
) -> Value:
    """The tangent of a vector: minus the solution of a system whose matrix is made column by column."""
    assert isinstance(x.type, Buffer)
    element, n = x.type.element, builder.dim(x, 0)
    matrix = builder.alloc(element, (n, n), "slopes", zero=False)

    def column(k: Value) -> tuple[Value, ...]:
        direction = builder.alloc(element, (n,), "direction")
        builder.store(direction, builder.const(1.0, element), (k,))
        change = inlined(builder, slope, (*parameters, direction))[-1]
        builder.nest((n,), lambda i: builder.store(matrix, builder.load(change, (i,)), (i, k)))
        return ()

    builder.loop(builder.index(0), n, (), column, name="k")
    (solved,) = inlined(builder, solve, (matrix, moved))
    x_dot = builder.alloc(element, (n,), f"{x.name}_dot", zero=False)
    builder.nest((n,), lambda i: builder.store(x_dot, builder.op(ops.NEG, builder.load(solved, (i,))), (i,)))
    return x_dot
