"""A folder is written whole or not at all."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from adgen.ahead.folder import MARK, read_folder, write_folder
from adgen.diagnostics import AdgenError

pytestmark = pytest.mark.quick


def test_round_trip(tmp_path: Path) -> None:
    """What is written is read back, subfolders included."""
    contents = {MARK: b"{}", "ir/f.ir": b"text"}
    write_folder(tmp_path / "deep" / "f_ad", contents)
    assert read_folder(tmp_path / "deep" / "f_ad") == contents


def test_replaces_the_old(tmp_path: Path) -> None:
    """A second write leaves nothing of the first, and no temporary files."""
    write_folder(tmp_path / "f_ad", {MARK: b"1", "old": b""})
    write_folder(tmp_path / "f_ad", {MARK: b"2"})
    assert read_folder(tmp_path / "f_ad") == {MARK: b"2"}
    assert [path.name for path in tmp_path.iterdir()] == ["f_ad"]


def test_foreign_folder_is_kept(tmp_path: Path) -> None:
    """A folder that adgen did not write is not replaced."""
    (tmp_path / "f_ad").mkdir()
    (tmp_path / "f_ad" / "thesis.txt").write_text("precious")
    with pytest.raises(AdgenError, match="was not written by adgen"):
        write_folder(tmp_path / "f_ad", {MARK: b""})
    assert (tmp_path / "f_ad" / "thesis.txt").read_text() == "precious"


def test_unwritable_place(tmp_path: Path) -> None:
    """A place that cannot be written is an AdgenError."""
    (tmp_path / "file").write_text("")
    with pytest.raises(AdgenError, match="cannot be written"):
        write_folder(tmp_path / "file" / "f_ad", {MARK: b""})


def test_sweeps_what_a_killed_writer_left(tmp_path: Path) -> None:
    """Leftovers of a process that is gone are removed; those of a living one are not."""
    gone, living = tmp_path / ".f_ad.999999999.x", tmp_path / ".f_ad.1.x"
    gone.mkdir()
    living.mkdir()
    write_folder(tmp_path / "f_ad", {MARK: b""})
    assert not gone.exists() and living.exists()


def _write_often(target: Path, tag: str) -> None:
    for _ in range(30):
        write_folder(target, {MARK: tag.encode(), "twin": tag.encode()})


def test_concurrent_writers(tmp_path: Path) -> None:
    """Processes that write the same folder all succeed, and the last one's files are there together."""
    processes = [multiprocessing.Process(target=_write_often, args=(tmp_path / "f_ad", str(i))) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    contents = read_folder(tmp_path / "f_ad")
    assert contents[MARK] == contents["twin"]
