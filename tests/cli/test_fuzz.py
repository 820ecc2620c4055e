"""`adgen fuzz`: variants are equivalent programs, and a wrong rule is found."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from adgen.ahead import Options
from adgen.ahead.fuzz import fuzz_file
from adgen.ahead.variants import CHANGES

ROOT = Path(__file__).resolve().parents[2]

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


def _slope(x, out, bar):
    return bar * {slope}


softplus = adgen.custom_vjp(_softplus, _slope)


def model(w: "f64[n]", x: "f64[n]") -> float:
    total = 0.0
    scale = 2.0
    for i in range(len(w)):
        a = w[i] * x[i]
        b = x[i] + scale
        total += softplus(a) * b
    return total
"""


@pytest.mark.parametrize(("slope", "status"), [("0.5", 1), ("(1.0 - np.exp(-out))", 0)])
def test_a_wrong_rule_is_found_and_shrunk(tmp_path: Path, slope: str, status: int) -> None:
    """Two short programs, and status 1; the right rule is clean."""
    (tmp_path / "planted.py").write_text(PLANTED.format(slope=slope))
    command = [sys.executable, "-m", "adgen", "fuzz", "planted.py", "--variants", "2"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    if status:
        assert "derivative rules removed" in done.stdout
        assert done.stdout.count("def model") == 2
        assert "scale" not in done.stdout
    else:
        assert "3 variants agree" in done.stdout


EXAMPLES = sorted(path for path in (ROOT / "examples").glob("*.py") if path.name != "demo.py")


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_are_clean(path: Path) -> None:
    """Variants of every example have its value and derivatives."""
    options = Options.parse(None, None, "value,jvp,vjp", (), ())
    text, good = fuzz_file(path, options, 3, 0, lambda stage: None)
    assert good, text
    assert "variants agree" in text
    assert "skipped" not in text
