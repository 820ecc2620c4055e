"""What is proved about indices and extents: usual loops need no check, and no proof is wrong."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adgen import ops
from adgen.frontend.lower import lower
from adgen.frontend.ranges import Ranges
from adgen.frontend.specs import ArraySpec, ScalarSpec
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value, walk
from adgen.ir.types import F64, I64, Buffer


def forward(x):
    s = 0.0
    for i in range(len(x) - 1):
        s += x[i + 1] - x[i]
    return s


def backward(x):
    s = 0.0
    for i in range(x.shape[0] - 1, 0, -1):
        s += x[i] * x[i - 1]
    return s


def from_one(x):
    s = 0.0
    for i in range(1, x.size):
        s += x[i - 1] * x[0] * x[-1]
    return s


def stencil(x):
    s = 0.0
    for i in range(1, len(x) - 1):
        s += x[i - 1] - 2.0 * x[i] + x[i + 1]
    return s


def cyclic(x):
    n = len(x)
    s = 0.0
    for i in range(n):
        s += x[(i + 1) % n] * x[(i - 1) % n]
    return s


def halves(x):
    s = 0.0
    for i in range(len(x) // 2):
        s += x[2 * i] * x[2 * i + 1] * x[len(x) - 1 - i]
    return s


def strided(x):
    s = 0.0
    for i in range(0, len(x) - 2, 3):
        s += x[i + 2]
    return s


def triangle(m):
    s = 0.0
    for i in range(m.shape[0]):
        for j in range(i):
            s += m[i, 0] * m[j + 1, 0] * m[i - 1, 0]
    return s


def rows(m):
    s = 0.0
    for i in range(m.shape[0]):
        row = m[i]
        for j in range(1, len(row)):
            s += row[j] * row[j - 1] * m[i][-1]
    return s


def slices(x):
    y = x[1:-1] * 2.0
    for i in range(len(y)):
        y[i] += x[i + 2]
    return np.sum(y - x[2:] + x[:-2])


def fixed(x):
    a = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            a[i, j] = a[2, 3 - j] + a[-1, -4]
    return a[0, 0] + np.sum(x)


def guarded(x):
    s = 0.0
    for i in range(len(x)):
        if i > 0 and i <= len(x):
            s += x[i - 1]
        if i + 1 < len(x):
            s += x[i + 1]
    return s


def solved(m):
    x = np.zeros(m.shape[0])
    for i in range(len(x) - 1, -1, -1):
        x[i] = 1.0 - np.sum(m[i] * 2.0) * np.sum(x[i + 1 :])
    return x


def prefix(m):
    s = 0.0
    y = np.ones(m.shape[0])
    for i in range(m.shape[0]):
        s += np.dot(y[:i], y[:i]) + np.sum(y[i:]) + np.sum(y[: i + 1])
    return s


UNCHECKED = [forward, backward, from_one, stencil, cyclic, halves, strided, slices, fixed, guarded]
UNCHECKED_MATRICES = [rows, solved, prefix]


def counted(function, rank: int) -> Counter:
    lowered = lower(function, {next(iter(function.__code__.co_varnames)): ArraySpec(F64, rank)})
    return Counter(operation.row.name for operation in walk(lowered.function.body))


@pytest.mark.parametrize("function", UNCHECKED + UNCHECKED_MATRICES, ids=lambda f: f.__name__)
def test_no_check(function) -> None:
    """Indices that a loop keeps in range cost nothing: no check, no wrap, no run-time broadcasting."""
    counts = counted(function, 2 if function in UNCHECKED_MATRICES else 1)
    assert counts["check"] == 0
    assert counts["select"] == 0


def test_only_the_column_is_checked() -> None:
    """`m[i, 0]` needs a column, which no loop promises: that is checked, once; the rows are not."""
    assert counted(triangle, 2)["check"] == 1


def unprovable(x, k):
    return x[k] + x[k]


def test_an_index_is_checked_once() -> None:
    """The second use of an index needs no second check."""
    lowered = lower(unprovable, {"x": ArraySpec(F64, 1), "k": ScalarSpec(I64)})
    assert sum(operation.row.name == "check" for operation in walk(lowered.function.body)) == 1


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_proofs_are_sound(data: st.DataObject) -> None:
    """What is proved holds for every value that the facts allow."""
    b = Builder()
    ranges = Ranges(b)
    x = Value(Buffer(F64, 1), "x")
    free = Value(I64, "k")
    with b.block((x, free)):
        n = b.dim(x, 0)
        low = data.draw(st.sampled_from([b.index(0), b.index(1), free]))
        high = data.draw(st.sampled_from([n, b.op(ops.SUB, n, b.index(1)), b.index(4), free]))
        i = Value(I64, "i")
        with b.block((i,)):
            ranges.declare(i, low, high)
            values = [n, i, free, b.index(data.draw(st.integers(-3, 3)))]
            rows_ = [ops.ADD, ops.SUB, ops.MAXIMUM, ops.MINIMUM, ops.FLOORDIV, ops.MOD, ops.MUL]
            for _ in range(data.draw(st.integers(1, 4))):
                row = data.draw(st.sampled_from(rows_))
                a, c = data.draw(st.sampled_from(values)), data.draw(st.sampled_from(values))
                values.append(b.op(row, a, c))
            if data.draw(st.booleans()):
                ranges.assume(b.op(ops.LT, data.draw(st.sampled_from(values[:4])), values[-2]))
            proved = ranges.nonnegative(values[-1])
            assumed = list(ranges.facts())
            for size in range(4):
                for k in range(-2, 5):
                    known = {n: size, free: k}
                    first, last = number(b, low, known), number(b, high, known)
                    for index in range(first, last):
                        world = {**known, i: index}
                        if all(evaluated(b, form, world) >= 0 for form in assumed):
                            assert not proved or number(b, values[-1], world) >= 0


def number(b: Builder, value: Value, world: dict[Value, int]) -> int:
    """The number that a value stands for."""
    if value in world:
        return world[value]
    known = b.known(value)
    if known is not None:
        return known
    operation = b.definitions[value]
    assert operation.row.evaluate is not None
    return operation.row.evaluate(*(number(b, operand, world) for operand in operation.operands))


def evaluated(b: Builder, form, world: dict[Value, int]) -> int:
    """The number that an affine form stands for."""
    return form.constant + sum(c * number(b, v, world) for v, c in form.terms)
