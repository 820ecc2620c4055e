"""The CUDA emulator: what kernels mean, what is an error instead of a hang, which races are seen."""

from __future__ import annotations

import ctypes
import itertools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.toolchain import emulated as subject
from adgen.toolchain.emulated import Flavour, compile_emulated, cpp_compiler, emulated, linking
from adgen.toolchain.link import SHARED
from tests.sanitize.compilers import sanitizer

PROGRAMS = Path(__file__).with_name("emulated_programs.cu")
ORDERS = ("forward", "backward", "shuffled")
LAUNCH_FAILURE, INVALID_CONFIGURATION, INVALID_VALUE = 719, 9, 1
Call = Callable[..., int]


def library(folder: Path, flavour: Flavour) -> Path:
    """The programs as a library."""
    compiler = cpp_compiler()
    compile_emulated(PROGRAMS.read_text(encoding="utf-8"), "programs", folder, flavour)
    compiler.run([*SHARED, "function.o", "-o", f"{flavour}.so", *linking(flavour, compiler)], folder)
    return folder / f"{flavour}.so"


def caller(path: Path) -> Call:
    """Call a function of a library: arrays as pointers, integers as int64_t."""
    loaded = ctypes.CDLL(str(path))

    def call(name: str, *arguments: Any) -> int:
        given = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in arguments]
        function = getattr(loaded, name)
        function.restype = ctypes.c_int64 if name == "adgen_emulated_races" else ctypes.c_int
        return int(function(*given))

    return call


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return caller(library(tmp_path_factory.mktemp("plain"), "plain"))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Call:
    return caller(library(tmp_path_factory.mktemp("races"), "races"))


@pytest.fixture(params=["plain", "races"])
def call(request: pytest.FixtureRequest) -> Call:
    """The functions in both flavours, which give the same results."""
    return request.getfixturevalue({"plain": "plain", "races": "watched"}[request.param])


@pytest.fixture(params=ORDERS)
def order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ADGEN_EMULATED_ORDER", request.param)
    return str(request.param)


@pytest.fixture
def races(watched: Call) -> Callable[[], int]:
    """How many races there were in this test."""
    watched("adgen_emulated_races_reset")
    return lambda: watched("adgen_emulated_races")


def test_launches_are_all_that_is_rewritten() -> None:
    """Lines stay where they are; an instance of a template with commas is one argument."""
    text = "f_1<<<(n + 255) / 256, dim3(8, 8),\n    0, stream>>>(x, a << 3 >> 1);\ng<double, 3><<<1 << 2, 4>>>(y);"
    assert emulated(text) == (
        "ADGEN_LAUNCH(f_1, (n + 255) / 256, dim3(8, 8),\n    0, stream)(x, a << 3 >> 1);\n"
        "ADGEN_LAUNCH((g<double, 3>), 1 << 2, 4)(y);"
    )
    rest = re.sub(r"\w+(<.*?>)?<<<.*", "", PROGRAMS.read_text(encoding="utf-8"))
    assert emulated(rest) == rest


def test_a_sum_over_blocks(call: Call, order: str, races: Callable[[], int]) -> None:
    """Grid-stride loop, shuffles, shared memory, barrier: exact with whole numbers, silent in the race check."""
    x, y = np.arange(5000.0), np.full(7, np.nan)
    assert call("sum", x.size, x, y, y.size, 0) == 0
    assert y.sum() == x.sum() and np.all(y > 0)
    assert races() == 0


def test_barriers_separate_phases(call: Call, order: str, races: Callable[[], int]) -> None:
    """Every thread hands its value on, round after round."""
    x = np.arange(96)
    assert call("rotate", 50, x) == 0
    assert np.array_equal(x, (np.arange(96) + 50) % 96)
    assert races() == 0


def test_spin_locks(call: Call, order: str, races: Callable[[], int]) -> None:
    """Who finds the lock taken lets others run, even while its holder waits; volatile accesses are no race."""
    lock, counter = np.zeros(1, np.uint32), np.zeros(1, np.int64)
    assert call("locked", lock, counter) == 0
    assert counter[0] == 300 and lock[0] == 0
    assert races() == 0


def test_waiting_for_a_thread_that_has_not_begun(call: Call, order: str) -> None:
    """A loop of attempts lets threads begin."""
    word = np.zeros(1, np.int32)
    assert call("handed", word) == 0
    assert word[0] == 2


