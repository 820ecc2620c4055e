"""Loops, branches, checks and calls as C statements."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adgen import ops
from adgen.emit import storage, swaps
from adgen.emit.expression import NOTHING, Expression, applied, denied, reads_of
from adgen.emit.layout import Block, Branch, Line, Statement
from adgen.emit.text import literal
from adgen.emit.variables import Variable
from adgen.ir import core
from adgen.ir.nodes import Operation, Region, Value, walk
from adgen.ir.types import BOOL, I64, Buffer
from adgen.ops.spelling import ADDITIVE

if TYPE_CHECKING:
    from adgen.emit.body import Body

WIDEST_CHOICE = 90  # characters of `c ? a : b`


def check(body: Body, operation: Operation) -> None:
    """Leave with the number of the check and its details when the condition is false."""
    values = body.values
    condition, *details = (values.use(operand) for operand in operation.operands)
    body.sites.append(operation)
    texts = [*(detail.text for detail in details), "0", "0"]
    texts, name = (texts[:2], "adgen_fail") if len(details) <= 2 else (texts[:4], "adgen_fail_four")
    status = f"{name}({body.detail}, {', '.join(texts)}, {len(body.sites)})"
    reads = condition.reads.union(*(detail.reads for detail in details))
    values.emit(body.fail(denied(condition).text, status), operation.span, reads)


def call(body: Body, operation: Operation) -> None:
    """Call another function, and leave with its status if that is not 0; results come back through pointers."""
    values = body.values
    operands = [values.use(operand) for operand in operation.operands]
    results = [values.variables.of[value] for value in operation.results]
    values.settle(results)
    for variable in results:
        if not variable.name:
            values.start(variable, None)
    given = [*(operand.text for operand in operands), *(f"&{variable.name}" for variable in results), "detail"]
    text = f"status = {body.callees[operation.attributes['callee']]}({', '.join(given)});"
    values.emit(text, operation.span, reads_of(operands) if operands else ())
    values.emit(body.fail("status", "status"), operation.span)
    for variable in results:
        variable.read = True  # its address is taken


def external(body: Body, operation: Operation) -> None:
    """Call a C function of the user's; what it gives through pointers is zero before."""
    values, function = body.values, operation.attributes["external"]
    operands = operation.operands[: len(operation.operands) - operation.attributes["outputs"]]
    inputs = [pointer(body, value) if isinstance(value.type, Buffer) else values.use(value) for value in operands]
    filled = [pointer(body, value) for value in core.outputs_of(operation)]
    results = [values.variables.of[value] for value in operation.results]
    values.settle([*(body.uses.root[value] for value in core.outputs_of(operation)), *results])
    if function.returns:
        text = f"{function.name}({', '.join(part.text for part in inputs)})"
        made = Expression(text, span=operation.span, reads=reads_of(inputs) if inputs else NOTHING)
        values.kept(operation.result, made)
        return
    for variable in results:
        zero = Expression(*literal(0, variable.kind), span=operation.span)
        if variable.name:
            values.assign(variable, zero)
        else:
            values.start(variable, zero)
        variable.read = True  # its address is taken
    addresses, pointers = iter(results), iter(filled)
    given = [part.text for part in inputs]
    for output in function.outputs:
        given.append(next(pointers).text if output.rank else f"&{next(addresses).name}")
    reads = reads_of([*inputs, *filled]) if inputs or filled else NOTHING
    values.emit(f"{function.name}({', '.join(given)});", operation.span, reads)


def pointer(body: Body, buffer: Value) -> Expression:
    """A buffer as an argument."""
    return Expression(body.buffers[buffer], reads=frozenset((body.uses.root[buffer],)))


def for_loop(body: Body, operation: Operation) -> None:
    """`for (int64_t i = start; i < stop; ++i)`; what it carries lives in variables from before the loop."""
    values, region = body.values, operation.regions[0]
    carried = [values.variables.of[value] for value in operation.results]
    stop = steady(body, operation.operands[1], operation)
    start = values.use(operation.operands[0])
    if start.reads & set(carried):
        start = kept(body, start, "first", I64.name, operation)
    shared = is_shared(body, operation)
    enter(body, operation, carried)
    head_reads = start.reads | stop.reads
    with values.block() as statements:
        index, step = region.arguments[0], operation.attributes["step"]
        counter = values.names.claim(index.name or "i")
        values.known[index] = Expression(counter)
        for buffer, loop in body.plan.threaded.items():
            if loop is operation:
                storage.take_part(body, buffer, counter)
        with swaps.named(body, region):
            body.region(region)
            leave(body, region, carried, exit=bool(operation.attributes.get("exit")))
    values.note(head_reads)
    if step < 0:
        test = f"{counter} >= 0" if stop.text == "-1" else f"{counter} > {stop.inside(ADDITIVE)}"
        move = f"--{counter}" if step == -1 else f"{counter} -= {-step}"
    else:
        test = f"{counter} < {stop.inside(ADDITIVE)}"
        move = f"++{counter}" if step == 1 else f"{counter} += {step}"
    head = f"for (int64_t {counter} = {start.text}; {test}; {move})"
    if operation.attributes.get("simd"):
        names = ", ".join(dict.fromkeys(str(variable.name) for variable in carried))
        reduced = f" reduction(+ : {names})" if names else ""
        values.statements.append(Line(f"#pragma omp simd{reduced}", operation.span))
    if shared:
        values.statements.append(
            Line(
                f"#pragma omp parallel for num_threads({operation.attributes['parallel']}) "
                f"schedule(static, 1) if ({stop.inside(ADDITIVE)} > 1)",
                operation.span,
            )
        )
    values.statements.append(Block(head, statements, operation.span))


