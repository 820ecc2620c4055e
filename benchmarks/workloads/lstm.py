"""A long short-term memory whose gates have diagonal weights, predicting the next item of a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workload import Array, Dialect, Inputs, Workload


def sigmoid(xp: Any, x: Array) -> Array:
    """The logistic function."""
    return 1.0 / (1.0 + xp.exp(-x))


def lstm(main: Array, extra: Array, state: Array, seq: Array) -> float:
    """The loss of the predictions.

    `main[layer]`: weights of forget, input, output and change gates, then their biases; `extra`: input weight, output
    weight, output bias; `state[layer]`: hidden and cell.
    """
    hidden = state[:, 0].copy()
    cell = state[:, 1].copy()
    total = 0.0
    for t in range(seq.shape[0] - 1):
        x = seq[t] * extra[0]
        for i in range(main.shape[0]):
            forget = sigmoid(np, x * main[i, 0] + main[i, 4])
            ingate = sigmoid(np, hidden[i] * main[i, 1] + main[i, 5])
            outgate = sigmoid(np, x * main[i, 2] + main[i, 6])
            change = np.tanh(hidden[i] * main[i, 3] + main[i, 7])
            cell[i] = cell[i] * forget + ingate * change
            hidden[i] = outgate * np.tanh(cell[i])
            x = hidden[i]
        y = x * extra[1] + extra[2]
        lse = np.log(np.sum(np.exp(y)) + 2.0)
        total += np.sum(seq[t + 1] * (y - lse))
    return -total / ((seq.shape[0] - 1) * main.shape[2])


def arrays(dialect: Dialect, main: Array, extra: Array, state: Array, seq: Array) -> Any:
    """The same, a step a function of the state."""
    xp, layers = dialect.np, range(main.shape[0])

    def step(state: tuple[Any, Any], items: tuple[Any, Any]) -> tuple[Any, Any]:
        hidden, cell = state
        x = items[0] * extra[0]
        new_hidden, new_cell = [], []
        for i in layers:
            forget = sigmoid(xp, x * main[i, 0] + main[i, 4])
            ingate = sigmoid(xp, hidden[i] * main[i, 1] + main[i, 5])
            outgate = sigmoid(xp, x * main[i, 2] + main[i, 6])
            new_cell.append(cell[i] * forget + ingate * xp.tanh(hidden[i] * main[i, 3] + main[i, 7]))
            x = outgate * xp.tanh(new_cell[i])
            new_hidden.append(x)
        y = x * extra[1] + extra[2]
        gain = xp.sum(items[1] * (y - xp.log(xp.sum(xp.exp(y)) + 2.0)))
        return (xp.stack(new_hidden), xp.stack(new_cell)), gain

    total = dialect.scan(step, (state[:, 0], state[:, 1]), (seq[:-1], seq[1:]))
    return -total / ((seq.shape[0] - 1) * main.shape[2])


def inputs(size: tuple[int, int, int]) -> Inputs:
    """`layers` of a width, and a sequence of `count` items."""
    layers, count, width = size
    rng = np.random.default_rng(6)
    shapes = {"main": (layers, 8, width), "extra": (3, width), "state": (layers, 2, width), "seq": (count, width)}
    return {name: rng.uniform(size=shape) for name, shape in shapes.items()}


WORKLOADS = {
    "lstm": Workload(
        lstm,
        inputs,
        {"l2c1024": (2, 1024, 14), "l4c1024": (4, 1024, 14), "tiny": (2, 4, 3)},
        wrt=("main", "extra"),
        arrays=arrays,
        hand="lstm",
    )
}
