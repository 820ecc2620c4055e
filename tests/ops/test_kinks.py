"""Values and derivatives at kinks, ties, poles and ends of domains, as the conventions say."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from adgen.ir.types import BOOL, F32, F64
from adgen.ops import TABLE, Elementwise
from tests.ops.support import (
    ROWS,
    execute,
    kinds_of,
    partials_by_pullback,
    partials_by_pushforward,
    straight,
    value_of,
)

INF, NAN = math.inf, math.nan

CONVENTIONS = [
    # row, operands, partials
    ("abs", (0.0,), (0.0,)),
    ("abs", (-2.0,), (-1.0,)),
    ("maximum", (1.25, 1.25), (0.5, 0.5)),
    ("minimum", (1.25, 1.25), (0.5, 0.5)),
    ("maximum", (1.0, 2.0), (0.0, 1.0)),
    ("minimum", (1.0, 2.0), (1.0, 0.0)),
    ("maximum", (-INF, 2.0), (0.0, 1.0)),
    ("sqrt", (0.0,), (INF,)),
    ("cbrt", (0.0,), (INF,)),
    ("cbrt", (-8.0,), (1 / 12,)),
    ("pow", (0.0, 0.0), (0.0, 0.0)),
    ("pow", (0.0, 1.0), (1.0, 0.0)),
    ("pow", (0.0, 2.0), (0.0, 0.0)),
    ("pow", (0.0, 0.5), (INF, 0.0)),
    ("powi", (0.0, 0), (0.0, 0.0)),
    ("powi", (0.0, 1), (1.0, 0.0)),
    ("powi", (0.0, 2), (0.0, 0.0)),
    ("powi", (-2.0, 3), (12.0, 0.0)),
    ("powi", (-2.0, -2), (0.25, 0.0)),
    ("hypot", (0.0, 0.0), (0.0, 0.0)),
    ("hypot", (0.0, -2.0), (0.0, -1.0)),
    ("atan2", (0.0, 0.0), (0.0, 0.0)),
    ("atan2", (0.0, 2.0), (0.5, 0.0)),
    ("atan2", (2.0, 0.0), (0.0, -0.5)),
    ("asin", (1.0,), (INF,)),
    ("acos", (1.0,), (-INF,)),
    ("logaddexp", (-INF, 2.0), (0.0, 1.0)),
    ("logaddexp", (-INF, -INF), (0.0, 0.0)),
    ("logaddexp", (1000.0, 1000.0), (0.5, 0.5)),
    ("logaddexp", (0.0, -800.0), (1.0, 0.0)),
    ("expit", (-1000.0,), (0.0,)),
    ("expit", (1000.0,), (0.0,)),
    ("tanh", (1000.0,), (0.0,)),
    ("xlogy", (0.0, 0.0), (-INF, 0.0)),
    ("mod", (-19.0, 3.1), (1.0, 7.0)),
    ("fmod", (-19.0, 3.1), (1.0, 6.0)),
    ("mod", (19.0, -3.1), (1.0, 7.0)),
    ("floordiv", (-19.0, 3.1), (0.0, 0.0)),
    ("copysign", (0.0, -1.0), (0.0, 0.0)),
    ("copysign", (2.0, -0.0), (-1.0, 0.0)),
    ("copysign", (-2.0, -1.0), (1.0, 0.0)),
    ("select", (True, 1.0, INF), (0.0, 1.0, 0.0)),
    ("floor", (1.0,), (0.0,)),
    ("sign", (0.0,), (0.0,)),
    ("rint", (0.5,), (0.0,)),
    ("log", (0.0,), (INF,)),
    ("div", (1.0, 0.0), (INF, -INF)),
]


@pytest.mark.parametrize("mode", [partials_by_pullback, partials_by_pushforward])
@pytest.mark.parametrize("name, operands, wanted", CONVENTIONS, ids=lambda x: x if isinstance(x, str) else None)
def test_partials_follow_the_conventions(mode: Any, name: str, operands: tuple[Any, ...], wanted: Any) -> None:
    """In both modes."""
    numbers = [np.float64(x) if isinstance(x, float) else x for x in operands]
    np.testing.assert_allclose(mode(TABLE[name], numbers), wanted, rtol=1e-13)


@pytest.mark.parametrize("name", ["abs", "copysign", "maximum", "select"])
def test_a_kink_selects_and_never_multiplies(name: str) -> None:
    """An infinite cotangent of what was not chosen does not become nan."""
    numbers = {"select": [True, 1.0, 2.0], "abs": [0.0], "copysign": [0.0, 1.0]}.get(name, [2.0, 1.0])
    numbers = [np.float64(x) if isinstance(x, float) else x for x in numbers]
    assert not np.isnan(partials_by_pullback(TABLE[name], numbers, F64, seed=INF)).any()


def test_a_negative_base_has_a_derivative() -> None:
    """d/dx of a power with a float-valued integral exponent is finite; only d/dy is nan."""
    by_base, by_exponent = partials_by_pullback(TABLE["pow"], [np.float64(-2.0), np.float64(4.0)])
    assert by_base == -32.0 and np.isnan(by_exponent)


VALUES = [
    ("log", (-1.0,), NAN),
    ("log", (0.0,), -INF),
    ("sqrt", (-1.0,), NAN),
    ("div", (1.0, 0.0), INF),
    ("exp", (1000.0,), INF),
    ("pow", (-8.0, 1 / 3), NAN),
    ("pow", (0.0, -1.0), INF),
    ("powi", (0.0, -1), INF),
    ("powi", (3.0, 70), 3.0**70),
    ("maximum", (NAN, 1.0), NAN),
    ("maximum", (1.0, NAN), NAN),
    ("minimum", (NAN, 1.0), NAN),
    ("minimum", (1.0, NAN), NAN),
    ("mod", (-7.0, 3.0), 2.0),
    ("mod", (-1e-20, 3.0), -1e-20 % 3.0),
    ("mod", (7.0, -3.0), -2.0),
    ("mod", (1.0, 0.0), NAN),
    ("floordiv", (-7.0, 2.0), -4.0),
    ("floordiv", (1.0, 0.0), INF),
    ("floordiv", (1.0, 0.1), 9.0),
    ("mod", (1.0, INF), 1.0),
    ("mod", (-1.0, INF), INF),
    ("gamma", (171.7,), INF),
    ("gamma", (-2.0,), NAN),
    ("lgamma", (0.0,), INF),
    ("digamma", (0.0,), -INF),
    ("digamma", (-0.0,), INF),
    ("digamma", (-3.0,), NAN),
    ("rint", (0.5,), 0.0),
    ("rint", (1.5,), 2.0),
    ("rint", (2.5,), 2.0),
    ("round", (2.675, 2), 2.67),
    ("round", (25.0, -1), 20.0),
    ("round", (0.5, 0), 0.0),
    ("expit", (-745.0,), math.exp(-745.0)),
    ("logaddexp", (INF, INF), INF),
    ("xlogy", (0.0, 0.0), 0.0),
    ("xlogy", (0.0, NAN), NAN),
    ("to_i64", (-2.7,), -2),
    ("to_bool", (NAN,), True),
    ("erfc", (27.0,), math.erfc(27.0)),
]


@pytest.mark.parametrize("name, operands, wanted", VALUES, ids=lambda x: x if isinstance(x, str) else None)
def test_values_are_ieee_and_python(name: str, operands: tuple[Any, ...], wanted: Any) -> None:
    """Results instead of exceptions for floats; Python's rounding."""
    got = value_of(TABLE[name], [np.float64(x) if isinstance(x, float) else x for x in operands])
    np.testing.assert_equal(got, wanted)


