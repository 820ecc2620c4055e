"""`record`: the statements of a `with` block as a function that can be differentiated, after they have run.

Comes in: a `with adgen.record() as tape:` block, which Python runs as it stands.  Goes out: gradients of the variables
that it sets for those that it reads.  Guaranteed: they are those of the compiled block at the values that its variables
had when it was entered; what is not one block of source text is an `AdgenError`.
"""

from __future__ import annotations

import ast
import copy
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping
from types import FrameType
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import scan
from adgen.operators.products import vjp_operator
from adgen.written import defined

LEAVES = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)


class Tape:
    """What `record` gives: it knows the block and the values that its variables had at the beginning."""

    def __init__(self) -> None:
        self._body: list[ast.stmt] = []
        self._values: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        self._pullbacks: dict[str, Callable[..., Any]] = {}
        self._span = Span("", 0)

    def __enter__(self) -> Tape:
        frame = sys._getframe(1)
        block = _block(frame)
        self._span = Span(frame.f_code.co_filename, block.lineno, block.col_offset)
        self._body = block.body
        self._names = {**frame.f_globals, **frame.f_locals}
        read = sorted(scan.used(block.body) & set(self._names))
        self._values = {name: copy.deepcopy(self._names[name]) for name in read if _varies(self._names[name])}
        return self

    def __exit__(self, *error: object) -> None:
        return None

    def gradient(self, of: str, wrt: str | tuple[str, ...], cotangent: Any = None) -> Any:
        """The gradient of a variable that the block sets for one that it reads, or a tuple of them.

        It may be asked for many times.  `cotangent` has the shape of the variable; where that is a number it is 1.
        Raises AdgenError when the block does not set, or read, variables of these names.
        """
        if of not in scan.assigned(self._body):
            raise self._wrong(f"the recorded block does not set `{of}`", scan.assigned(self._body))
        for name in (wrt,) if isinstance(wrt, str) else wrt:
            if name not in self._values:
                raise self._wrong(f"the recorded block does not read a number or array `{name}`", self._values)
        if of not in self._pullbacks:
            self._pullbacks[of] = self._function(of)
        _, pullback = vjp_operator(self._pullbacks[of], wrt)(**self._values)
        return pullback() if cotangent is None else pullback(cotangent)

    def _function(self, result: str) -> Callable[..., Any]:
        """The block as a function of what it reads."""
        if any(isinstance(node, LEAVES) for node in _statements(self._body)):
            message = "a recorded block cannot be left from inside, and declares no names of others"
            raise AdgenError("AD197", message, self._span, "write it as a function and use `adgen.grad`")
        parameters = ", ".join(self._values)
        body = "".join(f"    {line}\n" for line in ast.unparse(ast.Module(self._body, [])).splitlines())
        text = f"def block({parameters}):\n{body}    return {result}\n"
        return defined(text, f"block recorded at {self._span.line} of {self._span.file}", "block", self._names)

    def _wrong(self, message: str, known: Mapping[str, Any] | set[str]) -> AdgenError:
        names = ", ".join(f"`{name}`" for name in sorted(known)) or "none"
        return AdgenError("AD197", message, self._span, f"it has: {names}")


def record() -> Tape:
    """A scope whose statements are recorded, as with a tape.

    `with adgen.record() as tape: y = x**2`, and then `tape.gradient("y", "x")`.  Python runs the block as it stands;
    its text is compiled when a gradient is first asked for.
    """
    return Tape()


def _block(frame: FrameType) -> ast.With:
    """The `with` statement that a frame is about to run."""
    file, line = frame.f_code.co_filename, frame.f_lineno
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        tree = ast.Module([], [])
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and any(_spans(item.context_expr, line) for item in node.items)
    ]
    if len(found) != 1:
        span = Span(file, line)
        raise AdgenError(
            "AD197", "the text of this block cannot be found", span, "write it into a file, on lines of its own"
        )
    return found[0]


def _spans(node: ast.expr, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes that belong to the block itself; a `break` of a loop inside it does not."""
    inside = {
        node
        for loop in scan.walk(body)
        if isinstance(loop, ast.For | ast.While)
        for node in scan.walk(loop.body)
        if isinstance(node, ast.Break | ast.Continue)
    }
    return (node for node in scan.walk(body) if node not in inside)


def _varies(value: Any) -> bool:
    """True for what is a parameter of the block; all else is taken as it is."""
    if isinstance(value, dict):
        return all(map(_varies, value.values()))
    if isinstance(value, tuple | list):
        return all(map(_varies, value))
    return isinstance(value, int | float | complex | np.number | np.ndarray) and not isinstance(value, bool)
