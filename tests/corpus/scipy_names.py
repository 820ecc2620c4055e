"""Functions of SciPy."""
import numpy as np
from scipy import interpolate, optimize, special, stats

X = np.array([0.3, 1.7, 0.4, 2.2, 0.35])
M = np.array([[1.0, 4.5, 0.5], [2.0, -1.0, 3.0]])


def bessel_functions(x=X):
    first = special.j0(x) + special.j1(x) * special.jv(2, x), special.y0(x) * special.yn(1, x) + special.yv(3, x)
    return first, special.i0(x) + special.i1(x) * special.iv(2, x), special.k0(x) * special.k1(x) + special.kv(2, x)


def bessel_functions_of_a_loop(x=0.7, n=4):
    total = 0.0
    for k in range(n):
        total += special.jv(k, x) * special.iv(k, 1.5 * x) + special.kn(k, x)
    return total + np.i0(x)


def bessel_function_at_zero(x=0.0):
    return special.j1(x) + special.i1(x) + special.j0(x)


def elliptic_integrals(m=np.array([0.3, -1.0, 0.0, 0.9])):
    return special.ellipk(m), special.ellipe(m)


def inverses(p=np.array([0.3, 0.01, 0.8])):
    return special.erfinv(p), special.erfcinv(p), special.ndtri(p), special.ndtri(p[0])


def beta_functions(a=X, b=1.5):
    return special.beta(a, b), special.betaln(a, b), special.entr(a), special.beta(b, 200.0)


def sums_of_exponentials(m=M, b=X):
    whole = special.logsumexp(m), special.logsumexp(m, axis=1), special.logsumexp(b, b=b * b)
    return whole, special.softmax(m, axis=0), special.log_softmax(m, axis=1), special.logsumexp(m, 0, keepdims=True)


def sums_of_exponentials_far_out(x=np.array([1000.0, -1000.0, 999.0])):
    return special.logsumexp(x), special.softmax(x)


def normal_distribution(x=X, m=0.25, s=1.5):
    first = stats.norm.pdf(x), stats.norm.pdf(x, m, s), stats.norm.logpdf(x, loc=m, scale=s)
    return first, stats.norm.cdf(x, m, s), stats.norm.sf(m), stats.norm.ppf(x * 0.3, m, s), stats.norm.cdf(m)


def single_precision(x=np.array([0.3, 0.5], dtype=np.float32)):
    return special.j0(x), special.ellipe(x), special.softmax(x), stats.norm.pdf(x), stats.norm.cdf(x)


def weights_of_nothing(x=np.array([1000.0, 1.0, 2.0]), b=np.array([0.0, 1.0, 3.0])):
    return special.logsumexp(x, b=b)


def end_of_the_bracket(a=1.0):
    return optimize.brentq(lambda x: x - a * 0.5, 0.5, 2.0)


SHAPED = interpolate.PchipInterpolator(np.arange(4.0), np.array([1.0, 2.0, 1.5, 0.0]), extrapolate=False)
LIMITED = interpolate.interp1d(np.arange(4.0), np.array([1.0, 2.0, 1.5, 0.0]), bounds_error=False)


def outside_of_what_is_known(x=X):
    return SHAPED(x * 9.0), LIMITED(x - 1.0), SHAPED(1.5)