def is_shared(body: Body, operation: Operation) -> bool:
    """True for a loop that threads may share as C: nothing in it leaves the function, grows, or assigns to what was
    declared before it."""
    if not operation.attributes.get("parallel"):
        return False
    inside = list(walk(operation.regions[0]))
    leaves = any(
        inner.row in (core.CHECK, core.CALL, core.STACK, core.PUSH, core.POP, core.EXTERNAL) for inner in inside
    )
    grows = any(inner.row is core.ALLOC and inner.result in body.plan.heap for inner in inside)
    declared = any(variable.name for variable in body.values.variables.assigned[operation])
    return not (leaves or grows or declared)


def while_loop(body: Body, operation: Operation) -> None:
    """`while (condition)`, or an endless loop that is left in the middle when the condition needs statements."""
    values = body.values
    carried = [values.variables.of[value] for value in operation.results]
    enter(body, operation, carried)
    condition, repeated = operation.regions
    with values.block() as statements:
        body.region(condition)
        test = values.use(condition.results[0])
        values.note(test.reads)
        head = "while (true)"
        if not statements:
            head = f"while ({test.text})"
        else:
            statements.append(Line(f"if ({denied(test).text}) break;", operation.span))
        body.region(repeated)
        leave(body, repeated, carried)
    values.statements.append(Block(head, statements, operation.span))


def enter(body: Body, operation: Operation, carried: list[Variable]) -> None:
    """Before a loop: the variables get their first values, and what the loop will change is read."""
    values = body.values
    initial = operation.operands[len(operation.operands) - len(carried) :]
    values.copy(list(zip(carried, initial, strict=True)), operation.span)
    values.settle(body.uses.written[operation] | values.variables.assigned[operation])


def leave(body: Body, region: Region, carried: list[Variable], exit: bool = False) -> None:
    """At the end of an iteration: the variables get their next values, and the loop may end."""
    values = body.values
    go = values.use(region.results[0]) if exit else None
    if go is not None and go.reads & set(carried):
        go = kept(body, go, "proceed", BOOL.name, None)
    values.copy(list(zip(carried, region.results[exit:], strict=True)), None)
    if go is not None and go.text != "true":
        values.emit("break;" if go.text == "false" else f"if ({denied(go).text}) break;", go.span, go.reads)


def steady(body: Body, value: Value, operation: Operation) -> Expression:
    """A loop's end: written into the head of the loop when that costs nothing, else kept before it."""
    expression = body.values.use(value)
    names = all(isinstance(each, Variable) for each in expression.reads)
    if names and (expression.row is None or (expression.row in (ops.ADD, ops.SUB, ops.MUL) and _fixed(expression))):
        return expression
    return kept(body, expression, "end", I64.name, operation)


def _fixed(expression: Expression) -> bool:
    return not any(variable.mutable for variable in expression.reads)


def kept(body: Body, expression: Expression, hint: str, kind: str, operation: Operation | None) -> Expression:
    """An expression evaluated now, under a name."""
    values = body.values
    span = expression.span or (operation.span if operation else None)
    name = values.names.claim(hint)
    values.emit(
        f"const {'bool' if kind == BOOL.name else 'int64_t'} {name} = {expression.text};", span, expression.reads
    )
    return Expression(name, span=span)


def branch(body: Body, operation: Operation) -> None:
    """`if` and `else`, or `c ? a : b` when both are short."""
    values, variables = body.values, body.values.variables
    condition = values.use(operation.operands[0])
    values.settle(body.uses.written[operation] | variables.assigned[operation])
    if variables.chooses(operation):
        choice(body, operation, condition)
        return
    results = [variables.of[value] for value in operation.results]
    for variable in results:
        if not variable.name:
            values.start(variable, None)
    then, otherwise = (_branch(body, region, results) for region in operation.regions)
    conditional(body, condition, then, otherwise, operation)


def _branch(body: Body, region: Region, results: list[Variable]) -> list[Statement]:
    values = body.values
    with values.block() as statements:
        body.region(region)
        values.copy(list(zip(results, region.results, strict=True)), None)
    return statements


def choice(body: Body, operation: Operation, condition: Expression) -> None:
    """One value, chosen by an expression when nothing is in the way."""
    values = body.values
    (result,) = operation.results
    variable = values.variables.of[result]
    outside, values.folding = values.folding, True
    sides: list[tuple[list[Statement], Expression]] = []
    for region in operation.regions:
        with values.block() as statements:
            body.region(region)
            sides.append((statements, values.use(region.results[0])))
    values.folding = outside
    (first, a), (second, b) = sides
    if not first and not second:
        kind = variable.kind
        made = replace(applied(ops.SELECT, (condition, a, b), kind, operation.span), hint="")
        if len(made.text) <= WIDEST_CHOICE:
            values.define(result, made)
            return
    if not variable.name:
        values.start(variable, None)
    for statements, value in sides:
        outer, values.statements = values.statements, statements
        values.assign(variable, replace(value, span=value.span or operation.span))
        values.statements = outer
    conditional(body, condition, first, second, operation)


def conditional(
    body: Body, condition: Expression, then: list[Statement], otherwise: list[Statement], operation: Operation
) -> None:
    """The statement itself, turned round when only the alternative does anything."""
    if not then and not otherwise:
        return
    if not then:
        condition, then, otherwise = denied(condition), otherwise, []
    body.values.note(condition.reads)
    body.values.statements.append(Branch(condition.text, then, otherwise, operation.span))
