"""Random subscripts on random shapes: views, assignments and errors as NumPy's."""

from __future__ import annotations

import operator

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from adgen.ir.interpret import ProgramError
from tests.frontend.array_tracer import named, outcome, update

BOUND = st.none() | st.integers(-6, 6)
SLICE = st.builds(slice, BOUND, BOUND, st.none() | st.sampled_from([1, 2, 3, -1, -2]))
SHAPE = st.lists(st.integers(0, 4), min_size=1, max_size=3).map(tuple)
PROFILE = settings(max_examples=150, deadline=None)


@st.composite
def subscripts(draw: st.DrawFn, rank: int) -> tuple:
    """A basic subscript of an array of a rank; integers may be out of range."""
    parts = [draw(SLICE | st.integers(-5, 4)) for _ in range(draw(st.integers(0, rank)))]
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), Ellipsis)
    return tuple(parts)


@st.composite
def advanced(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple:
    """A subscript with index arrays that broadcast together."""
    rank = len(shape)
    parts: list = []
    for k in range(draw(st.integers(1, rank))):
        kind = draw(st.sampled_from(["array", "slice", "integer"]))
        if kind == "slice":
            parts.append(draw(SLICE))
        elif kind == "integer":
            parts.append(draw(st.integers(-shape[k] - 1, shape[k])))
        else:
            size = draw(st.sampled_from([(2,), (1,), (2, 1), (3, 2)]))
            limit = max(shape[k], 1)
            parts.append(draw(hnp.arrays(np.int64, size, elements=st.integers(-limit, limit - 1))).tolist())
    return tuple(parts)


def numbers(shape: tuple[int, ...]) -> np.ndarray:
    """Distinct elements."""
    return np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)


def dynamic(key: tuple, arguments: list) -> tuple:
    """The subscript with its integers replaced by names of further arguments, for `filled`."""

    def change(x):
        if type(x) is int:
            arguments.append(x)
            return ("argument", len(arguments) - 1)
        if isinstance(x, slice):
            return slice(change(x.start), change(x.stop), x.step)
        return x

    return tuple(change(x) for x in key)


def filled(key: tuple, arguments: tuple) -> tuple:
    """The subscript with the arguments in their places."""

    def change(x):
        if isinstance(x, tuple) and len(x) == 2 and x[0] == "argument":
            return arguments[x[1]]
        if isinstance(x, slice):
            return slice(change(x.start), change(x.stop), x.step)
        return x

    return tuple(change(x) for x in key)


def same_outcome(function, array: np.ndarray, *rest) -> None:
    """The same result, or the same kind of exception."""
    try:
        wanted = np.asarray(function(array.copy(), *rest))
    except (IndexError, ValueError) as error:
        wanted = error
    try:
        (got,), _ = outcome(function, array, *rest)
    except ProgramError as error:
        assert isinstance(wanted, Exception), error
        assert error.exception == type(wanted).__name__
        return
    except Exception as error:
        assert isinstance(wanted, Exception), error
        assert type(error).__name__ == "AdgenError", error
        return
    if isinstance(wanted, IndexError) and 0 in array.shape:
        return  # NumPy checks index arrays even where there is nothing to read
    assert not isinstance(wanted, Exception), wanted
    assert np.asarray(got).shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)


@PROFILE
@given(st.data())
def test_views_of_views(data: st.DataObject) -> None:
    """Subscripts of subscripts, static ones."""
    shape = data.draw(SHAPE)
    keys: list[tuple] = []
    probe = numbers(shape)
    for _ in range(data.draw(st.integers(1, 3))):
        keys.append(data.draw(subscripts(np.ndim(probe))))
        try:
            probe = probe[keys[-1]]
        except IndexError:
            break
        if np.ndim(probe) == 0:
            break

    def f(x):
        for key in keys:
            x = x[key]
        return x

    same_outcome(f, numbers(shape))


