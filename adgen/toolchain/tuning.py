"""Which processor the C compiler shall schedule for: what is fastest is measured, once for a compiler and a machine.

Comes in: a compiler.  Goes out: the compiler with the flags that made small kernels faster here.  Guaranteed: the
choice is part of the compiler's identity, and stays the same for one cache folder; what does not win clearly is not
chosen; nothing is measured where `$ADGEN_TUNE` says what to do: `off`, or a processor that `-mtune` knows
(`icelake-server`), or that with vectors of 512 bits (`icelake-server/512`, `native/512`).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import cache_folder, cached, digest
from adgen.toolchain.cc import OPTIMISE, STANDARD, Compiler, accepts, plain_compiler

ENVIRONMENT = "ADGEN_TUNE"
OFF = "off"
KIND = "tuning"
CHOICE = "choice.json"
KERNELS = Path(__file__).with_name("tuning.c")
PROGRAM = "measure"
PATIENCE = 10.0  # seconds that the program may take; it stops by itself after a quarter of one

MARGIN = 0.05  # less than this is not worth leaving the compiler's own choice
EQUAL = 0.01  # less than this is no difference: the earlier candidate is chosen


@dataclass(frozen=True)
class Tuning:
    """The processor to schedule for, `native` for the compiler's own choice, and whether to prefer wide vectors."""

    processor: str = "native"
    wide: bool = False

    @staticmethod
    def parse(text: str) -> Tuning:
        """A tuning from its name."""
        return Tuning(text.removesuffix("/512"), text.endswith("/512"))

    @property
    def name(self) -> str:
        """What `parse` reads."""
        return self.processor + ("/512" if self.wide else "")

    @property
    def flags(self) -> tuple[str, ...]:
        """What the compiler is told."""
        processor = () if self.processor == "native" else (f"-mtune={self.processor}",)
        return (*processor, *(("-mprefer-vector-width=512",) if self.wide else ()))


# The compiler's own choice is the first.
CANDIDATES = tuple(map(Tuning, ("native", "icelake-server", "znver3", "skylake", "generic")))
WIDE = (Tuning("native", True), Tuning("icelake-server", True))


def find_compiler() -> Compiler:
    """The C compiler to use, with the flags that are fastest on this machine; measures them when nobody has yet.

    Raises AdgenError that says what to install when there is no compiler.
    """
    return tuned(plain_compiler())


def tuned(compiler: Compiler) -> Compiler:
    """A compiler with the flags for the fastest code."""
    return replace(compiler, native=(*compiler.native, *_given_or_measured(compiler).flags))


def settled() -> bool:
    """Whether it is known already how the compiler is to be told."""
    compiler = plain_compiler()
    return not _measurable(compiler) or (cache_folder() / KIND / _key(compiler)).is_dir()


def prepare() -> None:
    """Begin to measure, if that has to be done, beside what the process does until it needs the compiler."""
    with suppress(AdgenError):  # whoever needs the compiler is told
        if not settled():
            threading.Thread(target=find_compiler, daemon=True).start()


def _measurable(compiler: Compiler) -> bool:
    return bool(compiler.native) and not os.environ.get(ENVIRONMENT)


def _given_or_measured(compiler: Compiler) -> Tuning:
    if _measurable(compiler):
        return _measured(compiler)
    given = os.environ.get(ENVIRONMENT, OFF)
    if given == OFF or not compiler.native:
        return Tuning()
    tuning = Tuning.parse(given)
    if not accepts(compiler.command, *compiler.native, *tuning.flags):
        raise AdgenError(
            "AD502",
            f"{ENVIRONMENT} is `{given}`, which `{' '.join(compiler.command)}` does not know",
            help=f"set it to {OFF}, or to a processor that -mtune knows, or unset it",
        )
    return tuning


def _key(compiler: Compiler) -> str:
    return digest(compiler.identity, KERNELS.read_text(encoding="utf-8"))


def _measured(compiler: Compiler) -> Tuning:
    """The tuning that the cache holds, measured now if it holds none."""
    try:
        folder = cached(KIND, _key(compiler), lambda folder: _fill(compiler, folder))
        return Tuning.parse(json.loads((folder / CHOICE).read_bytes())["chosen"])
    except (AdgenError, OSError, ValueError, KeyError):  # a cache that cannot be used is told of by who needs it
        return Tuning()


def _fill(compiler: Compiler, folder: Path) -> None:
    """Measure, and write down the choice and its reasons."""
    measured = measure(compiler, candidates(compiler.machine), folder)
    text = {"chosen": best(measured).name, "nanoseconds": {t.name: list(taken) for t, taken in measured.items()}}
    for leftover in folder.iterdir():
        leftover.unlink()
    (folder / CHOICE).write_text(json.dumps(text, indent=1), encoding="utf-8")


def candidates(machine: str) -> tuple[Tuning, ...]:
    """What to try on a machine."""
    return (*CANDIDATES, *(WIDE if "avx512f" in machine.split() else ()))


def best(measured: dict[Tuning, Sequence[int]]) -> Tuning:
    """The tuning of the fastest kernels, on the geometric mean, if none of them is clearly slower; else the first."""
    if not measured:
        return Tuning()
    first, *others = measured
    ratios = {
        tuning: [here / there for here, there in zip(measured[tuning], measured[first], strict=True)]
        for tuning in others
        if all(taken > 0 for taken in (*measured[tuning], *measured[first]))
    }
    means = {t: math.exp(sum(map(math.log, r)) / len(r)) for t, r in ratios.items() if max(r) <= 1.0 + MARGIN}
    least = min(means.values(), default=1.0)
    if least > 1.0 - MARGIN:
        return first
    return next(tuning for tuning, mean in means.items() if mean <= least * (1.0 + EQUAL))


def measure(compiler: Compiler, tunings: Sequence[Tuning], folder: Path) -> dict[Tuning, Sequence[int]]:
    """Nanoseconds of each kernel for the tunings that the compiler knows; nothing when they cannot be measured."""
    (folder / KERNELS.name).write_bytes(KERNELS.read_bytes())
    flags = [*STANDARD, *OPTIMISE, *compiler.native, "-w", "-c", KERNELS.name]
    commands = [[*flags, *t.flags, f"-DMEASURED=k{i}", "-o", f"k{i}.o"] for i, t in enumerate(tunings)]
    try:
        failed = compiler.complaints(commands, folder)
        kept = {f"k{i}": tuning for i, (tuning, said) in enumerate(zip(tunings, failed, strict=True)) if said is None}
        if len(kept) < 2 or "k0" not in kept:
            return {}
        names = [f"-DDECLARED={', '.join(kept)}", f"-DCANDIDATES={', '.join(kept)}"]
        objects = [f"{name}.o" for name in kept]
        compiler.run([*STANDARD, "-O1", "-w", *names, KERNELS.name, *objects, "-o", PROGRAM, "-lm"], folder)
        said = subprocess.run([folder / PROGRAM], capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        taken = [[int(word) for word in line.split()] for line in said.splitlines()]
        return dict(zip(kept.values(), taken, strict=True))
    except (AdgenError, OSError, ValueError, subprocess.SubprocessError):
        return {}
