"""A program that a sanitizer must end: `python -m tests.sanitize.control NAME`, built and loaded as emitted code is."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

from adgen.ops.foreign import Files
from adgen.toolchain import build, load

BODIES = {
    "address": "return data[n];",
    "undefined": "return (int64_t)n * (INT64_MAX / 2);",
}
PROTOTYPE = "int64_t fault(const int64_t *data, int64_t n)"


@dataclass(frozen=True)
class Source:
    """What the toolchain compiles."""

    c_source: str
    header: str = f"#include <stdint.h>\n{PROTOTYPE};\n"
    cdef: str = f"{PROTOTYPE};"
    header_name: str = "control.h"
    external: Files = field(default_factory=Files)


def main(name: str) -> None:
    """Read behind an array, or let an integer overflow."""
    os.environ.pop("LD_PRELOAD", None)
    text = f'#include "control.h"\n\n{PROTOTYPE}\n{{\n    (void)data;\n    {BODIES[name]}\n}}\n'
    module = load(build(Source(text)))
    data = module.ffi.new("int64_t[3]")
    print("number", module.lib.fault(data, 3))


if __name__ == "__main__":
    main(sys.argv[1])
