"""The likelihood of a noisy track under a constant-velocity model, by a Kalman filter.

    adgen compile examples/kalman.py

Expect `log_likelihood_grad(...)`: the direction in which to change the noise levels so that the model explains the
measurements better, which is what fitting them needs.  The noise levels enter by their logarithms, so any number is
a valid one.
"""

import math

import numpy as np


def log_likelihood(log_process: float, log_measurement: float, interval: float, measurements: "f64[t]") -> float:
    transition = np.eye(2)
    transition[0, 1] = interval
    noise = np.zeros((2, 2))
    noise[0, 0] = interval**3 / 3.0
    noise[0, 1] = interval**2 / 2.0
    noise[1, 0] = interval**2 / 2.0
    noise[1, 1] = interval
    noise *= math.exp(log_process)
    measurement_variance = math.exp(log_measurement)

    state = np.zeros(2)
    covariance = 10.0 * np.eye(2)
    total = 0.0
    for t in range(len(measurements)):
        state = transition @ state
        covariance = transition @ covariance @ transition.T + noise

        surprise = measurements[t] - state[0]
        variance = covariance[0, 0] + measurement_variance
        total -= 0.5 * (surprise**2 / variance + math.log(2.0 * math.pi * variance))

        gain = covariance[:, 0] / variance
        state = state + gain * surprise
        updated = covariance.copy()
        for i in range(2):
            for j in range(2):
                updated[i, j] -= gain[i] * covariance[0, j]
        covariance = updated
    return total
