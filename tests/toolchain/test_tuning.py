"""Which processor the C compiler schedules for: chosen once, clearly, and never by accident."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from adgen.diagnostics import AdgenError
from adgen.toolchain import cc, tuning
from adgen.toolchain.cc import Compiler, plain_compiler
from adgen.toolchain.tuning import CANDIDATES, Tuning, best, candidates, find_compiler, measure, prepare, settled

pytestmark = pytest.mark.quick

NATIVE, ICELAKE, ZNVER3, SKYLAKE, GENERIC = CANDIDATES


@pytest.mark.parametrize(
    ("measured", "chosen"),
    [
        ({NATIVE: [100, 100, 100], ICELAKE: [80, 100, 95], GENERIC: [95, 95, 95]}, ICELAKE),
        ({NATIVE: [100, 100, 100], ICELAKE: [97, 96, 96]}, NATIVE),  # too little
        ({NATIVE: [100, 100, 100], ICELAKE: [50, 100, 120], GENERIC: [90, 90, 90]}, GENERIC),  # one is slower
        ({NATIVE: [100, 100, 100], ICELAKE: [80, 80, 80], SKYLAKE: [80, 80, 79]}, ICELAKE),  # as good as equal
        ({NATIVE: [100, 100, 100], ICELAKE: [80, 80, 80], SKYLAKE: [60, 60, 60]}, SKYLAKE),
        ({NATIVE: [100, 100, 0], ICELAKE: [80, 80, 80]}, NATIVE),  # a clock that does not tell
        ({NATIVE: [100, 100, 100]}, NATIVE),
        ({}, NATIVE),
    ],
)
def test_only_a_clear_winner_is_chosen(measured: dict[Tuning, Sequence[int]], chosen: Tuning) -> None:
    """By the geometric mean; the compiler's own choice stays otherwise."""
    assert best(measured) == chosen


def test_names_and_flags() -> None:
    """A name says which processor, and whether vectors are wide; wide ones are tried where there are any."""
    assert Tuning.parse("icelake-server/512") == Tuning("icelake-server", True)
    assert Tuning("icelake-server", True).flags == ("-mtune=icelake-server", "-mprefer-vector-width=512")
    assert NATIVE.flags == () and Tuning.parse("native/512").flags == ("-mprefer-vector-width=512",)
    assert all(Tuning.parse(each.name) == each for each in candidates("flags : avx2 avx512f"))
    assert candidates("flags : fma avx2") == CANDIDATES and candidates("flags : avx512f")[0] == NATIVE


@pytest.fixture
def measuring(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[Compiler]:
    """A measurement that icelake wins, without a clock; gives for which compilers it was made."""
    asked: list[Compiler] = []

    def fake(compiler: Compiler, tunings: Sequence[Tuning], folder: Path) -> dict[Tuning, Sequence[int]]:
        asked.append(compiler)
        (folder / "left.o").write_text("")
        return {each: [70 if each == ICELAKE else 100] for each in tunings}

    monkeypatch.delenv("ADGEN_TUNE")
    monkeypatch.setattr(tuning, "measure", fake)
    monkeypatch.setattr(tuning, "plain_compiler", lambda: Compiler(("cc",), "cc 1", ("-march=native",), "m"))
    return asked


def test_a_machine_is_measured_once(measuring: list[Compiler], fresh_cache: Path) -> None:
    """The choice and its reasons are in the cache folder; it is part of what names compiled code."""
    assert not settled()
    found = find_compiler()
    assert found.native == ("-march=native", "-mtune=icelake-server") and settled()
    assert find_compiler() == found and len(measuring) == 1
    assert found.identity != measuring[0].identity
    (folder,) = [path for path in (fresh_cache / "tuning").iterdir() if not path.name.startswith(".")]
    assert [path.name for path in folder.iterdir()] == ["choice.json"]


def test_another_cache_or_compiler_is_measured_anew(
    measuring: list[Compiler], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgraded compiler may know better."""
    find_compiler()
    monkeypatch.setattr(tuning, "plain_compiler", lambda: Compiler(("cc",), "cc 2", ("-march=native",), "m"))
    find_compiler()
    monkeypatch.setenv("ADGEN_CACHE_DIR", str(tmp_path / "other"))
    find_compiler()
    assert [compiler.version for compiler in measuring] == ["cc 1", "cc 2", "cc 2"]


def test_a_damaged_choice_is_none(measuring: list[Compiler], fresh_cache: Path) -> None:
    """The compiler's own choice is right, if slower."""
    find_compiler()
    (file,) = fresh_cache.rglob("choice.json")
    file.write_text('{"half')
    assert find_compiler().native == ("-march=native",)


@pytest.mark.parametrize(("given", "flags"), [("off", ()), ("skylake", ("-mtune=skylake",)), ("native", ())])
def test_the_environment_decides(
    given: str, flags: tuple[str, ...], measuring: list[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is measured then."""
    monkeypatch.setattr(tuning, "accepts", lambda *given: True)
    monkeypatch.setenv("ADGEN_TUNE", given)
    prepare()
    assert settled() and find_compiler().native == ("-march=native", *flags) and not measuring


def test_a_processor_that_the_compiler_does_not_know(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said before anything is compiled."""
    monkeypatch.setenv("ADGEN_TUNE", "abacus")
    with pytest.raises(AdgenError, match="ADGEN_TUNE is `abacus`") as raised:
        find_compiler()
    assert raised.value.code == "AD502"


def test_without_flags_for_this_machine_nothing_is_measured(
    measuring: list[Compiler], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that does not know -march=native makes code for other machines."""
    monkeypatch.setattr(tuning, "plain_compiler", lambda: Compiler(("cc",), "cc 1", (), "m"))
    assert settled() and find_compiler().native == () and not measuring


def test_what_cannot_be_measured_is_not_tried_again(
    measuring: list[Compiler], fresh_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler whose programs do not run here, or that fails: its own choice stays, and is kept."""
    monkeypatch.setattr(tuning, "measure", measure)
    monkeypatch.setattr(tuning, "plain_compiler", lambda: Compiler(("false",), "cc 1", ("-march=native",), "m"))
    assert find_compiler().native == ("-march=native",) and settled()


def test_measuring_begins_beside_other_work(measuring: list[Compiler], monkeypatch: pytest.MonkeyPatch) -> None:
    """Who needs the compiler meanwhile waits for the one measurement."""
    begun, go = threading.Event(), threading.Event()
    fake: Callable[..., dict[Tuning, Sequence[int]]] = tuning.measure

    def slow(*given: object) -> dict[Tuning, Sequence[int]]:
        begun.set()
        assert go.wait(10)
        return fake(*given)

    monkeypatch.setattr(tuning, "measure", slow)
    prepare()
    assert begun.wait(10) and not settled()
    threading.Timer(0.1, go.set).start()
    assert find_compiler().native[-1] == "-mtune=icelake-server" and len(measuring) == 1


def test_the_kernels_run(tmp_path: Path) -> None:
    """With this machine's compiler; a processor that it does not know is left out."""
    cc._find.cache_clear()
    found = measure(plain_compiler(), (NATIVE, GENERIC, Tuning("abacus")), tmp_path)
    assert list(found) == [NATIVE, GENERIC]
    assert all(len(taken) == 3 and min(taken) > 0 for taken in found.values())
