"""Complex arguments and results of compiled functions, derivatives through complex numbers, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import C64, C128
from adgen.frontend.specs import ArraySpec, complex_spec
from adgen.runtime.annotations import from_annotation, parse_argument
from adgen.runtime.codec import decode_constant, decode_spec, encode_constant, encode_spec
from adgen.runtime.signatures import describe

Z = np.array([1.0 + 2.0j, 0.5 - 1.0j, 3.0j])
V = np.array([0.5, -1.25, 0.75, 2.0])


def scaled(z, x):
    return z * x + z.conjugate(), abs(z)


def parts(z):
    return z * 2.0, np.sum(np.abs(z) ** 2), z.imag


def overwrite(z, x):
    z *= x
    z[0] = 1j


def gain(w, damping):
    s = 1j * w
    return np.abs(1.0 / (s * s + 2.0 * damping * s + 1.0))


def turned(x):
    return x * 1j


def turned_rows(v):
    return np.exp(1j * v)


def turned_into(v, z):
    z[:] = 1j * v


def weighted(z, x):
    return x**2 * np.sum(np.abs(z))


def first_harmonic(v):
    n = v.shape[0]
    return np.abs(np.sum(v * np.exp(-2j * np.pi * np.arange(n) / n))) ** 2


def nested_parts(pair):
    (a, b), c = pair
    return {"sum": a + b, "rest": [c.real, b]}


@pytest.mark.parametrize("z", [1 + 2j, np.complex128(1 + 2j), np.complex64(1 + 2j)])
def test_numbers(z: Any) -> None:
    """A complex number goes in and comes out as the type that the Python function gives."""
    got, want = adgen.jit(scaled)(z, 0.5), scaled(z, 0.5)
    assert np.allclose(got[0], want[0]) and np.allclose(got[1], want[1])
    assert [type(x) for x in got] == [type(x) for x in want]


@pytest.mark.parametrize("z", [Z, Z[::2], Z.astype(np.complex64), Z[:0], Z.astype(">c16")])
def test_arrays(z: np.ndarray) -> None:
    """Arrays of both widths, of any layout, empty ones too."""
    for got, want in zip(adgen.jit(parts)(z), parts(z)):
        assert np.allclose(got, want) and np.shape(got) == np.shape(want)
        assert got.dtype == want.dtype.newbyteorder("=")


def test_structures() -> None:
    """Complex numbers and arrays inside of structures."""
    got, want = adgen.jit(nested_parts)(((1j, Z), 2 + 1j)), nested_parts(((1j, Z), 2 + 1j))
    assert np.array_equal(got["sum"], want["sum"]) and got["rest"][0] == 2.0 and np.array_equal(got["rest"][1], Z)


def test_written_arguments() -> None:
    """Writes reach the caller's array, of whatever layout."""
    want = Z.copy()
    overwrite(want, 0.5)
    plain, columns = Z.copy(), np.array([Z, Z]).T.copy("F").T.T
    adgen.jit(overwrite)(plain, 0.5)
    adgen.jit(overwrite)(columns[:, 1], 0.5)
    assert np.array_equal(plain, want) and np.array_equal(columns[:, 1], want) and np.array_equal(columns[:, 0], Z)


def test_no_copy() -> None:
    """A complex128 array is passed as the memory that it is."""
    function = adgen.jit(overwrite)
    z = Z.copy()
    function(z, 1.0)
    z.flags.writeable = False
    with pytest.raises(AdgenError, match="read-only"):
        function(z, 1.0)
    with pytest.raises(AdgenError, match="complex number becomes a real"):
        function(np.ones(3), 1.0)


def test_gradient_through_complex_numbers() -> None:
    """Derivatives of real results in both modes and of second order."""
    w, damping = 1.3, 0.2
    below = complex(1 - w * w, 2 * damping * w)
    size = abs(below)
    want = (-(-2 * w * below.real + 2 * damping * below.imag) / size**3, -2 * w * below.imag / size**3)
    gradient = adgen.grad(gain)(w, damping)
    assert np.allclose(gradient, want, rtol=1e-13)
    assert math.isclose(adgen.jvp(gain)(w, damping, tangent=(1.0, 0.0))[1], want[0], rel_tol=1e-13)
    h = 1e-5
    second = (np.array(adgen.grad(gain)(w + h, damping)) - np.array(adgen.grad(gain)(w - h, damping))) / (2 * h)
    assert np.allclose(adgen.hvp(gain)(w, damping, tangent=(1.0, 0.0)), second, rtol=1e-7)


