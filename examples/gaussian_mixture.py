"""Negative log-likelihood of points under a mixture of axis-aligned Gaussians.

    adgen compile examples/gaussian_mixture.py mixture --wrt logits,means,log_scales

Expect three gradients of the shapes of `logits`, `means` and `log_scales`.  The logits enter through a softmax, so
their gradient sums to zero.  Scratch memory is reused and overwritten for every point, and differentiated all the same.
"""

import math

import numpy as np


def log_sum_exp(values):
    largest = np.max(values)
    return largest + np.log(np.sum(np.exp(values - largest)))


def mixture(logits: "f64[k]", means: "f64[k,d]", log_scales: "f64[k,d]", points: "f64[n,d]") -> float:
    components, dimensions = means.shape
    scores = np.zeros(components)
    total = 0.0
    for n in range(points.shape[0]):
        for k in range(components):
            score = logits[k]
            for j in range(dimensions):
                z = (points[n, j] - means[k, j]) * np.exp(-log_scales[k, j])
                score -= 0.5 * z * z + log_scales[k, j]
            scores[k] = score
        total += log_sum_exp(scores)
    normaliser = log_sum_exp(logits) + 0.5 * dimensions * math.log(2.0 * math.pi)
    return points.shape[0] * normaliser - total
