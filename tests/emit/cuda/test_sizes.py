"""How work is divided: what a host computes in emitted code is what the interpreter computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import pytest

from adgen.emit.cuda.helpers import PARTS, ROOM, SLICES, SPLITS
from adgen.ir import sizes
from adgen.ops.foreign import Files
from adgen.toolchain import build, load

ARGUMENTS = {"parts": 3, "slices": 1, "splits": 3, "room": 3}
NUMBERS = (-1, 0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, 65_535, 65_537, 131_072, 131_073, 1 << 24, 1 << 25, 10**9)


@dataclass(frozen=True)
class Source:
    """What the toolchain compiles."""

    c_source: str
    header: str
    cdef: str
    header_name: str = "sizes.h"
    calls: str = ""
    external: Files = field(default_factory=Files)


@pytest.mark.quick
def test_emitted_sizes() -> None:
    """For all combinations of numbers around those where something changes."""
    prototypes, bodies = [], []
    for name, count in ARGUMENTS.items():
        names = ", ".join(f"a{k}" for k in range(count))
        prototypes.append(f"int64_t {name}({', '.join(f'int64_t a{k}' for k in range(count))});")
        bodies.append(f"{prototypes[-1][:-1]} {{ return adgen_{name}({names}); }}")
    declared = "\n".join(prototypes)
    helpers = "\n\n".join(text % vars(sizes) for text in (PARTS, SLICES, SPLITS, ROOM))
    text = f'#include "sizes.h"\n\n{helpers}\n\n' + "\n".join(bodies) + "\n"
    library = load(build(Source(text, f"#include <stdint.h>\n{declared}\n", declared))).lib
    for name, count in ARGUMENTS.items():
        emitted, ours = getattr(library, name), getattr(sizes, name)
        for given in product(NUMBERS, repeat=count):
            assert emitted(*given) == ours(*given), (name, given)


def test_room_is_bounded() -> None:
    """The parts of a product never take more than what is said of them without knowing its extents."""
    found = [
        sizes.room(*given)
        for given in product((1, 60, 64, 65, 700, 1024, 1100), repeat=2)
        for given in [(*given, 10**6)]
    ]
    assert 0 < max(found) <= sizes.most_room()
