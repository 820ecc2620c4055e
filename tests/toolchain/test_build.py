"""From C text to a loaded module, and every way that can fail."""

from __future__ import annotations

import subprocess
import sysconfig
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.emit import emit
from adgen.ir.reader import parse_function
from adgen.toolchain import build, cc, find_compiler, load

pytestmark = pytest.mark.quick

DOUBLE = """function double(%x: f64) -> (out) {
  %out = add %x, %x : f64
  return %out
}"""
SPIN = """function spin(%n: i64) -> (out) {
  %z = const {type="i64", value=0} : i64
  %x = const {type="f64", value=0.0} : f64
  %out = for %z, %n, %x {exit=false, step=1} (%i: i64, %y: f64) {
    %next = cos %y : f64
    yield %next
  } : f64
  return %out
}"""


def emitted(text: str = DOUBLE, name: str = "m") -> object:
    return emit([parse_function(text, ops.ROWS)], name)


@pytest.fixture
def fresh_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing known about compilers in this process."""
    cc._find.cache_clear()


def test_build_and_load(fresh_cache: Path) -> None:
    """The library is where the cache says; it is loaded once, and found again."""
    path = build(emitted())
    assert path.is_relative_to(fresh_cache) and path.name.endswith(sysconfig.get_config_var("EXT_SUFFIX"))
    module = load(path)
    assert load(path) is module
    out, detail = module.ffi.new("double *"), module.ffi.new("int64_t[2]")
    assert module.lib.double_(1.5, out, module.ffi.NULL, detail) == 0 and out[0] == 3.0
    assert build(emitted()) == path


def test_what_is_left_in_the_cache_is_what_a_reader_wants(fresh_cache: Path) -> None:
    """The C, its header and the library; no object files."""
    folder = build(emitted()).parent
    assert {path.suffix for path in folder.iterdir()} == {".c", ".h", ".so"}


def test_modules_of_one_name_do_not_meet(fresh_cache: Path) -> None:
    """Two builds under the same module name are two modules."""
    first, second = load(build(emitted())), load(build(emitted(DOUBLE.replace("add", "mul"))))
    out, detail = first.ffi.new("double *"), first.ffi.new("int64_t[2]")
    first.lib.double_(3.0, out, first.ffi.NULL, detail)
    assert out[0] == 6.0
    out = second.ffi.new("double *")
    second.lib.double_(3.0, out, second.ffi.NULL, second.ffi.new("int64_t[2]"))
    assert out[0] == 9.0


def test_the_key_covers_flags_and_compiler(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command line is another library."""
    first = build(emitted())
    monkeypatch.setenv("CC", "cc -DOTHER")
    assert build(emitted()) != first


def test_the_gil_is_released(fresh_cache: Path) -> None:
    """Python runs on while C computes."""
    module = load(build(emitted(SPIN)))
    out, detail = module.ffi.new("double *"), module.ffi.new("int64_t[2]")
    thread = threading.Thread(target=lambda: module.lib.spin(20_000_000, out, module.ffi.NULL, detail))
    before = time.perf_counter()
    thread.start()
    longest = 0.0
    while thread.is_alive():
        now = time.perf_counter()
        time.sleep(0.001)
        longest = max(longest, time.perf_counter() - now)
    whole = time.perf_counter() - before
    assert longest < 0.5 * whole, "a blocked interpreter would have waited for the whole call"


def test_a_compiler_is_asked_only_once(
    fresh_cache: Path, fresh_compiler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was found out about it is in the cache folder."""
    first = find_compiler()
    cc._find.cache_clear()

    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "run", refuse)
    assert find_compiler() == first


def test_the_compiler_that_cc_names(fresh_cache: Path, fresh_compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are passed on; a name that is no compiler is an error that names it, not a silent other choice."""
    monkeypatch.setenv("CC", "gcc -g")
    assert find_compiler().command == ("gcc", "-g")
    for wrong in ("/nonexistent/cc", "false", 'gcc "'):
        monkeypatch.setenv("CC", wrong)
        with pytest.raises(AdgenError) as raised:
            find_compiler()
        assert raised.value.code == "AD502" and wrong in raised.value.message


def test_no_compiler_at_all(fresh_cache: Path, fresh_compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(cc, "find_spec", lambda name: None)
    with pytest.raises(AdgenError) as raised:
        build(emitted())
    assert "no C compiler" in raised.value.message and "apt install gcc" in str(raised.value)


def test_no_headers(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says which package holds Python.h, and nothing is left behind."""
    monkeypatch.setattr(cc.sysconfig, "get_paths", lambda: {"include": "/nonexistent"})
    with pytest.raises(AdgenError, match=r"Python\.h was not found") as raised:
        build(emitted())
    assert "python3" in str(raised.value)
    assert not [path for path in (fresh_cache / "library").iterdir() if not path.name.startswith(".")]


def test_what_the_compiler_says_is_in_the_error(fresh_cache: Path) -> None:
    """C that does not compile: the compiler's words, and an empty cache."""
    source = emitted()
    broken = replace(source, c_source=source.c_source.replace("return 0;", "return nothing;"))
    with pytest.raises(AdgenError) as raised:
        build(broken)
    assert raised.value.code == "AD503" and "nothing" in raised.value.message
    assert not [path for path in (fresh_cache / "library").iterdir() if not path.name.startswith(".")]


def test_a_file_that_is_no_library(tmp_path: Path) -> None:
    """Missing or damaged files are named."""
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    with pytest.raises(AdgenError, match="there is no compiled module"):
        load(tmp_path / f"missing{suffix}")
    damaged = tmp_path / f"damaged{suffix}"
    damaged.write_bytes(b"not a library")
    with pytest.raises(AdgenError, match="cannot be loaded"):
        load(damaged)