@PROFILE
@given(st.data())
def test_run_time_subscripts(data: st.DataObject) -> None:
    """Integers and slice bounds that are known at run time only."""
    shape = data.draw(SHAPE)
    arguments: list[int] = []
    key = dynamic(data.draw(subscripts(len(shape))), arguments)
    same_outcome(lambda x, *rest: x[filled(key, rest)], numbers(shape), *arguments)


@PROFILE
@given(st.data())
def test_expressions_are_subscripted_like_arrays(data: st.DataObject) -> None:
    """A part of an expression is the expression of the parts."""
    shape = data.draw(SHAPE)
    key = data.draw(subscripts(len(shape)))
    same_outcome(lambda x: (x * 2.0 + x)[key], numbers(shape))


@PROFILE
@given(st.data())
def test_assignment_between_overlapping_views(data: st.DataObject) -> None:
    """`x[p] = x[q]` and `x[p] += x[q]`, whatever overlaps."""
    shape = data.draw(SHAPE)
    target, source = data.draw(subscripts(len(shape))), data.draw(subscripts(len(shape)))
    flavour = data.draw(st.sampled_from(["copy", "scale", "add"]))

    def f(x):
        x = named(x * 1.0)
        if flavour == "copy":
            x[target] = x[source]
        elif flavour == "scale":
            x[target] = x[source] * 2.0 + x[target]
        else:
            update(x, target, operator.add, x[source])
        return x

    same_outcome(f, numbers(shape))


@PROFILE
@given(st.data())
def test_index_arrays(data: st.DataObject) -> None:
    """Index arrays mixed with slices and integers, read and written."""
    shape = data.draw(SHAPE)
    key = data.draw(advanced(shape))
    known = data.draw(st.booleans())
    lists = [part for part in key if isinstance(part, list)]

    def f(x, *arrays):
        x = named(x * 1.0)
        given_ = iter(arrays)
        full = tuple(next(given_) if isinstance(part, list) and not known else part for part in key)
        if data_write:
            x[full] = x[full] * 2.0
            update(x, full, operator.add, 1.0)
            return x
        return x[full]

    data_write = data.draw(st.booleans())
    same_outcome(f, numbers(shape), *([] if known else [np.array(part) for part in lists]))


@PROFILE
@given(st.data())
def test_masks(data: st.DataObject) -> None:
    """Assignments through masks over leading axes or all axes."""
    shape = data.draw(SHAPE)
    covered = data.draw(st.integers(1, len(shape)))
    mask = data.draw(hnp.arrays(np.bool_, shape[:covered]))

    def f(x, m):
        x = named(x * 1.0)
        x[m] = 0.5
        update(x, m, operator.mul, 3.0)
        x[m] = x[m] + 1.0
        return x

    same_outcome(f, numbers(shape), mask)


@PROFILE
@given(st.data())
def test_broadcasting(data: st.DataObject) -> None:
    """Shapes meet at run time as NumPy's do, errors included."""
    first = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    second = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple))
    same_outcome(lambda x, y: x * y + x, numbers(first), numbers(second))


@PROFILE
@given(st.data())
def test_reshapes(data: st.DataObject) -> None:
    """A reshape of a view gives the elements in C order, and writes reach the original where NumPy's do."""
    shape = data.draw(SHAPE)
    key = data.draw(subscripts(len(shape)))
    try:
        part = numbers(shape)[key]
    except IndexError:
        return
    if np.ndim(part) == 0:
        return
    divisors = [d for d in range(1, part.size + 1) if part.size % d == 0]
    rows = data.draw(st.sampled_from(divisors or [1]))
    wanted = data.draw(st.sampled_from([(rows, -1), (-1,), (-1, 1), (rows, part.size // rows)]))

    def f(x):
        return x[key].reshape(wanted)

    def g(x):
        x = named(x * 1.0)
        x[key].reshape(wanted)[...] = 7.0
        return x

    same_outcome(f, numbers(shape))
    try:
        same_outcome(g, numbers(shape))
    except AssertionError as error:
        assert "cannot be written into" in str(error) or "has no name" in str(error), error
