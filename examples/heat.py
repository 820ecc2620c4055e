"""Heat conduction in a rod of varying conductivity, stepped in place.

    adgen compile examples/heat.py

`diffuse` writes the final temperatures into the array that it is given, and returns nothing: the compiled function
does the same.  Its derivative treats the final temperatures as the output and leaves the caller's array alone.
Expect `misfit_grad(temperature, conductivity, target, steps, dt)`: gradients for the initial temperatures, for the
conductivities, for the target and for the step, at the cost of a few runs of the simulation.
"""

import numpy as np


def diffuse(temperature: "f64[n]", conductivity: "f64[n]", steps: int, dt: float) -> None:
    n = len(temperature)
    flux = np.zeros(n + 1)
    for _ in range(steps):
        for i in range(1, n):
            flux[i] = 0.5 * (conductivity[i] + conductivity[i - 1]) * (temperature[i] - temperature[i - 1])
        for i in range(n):
            temperature[i] += dt * (flux[i + 1] - flux[i])


def misfit(temperature: "f64[n]", conductivity: "f64[n]", target: "f64[n]", steps: int, dt: float) -> float:
    final = temperature.copy()
    diffuse(final, conductivity, steps, dt)
    return 0.5 * np.sum((final - target) ** 2)
