"""The meaning of the IR, executed: the oracle that compiled code is compared with, and the exact operation count.

Comes in: a function and its arguments.  Goes out: its results and how often each row was executed.  Guaranteed: the
arithmetic of the rows' own `evaluate` (IEEE: no exception for 1/0 or overflow); a failed `check` raises `ProgramError`;
an index that a front end should have checked raises `InternalError`; memory that nobody wrote holds NaN, or a very
negative integer.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from adgen.ir.builder import typed
from adgen.ir.nodes import Function, Value
from adgen.ir.translate import DTYPES, Counts, InternalError, Program, ProgramError, translate
from adgen.ir.types import Buffer, Scalar

__all__ = ["Counts", "InternalError", "Outcome", "ProgramError", "run"]


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
    program = _PROGRAMS.get(function)
    if program is None:
        program = _PROGRAMS[function] = translate(function)
    if len(arguments) != len(function.parameters):
        raise TypeError(f"{function.name} takes {len(function.parameters)} arguments, not {len(arguments)}")
    converted = [_argument(a, value) for a, value in zip(arguments, function.parameters, strict=True)]
    executed = [0] * len(program.blocks)
    with np.errstate(all="ignore"), _deep_stack(function):
        try:
            results = program.entry(executed, *converted)
        except IndexError as error:
            raise InternalError(f"{function.name}: {error}") from error
    return Outcome(results, program.counts(executed))


@contextmanager
def _deep_stack(function: Function) -> Iterator[None]:
    """Room for the calls that a function's own check of their depth allows."""
    before = sys.getrecursionlimit()
    if function.callees:
        sys.setrecursionlimit(max(before, DEEPEST_STACK))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _argument(argument: Any, value: Value) -> Any:
    if isinstance(value.type, Scalar):
        return typed(argument, value.type)
    if not isinstance(value.type, Buffer):
        raise TypeError(f"{value.name} is a {value.type}, which cannot be given")
    array = argument if isinstance(argument, np.ndarray) else np.asarray(argument, DTYPES[value.type.element])
    if array.dtype != DTYPES[value.type.element] or array.ndim != value.type.rank:
        raise TypeError(f"{value.name} must be {value.type}, not {array.dtype} of rank {array.ndim}")
    if not array.flags.c_contiguous:
        raise TypeError(f"{value.name} must be C-contiguous")
    return array


DEEPEST_STACK = 20_000
_PROGRAMS: WeakKeyDictionary[Function, Program] = WeakKeyDictionary()
