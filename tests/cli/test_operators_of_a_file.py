"""`adgen compile` of what operators make of functions, under the names that a file gives them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import adgen

SOURCE = """
import numpy as np
import adgen

def energy(x: "f64[n]") -> float:
    return np.sum(np.sin(x) * x)

slope = adgen.grad(energy)
forces = adgen.vmap(adgen.grad(energy))
_hidden = adgen.jit(energy)
"""


def compiled(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "adgen", "compile", "m.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_operators_have_entry_points(tmp_path: Path) -> None:
    """A gradient and a batch of them: functions like any other, whose derivatives are second ones; checked."""
    (tmp_path / "m.py").write_text(SOURCE)
    done = compiled(tmp_path, "--emit", "value,vjp", "--arg", "x: f64[n]")
    assert done.returncode == 0 and done.stdout.count("differences") == 3, done.stderr
    package = adgen.load(tmp_path / "build" / "m_ad")
    x = np.array([0.5, 1.5])
    np.testing.assert_allclose(package.slope(x), np.cos(x) * x + np.sin(x))
    _, pullback = package.slope_vjp(x)
    np.testing.assert_allclose(pullback(np.ones(2)), 2.0 * np.cos(x) - np.sin(x) * x)
    assert not any("hidden" in name for name in dir(package))
    done = compiled(tmp_path, "forces", "--emit", "value", "--arg", "x: f64[m,n]", "--out", "other")
    assert done.returncode == 0 and "forces(x: f64[m,n])" in done.stdout, done.stderr
    package = adgen.load(tmp_path / "other" / "m_ad")
    rows = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(package.forces(rows), np.cos(rows) * rows + np.sin(rows))
