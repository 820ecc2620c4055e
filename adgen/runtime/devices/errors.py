"""What errors of CUDA mean to a user.

Comes in: the number and the texts of an error, as CUDA's runtime gives them.  Goes out: an `AdgenError`.
"""

from __future__ import annotations

from adgen.diagnostics import AdgenError

NO_MEMORY = 2
NO_DRIVER, NO_DEVICE, NO_SUCH_DEVICE = 35, 100, 101
OLD_DRIVER = (NO_DRIVER, 222, 803, 804)  # and PTX that it does not know
NO_CODE = (200, 209, 218)
FAULTS = (700, 702, *range(714, 720))
CAPTURES = range(900, 909)


def cuda_error(number: int, known: str, said: str, driver: int, name: str) -> AdgenError:
    """The exception for an error that CUDA knows by a name; `driver` is for which CUDA the driver is, 0 for no driver.

    `name` is what failed.
    """
    words = f"{known}: {said}"
    if number == NO_DEVICE or (number == NO_DRIVER and not driver):
        why = "there is no driver for one" if not driver else "the driver finds none"
        return AdgenError(
            "AD512",
            f"`{name}` needs a CUDA device, and {why} ({words})",
            help="`adgen doctor` tells what there is; the target cuda-emulated needs no device",
        )
    if number == NO_SUCH_DEVICE:
        return AdgenError(
            "AD512", f"there is no such CUDA device ({words})", help="`nvidia-smi -L` lists those there are"
        )
    if number in OLD_DRIVER:
        found = f"{driver // 1000}.{driver % 1000 // 10}"
        return AdgenError(
            "AD513",
            f"the driver is too old for the code of `{name}`: it is for CUDA {found} ({words})",
            help="install a newer driver, or compile with the nvcc of an older CUDA: NVCC=/usr/local/cuda-.../bin/nvcc",
        )
    if number in NO_CODE:
        return AdgenError(
            "AD514",
            f"`{name}` has no code for this device ({words})",
            help="compile with --arch for it, as --arch sm_90; `adgen doctor` tells what devices there are",
        )
    if number in FAULTS:
        return AdgenError(
            "AD515",
            f"`{name}` failed on the device ({words})",
            help="the process has to be started anew; `compute-sanitizer python ...` tells where, and whether an array "
            "was freed while it was in use",
        )
    if number in CAPTURES:
        return AdgenError(
            "AD517",
            f"`{name}` does what cannot be captured in a graph ({words})",
            help="bind the call before the capture, with `out` for its results: call = f.bind(x, out=y)",
        )
    return AdgenError("AD516", f"CUDA refuses what `{name}` does ({words})", help="`adgen doctor` tells what there is")
