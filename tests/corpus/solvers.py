"""Solutions of equations, with the derivative of the implicit function."""
import numpy as np

import adgen

W = np.array([[0.2, 0.3], [-0.1, 0.4]])
B = np.array([0.5, -0.3])


def bisected(f, interval, *args):
    low, high = interval - 2.0, interval + 2.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        if f(middle, *args) * f(low, *args) > 0.0:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def circle_and_line(x, r, s):
    return np.array([x[0] ** 2 + x[1] ** 2 - r * r, x[1] - s * x[0]])


def root_of_a_number(a=1.5, b=2.0):
    return adgen.root(lambda x: x**3 + a * x - b, 1.0) * a


def root_of_a_vector(r=1.5, s=0.7):
    x = adgen.root(circle_and_line, np.ones(2), r, s)
    return x[0] * x[1] + np.sum(x) * r


def root_by_a_solver(a=1.5, b=2.0):
    return adgen.root(lambda x, c: x**3 + a * x - c, 0.5, b, solver=bisected)


def roots_in_a_loop(p=np.array([1.5, 2.0, 0.7]), c=0.3):
    total = 0.0
    for i in range(len(p)):
        if p[i] > 1.0:
            total += adgen.root(lambda x: x + np.sin(c * x) * p[i] - p[0] * p[1], total) * p[i]
        else:
            y = adgen.root(lambda x: x * x - np.array([total, p[i]]) - c, np.ones(2))
            total += y[0] * y[1]
    return total


def root_of_a_root_of_vectors(w=W, b=B):
    def outer(y):
        return y + adgen.root(lambda x: x + w @ np.sin(x) - y * y, b) - b

    return np.sum(adgen.root(outer, np.zeros(2)) * b)


def root_then_all_is_overwritten(p=np.array([1.5, 2.0])):
    q = p * 2.0
    x = adgen.root(lambda x: x**3 + q * x - 1.0, q)
    q[1] = 0.0
    y = x * 1.0
    x[0] = 7.0
    return np.sum(y * q) + np.sum(x)


def fixed_points(w=W, b=B, a=0.4):
    x = adgen.fixed_point(lambda x: np.tanh(w @ x + b), np.zeros(2))
    return np.sum(x**2) + adgen.fixed_point(lambda y: np.cos(y * a) * x[0], 0.3)


def linear_systems(w=W, b=B):
    def jacobi(a, right):
        x = np.zeros(len(right))
        for _ in range(200):
            x = x + (right - a @ x) / np.diag(a)
        return x

    a = w + 2.0 * np.eye(2)
    return np.sum(adgen.linear_solve(a, b) * adgen.linear_solve(a, b * b, solver=jacobi))