def test_gradient_of_a_spectrum() -> None:
    """The gradient of the power of a harmonic, against its formula."""
    n = len(V)
    turns = np.exp(-2j * np.pi * np.arange(n) / n)
    assert np.allclose(adgen.grad(first_harmonic)(V), 2 * np.real(np.sum(V * turns) * turns.conj()), rtol=1e-13)
    assert adgen.gradcheck(first_harmonic, (V,))


def test_real_argument_beside_a_complex_one() -> None:
    """`wrt` names the real arguments."""
    assert math.isclose(adgen.grad(weighted, wrt="x")(Z, 0.5), np.sum(np.abs(Z)))


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: adgen.grad(weighted)(Z, 0.5), "AD142"),
        (lambda: adgen.grad(weighted, wrt="z")(Z, 0.5), "AD142"),
        (lambda: adgen.grad(weighted, wrt=("x", "z"))(Z, 0.5), "AD142"),
        (lambda: adgen.value_and_grad(weighted, wrt=0)(1j, 0.5), "AD142"),
        (lambda: adgen.jvp(weighted)(Z, 0.5, tangent=(Z, 1.0)), "AD142"),
        (lambda: adgen.vjp(weighted)(Z, 0.5), "AD142"),
        (lambda: adgen.hessian(weighted)(Z, 0.5), "AD142"),
        (lambda: adgen.gradcheck(weighted, (Z, 0.5)), "AD142"),
        (lambda: adgen.grad(turned)(0.5), "AD143"),
        (lambda: adgen.jvp(turned_rows)(V, tangent=V), "AD143"),
        (lambda: adgen.vjp(turned_rows)(V), "AD143"),
        (lambda: adgen.jacobian(turned_rows)(V), "AD143"),
        (lambda: adgen.vjp(turned_into, wrt="v")(Z.real.copy(), Z.copy()), "AD143"),
        (lambda: adgen.jit(parts)(Z.astype(np.clongdouble)), "AD127"),
    ],
)
def test_refused(call: Any, code: str) -> None:
    """Derivatives for complex arguments and of complex results are refused, and say what to do."""
    with pytest.raises(AdgenError, match="complex") as caught:
        call()
    assert caught.value.code == code and caught.value.help


def size(z):
    return abs(z)


def rotated(x):
    return x * 1j


def no_rule(argument, out, cotangent):
    return (cotangent,)


sized = adgen.custom_vjp(size, no_rule)
turning = adgen.custom_vjp(rotated, no_rule)


def with_complex_argument(x):
    return sized(x * 1j)


def with_complex_result(x):
    return abs(turning(x))


@pytest.mark.parametrize(("function", "code"), [(with_complex_argument, "AD142"), (with_complex_result, "AD143")])
def test_functions_with_rules_are_real(function: Any, code: str) -> None:
    """A derivative rule of one's own is for real numbers."""
    with pytest.raises(AdgenError, match="derivative rule.*complex") as caught:
        adgen.grad(function)(0.5)
    assert caught.value.code == code


def test_types() -> None:
    """How complex arguments are described, annotated, and stored in packages."""
    assert describe(Z, "z") == ArraySpec(C128, 1) == parse_argument("z: c128[:]")[1].__class__(C128, 1)
    assert parse_argument("z: complex64[n]")[1] == ArraySpec(C64, 1, ("n",))
    assert describe(1j, "z") == complex_spec(complex, True) == from_annotation(complex, {})
    assert describe(np.complex64(1j), "z") == complex_spec(np.complex64, False) == from_annotation(np.complex64, {})
    assert parse_argument("z: complex")[1] == complex_spec(complex, True)
    for spec in (ArraySpec(C64, 2, ("n", "m")), complex_spec(complex, True), complex_spec(np.complex64, False)):
        assert decode_spec(encode_spec(spec)) == spec
    for constant in (1 - 2j, np.complex128(1 + 2j), np.complex64(1j), Z):
        back = decode_constant(encode_constant(constant))
        assert type(back) is type(constant) and np.array_equal(back, constant)
