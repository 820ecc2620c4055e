"""What was not taken contributes nothing, in both modes, whatever its partials are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adgen
from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Value
from adgen.ir.types import F64, I64

X = np.array([0.0, 1.0, 4.0])


def where_of_a_name(x):
    r = np.sqrt(x)
    return np.sum(np.where(x > 0, r, 0.0))


def written_over(x):
    r = np.log(x)
    r[x <= 0] = 0.0
    return np.sum(r)


def sliced_off(x):
    return np.sum(np.sqrt(x)[1:])


def triangle(x):
    return np.sum(np.triu(np.sqrt((x[:, None] - x[None, :]) ** 2), 1))


def square_of_a_quotient(x):
    r = 1.0 / x
    s = r * r
    return np.sum(np.where(x > 0, s, 2.0 * x))


def branch_of_a_loop(x):
    total = 0.0
    for i in range(len(x)):
        r = x[i] ** 0.35
        if x[i] > 0:
            total += r * r
    return total


EXPECTED = {
    where_of_a_name: [0.0, 0.5, 0.25],
    written_over: [0.0, 1.0, 0.25],
    sliced_off: [0.0, 0.5, 0.25],
    triangle: [-2.0, 0.0, 2.0],
    square_of_a_quotient: [2.0, -2.0, -0.03125],
    branch_of_a_loop: [0.0, 0.7, 0.7 * 4.0**-0.3],
}


@pytest.mark.parametrize("function", EXPECTED, ids=lambda function: function.__name__)
def test_both_modes(function: Any) -> None:
    """The gradient, entry by entry in forward mode too."""
    expected = EXPECTED[function]
    assert np.allclose(adgen.grad(function)(X), expected, rtol=1e-13, atol=0)
    pushed = [adgen.jvp(function)(X, tangent=direction)[1] for direction in np.eye(3)]
    assert np.allclose(pushed, expected, rtol=1e-13, atol=0)


def root_of_a_clipped(x):
    return math.sqrt(max(x, 0.0)) + 3.0


def power_of_a_chosen(t, limit):
    tau = 1.0 - t / limit if t < limit else 0.0
    return 3.0 + tau**0.35


def test_scalars() -> None:
    """A constant under a root has no tangent; a direction that does not move the operand does not meet its partial."""
    assert adgen.jvp(root_of_a_clipped)(-2.0, tangent=1.0) == (3.0, 0.0)
    assert adgen.grad(power_of_a_chosen)(600.0, 500.0) == (0.0, 0.0)
    assert adgen.jvp(power_of_a_chosen)(600.0, 500.0, tangent=(1.0, 0.0)) == (3.0, 0.0)
    assert adgen.jvp(lambda x, y: math.sqrt(x) + y)(0.0, 2.0, tangent=(0.0, 1.0)) == (2.0, 1.0)


def test_the_convention_stays() -> None:
    """The derivative of a root at zero is infinite, and says so."""
    assert adgen.grad(lambda x: math.sqrt(x))(0.0) == math.inf
    assert adgen.jvp(lambda x: math.sqrt(x))(0.0, tangent=1.0)[1] == math.inf


def _tangent(row: ops.Elementwise, position: int, operands: tuple[Any, ...]) -> float:
    builder = Builder()
    parameters = [Value(I64 if row.fixed.get(k) == I64 else F64, "") for k in range(row.arity)]
    with builder.block(parameters) as block:
        result = builder.op(row, *parameters)
        one = builder.const(1.0)
        block.results = (
            row.pushforward(builder, parameters, result, [one if k == position else None for k in range(row.arity)])
            or builder.const(0.0),
        )
    with np.errstate(all="ignore"):
        return float(run(builder.function("f", block, ["out"]), list(operands)).results[0])


def test_singular_rows_are_marked() -> None:
    """Every row of the table that has an infinite partial where its operands are round numbers."""
    found = set()
    for row in ops.TABLE.values():
        if (
            not row.differentiable
            or row.piecewise_constant
            or F64 not in row.kinds
            or any(kind != I64 for kind in row.fixed.values())
        ):
            continue
        for first in (-1.0, 0.0, 1.0):
            for second in (-1.0, 0.0, 1.0) if row.arity > 1 else (0.0,):
                values = [first, second, 1.0][: row.arity]
                operands = tuple(int(v) if row.fixed.get(k) == I64 else v for k, v in enumerate(values))
                if any(row.fixed.get(k) == I64 and row is ops.POLYGAMMA and v < 0 for k, v in enumerate(operands)):
                    continue
                for position in range(row.arity):
                    if row.partials[position] is not None and not math.isfinite(_tangent(row, position, operands)):
                        found.add(row.name)
    remainders = {"mod", "fmod", "remainder"}  # whose value is not a number where a partial is not
    assert found - remainders <= {row.name for row in ops.TABLE.values() if row.singular}
