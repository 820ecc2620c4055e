"""Programs with complex numbers: scalars, arrays, loops and branches that carry them, `cmath`, parts and views."""

import cmath
import math

import numpy as np

UNIT = 1j
OFFSETS = (1.0 + 0.5j, -0.25j, 2.0)
POLES = np.array([-0.5 + 1.0j, -0.5 - 1.0j, -2.0 + 0.0j])
V = np.array([0.5, -1.25, 0.75, 2.0])
W = np.array([1.5, 0.25, -0.5, 1.0])
Z = np.array([1.0 + 2.0j, 0.5 - 1.0j, -0.75 + 0.25j])
S = np.array([1.0 + 2.0j, 0.5 - 1.0j], dtype=np.complex64)
M = np.array([[1.0 + 0.5j, -0.5j, 2.0], [0.25, 1.5 - 1.0j, -1.0 + 0.25j]])
A = np.array([[1.0, 0.5, -0.25], [0.75, 2.0, 1.25], [-1.0, 0.3, 0.6]])


# -- scalars -----------------------------------------------------------------------------------------------------------


def literal_times_float(x=0.5):
    return (x + 2j * x) * (1.0 - 0.5j)


def parts_and_conjugate(x=0.5, y=-1.25):
    z = x + 1j * y
    return z.real, z.imag, z.conjugate(), abs(z), -z, +z


def quotients(x=0.5, y=-1.25):
    z, w = complex(x, y), complex(y, 2.0 * x)
    return z / w, 1.0 / z, z / 2.0, w / (3j), 2 / w


def quotient_of_equal_parts(x=0.5):
    return (1.0 + 2.0j) / complex(x, x)


def integer_powers(x=0.5, y=-1.25):
    z = complex(x, y)
    return z**0, z**1, z**2, z**3, z**7, z**-2, z**2.0


def general_powers(x=0.5, y=1.25):
    z = complex(x, y)
    return z**0.5, z ** (1.0 + 2.0j), 2.0**z, x**1j, z**150


def power_of_run_time_int(x=0.5, y=1.25, n=5):
    return complex(x, y) ** n, complex(x, y) ** (-n), complex(x, y) ** (n * 30)


def power_at_zero(x=0.0, n=3):
    z = complex(x, x)
    return z**n, z**2, z**0


def complex_of_complex(x=0.5, y=1.25):
    return complex(x + 1j, 2.0 * y - 1j * x), complex(x), complex(1j * y, 2)


def equality_of_complex(x=0.5, y=1.25):
    z = complex(x, y)
    return (1.0 if z == complex(x, y) else 2.0) * abs(z) + (x if z != z.conjugate() else y)


def truth_of_complex(x=0.5):
    z = complex(0.0, x)
    return x if z else 2.0 * x


def unit_circle(t=0.7):
    return np.exp(1j * t), cmath.exp(2j * math.pi * t), abs(cmath.exp(1j * t))


def functions_of_cmath(x=0.5, y=-1.25):
    z = complex(x, y)
    return (
        cmath.sqrt(z), cmath.log(z), cmath.log(z, 2.0), cmath.log10(z), cmath.sin(z), cmath.cos(z), cmath.tan(z),
        cmath.sinh(z), cmath.cosh(z), cmath.tanh(z), cmath.asin(z), cmath.acos(z), cmath.atan(z), cmath.asinh(z),
        cmath.acosh(z), cmath.atanh(z), cmath.phase(z), cmath.polar(z), cmath.rect(x, y),
    )


def functions_of_numpy(x=0.5, y=-1.25):
    z = np.exp(x + 1j * y)
    return (
        np.sqrt(z), np.log(z), np.log2(z), np.log1p(z), np.expm1(z), np.exp2(z), np.sin(z), np.tan(z), np.tanh(z),
        np.arcsin(z), np.arccos(z), np.arctan(z), np.arcsinh(z), np.arccosh(z), np.arctanh(z), np.square(z),
        np.reciprocal(z), np.sign(z), np.abs(z), np.conj(z), np.real(z), np.imag(z), np.angle(z), np.power(z, 1.5),
    )


