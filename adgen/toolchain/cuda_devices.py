"""What CUDA devices this machine has.

Comes in: nothing; `nvidia-smi`, which comes with the driver, is asked.  Goes out: the devices in its order, none where
there is no driver.  Guaranteed: it never fails, and it is asked once a process.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

QUERY = ("nvidia-smi", "--query-gpu=name,compute_cap,memory.total", "--format=csv,noheader,nounits")
PATIENCE = 20.0  # seconds: a driver in trouble may never answer


@dataclass(frozen=True)
class Device:
    """A device: its name, its compute capability as in `8.0`, its memory as the driver tells it (MiB)."""

    name: str
    capability: str
    memory: str

    @property
    def architecture(self) -> str:
        """What nvcc calls it."""
        return f"sm_{self.capability.replace('.', '')}"


def devices() -> tuple[Device, ...]:
    """The devices that are present."""
    return _devices(os.environ.get("PATH", ""))


@cache
def _devices(path: str) -> tuple[Device, ...]:
    try:
        done = subprocess.run(QUERY, capture_output=True, text=True, errors="replace", check=False, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(_read(done.stdout)) if done.returncode == 0 else ()


def _read(text: str) -> Iterator[Device]:
    """The devices of a table; what is no capability, as a driver of another kind may print, is left out."""
    for line in text.splitlines():
        with suppress(ValueError):
            name, capability, memory = (part.strip() for part in line.rsplit(",", 2))
            float(capability)
            yield Device(name, capability, memory)
