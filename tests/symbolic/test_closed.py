"""`adgen compile --closed-form`: formulas where they take fewer operations, and what says which were taken."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adgen
from adgen.ahead.closed import closed, cost
from adgen.ahead.units import unit_of
from adgen.driver import lower_function
from adgen.frontend.specs import ScalarSpec
from adgen.ir.interpret import run
from adgen.runtime.wrt import resolve

SOURCE = """
import math

def wave(x: float, a: float) -> float:
    return math.sin(a * x) ** 2 + math.cos(a * x) ** 2 * math.exp(-x) * math.exp(x / 2)

def soft(x: float) -> float:
    return math.log(1.0 + math.exp(x)) - math.log(1.0 + math.exp(-x))

def kinked(x: float) -> float:
    return abs(x) * x

def looped(x: float, n: int) -> float:
    for _ in range(n):
        x = math.sin(x)
    return x
"""


def wave(x, a):
    return math.sin(a * x) ** 2 + math.cos(a * x) ** 2 * math.exp(-x) * math.exp(x / 2)


def blend(x, y, z):
    return (x * y + y * z + z * x) ** 3 / (1.0 + x * x)


@pytest.mark.parametrize("product", ["grad", "value_and_grad", "hessian", "jacobian"])
@pytest.mark.parametrize("function", [wave, blend], ids=["wave", "blend"])
def test_the_cheaper_one_is_taken(function, product: str) -> None:
    """With the same results, and never more operations."""
    count = function.__code__.co_argcount
    specs = dict.fromkeys(function.__code__.co_varnames[:count], ScalarSpec())
    primal, wrt = lower_function(function, specs), resolve(None, specs, "f")
    unit, pure = unit_of(primal, wrt, product), unit_of(primal, None, "pure")
    made, remark = closed(primal, pure, unit)
    assert cost(made.optimised) <= cost(unit.optimised)
    assert remark.startswith(f"{product}: ") and str(cost(unit.optimised)) in remark
    assert (made is unit) == ("not taken" in remark)
    for point in np.random.default_rng(1).uniform(0.3, 2.0, (5, count)):
        expected = run(unit.optimised, list(point)).results
        np.testing.assert_allclose(run(made.optimised, list(point)).results, expected, rtol=1e-11)
    if (function, product) == (wave, "hessian"):
        assert made is not unit and cost(made.optimised) < 0.7 * cost(unit.optimised)


def test_command(tmp_path: Path) -> None:
    """The report says what was taken; nothing is said of what has kinks or loops; all are checked as ever."""
    (tmp_path / "m.py").write_text(SOURCE)
    command = [sys.executable, "-m", "adgen", "compile", "m.py", "--emit", "value,grad,hessian", "--closed-form"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    notes = [line for line in done.stdout.splitlines() if "closed form" in line]
    assert len(notes) == 6 and done.stdout.count("differences") == 4
    package = adgen.load(tmp_path / "build" / "m_ad")
    assert package.soft_grad(0.3) == 1.0 and package.soft_hessian(0.3) == 0.0
    assert package.soft_value_and_grad(0.3) == pytest.approx((0.3, 1.0))
    gradient = package.wave_grad(0.4, 1.3)
    assert gradient == pytest.approx(adgen.grad(wave)(0.4, 1.3), rel=1e-12)
