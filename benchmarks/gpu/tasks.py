"""The workloads for a device: their sizes, and what each has to do at least.

Operations are those of the derivative as it is optimised for one thread, on doubles, an exponential being one like an
addition: the interpreter counts them at two small sizes, and what they grow by for each piece of work is taken times
the pieces of the real size.  Work that kernels do twice, so that nobody waits for another, is not counted.
Traffic is that of the arguments and of the results, once each; steps in time read a state and write the next one, in
the function and in its adjoint.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from adgen.ir.interpret import run
from adgen.passes.pipeline import optimise
from benchmarks.workload import Array, Inputs, Workload

DOUBLE = 8


def no_steps(size: Any) -> float:
    """Where nothing is read and written again and again."""
    return 0.0


@dataclass(frozen=True)
class Task:
    """A workload by name; `small` is for the emulator, `tiny` for tests, and `counted` are two sizes to count at.

    `pieces` tells how much work a size is, `steps` how many numbers are read and written between steps in time.
    """

    sizes: Mapping[str, Any]
    small: Any
    tiny: Any
    counted: tuple[Any, Any]
    pieces: Callable[[Any], float]
    steps: Callable[[Any], float] = no_steps

    def chosen(self, asked: str, small: bool) -> list[tuple[str, Any]]:
        """Sizes with their names: those that were asked for, all by default."""
        if small:
            return [("small", self.small)]
        return [(name, size) for name, size in self.sizes.items() if not asked or name in asked.split(",")]


TASKS = {
    "black-scholes": Task({"n1e7": 10**7, "n1e8": 10**8}, 10_000, 5, (5, 15), float),
    "lennard-jones": Task({"n2e4": 20_000}, 300, 4, (20, 60), lambda n: 0.5 * n * (n - 1)),
    "heat": Task(
        {"n4096T100": (4096, 100)},
        (64, 10),
        (8, 2),
        ((12, 4), (12, 12)),
        lambda size: float(size[0] ** 2 * size[1]),
        lambda size: 4.0 * size[0] ** 2 * size[1],
    ),
    "gaussian-mixture": Task(
        {"d10k25n1e6": (10, 25, 10**6)},
        (10, 25, 300),
        (2, 3, 5),
        ((10, 25, 4), (10, 25, 12)),
        lambda size: float(size[2]),
    ),
    "arm-batch": Task({"batch1e6": 10**6}, 300, 3, (2, 6), float),
}


def operations(task: Task, workload: Workload, derivative: Callable[[Inputs], partial[Any]], size: Any) -> float:
    """Of the derivative at a size; `derivative` makes the call for some inputs."""
    few, more = (count(derivative(workload.inputs(at))) for at in task.counted)
    first, second = map(task.pieces, task.counted)
    return (more - few) / (second - first) * task.pieces(size)


def count(call: partial[Any]) -> int:
    """Operations on floating-point numbers in a call of an operator, as the interpreter counts them."""
    operator = call.func.__adgen__  # type: ignore[attr-defined]
    arguments = operator.arguments(call.args, call.keywords)
    function = optimise(operator.lower(operator.specs(arguments)).function, plain=True)
    return run(
        function, [np.copy(value) if isinstance(value, np.ndarray) else value for value in call.args]
    ).counts.operations


def traffic(task: Task, inputs: Inputs, results: Array, size: Any) -> float:
    """The bytes that have to be read and written at least."""
    given = sum(value.nbytes for value in inputs.values() if isinstance(value, np.ndarray))
    return given + DOUBLE * (prod(results.shape) + task.steps(size))
