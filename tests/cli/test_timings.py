"""`adgen compile --timings`: seconds by stage, and by pass within a stage."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from adgen.ahead.report import Report
from adgen.cli.app import app
from adgen.passes.pipeline import EMITTED

SECONDS = {"reading": 0.5, "optimising: fold": 0.25, "optimising: lanes": 1.0, "optimising": 1.5, "compiling C": 2.0}


@pytest.mark.quick
def test_parts_stand_below_their_stage() -> None:
    """In the order of the stages, and only the stages are added up."""
    report = Report("f.py", "f_ad", "cc", (), seconds=SECONDS)
    assert [line.split() for line in report.timings().splitlines()] == [
        ["reading", "0.500", "s"],
        ["optimising", "1.500", "s"],
        ["fold", "0.250", "s"],
        ["lanes", "1.000", "s"],
        ["compiling", "C", "2.000", "s"],
        ["together", "4.000", "s"],
    ]
    assert "time: reading 0.50 s, optimising 1.50 s, compiling C 2.00 s" in report.text()


def test_the_command_says_how_long_each_stage_takes(tmp_path: Path) -> None:
    """Every stage and every pass is there."""
    file = tmp_path / "wave.py"
    file.write_text("import numpy as np\ndef wave(x: float):\n    return np.sin(x) * x\n")
    done = CliRunner().invoke(
        app, ["compile", str(file), "--out", str(tmp_path / "build"), "--emit", "grad", "--timings"]
    )
    assert done.exit_code == 0, done.output
    said = done.output.partition("\nreading ")[2]
    stages = ("importing", "lowering", "differentiating", "optimising", "writing C", "compiling C", "checking")
    assert [name for name in stages if f"\n{name} " not in said] == []
    assert [each.__name__ for each in EMITTED if f"\n  {each.__name__} " not in said] == []
