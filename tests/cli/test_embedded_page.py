"""The files and commands on the page `docs/embedded.md` give what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "embedded.md"


def test_the_page(tmp_path: Path) -> None:
    """Each command prints what stands below it; `...` stands for any lines."""
    blocks = re.findall(r"```(\w*)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (source, main, session) = [next(text for kind, text in blocks if kind == name) for name in ("python", "c", "")]
    (tmp_path / "swing.py").write_text(source, encoding="utf-8")
    (tmp_path / "main.c").write_text(main, encoding="utf-8")
    for part in session.split("$ ")[1:]:
        command, _, shown = part.partition("\n")
        words = command.split()
        line = [sys.executable, "-m", "adgen", *words[1:]] if words[0] == "adgen" else words
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=dict(os.environ))
        assert done.returncode == 0, done.stderr
        pattern = re.escape(shown).replace(re.escape("...\n"), "(.*\n)*")
        assert re.fullmatch(pattern, done.stdout), done.stdout
