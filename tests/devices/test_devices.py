"""Every function of the corpus, every example and every case file (a folder of them may be named by ADGEN_CASES) as
kernels: in the emulator they give what C gives, without a race, and without a fault that sanitizers find; nvcc takes
them for two architectures without a warning.

With ADGEN_SANITIZE_REPORT a file is named that gets a line for each group: how many ran, raised, were refused.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from adgen.diagnostics import AdgenError
from adgen.toolchain.nvcc import find_nvcc
from tests.sanitize.compilers import OPTIONS, sanitizer
from tests.sanitize.reports import lines_of, report, told
from tests.sanitize.subjects import groups

pytestmark = pytest.mark.slow
GROUPS = groups()
PRODUCTS = "ADGEN_DEVICE_PRODUCTS"  # which ones, as in value,vjp; all where it is not set


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("way", ["races", "sanitized", "nvcc"])
def test_kernels(way: str, group: str, tmp_path: Path) -> None:
    """The numbers of C, and nothing that anybody complains about; no other reason to refuse than that a device cannot
    run it."""
    environment = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache")}
    target = "cuda" if way == "nvcc" else "cuda-emulated"
    if way == "nvcc":
        require_nvcc()
    else:
        environment["ADGEN_EMULATOR"] = way
    if way == "sanitized":
        environment |= {"LD_PRELOAD": sanitizing(), "PYTHONMALLOC": "malloc", **OPTIONS}
    products = os.environ.get(PRODUCTS, "all")
    lines = lines_of("tests.devices.exercise", environment, target, products, *map(str, GROUPS[group]))
    report(f"{way} {group}", lines)
    faults = told(lines, "wrong", "race", "broken", "fault")
    assert not faults, "\n\n".join(faults)


def sanitizing() -> str:
    """What has to be loaded before Python."""
    found = sanitizer("gcc")
    if found is None:
        pytest.skip("gcc has no address sanitizer here")
    return str(found.runtime)


def require_nvcc() -> None:
    """Skip a test where there is no nvcc."""
    try:
        find_nvcc()
    except AdgenError as error:
        pytest.skip(error.message)
