"""The emitted C under gcc and clang: no warning, no address fault, no undefined behaviour.

Every function of the corpus, every example and every case file (a folder of them may be named by ADGEN_CASES) gives a
value, a gradient, a jvp, a vjp and what else it was written for.  They are compiled with sanitizers and run on its
inputs by each compiler; then every C file that came about is compiled with warnings as errors by each compiler.
With ADGEN_SANITIZE_REPORT a file is named that gets a line for each group: how many ran, raised, were refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sanitize.compilers import FLAGS, complaints, installed, sanitizer
from tests.sanitize.reports import lines_of, report, run_module, told
from tests.sanitize.subjects import groups

pytestmark = pytest.mark.slow
GROUPS = groups()


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("compiler", installed())
def test_runs_clean(compiler: str, group: str, tmp_path: Path) -> None:
    """No sanitizer ends a run, and nothing warns about a file."""
    found = sanitizer(compiler)
    if found is None:
        pytest.skip(f"{compiler} has no address sanitizer here")
    lines = lines_of("tests.sanitize.exercise", found.environment(tmp_path), *map(str, GROUPS[group]))
    sources = sorted((tmp_path / "cache" / "library").glob("*/*.c"))
    warned = {
        f"{compiler} {flags} {source.name}": text
        for source in sources
        for flags in FLAGS
        if (text := complaints(compiler, flags, source))
    }
    report(f"{compiler} {group}", lines, files=len(sources), warned=len(warned))
    faults = told(lines, "fault", "broken")
    assert not faults, "\n\n".join(faults)
    assert not warned, "\n\n".join(f"{name}: {text}" for name, text in warned.items())


@pytest.mark.parametrize(("control", "said"), [("address", "AddressSanitizer"), ("undefined", "runtime error")])
@pytest.mark.parametrize("compiler", installed())
def test_faults_are_seen(compiler: str, control: str, said: str, tmp_path: Path) -> None:
    """The sanitizers end a program that is wrong on purpose."""
    found = sanitizer(compiler)
    if found is None:
        pytest.skip(f"{compiler} has no address sanitizer here")
    done = run_module("tests.sanitize.control", found.environment(tmp_path), control)
    assert done.returncode != 0 and said in done.stderr, done.stdout + done.stderr