def close_numbers(x=0.5):
    z = x + 1j
    return cmath.isclose(z, z + 1e-12), np.isclose(z, z + 0.1), cmath.isclose(x, z, abs_tol=2.0), cmath.isfinite(z)


def root_of_negative(x=2.0):
    return cmath.sqrt(-x), cmath.sqrt(complex(-x, 0.0)), cmath.sqrt(complex(-x, -0.0)), cmath.log(-x)


def root_of_imaginary(x=2.0):
    return cmath.sqrt(1j * x), cmath.sqrt(-1j * x)


def quadratic_formula(a=1.0, b=0.5, c=2.0):
    d = cmath.sqrt(b * b - 4.0 * a * c)
    return ((-b + d) / (2.0 * a)).imag, ((-b - d) / (2.0 * a)).real


def if_joins_complex(x=0.5):
    z = x * 1j
    if x > 0.0:
        z = z * z + 1.0
    else:
        z = z - 1j
    return z.real + z.imag


def if_joins_real_and_complex(x=0.5):
    if x > 1.0:
        z = x
    else:
        z = x * 1j
    return abs(z + 1.0)


def conditional_expression(x=0.5):
    return (complex(x, 1.0) if x > 0 else complex(1.0, x)) * 2


def loop_carries_complex(x=0.4, y=0.3, n=6):
    c = complex(x, y)
    z = 0j
    for _ in range(n):
        z = z * z + c
    return z.real, z.imag


def loop_widens_to_complex(x=0.4, n=4):
    z = 1.0
    for k in range(n):
        z = z * (x + 1j * k)
    return z


def while_carries_complex(x=0.3, y=0.5):
    c, z, count = complex(x, y), 0j, 0
    while abs(z) < 2.0 and count < 20:
        z = z * z + c
        count += 1
    return abs(z), count


def break_in_complex_loop(x=0.3, y=0.8, n=30):
    z, c = 0j, complex(x, y)
    for k in range(n):
        if z.real * z.real + z.imag * z.imag > 4.0:
            break
        z = z * z + c
    return z


def tuple_of_complex(x=0.5, n=5):
    pair = (1.0 + 0j, x * 1j)
    for _ in range(n):
        pair = (pair[1] * 0.5, pair[0] + pair[1] * x)
    return pair


def list_of_complex(x=0.5):
    terms = [x * 1j, 2.0, x - 1j]
    terms[1] = terms[0] * terms[2]
    return sum(terms), terms


def static_offsets(x=0.5):
    total = 0j
    for offset in OFFSETS:
        total += offset * x
    return abs(total)


def indexed_offsets(x=0.5, n=3):
    total = 0.0
    for k in range(n):
        total = total + abs(OFFSETS[k] * x + 1j)
    return total


def sum_of_generator(x=0.5, n=5):
    return sum((x + 1j) ** k for k in range(n))


def helper_returns_complex(x=0.5, y=1.25):
    def mobius(z):
        return (z - 1j) / (z + 1j)

    w = mobius(complex(x, y))
    return abs(w), w.imag


def is_complex_static(x=0.5):
    z = x + 1j
    return x if isinstance(z, complex) and not isinstance(x, complex) else 2.0 * x


def newton_for_a_root(x=0.5, y=1.0, n=8):
    z = complex(x, y)
    for _ in range(n):
        z = z - (z**3 - 1.0) / (3.0 * z**2)
    return z


def durand_kerner(a=0.5, b=-1.25, n=20):
    p, q = 1.0 + 0j, 0.4 + 0.9j
    for _ in range(n):
        p, q = p - (p * p + a * p + b) / (p - q), q - (q * q + a * q + b) / (q - p)
    return p.real, q.real


