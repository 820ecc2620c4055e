"""Matrices of straight-line code: every entry, also of what is written out of loops, and no more than those."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.driver import lower_function
from adgen.ir import core
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, walk
from adgen.passes.matrices import columns
from adgen.passes.pipeline import optimise, simplify
from adgen.passes.straight import straight
from adgen.runtime.differentiate import differentiate
from adgen.runtime.signatures import describe_arguments
from adgen.runtime.wrt import resolve
from tests.passes.matrix_oracle import check_matrix

RNG = np.random.default_rng(5)


def chain(q):
    """Rotations one after the other: a column of angles that come later is zero in what comes before."""
    rotation, place = np.eye(3), np.zeros(3)
    lengths = (0.3, 0.0, 0.5, 0.2)
    for i in range(4):
        c, s = np.cos(q[i]), np.sin(q[i])
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        rotation = rotation @ (turn if i % 2 else turn.T)
        place = place + rotation[:, 0] * lengths[i]
    return np.concatenate([place, rotation.ravel()])


def triangle(x):
    """Inner loops whose bounds the outer one gives; elements that are never read."""
    y = np.zeros(4)
    for i in range(4):
        for j in range(i):
            y[i] += x[j] ** 2 * x[i]
    return y


def several_parameters(a, m, x):
    """Numbers and a matrix, one result a number."""
    return a * m[1, 0] + x[2] ** 2, np.array([m[0, 1] * a, x[0] / m[1, 1], 3.0])


def with_singular_partials(x):
    """A zero tangent that meets an infinite partial, and a zero factor."""
    r = np.sqrt(x[0] * 0.0 + x[1] * x[1])
    return np.array([r, np.sqrt(x[0]) * 0.0 + x[1], abs(x[2]), max(x[1], x[2])])


def overwritten(x):
    """The last store counts; an element without a store is zero."""
    y = np.zeros(3)
    y[0] = x[0] * x[1]
    y[1] = y[0] * x[2]
    y[0] = np.exp(x[2])
    return y


def shaped(m):
    """One memory by several shapes."""
    a = (m[:2, :2] * 2.0).reshape(4)
    b = a.reshape((2, 2)).T.ravel()
    return np.stack([a * b, np.cumsum(b)])


def rotated(r, p):
    """Two ways, one of which divides by an angle; a choice inside of one."""
    sq = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
    if sq > 0.0:
        angle = np.sqrt(sq)
        axis = r / angle
        bend = np.sin(angle) if angle < 2.0 else 1.0 / angle
        return p * np.cos(angle) + np.cross(axis, p) * bend
    return p + np.cross(r, p)


def branches(x):
    """Branches that depend on different elements, or on none."""
    a = x[0] * x[1] if x[0] > 0.0 else x[2]
    b = 3.0 if x[1] > 0.0 else a * a
    if x[2] > 5.0:
        a = 1.0
    return np.array([a, b, a * b])


PROGRAMS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (chain, {"q": RNG.normal(size=4)}),
    (chain, {"q": RNG.normal(size=6)}),
    (triangle, {"x": RNG.normal(size=4)}),
    (triangle, {"x": RNG.normal(size=5)}),
    (several_parameters, {"a": 1.5, "m": RNG.normal(size=(2, 2)), "x": RNG.normal(size=3)}),
    (several_parameters, {"a": 1.5, "m": RNG.normal(size=(3, 4)), "x": RNG.normal(size=5)}),
    (with_singular_partials, {"x": np.array([2.0, -3.0, -1.0])}),
    (overwritten, {"x": RNG.normal(size=3)}),
    (rotated, {"r": np.array([0.3, -0.2, 0.9]), "p": RNG.normal(size=3)}),
    (rotated, {"r": np.array([3.0, -0.2, 0.9]), "p": RNG.normal(size=3)}),
    (rotated, {"r": np.zeros(3), "p": RNG.normal(size=3)}),
    (branches, {"x": np.array([1.5, 2.0, 0.5])}),
    (branches, {"x": np.array([-1.5, -2.0, 0.5])}),
    (branches, {"x": np.array([1.5, -2.0, 7.5])}),
    (shaped, {"m": RNG.normal(size=(2, 2))}),
    (shaped, {"m": RNG.normal(size=(3, 3))}),
]


def lowered(function: Callable[..., Any], arguments: dict[str, Any]) -> Function:
    return simplify(lower_function(function, describe_arguments(arguments)).function)


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_every_entry(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Bit for bit the tangents along unit directions, and zero behind what is read."""
    made = lowered(function, arguments)
    assert straight(made) is not None
    check_matrix(made, list(arguments.values()))


