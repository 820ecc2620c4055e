"""Making IR: a builder that appends operations to the innermost open region.

Comes in: rows and values.  Goes out: values, regions, functions.  Guaranteed: result types follow the row's rule;
pure operations with the same operands in scope are shared; scalar constants are folded by the row's own meaning;
a row's bit-exact identities are applied.  So nobody downstream has to clean up after a front end or a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.nodes import NO_ATTRIBUTES, Attributes, Function, Operation, Region, Row, Value
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar, Stack, Type

INT64_RANGE = I64.numbers


class Block:
    """An open region: its arguments, the operations so far, what can be shared in it, and its results once closed."""

    def __init__(self, arguments: Sequence[Value] = ()) -> None:
        self.arguments = tuple(arguments)
        self.operations: list[Operation] = []
        self.shared: dict[Any, tuple[Value, ...]] = {}
        self.results: tuple[Value, ...] = ()

    def region(self) -> Region:
        """The finished region."""
        return Region(self.arguments, tuple(self.operations), self.results)


class Builder:
    """Appends operations to a nest of open blocks; `span` is given to every operation made while it is set."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.definitions: dict[Value, Operation] = {}
        self.span: Span | None = None

    # -- regions -------------------------------------------------------------------------------------------------

    @contextmanager
    def block(self, arguments: Sequence[Value] = ()) -> Iterator[Block]:
        """Open a block for the `with` body; set `block.results` before it ends; `block.region()` is the region."""
        block = Block(arguments)
        self.blocks.append(block)
        try:
            yield block
        finally:
            self.blocks.pop()

    def function(self, name: str, block: Block, result_names: Sequence[str], **notes: Any) -> Function:
        """A function whose body is a closed block."""
        return Function(name, block.region(), tuple(result_names), self.span, MappingProxyType(notes))

    # -- operations ----------------------------------------------------------------------------------------------

    def emit(
        self,
        row: Row,
        operands: Iterable[Value] = (),
        attributes: Mapping[str, Any] | None = None,
        regions: Iterable[Region] = (),
        names: Sequence[str] = (),
        span: Span | None = None,
    ) -> tuple[Value, ...]:
        """Append an operation (or find an equal one) and give its results.

        Raises TypeError when the operand types do not fit the row.
        """
        operands, regions = tuple(operands), tuple(regions)
        if not attributes:
            attributes = NO_ATTRIBUTES
        elif type(attributes) is not MappingProxyType:  # else it is that of another operation
            attributes = MappingProxyType(dict(attributes))
        types = row.infer(tuple([value.type for value in operands]), attributes)
        key = None
        if row.pure:
            simpler = self._simplified(row, operands, types)
            if simpler is not None:
                return (simpler,)
            key = sharing_key(row, operands, attributes)
            for block in reversed(self.blocks):
                if key in block.shared:
                    return block.shared[key]
        if len(names) < len(types):
            names = [*names, *[""] * (len(types) - len(names))]
        results = tuple([Value(kind, name) for kind, name in zip(types, names, strict=True)])
        operation = Operation(row, operands, results, attributes, regions, span or self.span)
        self.append(operation)
        if key is not None:
            self.blocks[-1].shared[key] = results
        return results

    def append(self, operation: Operation) -> None:
        """Append a finished operation as it is."""
        self.blocks[-1].operations.append(operation)
        for value in operation.results:
            self.definitions[value] = operation

    def op(self, row: Row, *operands: Value, name: str = "", **attributes: Any) -> Value:
        """Emit an operation with one result and give that."""
        (value,) = self.emit(row, operands, attributes, names=(name,) if name else ())
        return value

    def _simplified(self, row: Row, operands: tuple[Value, ...], types: tuple[Type, ...]) -> Value | None:
        if row.evaluate is None:
            return None
        numbers = [self.known(value) for value in operands]
        if operands and None not in numbers:
            with np.errstate(all="ignore"):
                try:
                    return self.const(row.evaluate(*(typed(n, v.type) for n, v in zip(numbers, operands))), types[0])
                except (ZeroDivisionError, OverflowError, ValueError):
                    return None
        return row.simplify(self, operands) if row.simplify else None

    # -- the core rows -------------------------------------------------------------------------------------------

    def const(self, number: Any, kind: Type | None = None, name: str = "") -> Value:
        """A scalar constant; the type follows from the Python number when it is not given."""
        if kind is None:
            kind = BOOL if isinstance(number, bool | np.bool_) else I64 if isinstance(number, int | np.integer) else F64
        assert isinstance(kind, Scalar)
        if kind.is_integer and int(number) not in kind.numbers:
            raise OverflowError(f"{number} does not fit into {kind}")
        plain = (bool if kind == BOOL else int if kind.is_integer else float)(typed(number, kind))
        return self.op(core.CONST, name=name, value=plain, type=str(kind))

    def index(self, number: int) -> Value:
        """An `i64` constant."""
        return self.const(number, I64)

    def known(self, value: Value) -> Any | None:
        """The Python number of a constant, else None."""
        operation = self.definitions.get(value)
        return operation.attributes["value"] if operation is not None and operation.row is core.CONST else None

    def alloc(self, element: Scalar, extents: Iterable[Value], name: str = "", zero: bool = True) -> Value:
        """A fresh buffer, filled with zeros unless `zero` is False."""
        (value,) = self.emit(core.ALLOC, extents, {"element": str(element), "zero": zero}, names=(name,))
        return value

    def dim(self, buffer: Value, axis: int) -> Value:
        """The extent of an axis; that of an `alloc`, `tap` or `reshape` is the operand it was made with."""
        operation = self.definitions.get(buffer)
        if operation is not None and operation.row in (core.ALLOC, core.TAP):
            return operation.operands[axis]
        if operation is not None and operation.row is core.RESHAPE:
            return operation.operands[1 + axis]
        if operation is not None and operation.row is core.TABLE:
            return self.index(operation.attributes["data"].shape[axis])
        return self.op(core.DIM, buffer, axis=axis)

    def dims(self, buffer: Value) -> tuple[Value, ...]:
        """All extents of a buffer."""
        assert isinstance(buffer.type, Buffer)
        return tuple(self.dim(buffer, axis) for axis in range(buffer.type.rank))

    def load(self, buffer: Value, indices: Iterable[Value] = (), name: str = "") -> Value:
        """An element of a buffer."""
        (value,) = self.emit(core.LOAD, (buffer, *indices), names=(name,))
        return value

    def store(self, buffer: Value, value: Value, indices: Iterable[Value] = ()) -> None:
        """Overwrite an element."""
        self.emit(core.STORE, (buffer, value, *indices))

    def accumulate(self, buffer: Value, value: Value, indices: Iterable[Value] = ()) -> None:
        """Add to an element."""
        self.emit(core.ACCUMULATE, (buffer, value, *indices))

    def check(self, condition: Value, exception: str, message: str, details: Iterable[Value] = ()) -> None:
        """Raise `exception(message)` when the condition is false; `{0}`, `{1}` in the message are the details."""
        if self.known(condition) is not True:
            self.emit(core.CHECK, (condition, *details), {"exception": exception, "message": message})

    def stack(self, element: Scalar, name: str = "") -> Value:
        """An empty stack."""
        (value,) = self.emit(core.STACK, (), {"element": str(element)}, names=(name,))
        return value

    def loop(
        self,
        start: Value,
        stop: Value,
        carried: Sequence[Value],
        body: Callable[..., Sequence[Value]],
        step: int = 1,
        exit: bool = False,
        name: str = "i",
        names: Sequence[str] = (),
        unordered: bool = False,
        attributes: Mapping[str, Any] = NO_ATTRIBUTES,
    ) -> tuple[Value, ...]:
        """A `for`; `body(index, *carried)` emits one iteration and gives the next carried values.

        `unordered`: carried sums may be taken in any order; `attributes` are more of them.
        """
        names = names or [value.name for value in carried]
        arguments = [Value(I64, name), *(Value(v.type, n) for v, n in zip(carried, names, strict=True))]
        with self.block(arguments) as block:
            block.results = tuple(body(*arguments))
        said = {"step": step, "exit": exit, **attributes} | ({"unordered": True} if unordered else {})
        return self.emit(core.FOR, (start, stop, *carried), said, (block.region(),), names)

    def nest(
        self,
        extents: Sequence[Value],
        body: Callable[..., None],
        names: Sequence[str] = "ijklmnop",
        unordered: bool = False,
    ) -> None:
        """Nested `for` loops over a whole index space; `body(*indices)` emits the innermost statements."""

        def level(axis: int, indices: tuple[Value, ...]) -> None:
            if axis == len(extents):
                body(*indices)
                return

            def iteration(index: Value) -> tuple[Value, ...]:
                level(axis + 1, (*indices, index))
                return ()

            self.loop(self.index(0), extents[axis], (), iteration, name=names[axis], unordered=unordered)

        level(0, ())

    def branch(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value]],
        otherwise: Callable[[], Sequence[Value]] = tuple,
        names: Sequence[str] = (),
    ) -> tuple[Value, ...]:
        """An `if`; both callbacks emit a branch and give what it yields."""
        with self.block() as first:
            first.results = tuple(then())
        with self.block() as second:
            second.results = tuple(otherwise())
        types = tuple(str(value.type) for value in first.results)
        return self.emit(core.IF, (condition,), {"types": types}, (first.region(), second.region()), names)


def sharing_key(row: Row, operands: tuple[Value, ...], attributes: Attributes) -> Any:
    """Two pure operations with equal keys compute the same.  Constants compare by bits: `0.0` is not `-0.0`."""
    pairs = tuple(sorted((name, _frozen(value)) for name, value in attributes.items()))
    return (row.name, operands, pairs)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    return (type(value).__name__, repr(value))


def typed(number: Any, kind: Type) -> Any:
    """A Python or NumPy number as the interpreter holds it for a type."""
    if kind == F32:
        return np.float32(number)
    if kind == F64:
        return np.float64(number)
    return bool(number) if kind == BOOL else int(number)


__all__ = ["Block", "Builder", "Function", "Region", "Stack", "sharing_key", "typed"]
