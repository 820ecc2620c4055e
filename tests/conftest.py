"""Shared by all tests: `--bless` rewrites golden files, and the compile cache is a fresh folder of the session.

No test measures which code is fast on this machine: ADGEN_TUNE is off.  Nor is what the tests compile fast: with
ADGEN_LEVEL=1 the C compiler takes a third of the time; `omp simd` loops use the vector unit at that level too.

Tests ask for the `bless` fixture (True with `--bless`).  A golden file must be executed before it is written, so that
a wrong result cannot be blessed.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--bless", action="store_true", help="write golden files anew from what is produced now")


def pytest_configure(config: pytest.Config) -> None:
    """One cache for all worker processes of a session; the process that made it removes it."""
    os.environ.setdefault("ADGEN_TUNE", "off")
    os.environ.setdefault("ADGEN_LEVEL", "1")
    if "ADGEN_CACHE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="adgen-test-cache-")
        os.environ["ADGEN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: _forget(folder))


def _forget(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.environ.pop("ADGEN_CACHE_DIR", None)


@pytest.fixture
def bless(request: pytest.FixtureRequest) -> bool:
    """True when golden files are to be written rather than compared."""
    return bool(request.config.getoption("--bless"))


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty compile cache for one test."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ADGEN_CACHE_DIR", str(folder))
    yield folder
