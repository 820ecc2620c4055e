"""A function of the IR as Python source: what the interpreter executes.

Comes in: a function.  Goes out: a `Program`, a callable and what each of its blocks counts.  Guaranteed: blocks count
their executions and a block's operations are known, so that counting is exact and costs one addition per block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from adgen.diagnostics import Span
from adgen.ir import core
from adgen.ir.builder import typed
from adgen.ir.contraction import Operand, contraction
from adgen.ir.messages import filled
from adgen.ir.nodes import Function, Operation, Region, Row, Value
from adgen.ir.types import BOOL, F32, F64, I64, INTEGERS, NARROW, Buffer, Scalar, is_float

DTYPES: dict[Scalar, type[np.generic]] = {
    F64: np.float64,
    F32: np.float32,
    BOOL: np.bool_,
    **{kind: np.dtype(kind.full_name).type for kind in INTEGERS},
}
UNWRITTEN = {F64: np.nan, F32: np.nan, BOOL: True, I64: -(2**62), **{kind: kind.numbers[0] for kind in NARROW}}

DEEPEST = 12
"""Deeper operations become Python functions of their own: Python nests at most 20 loops and 99 indentations."""


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
class Program:
    """A translated function: `entry(executed, *arguments)` counts the blocks it executes in `executed`."""

    entry: Any
    blocks: tuple[tuple[Counter[str], int], ...]  # what one execution of each block counts

    def counts(self, executed: Sequence[int]) -> Counts:
        """What blocks executed so many times count together; rows that were never executed are left out."""
        rows: Counter[str] = Counter()
        operations = 0
        for times, (block, cost) in zip(executed, self.blocks, strict=True):
            rows.update({name: count * times for name, count in block.items() if times})
            operations += cost * times
        return Counts(rows, operations)


def translate(function: Function) -> Program:
    """The program of a well-formed function."""
    return Translator(function).program()


def _is_float(operation: Operation) -> bool:
    values = (*operation.results, *operation.operands[:1])
    return any(isinstance(value.type, Scalar) and value.type.is_float for value in values)


class Translator:
    """Writes the Python source of one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.names: dict[Value, str] = {}
        self.lines: list[str] = []
        self.parts: list[list[str]] = []  # finished Python functions of deep operations
        self.scope: dict[str, Any] = {
            "fail": _fail,
            "alloc": _alloc,
            "reshape": _reshape,
            "negative": _negative,
        }
        self.rows: dict[Row, str] = {}
        self.blocks: list[tuple[Counter[str], int]] = []

    def program(self) -> Program:
        self.definition("entry", self.function)
        for name, callee in self.function.callees.items():
            self.definition(f"callee_{name}", callee)
        source = "\n".join(line for part in self.parts for line in part)
        exec(compile(source, f"<{self.function.name}>", "exec"), self.scope)
        return Program(self.scope["entry"], tuple(self.blocks))

    def definition(self, name: str, function: Function) -> None:
        """A function of the IR as one of Python."""
        self.lines = []
        parameters = [self.name(value) for value in function.parameters]
        self.lines.append(f"def {name}({', '.join(['executed', *parameters])}):")
        self.block(function.body, 1)
        self.line(1, f"return ({''.join(self.name(value) + ', ' for value in function.results)})")
        self.parts.append(self.lines)

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
            if operation.regions and depth > DEEPEST:
                self.outlined(operation, depth)
            else:
                RULES.get(operation.row, Translator.elementwise)(self, operation, depth)

    def outlined(self, operation: Operation, depth: int) -> None:
        """An operation as a call of a Python function of its own, which takes all that it reads."""
        around, self.lines = self.lines, []
        name = f"part{len(self.blocks)}"
        given = ", ".join(["executed", *(self.name(value) for value in free_values(operation))])
        self.line(0, f"def {name}({given}):")
        RULES[operation.row](self, operation, 1)
        results = "".join(f"{self.name(value)}, " for value in operation.results)
        self.line(1, f"return ({results})")
        self.parts.append(self.lines)
        self.lines = around
        self.line(depth, f"{results}{'= ' if results else ''}{name}({given})")

    def elementwise(self, operation: Operation, depth: int) -> None:
        operands = ", ".join(self.name(value) for value in operation.operands)
        if operation.row not in self.rows:
            self.rows[operation.row] = self.constant(operation.row.evaluate)
        self.line(depth, f"{self.name(operation.result)} = {self.rows[operation.row]}({operands})")

    def const(self, operation: Operation, depth: int) -> None:
        number = typed(operation.attributes["value"], operation.result.type)
        self.line(depth, f"{self.name(operation.result)} = {self.constant(number)}")

    def table(self, operation: Operation, depth: int) -> None:
        data = np.array(operation.attributes["data"], order="C")
        data.flags.writeable = False
        self.line(depth, f"{self.name(operation.result)} = {self.constant(data)}")

    def alloc(self, operation: Operation, depth: int) -> None:
        kind = operation.result.type
        assert isinstance(kind, Buffer)
        extents = "".join(f"{self.name(value)}, " for value in operation.operands)
        dtype, filler = self.constant(DTYPES[kind.element]), self.constant(UNWRITTEN[kind.element])
        fill = "0" if operation.attributes["zero"] else filler
        self.line(depth, f"{self.name(operation.result)} = alloc(({extents}), {dtype}, {fill})")

    def tap(self, operation: Operation, depth: int) -> None:
        kind = operation.result.type
        assert isinstance(kind, Scalar | Buffer)
        extents = "".join(f"{self.name(value)}, " for value in operation.operands)
        dtype = self.constant(DTYPES[kind.element if isinstance(kind, Buffer) else kind])
        element = "" if isinstance(kind, Buffer) else "[()]"
        self.line(depth, f"{self.name(operation.result)} = alloc(({extents}), {dtype}, 0){element}")

    def reshape(self, operation: Operation, depth: int) -> None:
        buffer, *extents = (self.name(value) for value in operation.operands)
        self.line(depth, f"{self.name(operation.result)} = reshape({buffer}, ({''.join(e + ', ' for e in extents)}))")

    def dim(self, operation: Operation, depth: int) -> None:
        buffer = self.name(operation.operands[0])
        self.line(depth, f"{self.name(operation.result)} = {buffer}.shape[{operation.attributes['axis']}]")

    def place(self, indices: Sequence[Value], depth: int) -> str:
        names = [self.name(value) for value in indices]
        if names:
            self.line(depth, f"if {' or '.join(f'{name} < 0' for name in names)}: negative({', '.join(names)})")
        return f"[{', '.join(names) or '()'}]"

    def load(self, operation: Operation, depth: int) -> None:
        buffer, *indices = operation.operands
        text = f"{self.name(buffer)}{self.place(indices, depth)}"
        kind = operation.result.type
        wrap = "bool({})" if kind == BOOL else "{}" if is_float(kind) else "int({})"
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
        if exit:  # noted first: it may be a carried value, which the assignment overwrites
            self.line(depth + 1, f"go = {self.name(region.results[0])}")
        self.assign(depth + 1, carried, region.results[exit:])
        if exit:
            self.line(depth + 1, "if not go: break")
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

    def call(self, operation: Operation, depth: int) -> None:
        operands = ", ".join(["executed", *(self.name(value) for value in operation.operands)])
        results = "".join(f"{self.name(value)}, " for value in operation.results)
        callee = operation.attributes["callee"]
        self.line(depth, f"{results}{'= ' if results else ''}callee_{callee}({operands})")

    def external(self, operation: Operation, depth: int) -> None:
        """A C function runs; what it computes is not counted."""
        operands = ", ".join(self.name(value) for value in operation.operands)
        results = "".join(f"{self.name(value)}, " for value in operation.results)
        function = operation.attributes["external"]
        run = self.constant(_unknown if isinstance(function, str) else function.run)
        self.line(depth, f"{results}{'= ' if results else ''}{run}({operands})")

    def custom(self, operation: Operation, depth: int) -> None:
        if "external" in operation.attributes:
            self.external(operation, depth)
            return
        (region,) = operation.regions
        self.block(region, depth)
        self.assign(depth, operation.results, region.results)

    def contract(self, operation: Operation, depth: int) -> None:
        parts = contraction(operation)
        i, j, k = (f"{name}{len(self.blocks)}" for name in ("row", "column", "depth"))
        for deeper, (index, extent) in enumerate(((i, parts.rows), (k, parts.depth), (j, parts.columns))):
            self.line(depth + deeper, f"for {index} in range({self.name(extent)}):")
        self.blocks.append((Counter({"load": 2, "mul": 1, "accumulate": 1}), 1))
        self.line(depth + 3, f"executed[{len(self.blocks) - 1}] += 1")
        target, left, right = (
            self.element(operand, at)
            for operand, at in ((parts.target, (i, j)), (parts.left, (i, k)), (parts.right, (k, j)))
        )
        self.line(depth + 3, f"{target} += {self.name(parts.factor)} * {left} * {right}")

    def element(self, operand: Operand, at: tuple[str, str]) -> str:
        indices = [self.name(index) for index in operand.first]
        for axis, number in zip((operand.rows, operand.columns), at, strict=True):
            indices[axis] += f" + {number}"
        return f"{self.name(operand.buffer)}[{', '.join(indices)}]"

    def swap(self, operation: Operation, depth: int) -> None:
        first, second = (self.name(value) for value in operation.operands)
        self.line(depth, f"{first}[...], {second}[...] = {second}.copy(), {first}.copy()")

    def add_up(self, operation: Operation, depth: int) -> None:
        target, parts = (self.name(value) for value in operation.operands)
        self.line(depth, f"{target}[...] += {parts}.sum(-1)")

    def stack(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"{self.name(operation.result)} = []")

    def push(self, operation: Operation, depth: int) -> None:
        stack, value = (self.name(value) for value in operation.operands)
        self.line(depth, f"{stack}.append({value})")

    def pop(self, operation: Operation, depth: int) -> None:
        self.line(depth, f"{self.name(operation.result)} = {self.name(operation.operands[0])}.pop()")


