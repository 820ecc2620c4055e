"""What the assembler says about kernels: registers, spills, stack, shared memory.

Comes in: what nvcc prints with `--resource-usage`.  Goes out: one `Usage` a kernel and architecture, in the order of
the text; and the rest of the text.  Guaranteed: device functions that kernels call are no kernels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
PROPERTIES = re.compile(r"Function properties for (\w+)")
FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
CUMULATIVE = re.compile(r"(\d+) bytes cumulative stack size")
SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class Usage:
    """What one kernel takes on one architecture.

    `registers` and `stack` (bytes, with what it calls) are of a thread, `shared` (bytes) of a block; `spilled` are the
    bytes that a thread stores for want of registers and loads again.
    """

    kernel: str
    architecture: str
    registers: int
    spilled: int
    shared: int
    stack: int


REGISTERS = 65_536  # of a multiprocessor, all of those that are compiled for
RESIDENT = 2048  # threads of one at most
GRANULE = 8  # registers are given to a thread by so many
BLOCKS = (256, 128, 64)  # threads of a block to choose from
WORTH = 1.25  # as many threads, that another block is chosen


def resident(registers: int, block: int) -> int:
    """How many threads of a kernel a multiprocessor holds, as far as registers go."""
    each = -(-max(registers, 1) // GRANULE) * GRANULE
    return min(REGISTERS // (each * block) * block, RESIDENT)


def blocks_of(found: Iterable[Usage]) -> dict[str, int]:
    """The kernels that are better launched in smaller blocks, as more of those fit beside each other."""
    registers: dict[str, int] = {}
    for usage in found:
        registers[usage.kernel] = max(registers.get(usage.kernel, 0), usage.registers)
    chosen = {kernel: max(BLOCKS, key=lambda block: resident(count, block)) for kernel, count in registers.items()}
    return {
        kernel: block
        for kernel, block in chosen.items()
        if resident(registers[kernel], block) >= WORTH * resident(registers[kernel], BLOCKS[0])
    }


def usages(text: str) -> tuple[Usage, ...]:
    """What is said about each kernel."""
    return tuple(_read(text))


def _read(text: str) -> Iterator[Usage]:
    symbol = architecture = described = ""
    spilled = stack = 0
    for line in text.splitlines():
        if found := ENTRY.search(line):
            symbol, architecture = found.groups()
            spilled = stack = 0
        elif found := PROPERTIES.search(line):
            described = found[1]
        elif (found := FRAME.search(line)) and described == symbol:
            stack, spilled = int(found[1]), int(found[2]) + int(found[3])
        elif found := USED.search(line):
            whole = _number(CUMULATIVE, line) or stack
            yield Usage(plain(symbol), architecture, int(found[1]), spilled, _number(SHARED, line), whole)


def complaints(text: str) -> str:
    """What is printed besides."""
    lines = [line for line in text.splitlines() if not line.startswith("ptxas info") and not FRAME.search(line)]
    return "\n".join(lines).strip()


def _number(pattern: re.Pattern[str], line: str) -> int:
    found = pattern.search(line)
    return int(found[1]) if found else 0


def plain(symbol: str) -> str:
    """The name of a kernel as it is written: the last name in its symbol, without namespaces and types.

    `_ZN35_GLOBAL__N__106e5f79_7_heat_cu_heat7heat_k0EPKdPdl` is `heat_k0`, `_Z7heat_k1PKfPf` is `heat_k1`.
    """
    nested = symbol.startswith("_ZN")
    name, rest = symbol, re.sub(r"^_ZN?L?", "", symbol) if symbol.startswith("_Z") else ""
    while found := re.match(r"L?(\d+)", rest):
        end = found.end() + int(found[1])
        name, rest = rest[found.end() : end], rest[end:] if nested else ""
    return name
