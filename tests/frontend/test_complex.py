"""Complex numbers: elementary functions against NumPy's, to a few units in the last place and on both sides of cuts."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.builder import ComplexBuilder
from adgen.frontend.complexes.types import C64, C128
from adgen.ir import interpret
from adgen.ir.nodes import Value, walk
from adgen.ir.types import F64, I64
from adgen.ir.verify import verify
from adgen.passes.adjoint import adjoint
from adgen.passes.pipeline import optimise
from tests.frontend import harness

POINTS = [
    1 + 2j, -1 + 2j, 0.3 - 0.7j, -0.5 - 0.2j, 2 + 0j, -2 + 0j, complex(-2, -0.0), complex(2, -0.0), 1j, -1j, 2j,
    -2j, complex(-0.0, 2.0), 1 + 1e-9j, 3 - 4j, 1e-8 + 1e-9j, 30 + 3j, -25.5 - 1j, 1e150 + 1e149j, 1e-150 + 1e-151j,
    0.5 + 0j,
]  # fmt: skip
RANDOM = [complex(*np.random.default_rng(seed).normal(size=2) * 3) for seed in range(12)]
UNARY = {
    "exp": (ops.EXP, 2), "exp2": (ops.EXP2, 4), "expm1": (ops.EXPM1, 2), "log": (ops.LOG, 2), "log2": (ops.LOG2, 4),
    "log10": (ops.LOG10, 4), "sqrt": (ops.SQRT, 2), "sin": (ops.SIN, 2), "cos": (ops.COS, 2), "tan": (ops.TAN, 4),
    "sinh": (ops.SINH, 2), "cosh": (ops.COSH, 2), "tanh": (ops.TANH, 4), "arcsin": (ops.ASIN, 4),
    "arccos": (ops.ACOS, 4), "arctan": (ops.ATAN, 4), "arcsinh": (ops.ASINH, 4), "arccosh": (ops.ACOSH, 4),
    "arctanh": (ops.ATANH, 4), "absolute": (ops.ABS, 2), "negative": (ops.NEG, 0), "sign": (ops.SIGN, 2),
}  # fmt: skip
BINARY = {"add": ops.ADD, "sub": ops.SUB, "mul": ops.MUL, "truediv": ops.DIV}


def evaluated(row: Any, *arguments: Any) -> Any:
    """A row of the table applied to numbers, complex ones among them."""
    builder = ComplexBuilder()
    values = [Value(C128 if isinstance(x, complex) else I64 if isinstance(x, int) else F64, "x") for x in arguments]
    flat = [part for x in arguments for part in ((x.real, x.imag) if isinstance(x, complex) else (x,))]
    with builder.block(builder.flat(values)) as block:
        block.results = tuple(builder.flat([builder.op(row, *values)]))
    function = builder.function("f", block, [f"out_{k}" for k in range(len(block.results))])
    verify(function)
    with np.errstate(all="ignore"):
        results = interpret.run(function, flat).results
    return complex(*results) if len(results) == 2 else results[0]


def parts(number: Any) -> np.ndarray:
    return np.array([np.real(number), np.imag(number)])


@pytest.mark.parametrize("name", UNARY)
def test_elementary_function(name: str) -> None:
    """Real and imaginary parts are within a few units in the last place of NumPy's, with the same signs of zeros."""
    row, units = UNARY[name]
    for point in POINTS + RANDOM:
        with np.errstate(all="ignore"):
            want = parts(getattr(np, name)(np.complex128(point)))
        if not np.isfinite(want).all():
            continue
        got = parts(evaluated(row, point))
        assert (np.abs(got - want) <= units * np.spacing(np.abs(want))).all(), (point, got, want)
        assert (np.signbit(got) == np.signbit(want)).all(), (point, got, want)


def test_logarithm_near_the_unit_circle() -> None:
    """The real part of a logarithm keeps its digits where the absolute value is nearly one."""
    for point in (1 + 1e-9j, 1.0 + 1e-12 + 1e-7j, 0.8 + 0.6000001j, -1e-9 + 1j):
        want = np.log(np.complex128(point))
        assert abs(evaluated(ops.LOG, point).real - want.real) <= 1e-9 * abs(want.real)


@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name: str) -> None:
    """Arithmetic is NumPy's to two units, and exact but for rounding in the signs of zeros."""
    for x in POINTS:
        for y in POINTS:
            with np.errstate(all="ignore"):
                want = parts(getattr(operator, name)(np.complex128(x), np.complex128(y)))
            if np.isfinite(want).all():
                got = parts(evaluated(BINARY[name], x, y))
                assert np.allclose(got, want, rtol=4e-16, atol=4e-16 * np.abs(want).max()), (x, y)
                zeros = (want == 0) & (got == 0)
                assert (np.signbit(got) == np.signbit(want))[zeros].all(), (x, y, got, want)


