"""Facts about names that follow from the syntax tree alone: what is local, what is assigned, what is alive where.

Guaranteed: the answers are safe upper bounds.  A name that may be read later is alive; a name that a nested function
reads is alive everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

RETURNED, RESULT, BROKEN, CONTINUED = ".return", ".result", ".break", ".continue"
NESTED = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NOTHING: frozenset[str] = frozenset()


def walk(node: ast.AST | Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes below that belong to the same function: nested functions are given, not entered."""
    stack = [node] if isinstance(node, ast.AST) else list(node)
    while stack:
        top = stack.pop()
        yield top
        if isinstance(top, NESTED):
            arguments = getattr(top, "args", None)
            if arguments is not None:
                stack.extend(d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None)
            stack.extend(getattr(top, "decorator_list", ()))
            continue
        stack.extend(ast.iter_child_nodes(top))


def local_names(function: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The parameters of a function and every name that it binds."""
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    names |= assigned(body)
    return frozenset(names) - declared(body, ast.Global) - declared(body, ast.Nonlocal)


def declared(body: Iterable[ast.AST], kind: type[ast.Global] | type[ast.Nonlocal]) -> frozenset[str]:
    """The names of `global` or `nonlocal` statements."""
    return frozenset(name for node in walk(body) if isinstance(node, kind) for name in node.names)


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind."""
    names: set[str] = set()
    hidden: set[int] = set()
    for node in walk(nodes):
        if isinstance(node, COMPREHENSIONS):
            for generator in node.generators:
                hidden.update(id(inner) for inner in ast.walk(generator.target))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del) and id(node) not in hidden:
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.ExceptHandler):
            names |= {node.name} if node.name else set()
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.Match):
            names.add(_subject(node))
        elif isinstance(node, ast.YieldFrom):
            names.add(".each")
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            names.add(node.name)
    return names


def used(node: ast.AST | Iterable[ast.AST]) -> set[str]:
    """The names that are read, nested functions included."""
    nodes = [node] if isinstance(node, ast.AST) else list(node)
    names: set[str] = set()
    for top in nodes:
        for inner in ast.walk(top):
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
                names.add(inner.id)
    return names


