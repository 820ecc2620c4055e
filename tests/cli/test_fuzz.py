"""`adgen fuzz`: variants are equivalent programs, and a wrong rule is found."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen.ahead import Options, variant_runs
from adgen.ahead.fuzz import fuzz_file
from adgen.ahead.variants import CHANGES
from adgen.emit import Emitted
from adgen.emit import emit as true_emit

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = Options.parse(None, None, "value,jvp,vjp", (), ())

PROGRAM = """
def f(x, y):
    total = 0.0
    a = x * y
    b = x - y
    for i in range(3):
        total += a * i
        c = total * b
        d = a + i
        total += c / d
    for i in range(2, 5):
        total *= 0.5 + i
    if total > 3.0:
        total -= a
    return total + i
"""


def compiled(text: str):
    names: dict = {"np": np}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_a_variant_is_another_text_of_the_same_function(change: str) -> None:
    """Each kind of change applies somewhere, and Python gives the same number to the last bit."""
    tree = ast.parse(PROGRAM).body[0]
    texts = [ast.unparse(ast.fix_missing_locations(variant)) for variant in CHANGES[change](tree)]
    assert texts
    for text in texts:
        assert text != ast.unparse(tree)
        for x, y in ((1.3, 0.4), (-0.2, 2.0), (3.0, 3.0)):
            assert compiled(text)(x, y) == compiled(PROGRAM)(x, y)
    assert ast.unparse(tree) == PROGRAM.strip()


@pytest.mark.parametrize(
    ("change", "body"),
    [
        ("independent statements reordered", "a = x * y\nb = a + y\na = b\nreturn a"),
        ("an update out of place", "u = x * np.ones(2)\nv = u\nv += y\nreturn u[0]"),
        ("a loop unrolled", "t = x\nfor i in range(3):\n    if t > 1.0:\n        break\n    t += y\nreturn t"),
        ("a `for` as a `while`", "t = x\nfor i in range(3):\n    i = i + 1\n    t += i\nreturn t"),
        ("a variable renamed", "t = x\ng = lambda t: t\nreturn g(y)"),
    ],
)
def test_what_would_mean_something_else_is_left_alone(change: str, body: str) -> None:
    """Statements that depend on each other, arrays that share memory, loops that end early."""
    tree = ast.parse(f"def f(x, y):\n{textwrap.indent(body, '    ')}").body[0]
    assert list(CHANGES[change](tree)) == []


PLANTED = """
import adgen
import numpy as np


def _softplus(x):
    return np.log(1.0 + np.exp(x))


def _slope(x, out, moved):
    return moved * {slope}


softplus = adgen.{kind}(_softplus, _slope)


def model(w: "f64[n]", x: "f64[n]") -> float:
    total = 0.0
    scale = 2.0
    for i in range(len(w)):
        a = w[i] * x[i]
        b = x[i] + scale
        total += softplus(a) * b
    return total
"""


@pytest.mark.parametrize("kind", ["custom_vjp", "custom_jvp"])
@pytest.mark.parametrize(("slope", "status"), [("0.5", 1), ("(1.0 - np.exp(-out))", 0)])
def test_a_wrong_rule_is_found_and_shrunk(tmp_path: Path, kind: str, slope: str, status: int) -> None:
    """Two short programs, and status 1; the right rule is clean."""
    (tmp_path / "planted.py").write_text(PLANTED.format(kind=kind, slope=slope))
    command = [sys.executable, "-m", "adgen", "fuzz", "planted.py", "--variants", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert "derivative rules removed" in done.stdout
        assert done.stdout.count("def model") == 2
        assert "scale" not in done.stdout
    else:
        assert "3 variants agree, 2 different programs as C" in done.stdout


CLIPPING = """
import math
import adgen

triple = adgen.custom_vjp(lambda x: 3.0 * x, lambda x, out, bar: 3.0 * min(max(bar, -99.0), 99.0))


def model(x: float) -> float:
    y = 2.0 * x
    return triple(y) * math.sin(y)
"""


def test_a_rule_without_forward_mode(tmp_path: Path) -> None:
    """Value and reverse mode are compared."""
    (tmp_path / "clipping.py").write_text(CLIPPING)
    text, good = fuzz_file(tmp_path / "clipping.py", OPTIONS, 2, 0, lambda stage: None)
    assert good and text.startswith("model: 3 variants agree"), text


ELSEWHERE = """
import helpers


def model(x: float) -> float:
    y = 2.0 * x
    return y * helpers.cube(y)
"""
HELPERS = """
import adgen


def _cube(x):
    return x**3


cube = adgen.custom_jvp(_cube, lambda x, out, dot: 3.0 * x * dot)
"""


def test_a_wrong_rule_of_another_module_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the function with the rule comes from."""
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE)
    monkeypatch.syspath_prepend(tmp_path)
    text, good = fuzz_file(tmp_path / "elsewhere.py", OPTIONS, 1, 0, lambda stage: None)
    assert not good and "derivative rules removed changes the" in text


def test_wrong_c_is_found_and_shrunk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C that computes another sine than the interpreter."""

    def emit(functions: Any, name: str) -> Emitted:
        emitted = true_emit(functions, name)
        return replace(emitted, c_source=emitted.c_source.replace("= sin(", "= 1.5 * sin("))

    (tmp_path / "sine.py").write_text(
        "import math\ndef wave(x: float) -> float:\n    y = x + 1.0\n    z = math.sin(y)\n    return z * y\n"
    )
    monkeypatch.setattr(variant_runs, "emit", emit)
    text, good = fuzz_file(tmp_path / "sine.py", OPTIONS, 2, 0, lambda stage: None)
    assert not good and "wave: compilation changes the" in text
    assert "x + 1.0" not in text


def test_types_that_a_variant_alone_would_not_suggest(tmp_path: Path) -> None:
    """`range(steps)` says that it is an integer, `k < steps` does not: variants have the types of the function."""
    (tmp_path / "power.py").write_text(
        "def power(x, steps):\n    y = 1.0\n    for k in range(steps):\n        y *= x + k\n    return y\n"
    )
    text, good = fuzz_file(tmp_path / "power.py", OPTIONS, 12, 0, lambda stage: None)
    assert good, text
    assert "variants agree" in text


LARGE = ("demo", "bundle_adjustment", "kalman", "lstm")  # of which many variants take long
EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.stem not in LARGE)


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_are_clean(path: Path) -> None:
    """Variants of every example have its value and derivatives."""
    text, good = fuzz_file(path, OPTIONS, 3, 0, lambda stage: None)
    assert good, text
    assert "variants agree" in text
    assert "skipped" not in text
