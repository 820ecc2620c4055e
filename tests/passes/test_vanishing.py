"""A guard against zero times infinity goes where the zero shows that there is no infinity, and stays elsewhere."""

import math
from itertools import product

import numpy as np
import pytest

import adgen
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.passes.pipeline import optimise
from adgen.passes.vanishing import vanishing
from tests.passes.support import gradient_of, parse, rows

GUARDED = """function f(%s: f64, %c: f64) -> (out) {{
  %zero = const {{type="f64", value=0.0}} : f64
  %two = const {{type="f64", value=2.0}} : f64
  {moving}
  {part}
  %z = eq %u, %zero : bool
  %out = select %z, %zero, %p {{guard=true}} : f64
  return %out
}}"""
DROPPED = {
    "a factor of the product": ("%u = mul %s, %c : f64", "%p = mul %s, %u : f64"),
    "a term of a sum": ("%a = sub %s, %c : f64\n%u = mul %two, %a : f64", "%p = mul %c, %u : f64"),
    "a square": ("%a = mul %s, %s : f64\n%u = sub %a, %c : f64", "%b = mul %u, %s : f64\n%p = neg %b : f64"),
    "a divisor": ("%u = div %s, %c : f64", "%p = div %u, %c : f64"),
    "a constant": ("%u = sin %s : f64", "%p = mul %two, %u : f64"),
    "a sum of products": (
        "%u = sub %s, %c : f64",
        "%a = mul %s, %u : f64\n%b = mul %u, %c : f64\n%p = add %a, %b : f64",
    ),
}
KEPT = {
    "another factor": ("%u = sin %s : f64", "%p = mul %c, %u : f64"),
    "a product that may overflow": ("%u = sub %s, %c : f64", "%a = mul %s, %s : f64\n%p = mul %a, %u : f64"),
    "a divisor that is a term": ("%u = mul %s, %c : f64", "%p = div %u, %c : f64"),
    "what an infinite divisor makes zero": ("%u = div %s, %c : f64", "%p = mul %u, %c : f64"),
    "a bounded function": ("%a = tanh %s : f64\n%u = sub %a, %c : f64", "%p = mul %s, %u : f64"),
    "no factor": ("%u = mul %s, %c : f64", "%p = add %s, %u : f64"),
}
NUMBERS = (0.0, -0.0, 1.0, -2.0, 1e-200, 1e200, math.inf, -math.inf, math.nan)


def guarded(moving: str, part: str) -> Function:
    return parse(GUARDED.format(moving=moving, part=part))


@pytest.mark.parametrize("name", [*DROPPED, *KEPT])
def test_results_stay(name: str) -> None:
    """For all pairs of round, huge, tiny and infinite numbers, but for the sign of zero."""
    before = guarded(*(DROPPED | KEPT)[name])
    after = vanishing(before)
    assert rows(after)["select"] == (name in KEPT)
    with np.errstate(all="ignore"):
        for inputs in product(NUMBERS, NUMBERS):
            expected, got = (run(function, list(inputs)).results[0] for function in (before, after))
            assert expected == got or (np.isnan(expected) and np.isnan(got)), inputs


def test_what_a_program_chose_stays() -> None:
    """A `select` that is no guard keeps its zero, sign and all."""
    text = GUARDED.format(moving=DROPPED["a square"][0], part=DROPPED["a square"][1]).replace(" {guard=true}", "")
    before = parse(text)
    assert vanishing(before) == before


def energy(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            s = 1.0 / ((x[i] - x[j]) * (x[i] - x[j]))
            s6 = s * s * s
            total += 4.0 * (s6 * s6 - s6)
    return total


def test_the_inner_loop_of_pairs() -> None:
    """Nothing is compared with zero, also where the force is zero."""
    x = np.array([0.0, 2.0 ** (1 / 6), 2.5])
    before = gradient_of(energy, x)
    assert rows(before)["select"] > 0 and rows(optimise(before))["select"] == 0
    step = 1e-6
    estimate = [(energy(x + step * e) - energy(x - step * e)) / (2 * step) for e in np.eye(3)]
    assert np.allclose(adgen.grad(energy)(x), estimate, rtol=1e-6, atol=1e-6)
