"""The state of one lowering: the builder, the place in the user's source, the call stack, what the result depends on.

Comes in: nothing.  Goes out: a `Context` that every function of the front end takes first.  Guaranteed: `fail` always
raises `AdgenError` at the user's expression that is being lowered.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import library
from adgen.frontend.ranges import Ranges
from adgen.frontend.state import is_instance
from adgen.frontend.values import Number
from adgen.frontend.writes import Writes
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.aliasing import Move
    from adgen.frontend.infer import Inference
    from adgen.frontend.source import Code


class Frame:
    """The names of one call: locals by name, then the enclosing function's, then the module's."""

    def __init__(
        self, code: Code, names: dict[str, Any], parent: Frame | None = None, cells: Mapping[str, Any] | None = None
    ) -> None:
        self.code = code
        self.names = names
        self.parent = parent
        self.cells = dict(cells or {})
        self.statics: dict[Any, Any] = {}
        self.entry: dict[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Pattern:
    """A function that calls itself: its code, what is static about its arguments, what it holds of its module."""

    key: Any
    entry: Mapping[str, Any]
    cells: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class Active:
    """A callee whose body is being lowered, with what is assumed of calls of it.

    `outputs` are the types of the results and whether they are weak; `captures` the numbers that it reads from the
    functions around it; `arguments` the names of the parameters that are numbers.
    """

    pattern: Pattern
    name: str
    frame: Frame
    arguments: tuple[str, ...]
    outputs: tuple[tuple[Scalar, bool], ...]
    packed: bool
    captures: tuple[Value, ...]
    depth: Value = field(default_factory=lambda: Value(I64, "depth"))


class NeedStatic(AdgenError):
    """A diagnostic that would not be there if a loop index were a constant: the loop around may be unrolled."""


@dataclass
class Context:
    """What all functions of the front end share while one function is lowered."""

    builder: Builder = field(default_factory=Builder)
    frames: list[Frame] = field(default_factory=list)
    inference: Inference | None = None
    warnings: list[str] = field(default_factory=list)
    record: Callable[..., None] = lambda *_: None
    upkeep: set[Operation] = field(default_factory=set)
    moves: dict[Operation, list[Move]] = field(default_factory=dict)
    spent: dict[int, Any] = field(default_factory=dict)
    owned: dict[int, Any] = field(default_factory=dict)
    loops: dict[Any, Any] = field(default_factory=dict)
    merged: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)  # a container, and what it is one of
    exposed: dict[int, Any] = field(default_factory=dict)  # arrays without axes that others may share memory with
    renewed: frozenset[Value] = frozenset()  # buffers of cells that get new contents where the present iteration ends
    sites: tuple[Any, ...] = ()
    title: str = ""  # of the function that is being lowered
    patterns: Sequence[Pattern] = ()  # recursion that has been found
    callees: dict[str, Function] = field(default_factory=dict)
    customs: list[Any] = field(default_factory=list)  # functions with derivative rules that have been called
    inlined: Counter[Any] = field(default_factory=Counter)  # unrolled recursive calls by code
    compiling: tuple[Active, ...] = ()  # the callees around the present place
    ranges: Ranges = field(init=False)
    writes: Writes = field(init=False)

    def __post_init__(self) -> None:
        self.ranges = Ranges(self.builder)
        self.writes = Writes(self.builder)

    def own(self, value: Any) -> Any:
        """Mark a container as made by the program being lowered, which may change it."""
        if isinstance(value, list | dict | set) or is_instance(value):
            self.owned[id(value)] = value
        return value

    def reserve(self, name: str) -> str:
        """A name for a callee that nothing else has."""
        taken = {self.title, *self.callees, *(n for custom in self.customs for n in (custom.vjp, custom.jvp))}
        made, number = name, 2
        while made in taken:
            made, number = f"{name}_{number}", number + 1
        return made

    @property
    def frame(self) -> Frame:
        """The innermost call."""
        return self.frames[-1]

    @property
    def span(self) -> Span | None:
        """The place in the user's source that is being lowered."""
        return self.builder.span

    def place(self, node: ast.AST) -> None:
        """Operations made and errors raised from now on belong to this node."""
        self.builder.span = self.span_of(node)

    def span_of(self, node: ast.AST) -> Span | None:
        """The place of a node of the innermost function; code of the library is at the place of its call."""
        line = getattr(node, "lineno", None)
        if line is None or library.holds(self.frame.code.file):
            return self.builder.span
        end_line, end_column = getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
        return Span(self.frame.code.file, line, node.col_offset, end_line, end_column)  # type: ignore[attr-defined]

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Operations made and errors raised inside belong to this node."""
        before = self.builder.span
        self.place(node)
        try:
            yield
        finally:
            self.builder.span = before

    def fail(self, code: str, message: str, help: str | None = None) -> NoReturn:
        """Raise the diagnostic at the current place."""
        raise AdgenError(code, message, self.builder.span, help)

    def fail_dynamic(self, code: str, message: str, help: str | None = None) -> NoReturn:
        """Raise a diagnostic that would not be there if the value in question were static."""
        raise NeedStatic(code, message, self.builder.span, help)

    def number(self, x: Any, element: Scalar | None = None, weak: bool | None = None) -> Number:
        """A scalar as a dynamic number, cast to `element` if given.  An IR value becomes a NumPy (strong) scalar."""
        from adgen.frontend import scalars

        if isinstance(x, Value):
            x = Number(x, weak=False)
        kind, yielding = scalars.kind(self, x)
        element = element or kind
        return Number(scalars.to(self, x, element), yielding if weak is None else weak)
