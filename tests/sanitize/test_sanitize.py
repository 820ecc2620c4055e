"""The emitted C under gcc and clang: no warning, no address fault, no undefined behaviour.

Every function of the corpus, every example and every case file (a folder of them may be named by ADGEN_CASES) gives a
value, a gradient, a jvp, a vjp and what else it was written for.  They are compiled with sanitizers and run on its
inputs by each compiler; then every C file that came about is compiled with warnings as errors by each compiler.
With ADGEN_SANITIZE_REPORT a file is named that gets a line for each group: how many ran, raised, were refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sanitize.compilers import FLAGS, complaints, installed, sanitizer
from tests.sanitize.subjects import TESTS, groups

pytestmark = pytest.mark.slow
GROUPS = groups()
REPORT = "ADGEN_SANITIZE_REPORT"


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("compiler", installed())
def test_runs_clean(compiler: str, group: str, tmp_path: Path) -> None:
    """No sanitizer ends a run, and nothing warns about a file."""
    found = sanitizer(compiler)
    if found is None:
        pytest.skip(f"{compiler} has no address sanitizer here")
    lines = exercised(found.environment(tmp_path), GROUPS[group])
    sources = sorted((tmp_path / "cache" / "library").glob("*/*.c"))
    warned = {
        f"{compiler} {flags} {source.name}": text
        for source in sources
        for flags in FLAGS
        if (text := complaints(compiler, flags, source))
    }
    report(f"{compiler} {group}", lines, len(sources), len(warned))
    wrong = [line for line in lines if line["outcome"] in ("fault", "broken")]
    faults = [f"{line['name']} {line['product']}: {line['message']}" for line in wrong]
    assert not faults, "\n\n".join(faults)
    assert not warned, "\n\n".join(f"{name}: {text}" for name, text in warned.items())


@pytest.mark.parametrize(("control", "said"), [("address", "AddressSanitizer"), ("undefined", "runtime error")])
@pytest.mark.parametrize("compiler", installed())
def test_faults_are_seen(compiler: str, control: str, said: str, tmp_path: Path) -> None:
    """The sanitizers end a program that is wrong on purpose."""
    found = sanitizer(compiler)
    if found is None:
        pytest.skip(f"{compiler} has no address sanitizer here")
    done = run_module(found.environment(tmp_path), "control", control)
    assert done.returncode != 0 and said in done.stderr, done.stdout + done.stderr


def exercised(environment: dict[str, str], files: list[Path]) -> list[dict[str, Any]]:
    """The lines that the program prints about some files."""
    done = run_module(environment, "exercise", *map(str, files))
    assert done.returncode == 0, done.stderr[-4000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"name"')]


def run_module(environment: dict[str, str], module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a module of this folder in a Python of its own."""
    root = str(TESTS.parent)
    environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-m", f"tests.sanitize.{module}", *arguments]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def report(title: str, lines: list[dict[str, Any]], files: int, warned: int) -> None:
    """Append a line of figures to the file that the environment names."""
    path = os.environ.get(REPORT)
    if path:
        counts = Counter(line["outcome"] for line in lines)
        functions = len({line["name"] for line in lines})
        figures = {"group": title, "functions": functions, **counts, "files": files, "warned": warned}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(figures) + "\n")
