"""What a device cannot run is refused with a place and a way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.emit.cuda import emit_cuda
from adgen.passes.pipeline import for_device, simplify
from adgen.runtime.signatures import describe_arguments


def of_the_numbers_in_arrays(x):
    y = np.zeros(int(x[0]))
    for i in range(len(x)):
        y[i] = 2.0 * x[i]
    return y[3] * y[4]


def of_a_quotient(x, n: int):
    for t in range(1, n):
        y = np.zeros(100000 // (t * t))
        for i in range(len(x)):
            y[i] = x[i] * t
        for i in range(len(x)):
            x[i] = y[len(x) - 1 - i]
    return x[3]


@pytest.mark.parametrize(
    ("program", "arguments", "message"),
    [
        (of_the_numbers_in_arrays, {"x": np.ones(30)}, "the size of `y` is known only when the device gets there"),
        (
            of_a_quotient,
            {"x": np.ones(30), "n": 4},
            "how much memory `y` takes is not known before the first kernel starts",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_memory_of_unknown_size(program: Callable[..., Any], arguments: dict[str, Any], message: str) -> None:
    """The workspace is the caller's, who must know its size before."""
    function = simplify(lower_function(program, describe_arguments(arguments)).function)
    with pytest.raises(AdgenError) as refused:
        emit_cuda([for_device(function)], "module")
    assert (refused.value.code, refused.value.message) == ("AD345", message)
    assert refused.value.span is not None and refused.value.help


def halved(x: float, n: int) -> float:
    if n <= 0:
        return x
    return x * halved(0.5 * x, n - 1)


def of_a_recursion(x: float, n: int) -> float:
    return halved(x, n)


def test_recursion() -> None:
    """The place is the line where the function calls itself, not the one that calls it first."""
    function = simplify(lower_function(of_a_recursion, describe_arguments({"x": 2.0, "n": 3})).function)
    with pytest.raises(AdgenError, match="`halved` calls itself, which kernels do not") as refused:
        emit_cuda([for_device(function)], "module")
    assert refused.value.code == "AD345" and refused.value.span is not None
    assert refused.value.span.line == halved.__code__.co_firstlineno + 3
