"""Functions as formulas: LaTeX, and proofs of their derivatives."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from adgen import AdgenError
from adgen.ahead import Options, stage_text
from adgen.ahead.formulas import proofs
from adgen.ahead.source import functions, load
from adgen.ahead.units import subject
from adgen.symbolic.formulas import constant
from adgen.symbolic.proof import compare, is_zero

FILE = """
import math
import adgen
import numpy as np


def wave(x: float, rate: float) -> float:
    return math.exp(-rate * x) * math.sin(math.pi * x) / math.sqrt(2.0)


def weighted(x: "f64[n]", w: "f64[n]") -> float:
    return np.sum(w * x**2)


def horner(x: float) -> float:
    total = 0.0
    for k in range(4):
        total = total * x + k
    return total


def bent(x: float) -> float:
    if x > 1.0:
        return x * x
    return 2.0 * x - 1.0


def recurrence(x: float, n: int) -> float:
    for k in range(n):
        x = x * x + 1.0
    return x


def vector(x: "f64[n]"):
    return 2.0 * x


def squaring(x: float) -> float:
    for k in range(12):
        x = math.sin(x * x + x) + x
    return x


def third_power(x: float) -> float:
    return x**3


cube = adgen.custom_vjp(third_power, lambda x, out, bar: 3.0 * x * x * bar)
planted = adgen.custom_vjp(third_power, lambda x, out, bar: 2.0 * x * x * bar)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of the functions."""
    file = tmp_path_factory.mktemp("formulas") / "formulas.py"
    file.write_text(FILE)
    return file


def shown(path: Path, function: str) -> list[str]:
    return stage_text(path, Options(function=function), "latex").splitlines()


def test_straight_line_code(path: Path) -> None:
    """A line for the function and one for each derivative; constants are what the program says."""
    assert shown(path, "wave") == [
        r"\mathrm{wave}(x, rate) = \frac{\sqrt{2} e^{- rate x} \sin{\left(\pi x \right)}}{2}",
        r"\frac{\partial \mathrm{wave}}{\partial x} = "
        r"\frac{\sqrt{2} \left(- rate \sin{\left(\pi x \right)} + \pi \cos{\left(\pi x \right)}\right) "
        r"e^{- rate x}}{2}",
        r"\frac{\partial \mathrm{wave}}{\partial rate} = - \frac{\sqrt{2} x e^{- rate x} \sin{\left(\pi x \right)}}{2}",
    ]


def test_loops_are_sums(path: Path) -> None:
    """A loop over an array is a sum, whose derivative for an element is a term of it."""
    value, slope, _ = shown(path, "weighted")
    assert value == r"\mathrm{weighted}(x, w) = \sum_{i=0}^{n_{x} - 1} {w}_{i} {x}_{i}^{2}"
    assert r"2 {w}_{a} {x}_{a} & \text{for}\: a \geq 0 \wedge a - n_{x} \leq -1" in slope


def test_short_loops_are_written_out(path: Path) -> None:
    """A loop over a few numbers is straight-line code."""
    assert shown(path, "horner")[0].endswith(r"= x \left(x + 2\right) + 3")


def test_branches_are_cases(path: Path) -> None:
    """A branch is a choice of formulas."""
    assert (
        r"\begin{cases} x^{2} & \text{for}\: x > 1 \\2 x - 1 & \text{otherwise} \end{cases}" in shown(path, "bent")[0]
    )


@pytest.mark.parametrize(
    ("function", "message"),
    [("recurrence", "no sum or product"), ("vector", "gives an array|this write"), ("squaring", "too large")],
)
def test_what_is_no_formula(path: Path, function: str, message: str) -> None:
    """What cannot be written down is refused at its line."""
    with pytest.raises(AdgenError, match=message) as caught:
        shown(path, function)
    assert caught.value.code == "AD180"
    assert caught.value.span is not None


@pytest.mark.parametrize(
    ("number", "wanted"),
    [(0.1, "1/10"), (3.141592653589793, "pi"), (2**0.5, "sqrt(2)"), (-(0.5**0.5), "-sqrt(2)/2"), (1e-30, "1e-30"),
     (2.302585092994046, "log(10)"), (1.1283791670955126, "2/sqrt(pi)"), (0.0, "0"), (123456.75, "493827/4")],
)  # fmt: skip
def test_constants(number: float, wanted: str) -> None:
    """A constant is the simplest number that rounds to it."""
    assert constant(number) == sp.nsimplify(sp.sympify(wanted, rational=True))


# -- proofs ------------------------------------------------------------------------------------------------------------


def of(path: Path, name: str, **arguments: float):
    (function,) = functions(load(path), name)
    return proofs(subject(function, Options(function=name), {}), arguments)


def test_derivatives_are_proved(path: Path) -> None:
    """Both modes are those of the formula, by algebra."""
    for name, arguments in (("wave", {"x": 0.3, "rate": 0.7}), ("cube", {"x": 0.7})):
        reports = of(path, name, **arguments)
        assert [report.product for report in reports] == ["jvp", "vjp"]
        assert all(report.passed and report.remark == "proved" for report in reports)


def test_a_wrong_rule_is_disproved(path: Path) -> None:
    """A rule that is not the derivative of the function's formula fails in both modes."""
    assert [report.passed for report in of(path, "planted", x=0.7)] == [False, False]


def test_no_proof_without_a_formula(path: Path) -> None:
    """Loops and branches are left to the other checks."""
    assert of(path, "bent", x=0.7) == of(path, "recurrence", x=0.7, n=3) == []


def test_comparison_sees_small_differences() -> None:
    """A difference of a millionth is one, and equality that needs an identity is shown by numbers only."""
    x = sp.Symbol("x", real=True)
    assert compare([x**2 + sp.Rational(1, 10**6)], [x**2], {x: (0.5, 1.0)}).difference > 1e-7
    found = compare([sp.sin(x) ** 2 + sp.cos(x) ** 2], [sp.Integer(1)], {x: (0.5, 1.0)})
    assert (found.proved, found.points, found.difference < 1e-25) == (False, 8, True)
    assert is_zero((x**2 - 1) / (x - 1) - x - 1)
    assert not is_zero(x - sp.Rational(1, 10**30))
