"""The snippets of `docs/derivatives.md` are a program that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "derivatives.md"


def test_the_page_runs(tmp_path: Path) -> None:
    """What the snippets assert holds."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
