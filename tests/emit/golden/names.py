def names(θ, double, exp, work, x, Δx):
    x = x * math.exp(exp)  # */ ends a comment, /* begins one
    x = x + TABLE[double]
    return math.sin(θ) * x - (θ - Δx) / work


# ruff: noqa
