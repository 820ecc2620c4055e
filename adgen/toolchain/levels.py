"""How hard the C compiler shall work on some emitted C: less where a function is so large that it would take long.

Comes in: C text.  Goes out: flags that follow `-O3`.  Guaranteed: the text alone decides, unless
`ADGEN_LEVEL` does: it is for those who compile often, and time nothing.

Seconds of gcc 12 on a core of 2.4 GHz: a loop with vectors, with what comes before and after it, costs as much as lines
of straight code do together.  -O2 takes a third to a half of -O3 and what it makes is up to 1.7 times as slow.

| gradient of | bytes | loops | -O3 | -O2 | -O1 |
|---|---|---|---|---|---|
| 400 statements | 197,000 | 0 | 2.3 | 2.1 | 1.5 |
| 1,600 statements, where no level helps | 817,000 | 0 | 38 | 38 | 40 |
| 400 statements in a loop | 250,000 | 3 | 4.9 | 4.9 | 3.6 |
| a mixture | 33,000 | 67 | 3.0 | 1.5 | 0.8 |
| bundle adjustment, in blocks | 65,000 | 119 | 8.4 | 3.2 | 2.0 |
"""

from __future__ import annotations

import os

from adgen.toolchain.cc import LEVEL

GIVEN = ("0", "1", "2", "3")
LOOP = 1500  # bytes of straight code that take the compiler as long as a loop does
LARGE = 300_000  # about ten seconds with -O3
HUGE = 900_000

END = "\n}\n"
LOOPS = ("for (", "while (")


def level(text: str) -> tuple[str, ...]:
    """The flags for some C text; `ADGEN_LEVEL` (0 to 3) decides where it is set."""
    given = os.environ.get(LEVEL, "")
    if given in GIVEN:
        return (f"-O{given}",)
    weight = max(map(weight_of, text.split(END)))
    if weight > HUGE:
        return ("-O1",)
    return ("-O2", "-ftree-vectorize") if weight > LARGE else ()


def weight_of(function: str) -> int:
    """How long a function takes the compiler, in bytes of straight code."""
    return len(function) + LOOP * sum(map(function.count, LOOPS))
