"""Shared by the tests of passes: parsing, random arguments, and comparing what two functions do."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from adgen import ops
from adgen.driver import lower_function
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function, walk
from adgen.ir.reader import parse_function
from adgen.ir.types import BOOL, F32, F64, I64, Buffer
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.dead_code import keep_results
from adgen.passes.pipeline import simplify
from adgen.runtime.signatures import describe_arguments

DTYPES = {F64: np.float64, F32: np.float32, I64: np.int64, BOOL: np.bool_}


def parse(text: str) -> Function:
    """A verified function from its text."""
    function = parse_function(text, ops.ROWS)
    verify(function)
    return function


def rows(function: Function) -> Counter[str]:
    """How many operations of each row a function's text holds."""
    return Counter(operation.row.name for operation in walk(function.body))


def arguments(function: Function, seed: int, extent: int = 12) -> list[Any]:
    """Random arguments; integers are small, so that they are good as sizes and indices."""
    generator = random.Random(seed)

    def number(kind: Any) -> Any:
        if kind in (F64, F32):
            return generator.choice([generator.uniform(-2, 2), generator.uniform(-2, 2), 0.0, -0.0])
        return generator.randint(0, 4) if kind == I64 else generator.random() < 0.5

    made: list[Any] = []
    for value in function.parameters:
        if isinstance(value.type, Buffer):
            shape = (extent,) * value.type.rank
            numbers = [number(value.type.element) for _ in range(extent**value.type.rank)]
            made.append(np.array(numbers, dtype=DTYPES[value.type.element]).reshape(shape))
        else:
            made.append(number(value.type))
    return made


def behaviour(function: Function, inputs: list[Any]) -> tuple[str, Any]:
    """What a call does, comparable bit by bit: the exception it raises, or its results and the arrays it leaves."""
    copies = [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
    try:
        results = run(function, copies).results
    except ProgramError as error:
        return "raises", (error.exception, error.message)
    return "returns", [_bits(value) for value in (*results, *(v for v in copies if isinstance(v, np.ndarray)))]


def _bits(value: Any) -> Any:
    """Bits of a result; all nans are one, as passes may exchange the operands of a commutative operation."""
    array = np.array(value)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.dtype.str, array.shape, array.tobytes()


def assert_same(before: Function, after: Function, seeds: int = 5, extent: int = 12) -> None:
    """Both functions verify and do the same for random arguments."""
    verify(after)
    for seed in range(seeds):
        inputs = arguments(before, seed, extent)
        assert behaviour(after, inputs) == behaviour(before, inputs), f"{before}\n{after}\n{inputs}"


def gradient_of(function: Callable[..., Any], *arguments: Any) -> Function:
    """The gradient of a Python function for all its parameters, before anything makes it faster."""
    names = function.__code__.co_varnames[: len(arguments)]
    lowered = lower_function(function, describe_arguments(dict(zip(names, arguments)))).function
    pulled = adjoint(simplify(lowered), range(len(arguments)), seeds="one")
    return keep_results(pulled, [f"{name}_bar" for name in names])
