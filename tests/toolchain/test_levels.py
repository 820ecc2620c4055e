"""How hard the C compiler works: by the size of the largest function."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from adgen import ops
from adgen.emit import emit
from adgen.ir.reader import parse_function
from adgen.toolchain import build, levels
from adgen.toolchain.cc import Compiler
from adgen.toolchain.levels import END, HUGE, LARGE, LOOP, level

pytestmark = pytest.mark.quick

LOOPS = "    for (int64_t i = 0; i < n; ++i) {\n    }\n"


@pytest.fixture(autouse=True)
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text decides."""
    monkeypatch.delenv("ADGEN_LEVEL", raising=False)


def test_the_environment_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """A level that exists is taken for any text."""
    monkeypatch.setenv("ADGEN_LEVEL", "1")
    assert levels.level("int f(void)\n{\n    return 0;\n}\n") == ("-O1",)
    monkeypatch.setenv("ADGEN_LEVEL", "fast")
    assert levels.level("int f(void)\n{\n    return 0;\n}\n") == ()


def function(size: int) -> str:
    """A C function of a size."""
    return f"int f(void)\n{{{'a' * (size - 12)}{END}"


def test_the_largest_function_decides() -> None:
    """Many small ones take no longer than their number."""
    assert level(function(1000)) == level(50 * function(LARGE // 10)) == ()
    assert level(function(1000) + function(LARGE + 100)) == ("-O2", "-ftree-vectorize")
    assert level(function(LARGE + 100) + function(HUGE + 100)) == ("-O1",)


def test_a_loop_weighs_as_much_as_many_lines() -> None:
    """It is the loops, and what the compiler makes of them, that take the time."""
    assert level(LOOPS * (LARGE // LOOP - 20)) == ()
    assert level(LOOPS * (LARGE // LOOP + 1)) == ("-O2", "-ftree-vectorize")


def test_the_level_is_part_of_the_command_and_of_the_key(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It follows -O3, so that it is what counts."""
    text = "function double(%x: f64) -> (out) {\n  %out = add %x, %x : f64\n  return %out\n}"
    source = emit([parse_function(text, ops.ROWS)], "m")
    seen: list[list[str]] = []
    original = Compiler.complaints

    def recorded(self: Compiler, commands: Sequence[Sequence[str]], folder: Path) -> list[str | None]:
        seen.extend(map(list, commands))
        return original(self, commands, folder)

    monkeypatch.setattr(Compiler, "complaints", recorded)
    first = build(source)
    monkeypatch.setattr(levels, "LARGE", 10)
    assert build(source) != first
    small, large = [[each for each in command if each.startswith("-O")] for command in seen if "m.c" in command]
    assert small == ["-O3"] and large == ["-O3", "-O2"]
