"""The README says nothing that a command does not show; `--bless` puts in what is emitted now."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import adgen

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of the README, compiled."""
    out = tmp_path_factory.mktemp("build")
    command = [sys.executable, "-m", "adgen", "compile", "examples/rosenbrock.py", "--out", str(out)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, env=dict(os.environ))
    return out / "rosenbrock_ad"


def gradient(source: str) -> str:
    """The C function `rosenbrock_grad`."""
    found = re.search(r"^int rosenbrock_grad\(.*?^}$", source, re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[0]


def test_python_is_the_example() -> None:
    """The Python at the top is that of the example."""
    (block,) = re.findall(r"```python\n(def rosenbrock.*?)```", README.read_text(), re.DOTALL)
    assert block in (ROOT / "examples" / "rosenbrock.py").read_text()


def test_c_is_what_is_emitted(package: Path, bless: bool) -> None:
    """The C at the top is what the command writes."""
    emitted = gradient((package / "rosenbrock.c").read_text())
    text = README.read_text()
    if bless:
        text = re.sub(r"```c\n.*?\n```", lambda _: f"```c\n{emitted}\n```", text, count=1, flags=re.DOTALL)
        README.write_text(text)
    (block,) = re.findall(r"```c\n(.*?)\n```", text, re.DOTALL)
    assert block == emitted


def test_cuda_is_what_is_emitted(bless: bool) -> None:
    """The kernel in the section on GPUs is what the command there shows."""
    command = [sys.executable, "-m", "adgen", "show", "examples/rosenbrock.py", "rosenbrock", "--stage", "cuda"]
    shown = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, env=dict(os.environ)).stdout
    found = re.search(r"^/\* rosenbrock_grad: .*?^}$", shown, re.DOTALL | re.MULTILINE)
    assert found is not None
    text = README.read_text()
    if bless:
        text = re.sub(r"```cpp\n.*?\n```", lambda _: f"```cpp\n{found[0]}\n```", text, count=1, flags=re.DOTALL)
        README.write_text(text)
    (block,) = re.findall(r"```cpp\n(.*?)\n```", text, re.DOTALL)
    assert block == found[0]


def test_session_on_a_device() -> None:
    """The session in the section on GPUs gives the numbers that it shows."""
    (session,) = re.findall(r"```python\n(>>> with adgen.target.*?)```", README.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest(session, {"adgen": adgen, "np": np}, "README", None, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_numbers(package: Path) -> None:
    """The session at the top gives the numbers that it shows."""
    result = adgen.load(package).rosenbrock_grad(np.array([0.5, 0.5, 0.5]))
    (shown,) = re.findall(r"rosenbrock_grad\(.*?\)\)\n(.*)\n", README.read_text())
    assert repr(result) == shown