def free_values(operation: Operation) -> tuple[Value, ...]:
    """What an operation and its regions read that they do not define, in the order of first use."""
    found: dict[Value, None] = dict.fromkeys(operation.operands)
    inside: set[Value] = set()

    def visit(region: Region) -> None:
        inside.update(region.arguments)
        for inner in region.operations:
            found.update(dict.fromkeys(inner.operands))
            for nested in inner.regions:
                visit(nested)
            inside.update(inner.results)
        found.update(dict.fromkeys(region.results))

    for region in operation.regions:
        visit(region)
    return tuple(value for value in found if value not in inside)


def _fail(operation: Operation, *details: int) -> None:
    message = filled(operation.attributes["message"], details)
    raise ProgramError(operation.attributes["exception"], message, operation.span)


def _alloc(extents: tuple[int, ...], dtype: Any, filler: Any) -> np.ndarray[Any, Any]:
    return np.full([max(0, extent) for extent in extents], filler, dtype)


def _reshape(buffer: np.ndarray[Any, Any], extents: tuple[int, ...]) -> np.ndarray[Any, Any]:
    if prod(extents) != buffer.size or any(extent < 0 for extent in extents):
        raise InternalError(f"a buffer of shape {buffer.shape} cannot have the shape {extents}")
    return buffer.reshape(extents)


def _unknown(*operands: Any) -> None:
    raise InternalError("a C function that was read from text cannot be run")


def _negative(*indices: int) -> None:
    raise InternalError(f"negative index {indices}")


RULES: dict[Row, Callable[[Translator, Operation, int], None]] = {
    core.CONST: Translator.const,
    core.TABLE: Translator.table,
    core.TAP: Translator.tap,
    core.ALLOC: Translator.alloc,
    core.RESHAPE: Translator.reshape,
    core.DIM: Translator.dim,
    core.LOAD: Translator.load,
    core.STORE: Translator.store,
    core.ACCUMULATE: Translator.store,
    core.CHECK: Translator.check,
    core.FOR: Translator.for_loop,
    core.WHILE: Translator.while_loop,
    core.IF: Translator.branch,
    core.STACK: Translator.stack,
    core.PUSH: Translator.push,
    core.POP: Translator.pop,
    core.CALL: Translator.call,
    core.CONTRACT: Translator.contract,
    core.CUSTOM: Translator.custom,
    core.EXTERNAL: Translator.external,
    core.SWAP: Translator.swap,
    core.ADD_UP: Translator.add_up,
}
