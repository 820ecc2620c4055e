"""What a device could reach: from its maker's data sheets by its name, bandwidth else by a copy.

Bandwidth is in bytes a second; arithmetic in operations on doubles a second without tensor cores, where a fused
multiply-add counts as two.  adgen compiles without such fusing, so half of that is the most its code can reach.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from benchmarks.gpu.device import CudaDevice, Device


class Peak(NamedTuple):
    """Of a device; None where it is not known."""

    bandwidth: float | None = None
    arithmetic: float | None = None
    source: str = ""


# The first that fits: of two kinds of a name the special one stands first.
SHEETS = (
    (r"H200 NVL", 4.8e12, 30e12),
    (r"H200", 4.8e12, 34e12),
    (r"H100 NVL", 3.9e12, 30e12),
    (r"H100 PCIe", 2.0e12, 26e12),
    (r"H100", 3.35e12, 34e12),
    (r"A100.*PCIE?-?40GB|A100-SXM4-40GB|A100-40GB", 1.555e12, 9.7e12),
    (r"A100.*80GB PCIe|A100-PCIE-80GB", 1.935e12, 9.7e12),
    (r"A100.*80GB", 2.039e12, 9.7e12),
    (r"L40S", 0.864e12, 1.43e12),
    (r"L40\b", 0.864e12, 1.41e12),
)


def of_name(name: str) -> Peak | None:
    """Of a device by the name that the driver and nvidia-smi give it."""
    for pattern, bandwidth, arithmetic in SHEETS:
        if re.search(pattern, name):
            return Peak(bandwidth, arithmetic, "data sheet")
    return None


def peak_of(device: Device) -> Peak:
    """Of a device: nothing for the emulator's."""
    if not isinstance(device, CudaDevice):
        return Peak()
    return of_name(device.name) or Peak(device.copy_rate(), None, "measured by a copy")