def test_nothing_is_computed_that_is_zero() -> None:
    """Of a chain each angle moves what comes after it: about half of what all directions cost, in no loop."""
    made = optimise(columns(lowered(chain, {"q": np.zeros(4)}), [0]))
    scalar = run(optimise(lowered(chain, {"q": np.zeros(4)})), [np.ones(4)]).counts.operations
    assert run(made, [np.ones(4)]).counts.operations < 5 * scalar
    loops = [o for o in walk(made.body) if o.row is core.FOR and not o.attributes.get("simd")]
    assert all(o.row.name != "mul" for loop in loops for region in loop.regions for o in walk(region))


def test_a_constant_zero_cancels_an_infinite_tangent() -> None:
    """`sqrt(x) * 0` does not depend on `x`, where JAX and PyTorch give NaN at zero."""
    matrix = adgen.jacfwd(with_singular_partials)(np.array([0.0, 2.0, 1.0]))
    np.testing.assert_array_equal(matrix, [[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]])
    point = np.array([0.0, 2.0, 1.0])
    np.testing.assert_array_equal(adgen.jacrev(with_singular_partials)(point), matrix)
    for tangent, column in zip(np.eye(3), matrix.T):
        np.testing.assert_array_equal(adgen.jvp(with_singular_partials)(point, tangent=tangent)[1], column)


def of_any_length(x):
    return x * x


def at_a_place(x, k):
    return np.array([x[k] * x[0]])


def long(x):
    y = np.zeros(4)
    for i in range(4):
        for j in range(60):
            y[i] += np.sin(x[i] * j) * x[(i + 1) % 4] + np.cos(x[i]) ** j
    return y


def many_tangents(x):
    """Few operations, each for many directions."""
    y = np.zeros(60)
    for i in range(60):
        y[i] = x[i] * x[0]
    s = 0.0
    for i in range(60):
        s += y[i] * y[(7 * i) % 60]
        y[i] = s
    return y


def test_too_many_tangents() -> None:
    made = lowered(many_tangents, {"x": np.ones(60)})
    assert straight(made) is not None
    assert any(operation.row is core.FOR for operation in walk(columns(made, [0]).body))
    check_matrix(made, [RNG.normal(size=60)])


@pytest.mark.parametrize("function", [of_any_length, long], ids=lambda function: function.__name__)
def test_what_is_not_straight(function: Callable[..., Any]) -> None:
    """A loop of unknown length, too many operations: as ever, and the same matrix."""
    made = lowered(function, {"x": np.ones(4)})
    assert straight(made) is None
    check_matrix(made, [RNG.normal(size=4)])


def test_an_element_at_a_place_that_is_an_argument() -> None:
    x = np.array([2.0, 3.0, 5.0])
    np.testing.assert_array_equal(adgen.jacfwd(at_a_place, wrt="x")(x, 2), [[5.0, 0.0, 2.0]])
    np.testing.assert_array_equal(adgen.jacfwd(at_a_place, wrt="x")(x, 0), [[4.0, 0.0, 0.0]])


def test_gradients_of_vectors_of_any_length() -> None:
    """A result as long as the argument, of which some elements are stored: the rows of the others are zero."""

    def energy(x):
        return x[0] ** 2 * x[2] + np.sin(x[1])

    for size in (3, 5):
        x = RNG.normal(size=size)
        found = adgen.hessian(energy)(x)
        expected = np.zeros((size, size))
        expected[:3, :3] = [[2 * x[2], 0, 2 * x[0]], [0, -np.sin(x[1]), 0], [2 * x[0], 0, 0]]
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    gradient = lower_function(energy, describe_arguments({"x": np.ones(3)}))
    assert straight(simplify(differentiate(gradient, "grad", resolve(None, gradient.specs, "energy")).function))
