"""What iterations of a loop do to memory that they share: own elements, additions, sums, what ties them together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adgen.driver import lower_function
from adgen.ir import core
from adgen.passes.activity import roots
from adgen.passes.forms import Forms
from adgen.passes.independence import Tie
from adgen.passes.indices import Definitions
from adgen.passes.pipeline import simplify
from adgen.passes.sharing import Sharing, sharing
from adgen.runtime.signatures import describe_arguments

ARGUMENTS = {"x": np.ones(40), "y": np.ones(40), "A": np.ones((40, 40)), "k": np.zeros(40, dtype=np.int64), "n": 3}


def shared(program: Callable[..., Any]) -> Sharing | Tie:
    """What the outermost loop of a program does."""
    function = simplify(lower_function(program, describe_arguments(ARGUMENTS)).function)
    (loop,) = [operation for operation in function.body.operations if operation.row is core.FOR]
    return sharing(loop, roots(function), Forms(Definitions(function)))


def plain(x, y, A, k, n: int):
    for i in range(40):
        y[i] = x[39 - i]


def mirrored(x, y, A, k, n: int):
    for i in range(40):
        y[39 - i] += x[i]


def strided(x, y, A, k, n: int):
    for i in range(10):
        y[3 * i + 1] = x[i]
        y[1 + i * 3] += 1.0


def row(x, y, A, k, n: int):
    for i in range(40):
        for j in range(i):
            A[i, j] = A[i, j + 1] + x[j]


def diagonals(x, y, A, k, n: int):
    for i in range(20):
        for j in range(40):
            A[i + 1, (i + j) % 40] = x[j]


@pytest.mark.parametrize("program", [plain, mirrored, strided, row, diagonals])
def test_own_elements(program: Callable[..., Any]) -> None:
    """One axis of all accesses is the same expression, linear in the index; the others may be anything."""
    found = shared(program)
    assert isinstance(found, Sharing)
    assert len(found.own) == 1 and not found.added


def gathered(x, y, A, k, n: int):
    for i in range(40):
        y[k[i]] += x[i]


def skew(x, y, A, k, n: int):
    for i in range(20):
        for j in range(20):
            y[i + j] += x[i] * x[j]


def scaled_by_an_argument(x, y, A, k, n: int):
    for i in range(10):
        y[n * i] += x[i]


def two_places(x, y, A, k, n: int):
    for i in range(40):
        y[i] += x[i]
        y[39 - i] += x[i]


def square(x, y, A, k, n: int):
    for i in range(-5, 5):
        y[i * i] += x[i]


@pytest.mark.parametrize("program", [gathered, skew, scaled_by_an_argument, two_places, square])
def test_additions_that_may_meet(program: Callable[..., Any]) -> None:
    """`n * i` is one element for all iterations where n is 0, `i * i` the same for two of them."""
    found = shared(program)
    assert isinstance(found, Sharing)
    assert len(found.added) == 1 and not found.own


def rows_apart(x, y, A, k, n: int):
    for i in range(40):
        A[0, i] += x[i]
        y[i] = A[0, i]
        A[1, k[i]] += x[i]


def test_rows_of_one_array_are_looked_at_apart() -> None:
    """What is stored in one row and added to another is owned there and added here."""
    found = shared(rows_apart)
    assert isinstance(found, Sharing)
    assert len(found.own) == 2 and len(found.added) == 1
    (touching,) = found.added.values()
    assert len(touching) == 1


def sums(x, y, A, k, n: int):
    s, t = 1.0, 0.0
    for i in range(40):
        if x[i] > 0.0:
            s += x[i]
        else:
            for j in range(n):
                s -= y[j]
        t = t + s * 0.0 if n > 100 else t + x[i]
    return s + t


def plain_sums(x, y, A, k, n: int):
    s, t = 1.0, 0.0
    for i in range(40):
        if x[i] > 0.0:
            s += x[i]
        else:
            for j in range(n):
                s -= y[j]
        t = x[i] - y[i] + t
    return s + t


def turned_sign(x, y, A, k, n: int):
    s = 1.0
    for i in range(40):
        s = x[i] - s
    return s


def doubled(x, y, A, k, n: int):
    s = 1.0
    for i in range(40):
        s = s + s
    return s


def read_on_the_way(x, y, A, k, n: int):
    s = 0.0
    for i in range(40):
        s += x[i]
        y[i] = s
    return s


def chosen(x, y, A, k, n: int):
    s = 0.0
    for i in range(40):
        if x[i] > y[i]:
            s = x[i]
    return s


def test_sums() -> None:
    """What is added in branches and in loops is a sum."""
    found = shared(plain_sums)
    assert isinstance(found, Sharing)


def neighbour(x, y, A, k, n: int):
    for i in range(1, 40):
        x[i] = x[i - 1] + 1.0


def both_ways(x, y, A, k, n: int):
    for i in range(40):
        x[i] = x[39 - i]


def stored_where_told(x, y, A, k, n: int):
    for i in range(40):
        y[k[i]] = x[i]


def half(x, y, A, k, n: int):
    for i in range(40):
        y[i // 2] = x[i]


def added_and_read(x, y, A, k, n: int):
    for i in range(40):
        y[k[i]] += x[i]
        x[i] = y[0]


@pytest.mark.parametrize(
    "program",
    [
        sums, turned_sign, doubled, read_on_the_way, chosen, neighbour, both_ways, stored_where_told, half,
        added_and_read,
    ],
)  # fmt: skip
def test_ties(program: Callable[..., Any]) -> None:
    """Values that are more than sums, and elements that an iteration shares with others."""
    found = shared(program)
    assert isinstance(found, Tie)
    assert found.reason
