"""What emitted CUDA looks like: gradients of the functions in `golden/programs.py`, run before their text is compared.

The file is compiled as `adgen compile --target cuda-emulated` does, which checks every derivative of the compiled code
against the Python function.  `golden/NAME.cu` has the kernels of a gradient and its function of the host; `pytest
--bless` writes them anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adgen.ahead import Options, compile_file

GOLDEN = Path(__file__).parent / "golden"
NAMES = ("blend", "spread", "picked", "repulsion", "decays", "layer", "lengths", "walk")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The CUDA text of all gradients, of a package that has passed its checks."""
    out = tmp_path_factory.mktemp("golden")
    options = Options.parse(None, None, "value,grad", (), target="cuda-emulated")
    report = compile_file(GOLDEN / "programs.py", out, options, lambda stage: None)
    assert {function.name: len(function.checks) > 2 for function in report.functions} == dict.fromkeys(NAMES, True)
    assert report.passed
    return (out / "programs_ad" / "programs.cu").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str, source: str, bless: bool) -> None:
    """The text of a gradient is the one on file."""
    text = source[source.index(f"/* {name}_grad: ") : source.index(f"/* {name}_value_and_grad: ")]
    file = GOLDEN / f"{name}.cu"
    if bless:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_only_what_may_meet_is_atomic(source: str) -> None:
    """Additions by an array of places are atomic, and the text says why; no others are."""
    found = re.findall(r"atomicAdd\(&(\w+)\[.*?\*/", source, re.DOTALL)
    assert set(found) == {"values_bar"}


def test_kernels_have_the_lines_of_the_python_program(source: str) -> None:
    """Every line of the programs that computes something stands above the statements that came from it."""
    lines = (GOLDEN / "programs.py").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if re.match(r"\s+(\w+ [+-]?= |\w+\[.*\] = |return np)", line) and not re.search(r"copy|= 0\.0$", line):
            assert f"programs.py:{number}  {line.strip()}" in source
