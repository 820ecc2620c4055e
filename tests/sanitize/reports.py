"""What a program says of many functions, a line of JSON for each, and what is made of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.sanitize.subjects import TESTS

REPORT = "ADGEN_SANITIZE_REPORT"
Line = dict[str, Any]


def run_module(module: str, environment: Mapping[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the tests in a Python of its own."""
    root = str(TESTS.parent)
    path = os.pathsep.join([root, *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-m", module, *arguments]
    given = {**environment, "PYTHONPATH": path}
    return subprocess.run(command, cwd=root, env=given, capture_output=True, text=True, check=False)


def lines_of(module: str, environment: Mapping[str, str], *arguments: str) -> list[Line]:
    """The lines that a program prints."""
    done = run_module(module, environment, *arguments)
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]


def told(lines: list[Line], *outcomes: str) -> list[str]:
    """What is said of the products that ended in one of some ways."""
    found = [line for line in lines if line["outcome"] in outcomes]
    return [f"{line['name']} {line['product']}: {line['outcome']}: {line['message']}" for line in found]


def report(title: str, lines: list[Line], **more: int) -> None:
    """Append a line of figures to the file that the environment names."""
    path = os.environ.get(REPORT)
    if path:
        counts = Counter(line["outcome"] for line in lines)
        functions = len({line["name"] for line in lines})
        figures = {"group": title, "functions": functions, **counts, **more}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
