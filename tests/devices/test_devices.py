"""Every function of the corpus, every example and every case file (a folder of them may be named by ADGEN_CASES) as
kernels: in the emulator they give what C gives, and nvcc takes them for two architectures without a warning.

With ADGEN_SANITIZE_REPORT a file is named that gets a line for each group: how many ran, raised, were refused.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adgen.diagnostics import AdgenError
from adgen.toolchain.nvcc import find_nvcc
from tests.sanitize.reports import lines_of, report, told
from tests.sanitize.subjects import groups

pytestmark = pytest.mark.slow
GROUPS = groups()
PRODUCTS = "ADGEN_DEVICE_PRODUCTS"  # which ones, as in value,vjp; all where it is not set


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("target", ["cuda-emulated", "cuda"])
def test_kernels(target: str, group: str, tmp_path: Path) -> None:
    """The numbers of C without a race; nothing that nvcc complains about; no other reason to refuse than that a device
    cannot run it."""
    if target == "cuda":
        require_nvcc()
    environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache")}
    products = os.environ.get(PRODUCTS, "all")
    lines = lines_of("tests.devices.exercise", environment, target, products, *map(str, GROUPS[group]))
    report(f"{target} {group}", lines)
    faults = told(lines, "wrong", "race", "broken", "fault")
    assert not faults, "\n\n".join(faults)


def require_nvcc() -> None:
    """Skip a test where there is no nvcc."""
    try:
        find_nvcc()
    except AdgenError as error:
        pytest.skip(error.message)