def transfer_function(w=1.5, damping=0.2):
    s = 1j * w
    h = 1.0 / (s * s + 2.0 * damping * s + 1.0)
    return abs(h), cmath.phase(h), 20.0 * np.log10(np.abs(h))


def impedance(r=0.5, ell=0.3, c=0.75, f=0.2):
    w = 2.0 * math.pi * f
    series = r + 1j * w * ell
    shunt = 1.0 / (1j * w * c)
    z = series * shunt / (series + shunt)
    return abs(z), math.degrees(cmath.phase(z))


def mandelbrot_smooth(x=0.4, y=0.5, n=40):
    c, z = complex(x, y), 0j
    for k in range(n):
        z = z**2 + c
        if abs(z) > 10.0:
            return k + 1 - np.log2(np.log(np.abs(z)))
    return abs(z)


def complex_scalar_argument(z=1.0 + 2.0j, x=0.5):
    return z * x + z.conjugate(), abs(z)


def numpy_scalar_argument(z=np.complex128(1.0 - 2.0j), x=0.5):
    return z * x, np.exp(z), z.real


def single_scalar_argument(z=np.complex64(1.0 - 2.0j)):
    return z * 2.0, z + 1j, np.abs(z)


# -- arrays ------------------------------------------------------------------------------------------------------------


def zeros_filled_in_loop(v=V, w=W):
    z = np.zeros(v.shape[0], dtype=complex)
    for k in range(v.shape[0]):
        z[k] = complex(v[k], w[k])
        z[k] *= 1j
    return z


def elementwise(v=V, w=W):
    z = v + 1j * w
    return z * z, z / (z + 2.0), z**2, np.exp(z) - z.conj(), -z, abs(z), z * v


def elementwise_with_static(v=V[:3]):
    return v[:, None] * POLES, np.prod(v[0] - POLES)


def parts_are_views(v=V):
    z = np.zeros(v.shape[0], dtype=np.complex128)
    z.real[:] = v
    z.imag[1:] += 2.0 * v[1:]
    z.imag[0] = v[3]
    return z, z.real * z.imag


def assign_parts(v=V):
    z = np.ones(v.shape[0], dtype=complex)
    z.real = v
    z.imag = v[::-1]
    return z


def write_part_from_part(v=V, w=W):
    z = v + 1j * w
    z.real[:] = z.imag + z.real
    z.imag[:] = z.real
    return z


def copy_into_shifted(v=V, w=W):
    z = v + 1j * w
    z[1:] = z[:-1] * 1j
    return z


def in_place(v=V, w=W):
    z = v * (1.0 + 0.5j)
    z += w
    z *= 1j
    z -= 0.5j
    z /= 2.0 + 1j
    z **= 2
    return z


def in_place_with_itself(v=V, w=W):
    z = v + 1j * w
    z += 1j * z
    z *= z
    return z


def reductions(v=V, w=W):
    z = v + 1j * w
    return np.sum(z), z.mean(), np.prod(z), z.sum().real, np.mean(np.abs(z) ** 2)


def reductions_along_axis(m=A):
    z = m * (1.0 + 1j) + 0.5j
    return z.sum(axis=0), np.mean(z, axis=1, keepdims=True), np.cumsum(z, axis=0), z.T, np.trace(z)


def variance(v=V, w=W):
    z = v + 1j * w
    return np.var(z), np.std(z, ddof=1)


def norms(v=V, w=W):
    z = v + 1j * w
    return np.linalg.norm(z), np.sqrt(np.sum(z.real**2 + z.imag**2)), np.vdot(z, z).real


def products(v=V[:3], m=A):
    z = v * (0.5 - 1j)
    return m @ z, z @ m, z @ z, np.dot(m * 1j, m), np.outer(z, v), np.vdot(z, v * 1j), np.inner(z, z)


def einsum_product(v=V[:3], m=A):
    z = v * (0.5 - 1j)
    return np.einsum("ij,j->i", m, z), np.einsum("i,ij,j->", z.conj(), m, z)