INTEGERS = [
    ("floordiv", (-7, 2), -4),
    ("floordiv", (7, -2), -4),
    ("floordiv", (7, 0), 0),
    ("floordiv", (-(2**63), -1), -(2**63)),
    ("mod", (-7, 3), 2),
    ("mod", (7, -3), -2),
    ("mod", (-(2**63), -1), 0),
    ("ipow", (-3, 3), -27),
    ("ipow", (0, 0), 1),
    ("ipow", (2, 64), 0),
    ("shift_right", (-5, 1), -3),
    ("shift_left", (-5, 1), -10),
    ("shift_left", (1, 63), -(2**63)),
    ("add", (2**63 - 1, 1), -(2**63)),
    ("abs", (-5,), 5),
    ("gcd", (-12, 18), 6),
    ("factorial", (20,), math.factorial(20)),
    ("factorial", (0,), 1),
]


@pytest.mark.parametrize("name, operands, wanted", INTEGERS, ids=lambda x: x if isinstance(x, str) else None)
def test_integers_are_those_of_python(name: str, operands: tuple[int, ...], wanted: int) -> None:
    """Flooring division and exact powers; modulo 2**64 where Python's integers would grow; total."""
    assert value_of(TABLE[name], operands) == wanted


def test_polygamma_is_accurate_on_both_sides_of_zero() -> None:
    """Against mpmath, orders 0 to 6, arguments from -200 to 1e6."""
    mpmath = pytest.importorskip("mpmath")
    generator = np.random.default_rng(0)
    xs = [*generator.uniform(-20, 20, 60), -199.7, -0.1, 1e-8, 1e-3, 0.5, 1.0, 100.0, 1e6]
    for n in range(7):
        for x in xs:
            with mpmath.workdps(40):
                wanted = float(mpmath.psi(n, mpmath.mpf(float(x))))
            distance = abs(x - round(x)) if x < 0.5 else 1.0
            got = value_of(TABLE["polygamma"], [n, np.float64(x)])
            # Near a pole the argument's own rounding is amplified; so it is in any implementation.
            assert got == pytest.approx(wanted, rel=4e-14 + 1e-15 * abs(x) / distance, abs=2e-15), (n, x)