def test_division_by_extremes() -> None:
    """Smith's method neither overflows nor underflows early; a zero divisor gives infinities and no exception."""
    for x, y in ((1 + 1j, 1e200 + 1e200j), (1e-200 + 1e-200j, 1e-200 - 1e-201j), (1e300 + 1e300j, 1e300 + 1e299j)):
        assert np.allclose(evaluated(ops.DIV, x, y), np.complex128(x) / np.complex128(y), rtol=1e-15, atol=0)
    assert evaluated(ops.DIV, 1 + 0.5j, 0j) == complex(np.inf, np.inf)
    assert np.isnan(evaluated(ops.DIV, 0j, 0j))


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -3, 99, 120, -120])
def test_integer_power_at_run_time(exponent: int) -> None:
    """The loop of products agrees with NumPy, whatever the sign; many factors go by angle and absolute value."""
    for point in (0.6 + 0.7j, -1.1 + 0.2j):
        assert np.allclose(evaluated(ops.POWI, point, exponent), np.complex128(point) ** exponent, rtol=1e-13)


def test_powers_of_zero() -> None:
    """Zero to the power of zero is one; other powers are zero or not a number."""
    assert evaluated(ops.POW, 0j, 0j) == 1 and evaluated(ops.POWI, 0j, 0) == 1
    assert evaluated(ops.POW, 0j, 0.5 + 1j) == 0 and evaluated(ops.POWI, 0j, 3) == 0
    assert np.isnan(evaluated(ops.POW, 0j, -1 + 1j))


def test_order_is_numpys() -> None:
    """Comparison of arrays is by real, then by imaginary parts; a NaN compares false."""
    points = [1 + 2j, 1 + 3j, 2 + 0j, complex(np.nan, 1), complex(1, np.nan)]
    for name, row in {"lt": ops.LT, "le": ops.LE, "gt": ops.GT, "ge": ops.GE, "eq": ops.EQ, "ne": ops.NE}.items():
        for x in points:
            for y in points:
                with np.errstate(all="ignore"):
                    want = bool(getattr(operator, name)(np.array([x]), np.array([y]))[0])
                assert bool(evaluated(row, x, y)) == want, (name, x, y)


def test_what_has_no_formula_is_refused() -> None:
    """A row without a meaning for complex numbers never reaches the IR."""
    builder = ComplexBuilder()
    with builder.block([]), pytest.raises(AdgenError, match="floor.*complex") as caught:
        builder.op(ops.FLOOR, builder.const(1j))
    assert caught.value.code == "AD301"


def test_buffers_hold_pairs() -> None:
    """A complex buffer is a real one with one more axis; its elements are loaded and stored as two."""
    builder = ComplexBuilder()
    with builder.block([]) as block:
        three = builder.index(3)
        z = builder.alloc(C64, (three,))
        builder.store(z, builder.const(1 + 2j, C64), (three,))
        number = builder.load(z, (builder.index(0),))
        builder.accumulate(z, builder.op(ops.MUL, number, number), (builder.index(1),))
    assert str(z.type) == "c64[:]" and builder.dim(z, 0) is three and number.type == C64
    rows = [operation.row.name for operation in block.operations]
    assert rows.count("store") == 2 and rows.count("load") == 2 and rows.count("accumulate") == 2
    assert str(block.operations[rows.index("alloc")].result.type) == "f32[:,:]"


