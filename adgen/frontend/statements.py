"""Statements: assignment, branches, jumps, checks, definitions.

A block is lowered statement by statement.  When one side of a run-time `if` always jumps, the rest of the block moves
into the other side; other jumps become flags, and what follows is guarded by them.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import (
    assign,
    attributes,
    axisless,
    calls,
    control,
    evaluate,
    generators,
    iteration,
    logic,
    managers,
    operators,
    refuse,
    scan,
    subscripts,
    text,
    tries,
)
from adgen.frontend.arrays.agreement import under
from adgen.frontend.scan import BROKEN, CONTINUED, RESULT, RETURNED
from adgen.frontend.state import State
from adgen.frontend.values import Choice, Number, Poison, describe, is_number
from adgen.ir.nodes import Value
from adgen.ir.types import I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Keep = frozenset[str] | None


def block(ctx: Context, statements: list[ast.stmt], keep: Keep) -> None:
    """Lower statements in order; `keep` holds the names that may be read after them."""
    for k, node in enumerate(statements):
        rest = statements[k + 1 :] if isinstance(node, ast.If | ast.For | ast.While | ast.With) else None
        ctx.place(node)
        if isinstance(node, ast.If) and rest is not None:
            if _branch(ctx, node, rest, keep):
                return
        else:
            statement(ctx, node)
        left = control.jumped(ctx)
        if left is True:
            return
        if left is not False:
            remaining = statements[k + 1 :]
            if remaining:
                _guarded_rest(ctx, left, remaining, keep)
            return


def _guarded_rest(ctx: Context, left: Value, statements: list[ast.stmt], keep: Keep) -> None:
    control.guarded(ctx, left, lambda: block(ctx, statements, keep), _alive(ctx, statements, keep))


def _alive(ctx: Context, statements: list[ast.stmt], keep: Keep) -> Keep:
    """The names that may be read after the last of these statements."""
    after = ctx.frame.code.flow.after.get(statements[-1]) if statements else None
    return keep if after is None else after


def _branch(ctx: Context, node: ast.If, rest: list[ast.stmt], keep: Keep) -> bool:
    """Lower an `if`.  True: the rest of the block has been lowered with it."""
    truth = logic.condition(ctx, node.test)
    if isinstance(truth, bool):
        block(ctx, node.body if truth else node.orelse, keep)
        return False
    ctx.place(node.test)
    if scan.always_raises(node.body):
        _raising(ctx, truth, node.body)
        block(ctx, [*node.orelse, *rest], keep)
        return True
    if node.orelse and scan.always_raises(node.orelse):
        _raising(ctx, ctx.builder.op(ops.NOT, truth), node.orelse)
        block(ctx, [*node.body, *rest], keep)
        return True
    then, otherwise, absorbed = node.body, node.orelse, False
    if rest and scan.always_jumps(then):
        otherwise, absorbed = [*otherwise, *rest], True
    elif rest and otherwise and scan.always_jumps(otherwise):
        then, absorbed = [*then, *rest], True
    alive = _alive(ctx, rest, keep) if absorbed else ctx.frame.code.flow.after.get(node, keep)

    ctx.place(node)
    control.fork(ctx, truth, lambda: block(ctx, then, alive), lambda: block(ctx, otherwise, alive), alive)
    return absorbed


def _raising(ctx: Context, truth: Value, statements: list[ast.stmt]) -> None:
    """The side of an `if` that ends in `raise`: a check where nothing else happens, else a branch without join."""
    builder = ctx.builder
    before = State.capture(ctx)
    with builder.block() as inner, under(ctx, truth):
        ctx.ranges.assume(truth)
        block(ctx, statements, frozenset())
    before.restore()
    checks = [operation for operation in inner.operations if operation.row.name == "check"]
    pure = [operation for operation in inner.operations if operation.row.pure]
    if len(checks) == 1 and len(pure) == len(inner.operations) - 1:
        for operation in pure:
            builder.append(operation)
        attributes_ = checks[0].attributes
        fine = builder.op(ops.NOT, truth)
        before_span, builder.span = builder.span, checks[0].span
        builder.check(fine, attributes_["exception"], attributes_["message"], checks[0].operands[1:])
        builder.span = before_span
    else:

        def failing() -> tuple[Value, ...]:
            builder.blocks[-1].operations.extend(inner.operations)
            return ()

        builder.branch(truth, failing)
    ctx.ranges.assume(truth, False)


# -- simple statements ----------------------------------------------------------------------------------------------


def statement(ctx: Context, node: ast.stmt) -> None:
    """Lower one statement that is not an `if`."""
    handler = HANDLERS.get(type(node))
    if handler is None:
        refuse.node(ctx, node)
    handler(ctx, node)


def _assign(ctx: Context, node: ast.Assign) -> None:
    if ctx.inference is not None:
        _infer_shape(ctx, node)
    value = evaluate.expression(ctx, node.value)
    if len(node.targets) > 1:
        value = operators.secure(ctx, value)  # all targets share what it is
    for target in node.targets:
        ctx.place(node)
        assign.target(ctx, target, value)


def _infer_shape(ctx: Context, node: ast.Assign) -> None:
    """`n, d = x.shape` says that `x` has two axes."""
    target, value = node.targets[0], node.value
    if ctx.inference is None or not (isinstance(value, ast.Attribute) and value.attr == "shape"):
        return
    if isinstance(target, ast.Tuple) and not any(isinstance(element, ast.Starred) for element in target.elts):
        ctx.inference.rank(ctx, evaluate.expression(ctx, value.value), len(target.elts))


def _annotated(ctx: Context, node: ast.AnnAssign) -> None:
    if node.value is not None:
        value = evaluate.expression(ctx, node.value)
        ctx.place(node)
        assign.target(ctx, node.target, value)


def prepared(ctx: Context, node: ast.stmt) -> Callable[[], None]:
    """Evaluate the value of an assignment or `return`; the result does the rest."""
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        value = operators.secure(ctx, evaluate.expression(ctx, node.value))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]

        def bind() -> None:
            for target in targets:
                ctx.place(target)
                assign.target(ctx, target, value)

        return bind
    if isinstance(node, ast.Return):
        ctx.place(node)
        result = None if node.value is None else evaluate.expression(ctx, node.value)
        return lambda: _returned(ctx, node, result)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        name, old = node.target.id, evaluate.read(ctx, node.target.id)
        if is_number(old):
            value = evaluate.expression(ctx, node.value)
            ctx.place(node)
            new = operators.augmented(ctx, evaluate.BINARY[type(node.op)], old, value)
            return lambda: ctx.frame.names.update({name: assign.name(ctx, name, new)})
    return lambda: statement(ctx, node)


def _augmented(ctx: Context, node: ast.AugAssign) -> None:
    operator_ = evaluate.BINARY[type(node.op)]
    target = node.target
    if isinstance(target, ast.Name):
        old = evaluate.read(ctx, target.id)
        value = evaluate.expression(ctx, node.value)
        ctx.place(node)
        new = operators.augmented(ctx, operator_, old, value)
        if new is not old:
            assign.name(ctx, target.id, new)
        elif target.id in ctx.frame.code.locals:
            ctx.frame.names[target.id] = old
    elif isinstance(target, ast.Subscript):
        owner = evaluate.expression(ctx, target.value)
        key = evaluate.expression(ctx, target.slice)
        value = evaluate.expression(ctx, node.value)
        ctx.place(node)
        if isinstance(owner, Number) and not owner.weak:
            axisless.store(
                ctx, target.value, owner, key, lambda array, at: subscripts.augment(ctx, array, at, operator_, value)
            )
        else:
            subscripts.augment(ctx, owner, key, operator_, value)
    else:
        owner = evaluate.expression(ctx, target.value)
        old = attributes.get(ctx, owner, target.attr)
        value = evaluate.expression(ctx, node.value)
        ctx.place(node)
        new = operators.augmented(ctx, operator_, old, value)
        if new is not old:
            attributes.put(ctx, owner, target.attr, new)


def _expression(ctx: Context, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Yield):
        value = None if node.value.value is None else evaluate.expression(ctx, node.value.value)
        ctx.place(node.value)
        generators.given(ctx, node.value, value)
    elif isinstance(node.value, ast.Call):
        ctx.place(node.value)
        calls.call_node(ctx, node.value)
    elif not isinstance(node.value, ast.Constant):
        evaluate.expression(ctx, node.value)


def _delete(ctx: Context, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            evaluate.read(ctx, target.id)
            ctx.frame.names.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            owner = evaluate.expression(ctx, target.value)
            key = evaluate.expression(ctx, target.slice)
            ctx.place(node)
            subscripts.remove(ctx, owner, key)
        else:
            refuse.node(ctx, target)


def _return(ctx: Context, node: ast.Return) -> None:
    _returned(ctx, node, None if node.value is None else evaluate.expression(ctx, node.value))


def _returned(ctx: Context, node: ast.Return, value: Any) -> None:
    if isinstance(value, Poison):
        ctx.fail(value.code, value.message, value.help)
    ctx.place(node)
    ctx.frame.names[RESULT] = replace(value, span=ctx.span) if isinstance(value, Choice) else value
    ctx.frame.names[RETURNED] = True


def _break(ctx: Context, node: ast.Break) -> None:
    ctx.frame.names[BROKEN] = True


def _continue(ctx: Context, node: ast.Continue) -> None:
    ctx.frame.names[CONTINUED] = True


def _pass(ctx: Context, node: ast.stmt) -> None:
    pass


def _define(ctx: Context, node: ast.FunctionDef) -> None:
    function: Any = evaluate.closure(ctx, node.name, node)
    for decorator in reversed(node.decorator_list):
        wrapper = evaluate.expression(ctx, decorator)
        ctx.place(decorator)
        function = calls.call(ctx, wrapper, [function], {}, ast.unparse(decorator))
    assign.bind(ctx, node.name, function)


def _import(ctx: Context, node: ast.Import) -> None:
    for alias in node.names:
        module = _module(ctx, alias.name, 0)
        if alias.asname is None:
            assign.bind(ctx, alias.name.partition(".")[0], _module(ctx, alias.name.partition(".")[0], 0))
        else:
            assign.bind(ctx, alias.asname, module)


def _import_from(ctx: Context, node: ast.ImportFrom) -> None:
    module = _module(ctx, node.module or "", node.level)
    for alias in node.names:
        try:
            value = getattr(module, alias.name)
        except AttributeError:
            value = _module(ctx, f"{module.__name__}.{alias.name}", 0)
        assign.bind(ctx, alias.asname or alias.name, value)


def _module(ctx: Context, name: str, level: int) -> Any:
    package = ctx.frame.code.module.get("__package__") or ""
    try:
        return importlib.import_module("." * level + name, package if level else None)
    except ImportError as error:
        ctx.fail("AD405", f"the import fails: {error}", raises=error)


def _with(ctx: Context, node: ast.With) -> None:
    managers.statement(ctx, node)


# -- checks -----------------------------------------------------------------------------------------------------------


def _raise(ctx: Context, node: ast.Raise) -> None:
    if node.exc is not None:
        instance, message, details = _exception(ctx, node.exc)
    elif ctx.handled:
        instance, details = ctx.handled[-1].instance, list[Value]()
        message = str(instance)
    else:
        ctx.fail("AD219", "`raise` without an exception is not supported", "name the exception")
    ctx.place(node)
    _raised(ctx, instance, message, details)


def _raised(ctx: Context, instance: BaseException, message: str, details: list[Value]) -> None:
    """An exception: of every run, or of those that come here."""
    kind, depth = type(instance).__name__, len(ctx.builder.blocks)
    if depth == 1 or any(guard.depth == depth for guard in ctx.guards):
        if message:
            ctx.fail("AD501", f"the function raises {kind}: {message}", raises=instance)
        ctx.fail("AD501", f"the function raises {kind}", raises=instance)
    ctx.builder.check(ctx.builder.const(False), kind, message, details)
    ctx.may_raise(type(instance))
    ctx.frame.names[RETURNED] = True


def _exception(ctx: Context, node: ast.expr) -> tuple[BaseException, str, list[Value]]:
    """The exception, its message and the integer details of that."""
    if isinstance(node, ast.Call):
        kind = evaluate.expression(ctx, node.func)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            message, details = _message(ctx, node.args[0]) if node.args else ("", [])
            return _instance(kind, message), message, details
    value = evaluate.expression(ctx, node)
    if isinstance(value, type) and issubclass(value, BaseException):
        return _instance(value, ""), "", []
    if isinstance(value, BaseException):
        return value, str(value), []
    ctx.fail("AD219", f"{describe(value)} is not an exception")


def _instance(kind: type[BaseException], message: str) -> BaseException:
    """An exception of this class; what else its class asks for is not known."""
    try:
        return kind(message) if message else kind()
    except TypeError:
        return kind.__new__(kind, message)


def _message(ctx: Context, node: ast.expr) -> tuple[str, list[Value]]:
    """The text of a message; run-time ints in an f-string become details, other run-time values are left out."""
    details: list[Value] = []
    if isinstance(node, ast.JoinedStr):
        parts = []
        for part in node.values:
            inner = part.value if isinstance(part, ast.FormattedValue) and part.format_spec is None else part
            value = evaluate.expression(ctx, inner)
            if isinstance(value, Number) and value.element == I64 and len(details) < 2:
                parts.append(f"{{{len(details)}}}")
                details.append(value.value)
            else:
                parts.append(_text(value))
        return "".join(parts), details
    return _text(evaluate.expression(ctx, node)), details


def _text(value: Any) -> str:
    return text.form(value).replace("{...}", "...")


def _assert(ctx: Context, node: ast.Assert) -> None:
    truth = logic.condition(ctx, node.test)
    ctx.place(node)
    if truth is True:
        return
    message, details = ("", list[Value]()) if node.msg is None else _message(ctx, node.msg)
    ctx.place(node)
    if truth is False:
        _raised(ctx, AssertionError(message), message or ast.unparse(node.test), details)
        return
    ctx.may_raise(AssertionError)
    ctx.builder.check(truth, "AssertionError", message, details)
    ctx.ranges.assume(truth)


def _try(ctx: Context, node: ast.Try) -> None:
    tries.statement(ctx, node)


def _for(ctx: Context, node: ast.For) -> None:
    iteration.for_statement(ctx, node)


def _while(ctx: Context, node: ast.While) -> None:
    iteration.while_statement(ctx, node)


HANDLERS: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.Delete: _delete,
    ast.Return: _return,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Pass: _pass,
    ast.Global: _pass,
    ast.Nonlocal: _pass,
    ast.FunctionDef: _define,
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.With: _with,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Try: _try,
    ast.For: _for,
    ast.While: _while,
}
