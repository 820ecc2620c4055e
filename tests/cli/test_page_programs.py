"""The snippets of a page of the documentation are a program that runs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["derivatives", "tour"])
def test_the_page_runs(page: str, tmp_path: Path) -> None:
    """What the snippets assert holds."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
