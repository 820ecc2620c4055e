"""From a function object to its syntax tree, in the lines of the user's file.

Comes in: a callable.  Goes out: `Code` (name, file, tree with absolute positions, local names).  Guaranteed: a callable
without Python source is a diagnostic that names it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import textwrap
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import scan
from adgen.frontend.dependencies import Dependency

FunctionNode = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True, eq=False)
class Code:
    """A function's text: what is the same for every call of it."""

    name: str
    file: str
    node: FunctionNode
    locals: frozenset[str]
    module: dict[str, Any]
    key: Any

    @property
    def body(self) -> list[ast.stmt]:
        """The statements; a lambda is one `return`."""
        if isinstance(self.node, ast.Lambda):
            statement = ast.Return(self.node.body)
            return [ast.copy_location(statement, self.node.body)]
        return self.node.body

    @functools.cached_property
    def globals(self) -> frozenset[str]:
        """The module variables that it may write."""
        return scan.declared(self.statements, ast.Global)

    @functools.cached_property
    def nonlocals(self) -> frozenset[str]:
        """The variables of functions around it that it may write."""
        return scan.declared(self.statements, ast.Nonlocal)

    @functools.cached_property
    def generates(self) -> bool:
        """True for a function with `yield`."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in scan.walk(self.statements))

    @functools.cached_property
    def flow(self) -> scan.Flow:
        """Which names are alive where."""
        return scan.Flow(self.statements, self.node)

    @functools.cached_property
    def statements(self) -> list[ast.stmt]:
        """The body, made once, so that a statement is always the same object."""
        return scan.plain(self.body)

    @property
    def span(self) -> Span:
        """The place of the definition."""
        return Span(self.file, self.node.lineno, self.node.col_offset)


def make_code(name: str, file: str, node: FunctionNode, module: dict[str, Any]) -> Code:
    """The code of a function whose tree is at hand."""
    return Code(name, file, node, scan.local_names(node), module, node)


def python_function(target: Any) -> types.FunctionType | None:
    """The Python function behind a callable: a plain one, a Numba dispatcher's, a cached one's; else None."""
    if isinstance(target, types.FunctionType):
        return target
    for attribute in ("py_func", "__wrapped__"):
        inner = getattr(target, attribute, None)
        if inner is not None and not isinstance(target, type):
            return python_function(inner)
    return None


def call_method(target: Any) -> types.FunctionType | None:
    """The Python function behind calling an instance; None for everything else."""
    found = inspect.getattr_static(type(target), "__call__", None)
    return found if isinstance(found, types.FunctionType) else None


def code_of(function: types.FunctionType) -> Code:
    """The code of a Python function.

    Raises AdgenError when its source cannot be found.
    """
    return _code(function.__code__, function.__name__, _Module(function.__globals__))


class _Module:
    """A module's names, hashable by identity, so that they can be part of a cache key."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def __hash__(self) -> int:
        return id(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Module) and other.names is self.names


@functools.lru_cache(maxsize=4096)
def _code(code: types.CodeType, name: str, module: _Module) -> Code:
    node = _find(code)
    return Code(name, code.co_filename, node, scan.local_names(node), module.names, code)


def _find(code: types.CodeType) -> FunctionNode:
    lines = linecache.getlines(code.co_filename)
    if not lines:
        raise no_source(code.co_name, "its file cannot be read")
    text = "".join(lines)
    try:
        index = _index(text)
    except (SyntaxError, ValueError):
        return _find_in_block(code)
    found = [node for node in index.get((code.co_firstlineno, code.co_name), ()) if _arguments(node) == _names(code)]
    if len(found) > 1:
        found = _by_position(found, code)
    if not found:
        raise no_source(code.co_name, f"{code.co_filename} does not hold it at line {code.co_firstlineno} any more")
    if len(found) > 1 and any(ast.dump(node) != ast.dump(found[0]) for node in found):
        span = Span(code.co_filename, code.co_firstlineno)
        raise AdgenError("AD104", "several lambdas on one line cannot be told apart", span, "give each its own line")
    if _is_stale(code, found[0], text):
        span = Span(code.co_filename, code.co_firstlineno)
        raise AdgenError(
            "AD104",
            f"the source of `{code.co_name}` has changed since it was imported",
            span,
            "import the module again",
        )
    return found[0]


def _is_stale(code: types.CodeType, node: FunctionNode, text: str) -> bool:
    """True when the file's text is not what the function object was compiled from.

    Functions with `assert` are trusted: test runners compile those in their own way.
    """
    if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
        return False
    candidates = _compiled(text, code.co_filename).get((code.co_firstlineno, code.co_name), [])
    return bool(candidates) and all(_differs(code, other) for other in candidates)


def _differs(code: types.CodeType, other: types.CodeType) -> bool:
    plain = [[_text(value) for value in c.co_consts if not isinstance(value, types.CodeType)] for c in (code, other)]
    return (code.co_code, code.co_names, plain[0]) != (other.co_code, other.co_names, plain[1])


def _text(constant: Any) -> str:
    """The text of a constant, which a set has in any order."""
    return repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)


@functools.lru_cache(maxsize=64)
def _compiled(text: str, filename: str) -> dict[tuple[int, str], list[types.CodeType]]:
    """The code objects of a file by first line and name."""
    index: dict[tuple[int, str], list[types.CodeType]] = {}
    pending = [compile(text, filename, "exec", dont_inherit=True)]
    while pending:
        code = pending.pop()
        index.setdefault((code.co_firstlineno, code.co_name), []).append(code)
        pending.extend(value for value in code.co_consts if isinstance(value, types.CodeType))
    return index


@functools.lru_cache(maxsize=64)
def _index(text: str) -> dict[tuple[int, str], list[FunctionNode]]:
    """All functions of a file by first line (the first decorator's, as in code objects) and name."""
    index: dict[tuple[int, str], list[FunctionNode]] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            line = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            index.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            index.setdefault((node.lineno, "<lambda>"), []).append(node)
    return index


def _find_in_block(code: types.CodeType) -> FunctionNode:
    """The tree of a function in a file that is not a Python module as a whole, such as a notebook cell."""
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, TypeError):
        raise no_source(code.co_name, "its source cannot be read") from None
    ast.increment_lineno(tree, first - 1)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.Lambda) and _arguments(node) == _names(code):
            return node
    raise no_source(code.co_name, "its source cannot be read")


def _by_position(found: list[FunctionNode], code: types.CodeType) -> list[FunctionNode]:
    positions: Callable[[], Any] | None = getattr(code, "co_positions", None)
    if positions is None:
        return found
    spots = [(line, column) for line, _, column, _ in positions() if line is not None and column]
    inside = [node for node in found if any(_holds(node, line, column) for line, column in spots)]
    innermost = [n for n in inside if not any(m is not n and _holds(n, m.lineno, m.col_offset) for m in inside)]
    return innermost or found


def _holds(node: FunctionNode, line: int, column: int) -> bool:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (node.lineno, node.col_offset) <= (line, column) <= end


def _arguments(node: FunctionNode) -> tuple[str, ...]:
    arguments = node.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    return tuple(names)


def _names(code: types.CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def no_source(name: str, reason: str) -> AdgenError:
    """The diagnostic for a callable that is not written in Python."""
    help = "adgen reads the Python source of a function: wrap the call in a function written in Python"
    return AdgenError("AD101", f"no source for `{name}`: {reason}", None, help)


__all__ = ["Code", "Dependency", "FunctionNode", "call_method", "code_of", "make_code", "no_source", "python_function"]