def test_tails_keep_their_digits() -> None:
    """Derivatives near the ends of the domain are as accurate as the operands allow."""
    x = np.float64(1.0 - 1e-12)
    (slope,) = partials_by_pullback(TABLE["asin"], [x])
    gap = 1.0 - float(x)
    assert slope == pytest.approx(1.0 / math.sqrt(gap * (2.0 - gap)), rel=1e-15)
    (slope,) = partials_by_pullback(TABLE["erfc"], [np.float64(20.0)])
    assert slope == pytest.approx(-2.0 / math.sqrt(math.pi) * math.exp(-400.0), rel=1e-13)
    (slope,) = partials_by_pullback(TABLE["expm1"], [np.float64(-50.0)])
    assert slope == pytest.approx(math.exp(-50.0), rel=1e-15)


def test_single_precision_stays_single() -> None:
    """Constants and helpers of partials follow the operands' type."""
    for name in ("erf", "lgamma", "exp2", "hypot", "pow"):
        row = TABLE[name]
        parts = partials_by_pullback(row, [np.float32(0.7)] * row.arity, F32)
        assert {type(part) for part in parts} == {np.float32}


@pytest.mark.parametrize(
    ("row", "operands", "wanted"),
    [
        ("besseli", (0, np.inf), np.inf),
        ("besseli", (1, -np.inf), -np.inf),
        ("besselk", (2, np.inf), 0.0),
        ("besselk", (1, 0.0), np.inf),
        ("besselk", (1, -1.0), np.nan),
        ("besselj", (1, 0.0), 0.0),
        ("bessely", (0, 0.0), -np.inf),
        ("elliptic_k", (1.0,), np.inf),
        ("elliptic_k", (-np.inf,), 0.0),
        ("elliptic_e", (1.0,), 1.0),
        ("elliptic_e", (-np.inf,), np.inf),
        ("elliptic_e", (1.5,), np.nan),
        ("erfinv", (1.0,), np.inf),
        ("erfinv", (1.5,), np.nan),
        ("erfcinv", (2.0,), -np.inf),
        ("ndtri", (0.0,), -np.inf),
        ("ndtri", (0.5,), 0.0),
    ],
)
def test_ends_of_special_functions(row: str, operands: tuple[Any, ...], wanted: float) -> None:
    """What the special functions are at the ends of their domains, and nan beyond."""
    numbers = [x if isinstance(x, int) else np.float64(x) for x in operands]
    np.testing.assert_equal(TABLE[row].reference(*numbers), np.float64(wanted))


