"""The state of one lowering: the builder, the place in the user's source, the call stack, what the result depends on.

Comes in: nothing.  Goes out: a `Context` that every function of the front end takes first.  Guaranteed: `fail` always
raises `AdgenError` at the user's expression that is being lowered.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from adgen.diagnostics import AdgenError, Span
from adgen.frontend import library
from adgen.frontend.complexes.builder import ComplexBuilder
from adgen.frontend.ranges import Ranges
from adgen.frontend.specs import Ruled
from adgen.frontend.state import is_instance
from adgen.frontend.values import Number
from adgen.frontend.writes import Writes
from adgen.ir.calls import unused
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.aliasing import Move
    from adgen.frontend.arrays.agreement import Agreements
    from adgen.frontend.infer import Inference
    from adgen.frontend.source import Code


Kinds = tuple[type[BaseException], ...]
Raises = type[BaseException] | BaseException | None


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
        self.consume: Callable[[Any], None] | None = None  # what is done with each value of `yield`


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


class PythonError(AdgenError):
    """A diagnostic that stands for an exception that Python raises here; a `try` may handle it.

    `depth` regions were open in the function that `context` lowers.
    """

    instance: BaseException
    context: Context | None = None
    depth = 0

    @property
    def exception(self) -> type[BaseException]:
        """The class."""
        return type(self.instance)


@dataclass(frozen=True, eq=False)
class Hazard:
    """Python raises an exception of this kind where the condition holds; operations so far in the region before it."""

    kind: type[BaseException]
    condition: Value
    span: Span | None
    position: int


@dataclass(frozen=True, eq=False)
class Guard:
    """A part of a `try` that is being lowered: what is caught, and how many regions are open around it.

    `hazards` are what may happen in it; None where that is refused.
    """

    kinds: Kinds
    depth: int
    hazards: list[Hazard] | None = None

    def catches(self, kind: type[BaseException]) -> bool:
        """True when one of the handlers is for this exception."""
        return issubclass(kind, self.kinds)


class NeedStatic(AdgenError):
    """A diagnostic that would not be there if a loop index were a constant: the loop around may be unrolled."""


@dataclass
class Context:
    """What all functions of the front end share while one function is lowered."""

    builder: ComplexBuilder = field(default_factory=ComplexBuilder)
    frames: list[Frame] = field(default_factory=list)
    inference: Inference | None = None
    warnings: list[str] = field(default_factory=list)
    record: Callable[..., None] = lambda *_: None
    upkeep: set[Operation] = field(default_factory=set)
    moves: dict[Operation, list[Move]] = field(default_factory=dict)
    owned: dict[int, Any] = field(default_factory=dict)
    loops: dict[Any, Any] = field(default_factory=dict)
    merged: list[tuple[Any, tuple[Any, ...]]] = field(default_factory=list)  # a container, and what it is one of
    exposed: dict[int, Any] = field(default_factory=dict)  # arrays without axes that others may share memory with
    renewed: frozenset[Value] = frozenset()  # buffers of cells that get new contents where the present iteration ends
    modules: dict[int, dict[str, Any]] = field(default_factory=dict)  # whose variables have been written
    places: dict[tuple[int, str], Span | None] = field(default_factory=dict)  # where, by module and name
    sites: tuple[Any, ...] = ()
    title: str = ""  # of the function that is being lowered
    patterns: Sequence[Pattern] = ()  # recursion that has been found
    callees: dict[str, Function] = field(default_factory=dict)
    customs: list[Any] = field(default_factory=list)  # functions with derivative rules that have been called
    ruled: list[Ruled] = field(default_factory=list)  # those of functions that were differentiated apart
    inlined: Counter[Any] = field(default_factory=Counter)  # unrolled recursive calls by code
    guards: list[Guard] = field(default_factory=list)  # the `try` statements around the present place
    handled: list[PythonError] = field(default_factory=list)  # the exceptions whose handlers are around it
    filled: dict[int, Any] = field(default_factory=dict)  # lists that a loop appends to, which become arrays, by id
    scopes: dict[int, Frame] = field(default_factory=dict)  # whose names others may bind, by the id of the names
    scalars: dict[Value, str] = field(default_factory=dict)  # the parameters that are ints and bools
    deciders: dict[str, None] = field(default_factory=dict)  # those of them that structure depends on
    compiling: tuple[Active, ...] = ()  # the callees around the present place
    agreements: Agreements | None = None  # extents that are taken for equal from the entry on; None where they are not
    named: dict[str, Value] = field(default_factory=dict)  # the extents that argument types give names
    push: Callable[[Function, int], Function] | None = None  # gives the forward mode for one parameter
    taps: dict[str, Value] | None = None  # what has been tapped, by name; None where nothing can be
    entry: list[Operation] = field(default_factory=list)  # what comes before the body
    ranges: Ranges = field(init=False)
    writes: Writes = field(init=False)

    def __post_init__(self) -> None:
        self.ranges = Ranges(self.builder)
        self.writes = Writes(self.builder)

    def mark(self) -> Callable[[], None]:
        """A function that takes back the operations, and the facts, of the innermost open block from here on."""
        block, facts = self.builder.blocks[-1], self.ranges.saved()
        count, shared = len(block.operations), dict(block.shared)

        def undo() -> None:
            del block.operations[count:]
            block.shared.clear()
            block.shared.update(shared)
            facts()

        return undo

    def own(self, value: Any) -> Any:
        """Mark a container as made by the program being lowered, which may change it."""
        if isinstance(value, list | dict | set) or is_instance(value):
            self.owned[id(value)] = value
        return value

    def reserve(self, name: str, also: Iterable[str] = ()) -> str:
        """A name for a callee that nothing else has; `also` are taken too."""
        taken = {self.title, *also, *self.callees, *(n for custom in self.customs for n in (custom.vjp, custom.jvp))}
        return unused(name, taken)

    @property
    def frame(self) -> Frame:
        """The innermost call."""
        return self.frames[-1]

    @property
    def stack(self) -> list[Frame]:
        """The calls around the present place: without the generators in the middle of which their consumers run."""
        found, k = list[Frame](), len(self.frames)
        while k > 0:
            found.append(self.frames[k - 1])
            k = self.frames.index(found[-1])
        return found[::-1]

    @property
    def span(self) -> Span | None:
        """The place in the user's source that is being lowered."""
        return self.builder.span

    @property
    def in_library(self) -> bool:
        """True while code of adgen's own library is lowered."""
        return bool(self.frames) and library.holds(self.frame.code.file)

    @property
    def trusted(self) -> bool:
        """True while code is lowered whose subscripts are known to be right."""
        return bool(self.frames) and library.trusted(self.frame.code.file)

    def place(self, node: ast.AST) -> None:
        """Operations made and errors raised from now on belong to this node."""
        self.builder.span = self.span_of(node)
        if self.builder.tells_kinks and self.in_library and library.smooth(self.frame.code.file):
            self.builder.no_kinks()

    def span_of(self, node: ast.AST) -> Span | None:
        """The place of a node of the innermost function; code of the library is at the place of its call."""
        line = getattr(node, "lineno", None)
        if line is None or self.in_library:
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

    def fail(self, code: str, message: str, help: str | None = None, raises: Raises = None) -> NoReturn:
        """Raise the diagnostic at the current place; `raises` is what Python certainly raises for it."""
        if raises is None:
            raise AdgenError(code, message, self.builder.span, help)
        if isinstance(raises, type):
            raises = raises(message.removeprefix(f"{raises.__name__}: "))
        error = PythonError(code, message, self.builder.span, help)
        error.instance, error.context, error.depth = raises, self, len(self.builder.blocks)
        raise error

    def decides(self, value: Value) -> None:
        """What kinds of values there are depends on this one, and so on parameters."""
        pending, seen = [value], set[Value]()
        while pending:
            value = pending.pop()
            if value in self.scalars:
                self.deciders[self.scalars[value]] = None
            operation = self.builder.definitions.get(value)
            if operation is not None and value not in seen:
                seen.add(value)
                pending.extend(operation.operands)

    def may_raise(self, *kinds: type[BaseException]) -> None:
        """Python may raise one of these where adgen computes on: refused where the program would notice."""
        for kind in kinds:
            if self.catching(kind):
                self.refuse_raising(kind.__name__, self.span)

    def catching(self, kind: type[BaseException]) -> bool:
        """True when a `try` around the present place would notice this exception."""
        return any(guard.catches(kind) for guard in self.guards)

    def hazard(self, kind: type[BaseException], condition: Value) -> None:
        """Python raises this where the condition holds, adgen computes on: a `try` around it is told."""
        guard = next((guard for guard in reversed(self.guards) if guard.catches(kind)), None)
        if guard is None or self.builder.known(condition) is False:
            return
        if guard is not self.guards[-1] or guard.hazards is None or guard.depth != len(self.builder.blocks):
            self.refuse_raising(kind.__name__, self.span)
        guard.hazards.append(Hazard(kind, condition, self.span, len(self.builder.blocks[-1].operations)))

    def refuse_raising(self, what: str, span: Span | None) -> NoReturn:
        """Refuse an exception that is decided at run time and that a handler would catch."""
        help = "test the condition with `if` before the call"
        raise AdgenError("AD204", f"this may raise {what} at run time, and a `try` around it catches it", span, help)

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