def where_and_masks(v=V, w=W):
    z = v + 1j * w
    big = np.abs(z) > 1.2
    a = np.where(big, z, 1j * z)
    z[big] = 0.5j
    z[~big] *= 2.0
    return a, z, np.sum(a[v > 0.0])


def gather_and_scatter(v=V, w=W):
    z = v + 1j * w
    order = np.array([2, 0, 3, 1])
    y = np.zeros(4, dtype=complex)
    y[order] = z
    y[order[:2]] += 1j
    np.add.at(y, np.array([0, 0, 1]), 1.0 - 1j)
    return z[order], y


def shapes(v=V, w=W):
    z = v + 1j * w
    return z.reshape(2, 2), z[::-1], z.reshape(2, 2).T.copy(), np.concatenate([z, w]), np.stack([z, 1j * z])


def built_from_lists(x=0.5, y=-1.25):
    a = np.array([x + 1j * y, 2.0, 1j])
    b = np.array([[1j, x], [y, 1.0 + x * 1j]])
    return a, b @ b, np.array([1.0, x], dtype=complex)


def filled_and_like(v=V):
    z = np.full(3, v[0] * 1j)
    y = np.zeros_like(z)
    y[1] = z[2]
    return z, y, np.ones(2, dtype=complex) * v[1], np.eye(2, dtype=complex) * v[0], v.astype(complex) * 1j


def static_array_of_module(x=0.5):
    z = x - POLES
    return np.prod(z), POLES[0] * x, np.sum(POLES.imag * x)


def iterate_over_complex_array(v=V, w=W):
    total = 0j
    for z in v + 1j * w:
        total = total * 0.5 + z
    return total


def rebinding_in_a_loop(v=V, n=3):
    z = v * 1j
    for _ in range(n):
        z = z * z * 0.25 + v
    return z


def if_joins_complex_arrays(v=V, x=0.5):
    z = v * 1j
    if x > 0.0:
        z = z + x
    else:
        z = z * x
    return np.sum(z)


def comparisons_of_arrays(v=V, w=W):
    z = v + 1j * w
    return np.where(z == z.real, 1.0, 2.0) * v, np.isfinite(z), (z != 1j).sum(), np.isreal(z), np.any(z)


def angles(v=V, w=W):
    z = v + 1j * w
    return np.angle(z), np.angle(z, deg=True), np.imag(z), np.real(z)


def rounding(v=V, w=W):
    return np.round(1.03 * v + 1.07j * w, 1) * v


def complex_array_argument(z=Z, x=0.5):
    return z * x, np.sum(np.abs(z) ** 2), z.imag


def complex_matrix_argument(m=M, z=Z):
    return m @ z, m.conj().T, m.real, m[1] * z[::-1]


def writes_complex_argument(z=Z, x=0.5):
    z *= x
    z[0] = 1j
    z.imag[2] += x


def writes_part_of_argument(z=Z, v=V[:3]):
    z.real[:] = v
    return np.sum(z)


def single_array_argument(s=S):
    return s * 2.0, s * 1j, np.abs(s), s.real, np.sum(s), np.exp(s)


def reshaped_argument(m=M):
    return m.reshape(3, 2) * 1j, m.ravel(), m[:, 1:]


# -- kernels -----------------------------------------------------------------------------------------------------------


def mandelbrot_with_masks(v=V * 0.3, w=W * 0.3, n=8):
    c = v + 1j * w
    z = np.zeros(c.shape, dtype=np.complex128)
    count = np.zeros(c.shape[0])
    for _ in range(n):
        inside = np.abs(z) < 2.0
        count[inside] += 1.0
        z[inside] = z[inside] ** 2 + c[inside]
    return z, count


def fourier_by_matrix(v=V):
    n = v.shape[0]
    k = np.arange(n)
    f = np.exp(-2j * np.pi * k[:, None] * k[None, :] / n)
    return np.abs(f @ v) ** 2


