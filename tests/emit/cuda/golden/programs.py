"""Functions whose gradients are kept as CUDA: see `test_golden_cuda.py`."""

import numpy as np


def blend(x: "f64[n]", y: "f64[n]", weight: float) -> float:
    return np.sum(np.exp(-weight * x) * y)


def spread(field: "f64[n,m]", target: "f64[n,m]", rate: float) -> float:
    moved = field.copy()
    for i in range(1, len(field) - 1):
        for j in range(1, field.shape[1] - 1):
            around = field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1]
            moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j])
    return np.sum((moved - target) ** 2)


def picked(values: "f64[n]", places: "i64[m]", weights: "f64[m]") -> float:
    total = 0.0
    for k in range(len(places)):
        total += weights[k] * np.sin(values[places[k]])
    return total


def repulsion(points: "f64[n,2]") -> float:
    energy = 0.0
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            dx = points[i, 0] - points[j, 0]
            dy = points[i, 1] - points[j, 1]
            energy += 1.0 / (0.1 + dx * dx + dy * dy)
    return energy


def decays(start: "f64[n]", rates: "f64[n]", steps: int) -> float:
    total = 0.0
    for k in range(len(start)):
        x = start[k]
        for _ in range(steps):
            x = x - rates[k] * x * x
        total += x
    return total


def layer(inputs: "f64[n,d]", weights: "f64[d,k]", shifts: "f64[k]") -> float:
    return np.sum(np.tanh(inputs @ weights + shifts) ** 2)


def lengths(vectors: "f64[n,m]") -> float:
    total = 0.0
    for i in range(len(vectors)):
        square = 0.0
        for j in range(vectors.shape[1]):
            square += vectors[i, j] ** 2
        total += np.sqrt(1.0 + square)
    return total


def walk(steps: "f64[n]", target: float) -> float:
    place, cost = 0.0, 0.0
    for i in range(len(steps)):
        place += np.sin(steps[i])
        cost += (place - target) ** 2
    return cost
