"""`adgen check` looks at every derivative rule alone: an error that the function hides is found, and placed."""

from __future__ import annotations

from pathlib import Path

import pytest

from adgen.ahead import Options, check_file, compile_file
from adgen.diagnostics import AdgenError

HEAD = """import math
import numpy as np
import adgen


"""
MASKED = """def _soft(x, k):
    return np.log(1.0 + np.exp(x)) * k


def _soft_pull(x, k, out, bar):
    p = 1.0 / (1.0 + np.exp(-x))
    return bar * p * k * np.array([1.0, 1.0, {factor}]), np.sum(bar * out / k)


soft = adgen.custom_vjp(_soft, _soft_pull)


def model(w: "f64[3]", x: "f64[3]") -> float:
    y = soft(w * x, 2.0)
    return y[0] * y[1] + 0.0 * y[2]
"""
PUSHED = """def _turned(x, y):
    return x * math.cos(y), x * math.sin(y)


def _turned_push(x, y, out, dots):
    c, s = math.cos(y), math.sin(y)
    return dots[0] * c - x * s * dots[1], dots[0] * s + {factor} * x * c * dots[1]


turned = adgen.custom_jvp(_turned, _turned_push)


def model(a: float, b: float) -> float:
    total = 0.0
    for i in range(4):
        u, v = turned(a, b * i)
        total += u * u + 0.0 * v
    return total
"""
SAVING = """def _cube(x):
    return x**3


def _cube_forward(x):
    return x**3, x


cube = adgen.custom_vjp(_cube, lambda x, bar: {factor} * 3.0 * x**2 * bar, forward=_cube_forward)


def inner(x):
    return cube(x) * x


def model(x: float) -> float:
    return 0.0 * adgen.grad(inner)(x) + x
"""
CASES = [
    pytest.param(MASKED, "`_soft_pull` (subject.py:10)", "d result[2] / d x[2]", id="vjp"),
    pytest.param(PUSHED, "`_turned_push` (subject.py:10)", "d result[1] / d y", id="jvp"),
    pytest.param(SAVING, "`<lambda>` (subject.py:14)", "d result / d x", id="saving, in a gradient"),
]


def checked(folder: Path, text: str):
    """The report on `model`."""
    folder.mkdir(exist_ok=True)
    path = folder / "subject.py"
    path.write_text(HEAD + text)
    options = Options.parse("model", None, "value,grad,jvp,vjp", (), ())
    return check_file(path, options, lambda stage: None)


@pytest.mark.parametrize(("text", "rule", "entry"), CASES)
def test_an_error_that_the_function_hides_is_found(tmp_path: Path, text: str, rule: str, entry: str) -> None:
    """One part in a million of one entry, times zero, or where it cancels: the rule's name, line and entry are told."""
    with pytest.raises(AdgenError, match="fails its check") as caught:
        checked(tmp_path, text.replace("{factor}", "1.000001"))
    wrong = str(caught.value).splitlines()[1:-1]
    assert len(wrong) == 1, wrong
    assert rule in wrong[0] and entry in wrong[0], wrong[0]


@pytest.mark.parametrize(("text", "rule", "entry"), CASES)
def test_a_right_rule_passes(tmp_path: Path, text: str, rule: str, entry: str) -> None:
    """And the report says that it was looked at."""
    report = checked(tmp_path, text.replace("{factor}", "1.0"))
    assert any(rule in check.name and check.passed for check in report.functions[0].checks)


CLIPPING = """def _triple(x):
    return 3.0 * x


triple = adgen.custom_vjp(_triple, lambda x, out, bar: {factor} * 3.0 * min(max(bar, -9.0), 9.0))


def model(x: float) -> float:
    return triple(x) * math.sin(x)
"""


def test_a_rule_without_forward_mode_is_checked_in_reverse(tmp_path: Path) -> None:
    """It clips: there is no jvp, which the report says, and what there is, is checked and written."""
    (function,) = checked(tmp_path, CLIPPING.replace("{factor}", "1.0")).functions
    assert any("no jvp" in remark for remark in function.remarks)
    assert {check.product for check in function.checks} >= {"vjp", "grad", "`_triple` vjp"}
    only = Options.parse("model", None, "value,grad", (), ())
    assert compile_file(tmp_path / "subject.py", tmp_path / "out", only, lambda stage: None).passed
    with pytest.raises(AdgenError, match="not linear"):
        forward = Options.parse("model", None, "jvp", (), ())
        compile_file(tmp_path / "subject.py", tmp_path / "out", forward, lambda stage: None)
    with pytest.raises(AdgenError, match="model`, vjp: differences is off(.|\n)*rule `<lambda>`"):
        checked(tmp_path / "wrong", CLIPPING.replace("{factor}", "1.01"))


def test_rules_of_the_library_are_left_alone(tmp_path: Path) -> None:
    """What `adgen.hook` is given is not a derivative, and the rules of solvers have tests of their own."""
    text = "def model(x: float) -> float:\n    return np.linalg.det(x * np.eye(2)) * adgen.hook(x, half)\n"
    report = checked(tmp_path, f"def half(bar):\n    return bar\n\n\n{text}")
    assert not any("rule" in check.name for check in report.functions[0].checks)
