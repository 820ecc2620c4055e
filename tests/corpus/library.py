"""Functions of NumPy and SciPy that have derivative rules of their own, where everything is smooth."""
import math

import numpy as np
from scipy import integrate, optimize

X = np.array([0.3, 1.7, -0.4, 2.2, 0.35])
M = np.array([[1.0, 4.5, 0.5], [2.0, -1.0, 3.0]])
P = np.array([1.5, 2.0, 0.7])


def cubic(x, a, b):
    return x**3 + a * x - b


def cubic_slope(x, a, b):
    return 3.0 * x**2 + a


def cubic_bend(x, a, b):
    return 6.0 * x


def bracketed_roots(a=1.5, b=4.0):
    first = optimize.brentq(cubic, 0.0, 5.0, args=(a, b)), optimize.bisect(cubic, 0, b, (a, b), xtol=1e-13)
    return first, optimize.ridder(lambda x: cubic(x, a, b), 0.0, 3.0), optimize.brenth(cubic, -1.0, 2.5, args=(a, b))


def iterated_roots(a=1.5, b=4.0):
    first = optimize.newton(cubic, 1.0, cubic_slope, args=(a, b)), optimize.newton(cubic, b, args=(a, b), tol=1e-13)
    return first, optimize.newton(cubic, 2.0, fprime=cubic_slope, fprime2=cubic_bend, args=(a, b))


def roots_of_any_kind(a=1.5, b=4.0):
    first = optimize.root_scalar(cubic, args=(a, b), bracket=[0.0, 5.0])
    second = optimize.root_scalar(cubic, args=(a, b), x0=1.0, fprime=cubic_slope, method="newton")
    return first.root * a + second.root, first.converged


def root_of_what_surrounds_it(p=P, c=0.3):
    total = 0.0
    for i in range(len(p)):
        def balance(x):
            return x + np.sin(c * x) * p[i] - p[0] * p[1]
        total += optimize.brentq(balance, -1.0, 10.0) * p[i]
    return total


def root_of_a_root(a=1.5, b=4.0):
    def outer(y):
        return y + optimize.brentq(lambda x: cubic(x, a, y), -10.0, 10.0) - b
    return optimize.brentq(outer, -5.0, 10.0)


def root_then_overwritten(p=P):
    q = p * 2.0
    x = optimize.brentq(lambda x: x**3 - q[1] * x - q[0], 0.5, 5.0)
    q[1] = 0.0
    return x * q[0] + q[1]


def full_result(a=2.0):
    x, result = optimize.brentq(lambda x: x * x - a, 0.0, 5.0, full_output=True, disp=False)
    return x + result.root, result.converged


def spectrum(x=X):
    y = np.fft.fft(x)
    return y, np.sum(abs(y) ** 2), np.fft.ifft(y * y).real


def spectrum_of_a_power_of_two(x=X):
    y = np.fft.fft(x, 8) * np.fft.fft(x * x, n=8)
    return np.fft.ifft(y, norm="ortho"), np.fft.fft(x, 4, norm="forward"), np.fft.fft(x[:1]), np.fft.fft(x[:2])


def spectrum_of_a_long_signal(x=X):
    y = np.fft.rfft(np.cumsum(np.tile(x, 9)))
    return y[:5], np.fft.irfft(y * y, 45)[3:6], np.fft.irfft(y)[:4]


def spectra_of_rows(m=M):
    first = np.fft.fft(m), np.fft.fft(m, axis=0), np.fft.fft2(m), np.fft.ifft2(m * m), np.fft.rfft(m, axis=0)
    return first, np.fft.irfft(np.fft.rfft(m, axis=-1), n=3), np.fft.fftn(m, s=(2, 2)), np.fft.irfft2(np.fft.rfft2(m), s=(2, 3))


def derivative_by_its_spectrum(x=X):
    k = 2.0 * np.pi * np.fft.fftfreq(len(x), d=0.1)
    return np.fft.ifft(1j * k * np.fft.fft(x)).real, np.fft.rfftfreq(len(x)) * np.sum(x)


def shifted_spectrum(x=X, m=M):
    return np.fft.fftshift(x), np.fft.ifftshift(m * m), np.fft.fftshift(m, axes=1), np.fft.fftshift(np.fft.fft(m))


def spectrum_of_complex_numbers(x=X):
    z = x + 1j * x[::-1] * x
    return np.fft.fft(z), np.fft.ifft(z, 7), np.fft.irfft(z), np.fft.irfft(z, 3)


def integrals(a=0.3, b=2.0):
    first, _ = integrate.quad(lambda x: np.exp(-a * x * x) * np.cos(b * x), 0.0, b)
    return first, integrate.quad(lambda x, k: x**k, a, b, args=(1.5,))[0], integrate.quad(np.sin, b, a)[0]


def integrals_without_end(a=0.7, b=2.0):
    def bell(x, s):
        return math.exp(-((x / s) ** 2)) * (1.0 + x)
    first = integrate.quad(bell, -np.inf, np.inf, (a,))[0], integrate.quad(bell, a, np.inf, args=(b,))[0]
    return first, integrate.quad(lambda x: 1.0 / (a + x * x), -np.inf, b)[0], integrate.quad(bell, np.inf, a, args=a)[0]


def integrals_of_what_is_not_smooth(a=0.4, b=2.0):
    return integrate.quad(lambda x: abs(x - a) * b, 0.0, 1.0)[0], integrate.quad(lambda x: b / math.sqrt(x), 0.0, a)[0], integrate.quad(lambda x: math.log(x) * x, 0.0, b)[0]


def integral_of_an_integral(a=0.4, b=2.0):
    def inner(y):
        return integrate.quad(lambda x: np.exp(-x * y * a), 0.0, b)[0]
    return integrate.quad(inner, 0.0, 1.0)[0]


def root_of_an_integral(a=0.4, b=2.0):
    def excess(t):
        return integrate.quad(lambda x: np.exp(-a * x), 0.0, t)[0] - b * 0.3
    return optimize.brentq(excess, 0.0, 3.0)


def sums_of_samples(x=X, m=M):
    t = np.cumsum(x * x + 0.1)
    first = integrate.trapezoid(x, t), integrate.cumulative_trapezoid(x, dx=0.5), integrate.cumulative_trapezoid(m, m * m, axis=1, initial=0)
    second = integrate.simpson(x, x=t), integrate.simpson(x[1:], x=t[1:]), integrate.simpson(m, dx=0.3), integrate.simpson(x[:2])
    return first, second, integrate.simpson(m.T, axis=0), integrate.simpson(m * m, x=np.array([0.0, 1.0, 3.0])), integrate.simpson(x[1:])


def sums_of_a_function(a=0.4, b=2.0):
    return integrate.fixed_quad(lambda x: np.sin(a * x), 0.0, b)[0], integrate.fixed_quad(np.exp, a, b, n=3)[0]


def periodic_interpolation(x=X, y=np.array([1.0, 3.0, -2.0])):
    t = np.array([0.1, 1.9, 0.8])
    return np.interp(x * 3.1, t, y, period=2.0), np.interp(7.3, t, y, period=-2.0), np.interp(x, t, y, left=0.5, right=9.0)
