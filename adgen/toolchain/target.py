"""For what machine code is made.

Comes in: a name, or the environment.  Goes out: a `Target`.  Guaranteed: a target is part of what is compiled: its
`key` is equal for equal code.

`c`: C for the processor.  `cuda`: CUDA, compiled by nvcc.  `cuda-emulated`: the same CUDA, compiled as C++ with an
emulator, which needs no device and no nvcc.  Where nothing is said the environment variable ADGEN_TARGET decides.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from difflib import get_close_matches

from adgen.diagnostics import AdgenError

NAMES = ("c", "cuda", "cuda-emulated")
ENVIRONMENT = "ADGEN_TARGET"
DETERMINISTIC = "ADGEN_DETERMINISTIC"
FLAVOUR = "ADGEN_EMULATOR"  # how emulated code is compiled
CUBLAS = "ADGEN_CUBLAS"  # whether products of matrices are a library's


@dataclass(frozen=True)
class Target:
    """A machine: its name; for CUDA the architectures as `--arch` names them, and whether sums are always the same."""

    name: str = "c"
    architectures: str | None = None
    deterministic: bool = False

    @property
    def is_device(self) -> bool:
        """True for CUDA, emulated or not."""
        return self.name != "c"

    @property
    def key(self) -> str:
        """A text that is equal for equal code."""
        way = os.environ.get(FLAVOUR, "") if self.name == "cuda-emulated" else ""
        way += f" {os.environ.get(CUBLAS, '')}"
        return f"{self.name} {self.architectures} {self.deterministic} {way}" if self.is_device else self.name


PROCESSOR = Target()
EMULATED = Target("cuda-emulated")


def target_of(name: str | None, architectures: str | None = None, deterministic: bool = False) -> Target:
    """The target of a name; None: what the environment says, else `c`.

    Raises AdgenError for a name that is none, and for options that are not for it.
    """
    made = Target(name or os.environ.get(ENVIRONMENT, "").strip() or "c")
    if made.name not in NAMES:
        close = get_close_matches(made.name, NAMES, 1)
        hint = f"did you mean `{close[0]}`?" if close else f"choose from {', '.join(NAMES)}"
        raise AdgenError("AD198", f"there is no target `{made.name}`", help=hint)
    if not made.is_device and (architectures or deterministic):
        option = "--arch" if architectures else "--deterministic"
        raise AdgenError("AD198", f"{option} is for the target cuda", help="add --target cuda")
    if not made.is_device:
        return made
    always = deterministic or os.environ.get(DETERMINISTIC, "") not in ("", "0")
    return replace(made, architectures=architectures, deterministic=always)