# -- where kinks are ---------------------------------------------------------------------------------------------

GRID = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
STEPS = (1e-5, 1e-7)
ROUNDED = ("float_bits", "to_f32")  # whose value has steps that are those of floating-point numbers themselves
OF_REALS = [row for row in ROWS if F64 in row.kinds and row.name not in ROUNDED]


def points(row: Elementwise) -> list[tuple[Any, ...]]:
    """Operands at which a row may have a kink."""
    choices = [GRID if kind == F64 else (True, False) if kind == BOOL else (0, 1, 2) for kind in kinds_of(row, F64)]
    return list(itertools.product(*choices)) if row.arity < 3 else list(itertools.product(*choices))[::3]


def number(row: Elementwise, operands: tuple[Any, ...]) -> float:
    """The value."""
    return float(value_of(row, [np.float64(x) if isinstance(x, float) else x for x in operands]))


def sides(row: Elementwise, operands: tuple[Any, ...]) -> list[list[float]]:
    """For each real operand the slopes towards either side, with two steps, as far as the value is finite there."""
    middle, found = number(row, operands), []
    for position, x in enumerate(operands):
        if isinstance(x, float):
            steps = [side * step for side in (-1.0, 1.0) for step in STEPS]
            moved = [number(row, (*operands[:position], x + step, *operands[position + 1 :])) for step in steps]
            found.append([(y - middle) / step for y, step in zip(moved, steps) if np.isfinite(y)])
    return found


def is_smooth(slopes: list[list[float]]) -> bool:
    """True when slopes do not depend on side and step."""
    return all(not each or max(each) - min(each) < 1e-2 * (1.0 + max(map(abs, each))) for each in slopes)


def distances(row: Elementwise, operands: tuple[Any, ...]) -> list[float]:
    """How far each kink is, as the row says."""

    def body(builder: Any, *values: Any) -> Any:
        result = builder.op(row, *values)
        return [row.distance(kink, builder, values, result) for kink in row.kinks]

    return [abs(float(x)) for x in execute(straight(kinds_of(row, F64), body), operands)]


@pytest.mark.parametrize("row", OF_REALS, ids=lambda row: row.name)
def test_a_row_says_where_its_kinks_are(row: Elementwise) -> None:
    """Wherever a finite value has no slope, or two, the row says so, and nowhere else."""
    for operands in points(row):
        if np.isfinite(number(row, operands)):
            slopes = sides(row, operands)
            near = 0.0 in distances(row, operands)
            edge = any(len(each) < 2 * len(STEPS) for each in slopes)
            assert near if not is_smooth(slopes) else not near or edge, operands


def test_a_kink_of_another_size() -> None:
    """Distances are in the operands' own units."""
    wanted = {
        ("floor", (2.75,)): 0.25,
        ("trunc", (0.75,)): 0.25,
        ("rint", (2.25,)): 0.25,
        ("round", (1.21, 1)): 0.04,
        ("mod", (7.0, 4.0)): 1.0,
        ("fmod", (3.0, 4.0)): 1.0,
        ("remainder", (3.0, 4.0)): 1.0,
        ("atan2", (-0.5, -1.0)): 0.5,
        ("atan2", (3.0, 4.0)): 5.0,
        ("acos", (-0.75,)): 0.25,
        ("maximum", (1.0, 3.0)): 2.0,
        ("lt", (1.0, 3.0)): 2.0,
        ("pow", (0.25, 1.5)): 0.25,
    }
    for (name, operands), distance in wanted.items():
        assert min(distances(TABLE[name], operands)) == pytest.approx(distance, rel=1e-12), name