def fourier_by_loops(v=V):
    n = v.shape[0]
    power = np.zeros(n)
    for k in range(n):
        total = 0j
        for j in range(n):
            total += v[j] * cmath.exp(-2j * math.pi * k * j / n)
        power[k] = abs(total) ** 2
    return power


def fourier_by_powers(v=V):
    n = v.shape[0]
    root = cmath.exp(-2j * math.pi / n)
    out = np.zeros(n, dtype=complex)
    for k in range(n):
        for j in range(n):
            out[k] += v[j] * root ** (k * j)
    return out


def contour_integral(v=V, m=A, n=6):
    total = 0j
    for k in range(n):
        z = 2.0 * np.exp(2j * np.pi * (k + 0.5) / n)
        p = z * m[0] - v[:3]
        total += np.sum(p * m[1]) * z / n
    return np.real(total)


def self_energy(v=V, w=W):
    g = v[:, None] * w[None, :] * (1.0 + 0.5j)
    d = np.exp(1j * (v[:, None] - w[None, :]))
    out = np.zeros_like(g)
    for k in range(v.shape[0]):
        for e in range(v.shape[0] - 1):
            out[k] += g[e] * d[k] @ g[e + 1] * 0.25
    return np.sum(np.abs(out))


def butterflies(v=V, w=W):
    x = v + 1j * w
    for half in (2, 1):
        step = np.zeros(4, dtype=complex)
        for p in range(half):
            twiddle = np.exp(-1j * np.pi * p / half)
            for q in range(2 // half):
                a, b = x[q + p * (2 // half)], x[q + p * (2 // half) + 2]
                step[q + 2 * p * (2 // half)] = a + b
                step[q + (2 * p + 1) * (2 // half)] = (a - b) * twiddle
        x = step
    return np.sum(np.abs(x) ** 2 * w)


def schroedinger_step(v=V, w=W, dt=0.1, n=3):
    psi = (v + 1j * w) / np.sqrt(np.sum(v**2 + w**2))
    for _ in range(n):
        lap = np.zeros_like(psi)
        lap[1:-1] = psi[2:] - 2.0 * psi[1:-1] + psi[:-2]
        psi = psi + 1j * dt * lap
        psi *= np.exp(-1j * dt * v)
    return np.sum(np.abs(psi) ** 2 * w)


def frequency_response(v=V, damping=0.2):
    s = 1j * np.linspace(0.1, 3.0, 5)
    h = v[0] / (s**2 + 2.0 * damping * s + v[3])
    return np.abs(h), np.angle(h)


def partial_fractions(x=0.5, w=0.75):
    h = 0j
    for k in range(len(POLES)):
        h = h + x / (1j * w - POLES[k])
    return np.abs(h)


def solve_by_elimination(m=A, v=V[:3]):
    a = m + 0.5j * m.T
    b = v * (1.0 - 1j)
    n = 3
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        for j in range(n):
            t = a[k, j]
            a[k, j] = a[p, j]
            a[p, j] = t
        t = b[k]
        b[k] = b[p]
        b[p] = t
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n, dtype=complex)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x


def largest_eigenvalue(m=A, n=6):
    a = m + 0.5j * m.T
    h = a @ a.conj().T
    v = np.ones(3, dtype=complex)
    for _ in range(n):
        v = h @ v
        v /= np.linalg.norm(v)
    return np.vdot(v, h @ v).real


def stages_in_a_while(v=V, w=W):
    y = v + 1j * w
    half, m = 2, 1
    while half >= 1:
        t = np.zeros_like(y)
        for j in range(half):
            twiddle = np.exp(-1j * np.pi * j / half)
            for k in range(m):
                a, b = y[k + j * m], y[k + j * m + half * m]
                t[k + 2 * j * m] = a + b
                t[k + 2 * j * m + m] = twiddle * (a - b)
        y[:] = t
        half //= 2
        m *= 2
    return y


def all_roots(c=np.array([1.0, -3.0, 3.5, 1.0]), n=12):
    r = (0.4 + 0.9j) ** np.arange(3)
    for _ in range(n):
        for i in range(3):
            below = 1.0 + 0j
            for j in range(3):
                if j != i:
                    below *= r[i] - r[j]
            r[i] = r[i] - np.polyval(c, r[i]) / below
    return np.sum(r).real, np.prod(r).real


# -- output arrays, arrays without axes ----------------------------------------------------------------------------------


def outputs_of_ufuncs(z=Z):
    b = np.zeros(3, dtype=complex)
    np.multiply(z, 1j, out=b)
    np.exp(b, b)
    np.sin(z.real, out=b.imag)
    return b * 2.0


def output_of_real_numbers(x=V):
    b = np.zeros(4, dtype=complex)
    np.sin(x, out=b)
    return b * (1.0 + x * 1j)


def outputs_under_a_condition(z=Z):
    b = np.full(3, 7j)
    np.divide(1, z, out=b, where=z.real > 0)
    return b * np.conjugate(z, out=np.zeros_like(z), where=np.array([True, False, True]))


def outputs_that_are_not_ufuncs(z=Z, m=M):
    total = np.zeros(3, dtype=complex)
    np.cumsum(z, out=total)
    product = np.zeros(2, dtype=complex)
    np.matmul(m, total, out=product)
    return product


def array_without_axes_is_written(x=0.5):
    a = np.asarray(x + 2j * x)
    a[...] = a * 1j
    a[()] = a + x
    a[abs(a) > 1.0] = 2j * x
    a += 1j
    return a * a


def array_without_axes_has_parts(x=0.5):
    a = np.asarray(x + 2j * x)
    kinds = isinstance(a.real, np.ndarray), isinstance(a.conj(), np.ndarray), np.iscomplexobj(a)
    return a.real * a.imag, a.conj(), a.reshape(1) * 1j, a[None].real, a.sum() + a.mean(), a, kinds


def output_without_axes(x=0.5):
    a = np.asarray(x + 2j * x)
    chosen = np.divide(1.0, a, out=np.full_like(a, 7j), where=x > 0)
    return chosen * np.divide(1.0, a, out=np.full_like(a, 7j), where=x < 0), np.exp(x, out=np.zeros_like(a))


def functions_lowered_as_python(z=Z):
    edges = np.pad(z, (1, 2), mode="edge") * np.pad(z, 1, constant_values=1j)[0]
    return np.correlate(z, z[:2]), np.cov(np.array([z, 1j * z * z])), np.gradient(z, 0.5), np.insert(edges, 1, z[0])


def function_vectorised(z=Z, x=0.5):
    return np.vectorize(lambda v: v * v + 1j)(z), np.vectorize(lambda v: v * 1j)(x)


def function_by_pieces(z=Z):
    return np.piecewise(z, [z.real > 0, z.real <= 0], [lambda v: v * 1j, 3.0])


def complex_system(a=np.array([[2.0, 0.5], [0.3, 1.5]]), b=np.array([[0.4, -0.2], [0.7, 0.1]]), t=0.7):
    x = np.linalg.solve(a + 1j * b, np.array([1.0 + t * 1j, t]))
    return np.abs(x[0]) + x[1].imag


def complex_inverse(a=np.array([[2.0, 0.5], [0.3, 1.5]]), b=np.array([[0.4, -0.2], [0.7, 0.1]])):
    x = np.linalg.inv(a + 1j * b)
    return (x @ x).real, np.sum(x.imag)


def complex_systems(a=np.array([[[2.0, 0.5], [0.3, 1.5]], [[1.0, 0.2], [0.1, -1.5]]]), t=0.3):
    x = np.linalg.solve(a * (1 + t * 1j), np.array([1.0, 2.0j]).reshape(2, 1))
    return np.sum(x.real * x.imag), np.linalg.inv(a - 1j * t).imag