def jumps(statements: Iterable[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """True when a `return` (or a `break` or `continue` of the loop whose body this is) may happen."""
    for statement in statements:
        if isinstance(statement, kinds):
            return True
        if isinstance(statement, ast.If):
            inner = [*statement.body, *statement.orelse]
        elif isinstance(statement, ast.With):
            inner = statement.body
        elif isinstance(statement, ast.Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            inner = [*statement.body, *handlers, *statement.orelse, *statement.finalbody]
        elif isinstance(statement, ast.For | ast.While):
            if ast.Return in kinds and jumps([*statement.body, *statement.orelse], (ast.Return,)):
                return True
            inner = statement.orelse
        else:
            continue
        if jumps(inner, kinds):
            return True
    return False


def always_jumps(statements: list[ast.stmt]) -> bool:
    """True when control never reaches the end of the statements."""
    for statement in statements:
        if isinstance(statement, ast.Return | ast.Break | ast.Continue | ast.Raise):
            return True
        if isinstance(statement, ast.If) and statement.orelse:
            if always_jumps(statement.body) and always_jumps(statement.orelse):
                return True
        elif isinstance(statement, ast.With) and always_jumps(statement.body):
            return True
    return False


def always_raises(statements: list[ast.stmt]) -> bool:
    """True when the statements certainly end in a `raise`."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If) and last.orelse:
        return always_raises(last.body) and always_raises(last.orelse)
    return isinstance(last, ast.Raise)


def plain(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    """The statements in terms of fewer kinds of them."""
    module = ast.Module(list(statements), [])
    Plain().generic_visit(module)
    return module.body


def _subject(node: ast.Match) -> str:
    """The name of what a `match` looks at."""
    return f".match_{node.lineno}_{node.col_offset}"


def _matches(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """The test for a pattern of values and names; None for others."""
    if isinstance(pattern, ast.MatchValue):
        return ast.Compare(subject, [ast.Eq()], [pattern.value])
    if isinstance(pattern, ast.MatchSingleton):
        return ast.Compare(subject, [ast.Is()], [ast.Constant(pattern.value)])
    if isinstance(pattern, ast.MatchOr):
        tests = [_matches(inner, subject) for inner in pattern.patterns]
        found = [test for test in tests if test is not None]
        return ast.BoolOp(ast.Or(), found) if len(found) == len(tests) else None
    if isinstance(pattern, ast.MatchAs):
        test = ast.Constant(True) if pattern.pattern is None else _matches(pattern.pattern, subject)
        if pattern.name is None or test is None:
            return test
        bound = ast.Tuple([ast.NamedExpr(ast.Name(pattern.name, ast.Store()), subject)], ast.Load())  # is true
        return ast.BoolOp(ast.And(), [test, bound])
    return None


class Plain(ast.NodeTransformer):
    """A `match` of values becomes a chain of `if`; `yield from` a loop with `yield`; tests that bind names move.

    `while (x := f()) > 0: body` becomes `while True: if not (...): break; body`, which binds `x` for the body.
    """

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        name = _subject(node)
        chain: list[ast.stmt] = []
        for case in reversed(node.cases):
            test = _matches(case.pattern, ast.Name(name, ast.Load()))
            if test is None:
                return node
            if case.guard is not None:
                test = ast.BoolOp(ast.And(), [test, case.guard])
            chain = [ast.If(test, case.body, chain)]
            for inner in ast.walk(test):
                if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
                    ast.copy_location(inner, case.pattern)
            ast.copy_location(chain[0], case.pattern)
        target = ast.copy_location(ast.Name(name, ast.Store()), node.subject)
        return [ast.copy_location(ast.Assign([target], node.subject), node.subject), *chain]

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.YieldFrom):
            return node
        given = ast.Expr(ast.Yield(ast.Name(".each", ast.Load())))
        loop = ast.For(ast.Name(".each", ast.Store()), node.value.value, [given], [])
        for inner in ast.walk(loop):
            if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
                ast.copy_location(inner, node)
        return loop

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        if node.orelse or not any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(node.test)):
            return node
        leave = ast.copy_location(ast.Break(), node.test)
        negated = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
        test = ast.copy_location(ast.If(negated, [leave], []), node.test)
        always = ast.copy_location(ast.Constant(True), node.test)
        return ast.copy_location(ast.While(always, [test, *node.body], []), node)


class Flow:
    """Liveness of the names of one function.

    `after[statement]`: the names that may be read once the statement is done, wherever control goes from there.
    `head[loop]`: the names that an iteration may read before it binds them.
    """

    def __init__(self, body: list[ast.stmt], function: ast.AST) -> None:
        self.after: dict[ast.stmt, frozenset[str]] = {}
        self.head: dict[ast.stmt, frozenset[str]] = {}
        captured: set[str] = set()
        for node in walk(body):
            if isinstance(node, NESTED):
                captured |= used(node)
        self.captured = frozenset(captured)
        self._block(body, NOTHING, NOTHING, NOTHING)

    def _block(
        self, body: list[ast.stmt], out: frozenset[str], leave: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """Names alive before `body`; `leave` is alive where a `break` goes, `again` where a `continue` goes."""
        alive = out
        for statement in reversed(body):
            self.after[statement] = alive | leave | again | self.captured
            alive = self._statement(statement, alive, leave, again)
        return alive

    def _statement(
        self, node: ast.stmt, out: frozenset[str], leave: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        if isinstance(node, ast.Return):
            return frozenset(used(node))
        if isinstance(node, ast.Raise):
            return frozenset(used(node))
        if isinstance(node, ast.Break):
            return leave
        if isinstance(node, ast.Continue):
            return again
        if isinstance(node, ast.If):
            then = self._block(node.body, out, leave, again)
            other = self._block(node.orelse, out, leave, again)
            return self._plain([node.test], then | other)
        if isinstance(node, ast.Try):
            return self._try(node, out, leave, again)
        if isinstance(node, ast.With):
            return self._plain(node.items, self._block(node.body, out, leave, again))
        if isinstance(node, ast.For | ast.While):
            return self._loop(node, out, leave, again)
        if isinstance(node, NESTED):
            return (out - {getattr(node, "name", "")}) | used(node)
        return self._plain([node], out)

    def _try(self, node: ast.Try, out: frozenset[str], leave: frozenset[str], again: frozenset[str]) -> frozenset[str]:
        """Control may leave the body for a handler, and anything for the `finally`, after every statement."""
        final = self._block(node.finalbody, out | leave | again, leave, again) if node.finalbody else NOTHING
        out, leave, again = out | final, leave | final, again | final
        caught = final
        for handler in node.handlers:
            caught |= self._block(handler.body, out, leave, again)
            caught |= frozenset(used(handler.type)) if handler.type is not None else NOTHING
        done = self._block(node.orelse, out, leave, again)
        return self._block(node.body, done, leave | caught, again | caught) | caught

    def _loop(
        self, node: ast.For | ast.While, out: frozenset[str], leave: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        done = self._block(node.orelse, out, leave, again)
        head = done
        outside = out | leave | again
        while True:
            body = self._block(node.body, head, outside, head)
            if isinstance(node, ast.For):
                start = self._plain([node.target], body)
            else:
                start = self._plain([node.test], body)
            if start | done <= head:
                break
            head = head | start | done
        self.head[node] = start | self.captured
        return self._plain([node.iter], head) if isinstance(node, ast.For) else head

    def _plain(self, nodes: Iterable[ast.AST], out: frozenset[str]) -> frozenset[str]:
        """Before statements or expressions without control flow: everything bound dies, everything read lives."""
        nodes = list(nodes)
        bound: set[str] = set()
        for node in nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    bound |= assigned([target])
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                bound |= assigned([node.target])
            elif isinstance(node, ast.Tuple | ast.Name | ast.List | ast.Starred):  # the target of a loop
                bound |= assigned([node])
        reads = used(nodes)
        for node in nodes:
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                reads.add(node.target.id)
        return frozenset((out - bound) | reads)
