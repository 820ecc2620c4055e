"""The cache of compiled code: complete or absent, whoever asks at the same time and whoever is killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import UNFINISHED, cache_folder, cached, digest, recall, remember

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = """
import sys, time
from pathlib import Path
from adgen.toolchain.cache import cached
def fill(folder):
    (folder / "half").write_text("half")
    print("filling", flush=True)
    time.sleep(60)
cached("library", "k" * 32, fill)
"""


def test_digest_tells_parts_apart() -> None:
    """Moving text from one part to another gives another name; the same parts give the same."""
    assert digest("ab", "c") != digest("a", "bc") != digest("abc")
    assert digest("ab", "c") == digest("ab", "c")
    assert digest("\udce9")  # a file name that is not UTF-8


def test_what_is_there_is_not_made_again(fresh_cache: Path) -> None:
    """`fill` is called once."""
    calls = []

    def fill(folder: Path) -> None:
        calls.append(folder)
        (folder / "file").write_text("x")

    first, second = cached("kind", "aa11", fill), cached("kind", "aa11", fill)
    assert first == second == fresh_cache / "kind" / "aa11"
    assert len(calls) == 1 and (first / "file").read_text() == "x"


def test_a_failed_fill_leaves_nothing(fresh_cache: Path) -> None:
    """The error passes through, and the next one starts anew."""

    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise AdgenError("AD503", "no")

    with pytest.raises(AdgenError, match="no"):
        cached("kind", "aa11", fail)
    assert not (fresh_cache / "kind" / "aa11").exists()
    assert not list((fresh_cache / "kind" / UNFINISHED).iterdir())


def test_a_killed_fill_leaves_nothing_that_is_taken_for_finished(fresh_cache: Path) -> None:
    """A process killed in the middle; the next one fills the folder and removes what the first one left."""
    process = subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert process.stdout is not None and process.stdout.readline() == "filling\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert not (fresh_cache / "library" / ("k" * 32)).exists()
    assert list((fresh_cache / "library" / UNFINISHED).iterdir())
    folder = cached("library", "k" * 32, lambda folder: (folder / "whole").write_text("whole") and None)
    assert [path.name for path in folder.iterdir()] == ["whole"]
    assert not list((fresh_cache / "library" / UNFINISHED).iterdir())


def slowly(folder: Path) -> None:
    """Fill a folder so slowly that another process has to wait."""
    (folder / "pid").write_text(str(os.getpid()))
    time.sleep(0.3)
    (folder / "done").write_text("done")


def ask(queue: multiprocessing.Queue[str]) -> None:
    """One of several processes."""
    folder = cached("kind", "bb22", slowly)
    assert (folder / "done").exists()
    queue.put((folder / "pid").read_text())


def test_processes_that_ask_at_once_share_one_folder(fresh_cache: Path) -> None:
    """One of them fills it, the others wait for it."""
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=ask, args=(queue,)) for _ in range(4)]
    for process in processes:
        process.start()
    answers = {queue.get(timeout=20) for _ in processes}
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert len(answers) == 1


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file where the folder should be: the error says where and what to do."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ADGEN_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(AdgenError) as raised:
        cached("kind", "aa11", lambda folder: None)
    assert raised.value.code == "AD501" and "ADGEN_CACHE_DIR" in str(raised.value)
    remember("kind", "key", ["x"])  # what is only remembered is not missed
    assert recall("kind", "key") is None


def test_what_is_remembered_is_recalled(fresh_cache: Path) -> None:
    """A file that is not what was written is ignored."""
    assert recall("kind", "key") is None
    remember("kind", "key", ["a", "ü"])
    assert recall("kind", "key") == ["a", "ü"]
    (cache_folder() / "kind" / "key.json").write_text('{"half')
    assert recall("kind", "key") is None
