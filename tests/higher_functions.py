"""Functions whose derivatives of order one to three are known to many digits: see `exact`.

Each has one parameter, a number or a vector, and a default where everything is smooth.  They are run three times: as
Python, compiled, and with `np`, `math`, `special` and `adgen` replaced by what computes with mpmath or sympy.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

import adgen

ORDER = np.array([2, 0, 1, 2, 1])


# -- scalar functions --------------------------------------------------------------------------------------------------


def quotient(x=0.7):
    return math.exp(math.sin(x)) / (1.0 + x * x)


def powers(x=np.array([1.3, 0.8, 2.1])):
    return x[0] ** x[1] * math.log(x[2]) + x[2] ** 3 * x[0] ** -0.5


def angles(x=np.array([0.4, -1.2, 0.9])):
    return math.atan2(x[0], x[1]) * math.hypot(x[1], x[2]) + math.log1p(x[2] ** 2) * math.expm1(x[0])


def special_values(x=np.array([0.7, 1.9])):
    return math.erf(x[0]) * math.lgamma(x[1]) + special.digamma(x[1] + x[0]) * special.j0(x[0] * x[1])


# -- loops -------------------------------------------------------------------------------------------------------------


def branches(x=np.array([0.6, 1.7, -0.4])):
    total = 0.0
    for i in range(5):
        if x[0] * i > x[1]:
            total += math.sin(total * x[2]) + x[0] * x[1]
        elif i == 1:
            total = total * x[0] + x[2] ** 2
        else:
            total -= x[1] / (1.0 + total**2)
    return total


def search(x=np.array([2.7, 0.3])):
    guess, last, steps = x[0], 0.0, 0
    while abs(guess - last) > 0.01 and steps < 20:
        last = guess
        guess = 0.5 * (guess + x[0] / guess) + 0.1 * x[1] * guess**2
        steps += 1
    return guess * steps


def left_early(x=np.array([0.9, 0.4])):
    product = x[1]
    for i in range(1, 20):
        if i == 3:
            continue
        product = product * x[0] + math.cos(product) / i
        if product > 2.5:
            break
    return product * product


def fraction(x=np.array([0.8, 1.4])):
    value = x[0]
    for k in range(4):
        value = x[1] + x[0] / (k + value)
    return value


def folded(x, n):
    if n == 0:
        return 1.0 + x
    return x * folded(0.5 * x + 0.1, n - 1) + math.sin(x * n)


def recursive(x=np.array([0.9, 0.2, 1.1])):
    return folded(x[0], len(x)) * folded(x[1] * x[2], len(x) - 1)


# -- arrays ------------------------------------------------------------------------------------------------------------


def stencil(x=np.array([0.3, 1.1, -0.7, 0.5])):
    u = x.copy()
    for _ in range(3):
        u[1:-1] += 0.2 * u[1:-1] * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def overwritten(x=np.array([0.3, 1.1, -0.7])):
    y = x * x
    for i in range(1, 3):
        y[i] = y[i - 1] * math.sin(y[i]) + x[i]
        y[0] = y[i] * y[0]
        if y[i] > 0.0:
            y[i] *= y[0]
    return y[0] + y[1] * y[2]


def rolled(x=np.array([0.4, 0.9, 1.3])):
    old, new = x.copy(), np.zeros(3)
    for t in range(4):
        for i in range(3):
            new[i] = old[i] + 0.3 * math.sin(old[i - 1]) * old[(i + t) % 3]
        old, new = new, old
    return old[0] * old[1] - new[2]


def gathered(x=np.array([0.4, 1.9, 1.3])):
    y = x[ORDER] * np.exp(-x[ORDER[::-1]])
    total = 0.0
    for k in range(len(ORDER)):
        total += y[k] * x[ORDER[k]] ** 2
    return total


def scattered(x=np.array([0.4, 1.9, 1.3])):
    bins = np.zeros(3)
    np.add.at(bins, ORDER, np.sin(x[ORDER]) * x[0])
    bins[ORDER[0]] *= bins[1]
    return np.sum(bins**3)


def reductions(x=np.array([0.5, -0.3, 1.2])):
    top = np.max(x)
    lse = top + np.log(np.sum(np.exp(x - top)))
    return lse * np.prod(x) + np.mean((x - np.mean(x)) ** 2) * np.sum(np.cumsum(x) ** 2)


def selected(x=np.array([0.5, -0.3, 1.2])):
    y = np.where(x > 0.0, np.sqrt(np.abs(x)), x**3)
    return np.sum(np.maximum(y, 0.1 * x) * np.minimum(x, 1.0)) + y[0] * y[1] * y[2]


def network(x=np.array([0.5, -0.3, 1.2, 0.7])):
    w = x.reshape((2, 2))
    hidden = np.tanh(w @ np.array([0.3, -0.8]))
    return hidden @ (w @ np.tanh(w @ hidden))


# -- matrices ----------------------------------------------------------------------------------------------------------


def spd(x):
    return np.array([[2.0 + x[0] ** 2, x[1], 0.3], [x[1], 3.0, x[0] * x[2]], [0.3, x[0] * x[2], 2.0 + x[2] ** 2]])


def quadratic_form(x=np.array([0.5, -0.3, 1.2])):
    return x @ np.linalg.solve(spd(x), x * x)


def likelihood(x=np.array([0.5, -0.3, 1.2])):
    lower = np.linalg.cholesky(spd(x))
    return 2.0 * np.sum(np.log(np.diag(lower))) + lower[2, 0] * lower[2, 1]


def smallest(x=np.array([0.5, -0.3, 1.2])):
    return np.linalg.eigvalsh(spd(x))[0]


# -- derivatives and solutions inside ----------------------------------------------------------------------------------


def energy(p):
    total = 0.0
    for i in range(len(p) - 1):
        total += (p[i] - p[i + 1] ** 2) ** 2 + 0.1 * math.sin(p[i])
    return total


def descent(x=np.array([0.3, 0.7, -0.2])):
    p = x.copy()
    for _ in range(3):
        p = p - 0.1 * adgen.grad(energy)(p)
    return energy(p)


def payoff(u, v):
    return u * u * v - 0.5 * v**3 + math.sin(u * v)


def saddle(x=np.array([0.3, 0.7])):
    u, v = x[0], x[1]
    for _ in range(3):
        du, dv = adgen.grad(payoff, wrt="u")(u, v), adgen.grad(payoff, wrt="v")(u, v)
        u, v = u - 0.2 * du, v + 0.2 * dv
    return u * v + adgen.grad(payoff, wrt="u")(u, v)


def hamiltonian(q, p):
    return 0.5 * p * p * (1.0 + 0.1 * q * q) - math.cos(q)


def trajectory(x=np.array([0.8, -0.3])):
    q, p = x[0], x[1]
    for _ in range(4):
        p -= 0.1 * adgen.grad(hamiltonian, wrt="q")(q, p)
        q += 0.1 * adgen.grad(hamiltonian, wrt="p")(q, p)
    return hamiltonian(q, p) + q * q


def well(x):
    return x**4 * math.exp(-x)


def curvature(x=0.9):
    slope = adgen.grad(well)
    return adgen.grad(slope)(x) / (1.0 + slope(x) ** 2) ** 1.5


def implicit(x=np.array([1.5, 2.0])):
    z = adgen.root(lambda z: z**3 + x[0] * z - x[1] * math.exp(-z), 1.0)
    return z * z * x[0]


def balanced(x=np.array([0.4, 0.7])):
    z = adgen.fixed_point(lambda z: 0.5 * math.cos(x[0] * z) + x[1] ** 2, 0.5)
    return math.log(z) * x[1]


def _softened(x, k):
    return math.sqrt(x * x + k)


def _softened_pull(x, k, out, bar):
    return bar * x / out, 0.5 * bar / out


softened = adgen.custom_vjp(_softened, _softened_pull)


def _gauss(x):
    return math.exp(-x * x)


def _gauss_push(x, out, dot):
    return -2.0 * x * out * dot


gauss = adgen.custom_jvp(_gauss, _gauss_push)


@adgen.custom_vjp
def squashed(x):
    return x / math.sqrt(1.0 + x * x)


def _squashed_forward(x):
    root = math.sqrt(1.0 + x * x)
    return x / root, root


squashed.defvjp(_squashed_forward, lambda root, bar: bar / root**3)


def ruled(x=np.array([0.4, 0.7])):
    total = 0.0
    for i in range(3):
        total += softened(total + x[0] * i, x[1]) * gauss(x[0] - total) + squashed(total * x[1])
    return total
