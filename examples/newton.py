"""A diode behind a resistor: the voltage is found by Newton's method, in a `while` that nobody can count beforehand.

    adgen compile examples/newton.py

`voltage` solves `v + resistance * (exp(v) - 1) = source` in units of the thermal voltage.  Expect the derivatives of
the solution by the implicit function theorem: with `d = 1 + resistance * exp(v)`, they are `1 / d` for `source` and
`(1 - exp(v)) / d` for `resistance`.  The derivative runs the recorded iterations backwards.
"""

import math


def voltage(source: float, resistance: float) -> float:
    v = 0.0
    step = 1.0
    iterations = 0
    while abs(step) > 1e-13 and iterations < 100:
        step = (v + resistance * math.expm1(v) - source) / (1.0 + resistance * math.exp(v))
        v -= step
        iterations += 1
    return v
