"""Programs that mean the same as a function: made on its syntax tree, one change at a time.

Comes in: the tree of a function.  Goes out: for each kind of change and each place where it applies a changed tree.
Guaranteed: a changed function gives what the function gives, up to the order of nothing: every operation on floats is
the same one, in an order that nothing depends on.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Tree = ast.FunctionDef
Body = list[ast.stmt]
Change = Callable[[Tree], Iterator[Tree]]
UNROLLED = 6


def bodies(tree: Tree) -> list[Body]:
    """Every list of statements, outermost first."""
    return [
        getattr(node, name)
        for node in ast.walk(tree)
        if not isinstance(node, ast.expr)
        for name in ("body", "orelse")
        if isinstance(getattr(node, name, None), list) and getattr(node, name)
    ]


def names(node: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The names that are read (Load) or bound (Store) in a tree."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def bound(tree: Tree) -> set[str]:
    """The local names that are plain variables."""
    hidden = {n for node in ast.walk(tree) if isinstance(node, ast.Global | ast.Nonlocal) for n in node.names}
    return names(tree, ast.Store) - hidden


def fresh(tree: Tree, stem: str) -> str:
    """A name that the function does not use."""
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {a.arg for a in parameters(tree)}
    return next(name for k in range(len(taken) + 1) if (name := f"{stem}{k or ''}") not in taken)


def parameters(tree: Tree) -> list[ast.arg]:
    """All parameters."""
    a = tree.args
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *(x for x in (a.vararg, a.kwarg) if x)]


def edited(tree: Tree, applies: Callable[[Tree, Body, int], Body | None]) -> Iterator[Tree]:
    """The tree with one statement replaced, for every statement that `applies` gives others for."""
    for number, body in enumerate(bodies(tree)):
        for position in range(len(body)):
            changed = copy.deepcopy(tree)
            own = bodies(changed)[number]
            statements = applies(changed, own, position)
            if statements is not None:
                own[position : position + 1] = statements
                yield ast.fix_missing_locations(changed)


def counted(statement: ast.stmt) -> tuple[ast.For, str, list[ast.expr]] | None:
    """A `for` over `range` with one plain index, whose body neither breaks nor rebinds it."""
    if not isinstance(statement, ast.For) or statement.orelse or not isinstance(statement.target, ast.Name):
        return None
    call = statement.iter
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"):
        return None
    inside = [node for inner in statement.body for node in ast.walk(inner)]
    if any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in inside) or call.keywords:
        return None
    index = statement.target.id
    if any(index in names(inner, ast.Store) for inner in statement.body):
        return None
    return statement, index, call.args


def unrolled(tree: Tree) -> Iterator[Tree]:
    """A loop over a few known numbers, written out."""

    def applies(tree: Tree, body: Body, position: int) -> Body | None:
        found = counted(body[position])
        if found is None or not all(isinstance(a, ast.Constant) and isinstance(a.value, int) for a in found[2]):
            return None
        loop, index, arguments = found
        steps = range(*(a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, int)))
        if not 0 < len(steps) <= UNROLLED:
            return None
        made: Body = []
        for step in steps:
            made.append(ast.Assign([ast.Name(index, ast.Store())], ast.Constant(step)))
            made += copy.deepcopy(loop.body)
        return made

    return edited(tree, applies)


def as_while(tree: Tree) -> Iterator[Tree]:
    """A `for` over a range that counts up by one, as a `while`."""

    def applies(tree: Tree, body: Body, position: int) -> Body | None:
        found = counted(body[position])
        if found is None or len(found[2]) > 2:
            return None
        loop, index, arguments = found
        start = arguments[0] if len(arguments) == 2 else ast.Constant(0)
        counter, end = fresh(tree, "counter"), fresh(tree, "end")
        step = ast.AugAssign(ast.Name(counter, ast.Store()), ast.Add(), ast.Constant(1))
        take = ast.Assign([ast.Name(index, ast.Store())], ast.Name(counter, ast.Load()))
        test = ast.Compare(ast.Name(counter, ast.Load()), [ast.Lt()], [ast.Name(end, ast.Load())])
        return [
            ast.Assign([ast.Name(counter, ast.Store())], start),
            ast.Assign([ast.Name(end, ast.Store())], arguments[-1]),
            ast.While(test, [take, *loop.body, step], []),
        ]

    return edited(tree, applies)


def renamed(tree: Tree) -> Iterator[Tree]:
    """A local variable under another name."""
    plain = bound(tree) - {argument.arg for argument in parameters(tree)}
    if any(isinstance(node, ast.FunctionDef | ast.Lambda) for node in ast.walk(tree) if node is not tree):
        return  # a function inside may have a variable of the same name
    for name in sorted(plain):
        changed = copy.deepcopy(tree)
        other = fresh(tree, f"{name}_renamed")
        for node in ast.walk(changed):
            if isinstance(node, ast.Name) and node.id == name:
                node.id = other
        yield changed


def out_of_place(tree: Tree) -> Iterator[Tree]:
    """`a += b` as `a = a + b`, of an element or of a variable that starts as a number."""
    numbers = {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, float)
        for target in node.targets
        if isinstance(target, ast.Name)
    }

    def applies(tree: Tree, body: Body, position: int) -> Body | None:
        statement = body[position]
        if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Name):
            return None
        if statement.target.id not in numbers:
            return None
        value = ast.BinOp(ast.Name(statement.target.id, ast.Load()), statement.op, statement.value)
        return [ast.Assign([statement.target], value)]

    return edited(tree, applies)


def in_helper(tree: Tree) -> Iterator[Tree]:
    """An assignment to a variable whose value comes from a function inside."""

    def applies(tree: Tree, body: Body, position: int) -> Body | None:
        statement = body[position]
        if not (isinstance(statement, ast.Assign) and len(statement.targets) == 1):
            return None
        if not isinstance(statement.targets[0], ast.Name) or isinstance(statement.value, ast.Constant):
            return None
        inside = {type(node) for node in ast.walk(statement.value)}
        if inside & {ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Lambda, ast.ListComp, ast.GeneratorExp}:
            return None
        local = bound(tree) | {argument.arg for argument in parameters(tree)}
        taken = sorted(names(statement.value, ast.Load) & local)
        name = fresh(tree, "helper")
        arguments = ast.arguments([], [ast.arg(other) for other in taken], None, [], [], None, [])
        helper = ast.FunctionDef(name, arguments, [ast.Return(statement.value)], [], None, None, lineno=0)
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(other, ast.Load()) for other in taken], [])
        return [helper, ast.Assign(statement.targets, call)]

    return edited(tree, applies)


def reordered(tree: Tree) -> Iterator[Tree]:
    """Two neighbouring assignments to variables that do not depend on each other, the other way round."""

    def applies(tree: Tree, body: Body, position: int) -> Body | None:
        if position + 1 == len(body):
            return None
        first, second = body[position], body[position + 1]
        if not (_simple(first) and _simple(second)):
            return None
        written = names(first, ast.Store), names(second, ast.Store)
        if written[0] & (written[1] | names(second, ast.Load)) or written[1] & names(first, ast.Load):
            return None
        del body[position + 1]
        return [second, first]

    return edited(tree, applies)


def _simple(statement: ast.stmt) -> bool:
    """True for an assignment of an expression without calls of the user's to a variable."""
    if not isinstance(statement, ast.Assign) or not all(isinstance(t, ast.Name) for t in statement.targets):
        return False
    calls = [node.func for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
    return all(isinstance(function, ast.Attribute) for function in calls)


CHANGES: dict[str, Change] = {
    "a loop unrolled": unrolled,
    "a `for` as a `while`": as_while,
    "a variable renamed": renamed,
    "an update out of place": out_of_place,
    "an expression in a function of its own": in_helper,
    "independent statements reordered": reordered,
}
