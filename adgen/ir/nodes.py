"""The nodes of the IR: values, rows, operations, regions, functions.

A `Function` is a region of operations.  Scalars are SSA values; a buffer value is a handle of memory that
`load`, `store` and `accumulate` touch; control flow is structured: `for`, `while` and `if` own regions that
take arguments and yield results.  Nodes are immutable: passes build new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from adgen.diagnostics import Span
from adgen.ir.types import Type

if TYPE_CHECKING:
    from adgen.ir.builder import Builder

Attributes = Mapping[str, Any]
NO_ATTRIBUTES: Attributes = MappingProxyType({})


class Value:
    """One SSA value.  Identity is the object's own; `name` is a hint for printing and emission, `span` its source."""

    __slots__ = ("name", "type")

    def __init__(self, type: Type, name: str = "") -> None:
        self.type = type
        self.name = name

    def __repr__(self) -> str:
        return f"%{self.name or '_'}: {self.type}"


@dataclass(frozen=True, eq=False)
class Row:
    """What is known about one operation.

    `infer(operand types, attributes)` gives the result types or raises `TypeError` with the reason.
    `pure` rows depend on their operands alone and have no effect: they may be shared, moved, dropped and repeated.
    `evaluate(*numbers)` is the meaning of a row whose operands and result are scalars; None for structural rows.
    `cost` is what the interpreter counts for one execution and what recomputing it is worth.
    `simplify(builder, operands)` gives a value equal to the operation's result, bit for bit, or None.
    """

    name: str
    infer: Callable[[tuple[Type, ...], Attributes], tuple[Type, ...]]
    pure: bool = False
    evaluate: Callable[..., Any] | None = None
    cost: int = 0
    simplify: Callable[[Builder, tuple[Value, ...]], Value | None] | None = None

    def __repr__(self) -> str:
        return f"<row {self.name}>"


@dataclass(frozen=True, eq=False, repr=False)  # a nested repr grows with everything inside
class Region:
    """A block of operations with arguments at the top and yielded results at the bottom."""

    arguments: tuple[Value, ...]
    operations: tuple[Operation, ...]
    results: tuple[Value, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Operation:
    """One operation: a row applied to values."""

    row: Row
    operands: tuple[Value, ...]
    results: tuple[Value, ...]
    attributes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES)
    regions: tuple[Region, ...] = ()
    span: Span | None = None

    def __repr__(self) -> str:
        return f"<{self.row.name} {', '.join(map(repr, self.results))}>"

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.results
        return value


@dataclass(frozen=True, eq=False, repr=False)
class Function:
    """A function of the IR.

    `body.arguments` are the parameters and `body.results` the results, whose names are `result_names`.  `callees` are
    the functions that it and they call, or that are rules of derivatives, by name; theirs are empty.  Two functions are
    equal when they print the same.
    """

    name: str
    body: Region
    result_names: tuple[str, ...]
    span: Span | None = None
    notes: Attributes = field(default_factory=lambda: NO_ATTRIBUTES)
    callees: Mapping[str, Function] = field(default_factory=lambda: NO_ATTRIBUTES)

    @property
    def parameters(self) -> tuple[Value, ...]:
        """The arguments of the body."""
        return self.body.arguments

    @property
    def results(self) -> tuple[Value, ...]:
        """What the body yields."""
        return self.body.results

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        from adgen.ir.printer import print_function

        return isinstance(other, Function) and print_function(self) == print_function(other)

    __hash__ = object.__hash__

    def __str__(self) -> str:
        from adgen.ir.printer import print_function

        return print_function(self)

    __repr__ = __str__


def walk(region: Region) -> Iterator[Operation]:
    """Every operation of a region and of the regions inside it, in program order, an owner before its regions."""
    for operation in region.operations:
        yield operation
        for inner in operation.regions:
            yield from walk(inner)


def walk_inside(operation: Operation) -> Iterator[Operation]:
    """Every operation of the regions of an operation, in program order."""
    for region in operation.regions:
        yield from walk(region)


def walk_one(operation: Operation) -> Iterator[Operation]:
    """An operation, and every one inside of it."""
    yield operation
    yield from walk_inside(operation)
