"""The chained Rosenbrock function, a classic test of optimisers.

    adgen compile examples/rosenbrock.py

Expect `rosenbrock_grad(x)` of the shape of `x`, zero at `x = (1, ..., 1)` where the function has its minimum 0.
The gradient is one loop that visits every pair of neighbours once more: about three times the primal's operations.
"""


def rosenbrock(x: "f64[n]") -> float:
    total = 0.0
    for i in range(len(x) - 1):
        valley = x[i + 1] - x[i] ** 2
        total += 100.0 * valley**2 + (1.0 - x[i]) ** 2
    return total
