"""The meaning of the IR, executed: the oracle that compiled code is compared with, and the exact operation count.

Comes in: a function and its arguments.  Goes out: its results and how often each row was executed.  Guaranteed: IEEE
arithmetic of the rows' own `evaluate` (no exception for 1/0 or overflow); a failed `check` raises `ProgramError`; an
index that a front end should have checked raises `InternalError`; memory that nobody wrote holds NaN.

A function is translated to Python source once.  Blocks count their executions, and a block's operations are known,
so that counting is exact and costs one addition per block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import typed
from adgen.ir.nodes import Function, Operation, Region, Row, Value
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar

DTYPES: dict[Scalar, type[np.generic]] = {F64: np.float64, F32: np.float32, I64: np.int64, BOOL: np.bool_}
UNWRITTEN = {F64: np.nan, F32: np.nan, I64: -(2**62), BOOL: True}


class ProgramError(Exception):
    """A check of the program failed: the Python exception it stands for, its message, and its place."""

    def __init__(self, exception: str, message: str, span: Span | None) -> None:
        self.exception = exception
        self.message = message
        self.span = span
        super().__init__(f"{exception}: {message}")


class InternalError(Exception):
    """The IR itself is at fault: an unchecked index out of range, a pop from an empty stack."""


@dataclass(frozen=True)
class Counts:
    """How often each row was executed; `operations` is the cost of the floating-point ones."""

    rows: Counter[str] = field(default_factory=Counter)
    operations: int = 0

    @property
    def loads(self) -> int:
        """Elements read."""
        return self.rows["load"]

    @property
    def stores(self) -> int:
        """Elements written or added to."""
        return self.rows["store"] + self.rows["accumulate"]


@dataclass(frozen=True)
class Outcome:
    """What a run gave."""

    results: tuple[Any, ...]
    counts: Counts


def run(function: Function, arguments: Sequence[Any]) -> Outcome:
    """Execute a function.

    `arguments` are numbers for scalars and C-contiguous arrays of the exact dtype for buffers, which the function may
    write.  Raises TypeError when they do not fit, ProgramError when a check fails.
    """
    if function not in _PROGRAMS:
        _PROGRAMS[function] = _Translator(function).program()
    program = _PROGRAMS[function]
    if len(arguments) != len(function.parameters):
        raise TypeError(f"{function.name} takes {len(function.parameters)} arguments, not {len(arguments)}")
    converted = [_argument(a, value) for a, value in zip(arguments, function.parameters, strict=True)]
    executed = [0] * len(program.blocks)
    with np.errstate(all="ignore"):
        try:
            results = program.entry(executed, *converted)
        except IndexError as error:
            raise InternalError(f"{function.name}: {error}") from error
    return Outcome(results, program.counts(executed))


def _argument(argument: Any, value: Value) -> Any:
    if isinstance(value.type, Scalar):
        return typed(argument, value.type)
    assert isinstance(value.type, Buffer)
    array = argument if isinstance(argument, np.ndarray) else np.asarray(argument, DTYPES[value.type.element])
    if array.dtype != DTYPES[value.type.element] or array.ndim != value.type.rank:
        raise TypeError(f"{value.name} must be {value.type}, not {array.dtype} of rank {array.ndim}")
    return array


_PROGRAMS: WeakKeyDictionary[Function, _Program] = WeakKeyDictionary()


@dataclass(frozen=True)
class _Program:
    entry: Any
    blocks: tuple[tuple[Counter[str], int], ...]  # what one execution of each block counts

    def counts(self, executed: Sequence[int]) -> Counts:
        rows: Counter[str] = Counter()
        operations = 0
        for times, (block, cost) in zip(executed, self.blocks, strict=True):
            for name, count in block.items():
                rows[name] += count * times
            operations += cost * times
        return Counts(rows, operations)


def _is_float(operation: Operation) -> bool:
    values = (*operation.results, *operation.operands[:1])
    return any(isinstance(value.type, Scalar) and value.type.is_float for value in values)


class _Translator:
    """Writes the Python source of one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.names: dict[Value, str] = {}
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {
            "np": np,
            "fail": _fail,
            "alloc": _alloc,
            "position": _position,
        }
        self.rows: dict[Row, str] = {}
        self.blocks: list[tuple[Counter[str], int]] = []

    def program(self) -> _Program:
        parameters = [self.name(value) for value in self.function.parameters]
        self.lines.append(f"def entry(executed, {', '.join(parameters)}):")
        self.block(self.function.body, 1)
        self.line(1, f"return ({''.join(self.name(value) + ', ' for value in self.function.results)})")
        source = "\n".join(self.lines)
        exec(compile(source, f"<{self.function.name}>", "exec"), self.scope)
        return _Program(self.scope["entry"], tuple(self.blocks))

    def line(self, depth: int, text: str) -> None:
        self.lines.append(" " * depth + text)

    def name(self, value: Value) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def constant(self, number: Any) -> str:
        name = f"k{len(self.scope)}"
        self.scope[name] = number
        return name

    def assign(self, depth: int, targets: Sequence[Value], sources: Sequence[Value]) -> None:
        """Parallel assignment."""
        if targets:
            left = ", ".join(self.name(value) for value in targets)
            self.line(depth, f"{left} = {', '.join(self.name(value) for value in sources)}")

    def block(self, region: Region, depth: int) -> None:
        place = len(self.blocks)
        counted = Counter(operation.row.name for operation in region.operations)
        self.blocks.append((counted, sum(o.row.cost for o in region.operations if _is_float(o))))
        self.line(depth, f"executed[{place}] += 1")
        for operation in region.operations:
            rule = _RULES.get(operation.row)
            if rule is None:
                operands = ", ".join(self.name(value) for value in operation.operands)
                if operation.row not in self.rows:
                    self.rows[operation.row] = self.constant(operation.row.evaluate)
                self.line(depth, f"{self.name(operation.result)} = {self.rows[operation.row]}({operands})")
            else:
                rule(self, operation, depth)

    def const(self, operation: Operation, depth: int) -> None:
        number = typed(operation.attributes["value"], operation.result.type)
        self.line(depth, f"{self.name(operation.result)} = {self.constant(number)}")

    def table(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"{self.name(operation.result)} = {self.constant(operation.attributes['data'])}")

    def alloc(self, operation: Operation, depth: int) -> None:
        kind = operation.result.type
        assert isinstance(kind, Buffer)
        extents = "".join(f"{self.name(value)}, " for value in operation.operands)
        dtype, filler = self.constant(DTYPES[kind.element]), self.constant(UNWRITTEN[kind.element])
        fill = "0" if operation.attributes["zero"] else filler
        self.line(depth, f"{self.name(operation.result)} = alloc(({extents}), {dtype}, {fill})")

    def reshape(self, operation: Operation, depth: int) -> None:
        buffer, *extents = (self.name(value) for value in operation.operands)
        self.line(depth, f"{self.name(operation.result)} = {buffer}.reshape(({''.join(e + ', ' for e in extents)}))")

    def dim(self, operation: Operation, depth: int) -> None:
        buffer = self.name(operation.operands[0])
        self.line(depth, f"{self.name(operation.result)} = {buffer}.shape[{operation.attributes['axis']}]")

    def place(self, indices: Sequence[Value], depth: int) -> str:
        names = [self.name(value) for value in indices]
        if names:
            self.line(depth, f"if {' or '.join(f'{name} < 0' for name in names)}: position({', '.join(names)})")
        return f"[{', '.join(names) or '()'}]"

    def load(self, operation: Operation, depth: int) -> None:
        buffer, *indices = operation.operands
        text = f"{self.name(buffer)}{self.place(indices, depth)}"
        wrap = "int({})" if operation.result.type == I64 else "bool({})" if operation.result.type == BOOL else "{}"
        self.line(depth, f"{self.name(operation.result)} = {wrap.format(text)}")

    def store(self, operation: Operation, depth: int) -> None:
        buffer, value, *indices = operation.operands
        sign = "=" if operation.row is core.STORE else "+="
        self.line(depth, f"{self.name(buffer)}{self.place(indices, depth)} {sign} {self.name(value)}")

    def check(self, operation: Operation, depth: int) -> None:
        condition, *details = (self.name(value) for value in operation.operands)
        site = self.constant(operation)
        self.line(depth, f"if not {condition}: fail({', '.join([site, *details])})")

    def for_loop(self, operation: Operation, depth: int) -> None:
        start, stop, *initial = operation.operands
        region = operation.regions[0]
        index, *carried = region.arguments
        exit = int(bool(operation.attributes.get("exit")))
        self.assign(depth, carried, initial)
        step = operation.attributes["step"]
        self.line(depth, f"for {self.name(index)} in range({self.name(start)}, {self.name(stop)}, {step}):")
        self.block(region, depth + 1)
        self.assign(depth + 1, carried, region.results[exit:])
        if exit:
            self.line(depth + 1, f"if not {self.name(region.results[0])}: break")
        self.assign(depth, operation.results, carried)

    def while_loop(self, operation: Operation, depth: int) -> None:
        condition, body = operation.regions
        self.assign(depth, condition.arguments, operation.operands)
        self.line(depth, "while True:")
        self.block(condition, depth + 1)
        self.line(depth + 1, f"if not {self.name(condition.results[0])}: break")
        self.assign(depth + 1, body.arguments, condition.arguments)
        self.block(body, depth + 1)
        self.assign(depth + 1, condition.arguments, body.results)
        self.assign(depth, operation.results, condition.arguments)

    def branch(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"if {self.name(operation.operands[0])}:")
        for region, opening in zip(operation.regions, (None, "else:"), strict=True):
            if opening:
                self.line(depth, opening)
            self.block(region, depth + 1)
            self.assign(depth + 1, operation.results, region.results)

    def stack(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"{self.name(operation.result)} = []")

    def push(self, operation: Operation, depth: int) -> None:
        stack, value = (self.name(value) for value in operation.operands)
        self.line(depth, f"{stack}.append({value})")

    def pop(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"{self.name(operation.result)} = {self.name(operation.operands[0])}.pop()")


def _fail(operation: Operation, *details: int) -> None:
    message = operation.attributes["message"]
    for place, detail in enumerate(details):
        message = message.replace(f"{{{place}}}", str(detail))
    raise ProgramError(operation.attributes["exception"], message, operation.span)


def _alloc(extents: tuple[int, ...], dtype: Any, filler: Any) -> np.ndarray[Any, Any]:
    return np.full([max(0, extent) for extent in extents], filler, dtype)


def _position(*indices: int) -> None:
    raise InternalError(f"negative index {indices}")


_RULES = {
    core.CONST: _Translator.const,
    core.TABLE: _Translator.table,
    core.ALLOC: _Translator.alloc,
    core.RESHAPE: _Translator.reshape,
    core.DIM: _Translator.dim,
    core.LOAD: _Translator.load,
    core.STORE: _Translator.store,
    core.ACCUMULATE: _Translator.store,
    core.CHECK: _Translator.check,
    core.FOR: _Translator.for_loop,
    core.WHILE: _Translator.while_loop,
    core.IF: _Translator.branch,
    core.STACK: _Translator.stack,
    core.PUSH: _Translator.push,
    core.POP: _Translator.pop,
}