DERIVATIVES = {
    "exp": np.exp, "exp2": lambda z: np.log(2) * np.exp2(z), "expm1": np.exp, "log": lambda z: 1 / z,
    "log2": lambda z: 1 / (z * np.log(2)), "log10": lambda z: 1 / (z * np.log(10)), "sqrt": lambda z: 0.5 / np.sqrt(z),
    "sin": np.cos, "cos": lambda z: -np.sin(z), "tan": lambda z: 1 + np.tan(z) ** 2, "sinh": np.cosh, "cosh": np.sinh,
    "tanh": lambda z: 1 - np.tanh(z) ** 2, "arcsin": lambda z: 1 / (np.sqrt(1 - z) * np.sqrt(1 + z)),
    "arccos": lambda z: -1 / (np.sqrt(1 - z) * np.sqrt(1 + z)), "arctan": lambda z: 1 / (1 + z * z),
    "arcsinh": lambda z: 1 / np.sqrt(1 + z * z), "arccosh": lambda z: 1 / (np.sqrt(z - 1) * np.sqrt(z + 1)),
    "arctanh": lambda z: 1 / (1 - z * z), "negative": lambda z: -1 + 0 * z,
}  # fmt: skip
PLACES = [
    1 + 2j, 0.3 - 0.7j, -0.5 - 0.2j, 1.3 + 0j, 0.4 + 0j, complex(0.4, -0.0), -0.4 + 0j, 0.7j, -0.7j, complex(-0.0, 0.7),
    3 - 4j, 1e-8 + 1e-9j, 0.6 + 0.8j, 15 + 1j, -25 + 1j, 1e-12 - 0.3j, 1 + 1e-7j, -0.3 + 1e-12j,
]  # fmt: skip
CUTS = {"log": -2.0, "sqrt": -2.0, "log2": -2.0, "log10": -2.0, "arcsin": 2.0, "arccos": -2.0, "arctanh": 2.0}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivative(name: str) -> None:
    """The real derivatives are the parts of the complex one, on the axes and on both sides of a branch cut too."""
    places = list(PLACES)
    if name in CUTS:
        places += [complex(CUTS[name], 0.0), complex(CUTS[name], -0.0)]
    for place in places:
        if name.startswith("arc") and abs(place) > 10:
            continue
        with np.errstate(all="ignore"):
            want = DERIVATIVES[name](np.complex128(place))
        if name.startswith("arc") and place.imag == 0:  # the formula has cuts of its own
            want = DERIVATIVES[name](place + 1j * np.copysign(1e-12, place.imag))
        got = jacobian(UNARY[name][0], place)
        matrix = np.array([[want.real, -want.imag], [want.imag, want.real]])
        assert np.allclose(got, matrix, rtol=1e-9, atol=1e-9 * abs(want) + 1e-14), (place, got, matrix)


def jacobian(row: Any, z: complex, *rest: Any) -> np.ndarray:
    """The derivatives of the parts of `row(z)` for those of `z`."""
    builder = ComplexBuilder()
    value = Value(C128, "z")
    with builder.block(builder.flat([value])) as block:
        constants = [builder.const(x) for x in rest]
        block.results = tuple(builder.flat([builder.op(row, value, *constants)]))
    function = builder.function("f", block, ("real", "imag")[: len(block.results)])
    reverse = adjoint(function, [0, 1], "parameters")
    rows = []
    for seed in np.eye(len(block.results)):
        with np.errstate(all="ignore"):
            rows.append(interpret.run(reverse, [z.real, z.imag, *seed]).results[len(block.results) :])
    return np.array(rows)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5 + 0.5j, 120.0])
def test_derivative_of_powers(exponent: complex) -> None:
    """Of powers with constant exponents, at zero too where the complex function has a derivative there."""
    for place in [0.8 + 0.6j, -0.8 + 0.1j, 0.7j, complex(-1.1, 0.0), *([0j] if exponent in (0, 1, 2, 3, 120) else [])]:
        want = exponent * np.complex128(place) ** (exponent - 1) if exponent else np.complex128(0)
        matrix = np.array([[want.real, -want.imag], [want.imag, want.real]])
        assert np.allclose(jacobian(ops.POW, place, exponent + 0j), matrix, rtol=1e-10, atol=1e-12 * (1 + abs(want))), (
            place
        )


def test_derivative_of_size() -> None:
    """The absolute value and the sign have the derivative zero at zero."""
    assert (jacobian(ops.ABS, 0j) == 0).all() and (jacobian(ops.SIGN, 0j) == 0).all()
    assert np.allclose(jacobian(ops.ABS, 3 - 4j), [[0.6, -0.8]])


def counted(function: Any, **arguments: Any) -> dict[str, int]:
    """How often each operation occurs in a lowered function."""
    rows = [operation.row.name for operation in walk(optimise(harness.lowered_for(function, arguments).function).body)]
    return {name: rows.count(name) for name in ("exp", "hypot", "cos", "sin")}


def wave(w, t, n):
    return np.exp(-2j * np.pi * w * t / n)


def energy(v):
    z = v * np.exp(0.5j * v)
    return np.sum(np.abs(z) ** 2)


def test_patterns() -> None:
    """The exponential of an imaginary number has no real exponential, the square of a size no root."""
    assert counted(wave, w=0.5, t=0.25, n=3) == {"exp": 0, "hypot": 0, "cos": 1, "sin": 1}
    assert counted(energy, v=np.ones(3)) == {"exp": 0, "hypot": 0, "cos": 1, "sin": 1}


def test_a_number_with_a_real_part_is_not_imaginary() -> None:
    """Whatever is not zero for all finite operands stays."""
    assert counted(lambda w: np.exp(1j * w + 0.1), w=0.5)["exp"] == 1
    assert counted(lambda w, x: np.exp(1j * w + 0 * x), w=0.5, x=0.5)["exp"] == 1
