"""A long short-term memory cell run over a sequence, with a squared loss on its hidden state.

    adgen compile examples/lstm.py loss --wrt weights,recurrent,bias

Expect gradients of the shapes of `weights`, `recurrent` and `bias`: back-propagation through time, written by nobody.
The hidden state and the cell are rebound at every step; the derivative keeps what it needs of them, one row a step.
"""

import numpy as np


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def loss(
    weights: "f64[4,h,d]",
    recurrent: "f64[4,h,h]",
    bias: "f64[4,h]",
    inputs: "f64[t,d]",
    targets: "f64[t,h]",
) -> float:
    steps, width = targets.shape
    hidden = np.zeros(width)
    cell = np.zeros(width)
    total = 0.0
    for t in range(steps):
        x = inputs[t]
        forget = sigmoid(weights[0] @ x + recurrent[0] @ hidden + bias[0])
        admit = sigmoid(weights[1] @ x + recurrent[1] @ hidden + bias[1])
        expose = sigmoid(weights[2] @ x + recurrent[2] @ hidden + bias[2])
        change = np.tanh(weights[3] @ x + recurrent[3] @ hidden + bias[3])
        cell = forget * cell + admit * change
        hidden = expose * np.tanh(cell)
        total += np.sum((hidden - targets[t]) ** 2)
    return total / steps
