"""Loops of few iterations with long loops inside: their steps, when they are taken, and that they do no work twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Operation, walk
from adgen.passes.adjoint import adjoint
from adgen.passes.pipeline import for_device, simplify
from adgen.runtime.signatures import describe_arguments
from tests import row_programs
from tests.device_programs import Sample
from tests.emulated import few_threads

R = np.random.default_rng(3)
WIDE, TALL = R.normal(size=(3, 400)), R.normal(size=(400, 3))


def product(A, x):
    y = np.zeros(len(A))
    for i in range(len(A)):
        y[i] = A[i] @ x
    return y


def softmax(A):
    B = np.empty(A.shape)
    for i in range(len(A)):
        e = np.exp(A[i] - np.max(A[i]))
        B[i] = e / np.sum(e)
    return B


def lengths(A):
    total = 0.0
    for i in range(len(A)):
        s = 0.0
        for j in range(A.shape[1]):
            s += A[i, j] * A[i, j]
        total += np.sqrt(s)
    return total


def pairs(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            energy += 1.0 / (1.0 + (x[i] - x[j]) ** 2)
    return energy


PROGRAMS = [(product, {"A": WIDE, "x": WIDE[0]}), (softmax, {"A": WIDE}), (lengths, {"A": WIDE})]


def value_of(program: Callable[..., Any], arguments: dict[str, Any]) -> Function:
    return simplify(lower_function(program, describe_arguments(arguments)).function)


def choices(function: Function) -> list[Operation]:
    """The branches between the two forms."""
    branches = [o for o in walk(function.body) if o.row is core.IF]
    return [o for o in branches if any("rows" in each.attributes for each in walk(o.regions[0]))]


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_every_long_loop_is_shared(program: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Each of them is a kernel over rows and what is in them where rows are few, and none where they are many."""
    (choice,) = choices(for_device(value_of(program, arguments)))
    few, many = choice.regions
    assert sum(o.attributes.get("grid") == "y" for o in walk(few)) == (3 if program is softmax else 1)
    assert not any(o.attributes.get("grid") == "y" for o in walk(many))
    assert [o.attributes["rows"] for o in walk(many) if "rows" in o.attributes] == ["many"]


@pytest.mark.parametrize(("program", "arguments"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_no_work_is_done_twice(program: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """A few operations more for each part and row, however long rows are; nothing more where there are many rows."""
    function = value_of(program, arguments)
    for A, most in ((WIDE, 3 * 50 * 8), (TALL, 400 * 2)):
        given = [A if name == "A" else np.ones(A.shape[1]) for name in arguments]
        before = run(function, [a.copy() for a in given])
        after = run(for_device(function), [a.copy() for a in given])
        assert abs(after.counts.operations - before.counts.operations) <= most
        for one, other in zip(after.results, before.results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_pairs_of_particles() -> None:
    """Of both sums of the forces on a particle threads share the terms."""
    gradient = adjoint(value_of(pairs, {"x": WIDE[0]}), (0,), seeds="one")
    made = for_device(gradient)
    kernels = [o for o in walk(made.body) if o.attributes.get("grid") == "y"]
    assert len(kernels) >= 2 and not any("atomic" in o.attributes for o in walk(made.body))
    found, wanted = run(made, [WIDE[0]]).results, run(gradient, [WIDE[0]]).results
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that do all kinds of things come to the same, in values and gradients; most of them in steps."""
    few_threads(monkeypatch, 16)
    steps = 0
    for seed in range(first, first + 10):
        sample = Sample(f"rows_{seed}", row_programs.program(seed), row_programs.arguments(seed, 3, 7))
        gradient = sample.gradient
        assert gradient is not None
        for function, given in ((sample.value, []), (gradient, sample.seeds())):
            made = for_device(function, bool(seed % 2))
            steps += bool(choices(made))
            left = [[*sample.given(), *given] for _ in range(2)]
            found, wanted = (run(each, values).results for each, values in zip((made, function), left, strict=True))
            for one, other in zip([*found, *left[0]], [*wanted, *left[1]], strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert steps >= 3


def several_of_each(A):
    y = np.zeros(len(A))
    for i in range(len(A)):
        v, w = np.zeros(A.shape[1]), np.zeros(A.shape[1])
        for j in range(A.shape[1]):
            v[j] = A[i, j] * A[i, 0]
        for j in range(1, A.shape[1]):
            w[j] = v[j] - v[j - 1]
        for j in range(2, A.shape[1]):
            y[i] += w[j] * v[j]
        for j in range(3, A.shape[1]):
            y[i] -= w[j] * v[j - 3]
    return y


def test_the_same_text() -> None:
    """Steps, memory and parts come in the order of the program, however often it is looked at."""
    kept = []  # so that addresses, by which sets are in order, are others each time
    for number in range(8):
        kept.append([[] for _ in range(37 * number)])
        kept.append(for_device(value_of(several_of_each, {"A": WIDE})))
    assert len({str(function) for function in kept[1::2]}) == 1


def checked(A, k):
    y = np.zeros(len(A))
    for i in range(len(A)):
        for j in range(len(k)):
            y[i] += A[i, k[j]]
    return y


def read_late(A):
    total = 0.0
    for i in range(len(A)):
        if A[i, 0] > 0:
            total += A[i, 1]
        for j in range(A.shape[1]):
            A[i, j] = 0.0
    return total


def ever_larger(A):
    total = 0.0
    for i in range(len(A)):
        w = np.zeros(i + 1)
        for j in range(A.shape[1]):
            w[j % (i + 1)] += A[i, j]
        total += w[i]
    return total


def serial(A):
    for i in range(len(A)):
        for j in range(1, A.shape[1]):
            A[i, j] += 0.5 * A[i, j - 1]


@pytest.mark.parametrize("program", [checked, read_late, ever_larger, serial], ids=lambda value: value.__name__)
def test_what_does_not_come_apart(program: Callable[..., Any]) -> None:
    """Checks, whose order matters; sums of what is written afterwards; memory that differs in size; recurrences."""
    arguments = {"A": WIDE, "k": np.arange(400)} if program is checked else {"A": WIDE}
    function = value_of(program, arguments)
    made = for_device(function)
    assert not choices(made)
    found, wanted = (run(each, [a.copy() for a in arguments.values()]).results for each in (made, function))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