def test_atomics(call: Call, order: str, races: Callable[[], int]) -> None:
    """All threads on the same numbers, of every type; no race."""
    names = ("sum", "single", "number", "least", "most", "count", "large")
    types = ("f8", "f4", "i4", "i4", "i4", "u4", "u8")
    totals = np.zeros(1, np.dtype(list(zip(names, types)), align=True))
    assert call("totals", totals) == 0
    assert totals[0].item() == (100.0, 50.0, 200, -199, 199, 400, 200 << 33)
    assert races() == 0


def test_places_in_three_dimensions(call: Call, order: str) -> None:
    """Indices and extents of threads and blocks; a kernel that is an instance of a template."""
    x = np.full((12, 2, 3, 4), -1)
    assert call("places", x) == 0
    block, z, y = np.ogrid[:12, :2, :3]
    assert np.array_equal(x, np.broadcast_to((100 * block + 10 * z + y)[..., None], x.shape))


def test_shuffles(call: Call, order: str) -> None:
    """Down, from one lane, across; parts of a warp; every type."""
    x, lane = np.zeros((5, 32), np.int32), np.arange(32)
    assert call("shuffled", x) == 0
    assert np.array_equal(x[0], np.where(lane % 8 < 5, lane + 3, lane))
    assert np.array_equal(x[1], lane // 8 * 8 + 2)
    assert np.array_equal(x[2], lane ^ 5)
    assert np.array_equal(x[3], np.ones(32))
    assert np.array_equal(x[4], np.minimum(lane + 1, 31))


def test_memory(plain: Call) -> None:
    """Set, copied to and fro, freed."""
    x = np.arange(1.0, 5.0)
    assert plain("memory", 4, x) == 0
    assert np.array_equal(x, [1, 0, 0, 0])


@pytest.mark.parametrize(("blocks", "threads"), [(0, 32), (1, 0), (1, 1025), (1 << 31, 32)])
def test_impossible_launches(plain: Call, blocks: int, threads: int) -> None:
    """They fail as on a device, and leave nothing behind."""
    assert plain("empty", blocks, threads) == INVALID_CONFIGURATION
    assert plain("empty", 3, 1024) == 0


def test_an_order_that_is_none(plain: Call, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """It is an error that says what there is."""
    monkeypatch.setenv("ADGEN_EMULATED_ORDER", "sideways")
    assert plain("empty", 1, 1) == INVALID_VALUE
    assert "`sideways`; it may be forward, backward or shuffled" in capfd.readouterr().err


WRONG = {
    "a barrier that half of the block reaches": "waits at __syncthreads",
    "two barriers": "at another barrier",
    "two shuffles of a warp": "waits at __shfl_down_sync",
    "a lane that has ended is asked": "takes no part or has ended",
    "a value that nobody writes": "no thread of its block writes",
}


@pytest.mark.parametrize("which", range(len(WRONG)), ids=list(WRONG))
def test_what_would_hang_is_an_error(call: Call, order: str, which: int, capfd: Any) -> None:
    """The launch fails and says where; the next one works."""
    x = np.zeros(32, np.int32)
    assert call("wrong", which, x) == LAUNCH_FAILURE
    assert re.search(rf"kernel \w+_1, block 0.*{list(WRONG.values())[which]}", capfd.readouterr().err)
    again = np.arange(96)
    assert call("rotate", 3, again) == 0 and again[0] == 3


def test_calls_from_several_threads(plain: Call) -> None:
    """Each computes with stacks and shared memory of its own."""
    wrong: list[int] = []

    def work(seed: int) -> None:
        x, y = np.arange(float(seed), seed + 700.0), np.zeros(3)
        for _ in range(20):
            status = plain("sum", x.size, x, y, y.size, 0)
            if status or y.sum() != x.sum():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


RACES = (
    "two writers",
    "two writers of a byte",
    "a missing barrier",
    "two blocks",
    "a plain store beside atomics",
    "one block of several",
)


@pytest.mark.parametrize("which", range(len(RACES)), ids=RACES)
def test_races_are_found(watched: Call, order: str, races: Callable[[], int], which: int, capfd: Any) -> None:
    """In every order; the message names the kernel and both threads."""
    assert watched("racy", which, np.ones(64), np.ones(64)) == 0
    assert races() > 0
    assert re.search(r"race in kernel \w+_1: \d bytes at .*block \d, thread \d+", capfd.readouterr().err)


def test_what_is_no_race(watched: Call, order: str, races: Callable[[], int]) -> None:
    """Neighbouring bytes; the lanes of a warp that meet in between, and not if they do not."""
    x, y = np.zeros(64, np.uint8), np.zeros(64, np.int32)
    assert watched("bytes", x) == 0 and watched("warps", 1, y) == 0
    assert races() == 0
    assert watched("warps", 0, y) == 0
    assert races() > 0


WRITES, ATOMIC, BYTE = {1, 2, 3, 4}, {2, 3, 6}, {4, 7}
"""Of the kinds of access in the random programs; 0 is none."""


@pytest.mark.parametrize("shared", [False, True], ids=["device", "shared"])
def test_races_of_random_programs(watched: Call, order: str, races: Callable[[], int], shared: bool) -> None:
    """A few accesses of few bytes: there is a race where the definition says so, and nowhere else."""
    draw = np.random.default_rng(7)
    outcomes = []
    for _ in range(300):
        kinds, places = np.zeros((2, 4, 2, 64), np.int32)
        ends = draw.integers(0, 3, 4).astype(np.int32)
        near = draw.choice(64, 3, replace=False)
        allowed = draw.permutation(np.arange(1, 8))[: draw.integers(1, 5)]
        for _ in range(draw.integers(2, 7)):
            at = draw.integers(4), draw.integers(2), draw.choice(near)
            kinds[at], places[at] = draw.choice(allowed), draw.integers(8)
        watched("adgen_emulated_races_reset")
        assert watched("steps", 4, kinds, places, ends, int(shared), np.zeros(4, np.int32)) == 0
        outcomes.append(races() > 0)
        assert outcomes[-1] == has_race(kinds, places, ends, shared)
    assert 50 < sum(outcomes) < 250


def has_race(kinds: np.ndarray, places: np.ndarray, ends: np.ndarray, shared: bool) -> bool:
    """The definition, pair by pair."""

    def touched(at: tuple[int, ...]) -> set[int]:
        first = int(places[at])
        return {first} if kinds[at] in BYTE else set(range(first // 4 * 4, first // 4 * 4 + 4))

    accesses = [tuple(map(int, at)) for at in np.argwhere(kinds)]
    for one, other in itertools.combinations(accesses, 2):  # steps in order
        (step, block, thread), (later, block_2, thread_2) = one, other
        pair = {int(kinds[one]), int(kinds[other])}
        if (block, thread) == (block_2, thread_2) or not pair & WRITES or pair <= ATOMIC:
            continue
        between = set(ends[step:later].tolist())
        ordered = 1 in between or (2 in between and thread // 32 == thread_2 // 32)
        apart = shared if block != block_2 else ordered
        if not apart and touched(one) & touched(other):
            return True
    return False


@pytest.mark.parametrize(("program", "said"), [("sum", ""), ("behind", "AddressSanitizer: heap-buffer-overflow")])
def test_the_sanitized_flavour(sanitized: tuple[Path, Path], program: str, said: str) -> None:
    """It lets a right program run, and ends one that reads behind an array."""
    path, runtime = sanitized
    script = (
        "import ctypes, os, sys; os.environ.pop('LD_PRELOAD')\n"  # not for what prints the fault's lines
        "lib = ctypes.CDLL(sys.argv[1]); data = (ctypes.c_double * 600)()\n"
        "sys.exit(lib.behind(40) if sys.argv[2] == 'behind' else lib.sum(ctypes.c_int64(600), data, data, 2, None))"
    )
    options = {"LD_PRELOAD": str(runtime), "ASAN_OPTIONS": "detect_leaks=0:detect_stack_use_after_return=1"}
    command = [sys.executable, "-c", script, str(path), program]
    done = subprocess.run(command, env={**os.environ, **options}, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not said) and said in done.stderr, done.stderr


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The programs with sanitizers, and the library that they need before Python."""
    path = library(tmp_path_factory.mktemp("sanitized"), "sanitized")
    found = sanitizer("clang" if "clang" in cpp_compiler().version else "gcc")
    if found is None:
        pytest.skip("the compiler has no address sanitizer here")
    return path, found.runtime


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what CXX names, or says what to install."""
    subject._find.cache_clear()
    monkeypatch.setenv("CXX", "/nonexistent/c++")
    with pytest.raises(AdgenError) as raised:
        cpp_compiler()
    assert raised.value.code == "AD511" and "/nonexistent/c++" in raised.value.message
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(AdgenError) as raised:
        cpp_compiler()
    assert raised.value.code == "AD511" and "g++" in (raised.value.help or "")


def test_warnings_are_errors(tmp_path: Path) -> None:
    """The message names the line of the .cu file."""
    text = '#include <cuda_runtime.h>\n\nstatic __global__ void f(int x) {}\nextern "C" void g() { f<<<1, 1>>>(1); }\n'
    with pytest.raises(AdgenError) as raised:
        compile_emulated(text, "unused", tmp_path)
    assert "unused.cu:3:" in raised.value.message and "unused parameter" in raised.value.message
