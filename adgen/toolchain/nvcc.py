"""Finding and running nvcc, the CUDA compiler.

Comes in: CUDA text and architectures.  Goes out: a shared library in the cache, and what each kernel takes of the
device.  Guaranteed: nvcc is the one that `$NVCC` names, else the one on the path, in `$CUDA_HOME/bin` or in
`/usr/local/cuda/bin`; warnings are errors, nvcc's and those of the C++ compiler that it calls; the same text, nvcc and
architectures give the same path.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from adgen.diagnostics import AdgenError
from adgen.toolchain.cache import cached, digest, recall, remember
from adgen.toolchain.cc import answer, split_command, stamps
from adgen.toolchain.cuda_devices import devices
from adgen.toolchain.ptxas import Usage, complaints, usages

# As in C, never fast mathematics, and no contraction into fused multiply-adds: x*x - y*y is 0 for x = y, as in Python.
OPTIMISE = ("-std=c++17", "-O3", "--fmad=false")
# A launch must name its stream: the default one would be hidden synchronisation.  A device that the next nvcc drops is
# no fault of the code.
WARNINGS = ("-Werror", "all-warnings", "-Wdefault-stream-launch", "-Wno-deprecated-gpu-targets")
# What the C++ compiler is told, which makes the code of the host.
HOST = ("-fPIC", "-ffp-contract=off", "-fwrapv", "-Wall", "-Wextra", "-Wconversion", "-Werror")
REPORT = ("--resource-usage",)
PRINTED = "nvcc.txt"  # what nvcc printed, beside the library

ENVIRONMENT = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN")  # what nvcc itself reads
DEFAULT = ("sm_80", "sm_90")
ARCHITECTURE = re.compile(r"(sm|compute)_(\d+)")

INSTALL = (
    "install NVIDIA's CUDA toolkit (Debian: apt install nvidia-cuda-toolkit; conda install -c nvidia cuda-nvcc), "
    "or set NVCC or CUDA_HOME"
)


@dataclass(frozen=True)
class Nvcc:
    """A CUDA compiler: its command, its version, the architectures that it makes code for."""

    command: tuple[str, ...]
    version: str
    architectures: tuple[str, ...]

    @property
    def identity(self) -> str:
        """Everything that may change what it makes."""
        told = [os.environ.get(name, "") for name in ENVIRONMENT]
        host = stamps([os.environ.get("NVCC_CCBIN") or "g++"])
        flags = [*OPTIMISE, *WARNINGS, *HOST, *REPORT]
        return "\n".join([*self.command, self.version, platform.machine(), *told, *host, *flags])

    def run(self, arguments: Sequence[str], folder: Path) -> str:
        """Run nvcc in a folder; what it printed.

        Raises AdgenError with what it printed when it fails.
        """
        try:
            done = subprocess.run(
                [*self.command, *arguments],
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise AdgenError("AD507", f"nvcc cannot be started: {error}", help=INSTALL) from error
        if done.returncode:
            raise AdgenError(
                "AD508",
                f"the CUDA compiler `{shlex.join(self.command)}` failed:\n{complaints(done.stdout)}",
                help="where it is the C++ compiler that nvcc does not like, name another: NVCC='nvcc -ccbin g++-12'; "
                "the emitted CUDA should always compile: please report anything else with the function",
            )
        return done.stdout


def find_nvcc() -> Nvcc:
    """The CUDA compiler to use.

    Raises AdgenError that says what to install when there is none.
    """
    read = os.environ.get
    return _find(read("NVCC", "").strip(), read("CUDA_HOME", ""), read("PATH", ""))


@cache
def _find(wanted: str, home: str, path: str) -> Nvcc:
    for command in (split_command(wanted),) if wanted else _usual(home):
        found = _probe(command)
        if found is not None:
            return found
    if wanted:
        raise AdgenError(
            "AD507", f"`{wanted}`, which NVCC names, is no nvcc that works", help="set NVCC to one, or unset it"
        )
    raise AdgenError("AD507", "no CUDA compiler (nvcc) was found", help=INSTALL)


def _usual(home: str) -> Iterator[tuple[str, ...]]:
    folders = [f"{root}/bin" for root in (home, "/usr/local/cuda") if root]
    for found in (shutil.which("nvcc"), *(shutil.which("nvcc", path=folder) for folder in folders)):
        if found:
            yield (found,)


def _probe(command: tuple[str, ...]) -> Nvcc | None:
    """What a CUDA compiler is, from the cache or by asking it; None when it does not work."""
    key = digest(*command, *stamps(command))
    known = recall("nvcc", key)
    if known is None:
        version = re.search(r"release [\d.]+, V([\d.]+)", answer([*command, "--version"]))
        codes = ARCHITECTURE.findall(answer([*command, "--list-gpu-code"]))
        if not version or not codes:
            return None
        known = [version[1], *(f"sm_{number}" for number in sorted({int(number) for _, number in codes}))]
        remember("nvcc", key, known)
    return Nvcc(command, known[0], tuple(known[1:]))


def architectures(text: str | None) -> tuple[str, ...]:
    """What to compile for, as in `sm_80` (code) and `compute_90` (PTX, which newer devices translate).

    From a list with commas; without one, for the devices that are present, else for the usual ones and those to come.
    Raises AdgenError when the list is malformed or names what nvcc does not know.
    """
    nvcc = find_nvcc()
    if text is None:
        return _present(nvcc) or _usual_architectures(nvcc)
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in found:
        given = ARCHITECTURE.fullmatch(name)
        if given is None:
            raise AdgenError(
                "AD509",
                f"`{name}` is no architecture of a GPU",
                help="name them as in sm_80,sm_90; compute_90 is PTX, which newer devices translate",
            )
        if f"sm_{given[2]}" not in nvcc.architectures:
            raise AdgenError(
                "AD509",
                f"nvcc {nvcc.version} makes no code for `{name}`",
                help=f"it knows {', '.join(nvcc.architectures)} (nvcc --list-gpu-code)",
            )
    return found


def _present(nvcc: Nvcc) -> tuple[str, ...]:
    """For the devices of this machine that nvcc makes code for; for one newer than nvcc, PTX of what is next to it."""
    found = []
    for device in devices():
        older = [name for name in nvcc.architectures if _number(name) <= _number(device.architecture)]
        known = device.architecture in older
        found += [device.architecture] if known else [name.replace("sm", "compute") for name in older[-1:]]
    if devices() and not found:
        oldest = ", ".join(f"{device.name} ({device.architecture})" for device in devices())
        raise AdgenError(
            "AD509",
            f"nvcc {nvcc.version} makes no code for the device: {oldest}",
            help=f"it knows {', '.join(nvcc.architectures)}: take an older CUDA toolkit, or name others with --arch",
        )
    return tuple(dict.fromkeys(found))


def _usual_architectures(nvcc: Nvcc) -> tuple[str, ...]:
    """The usual ones that nvcc knows, and PTX of the newest of them."""
    code = tuple(name for name in DEFAULT if name in nvcc.architectures) or nvcc.architectures[-1:]
    return *code, code[-1].replace("sm", "compute")


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])


def build_cuda(
    text: str, header: str, header_name: str, archs: Sequence[str], link: Sequence[str] = ()
) -> tuple[Path, tuple[Usage, ...]]:
    """The shared library of some CUDA text, from the cache when it is there, and what its kernels take.

    `link` names libraries for the linker, as in `-lcublas`.
    Raises AdgenError when there is no nvcc or it fails.
    """
    nvcc = find_nvcc()
    key = digest(text, header, header_name, nvcc.identity, *archs, "", *link)
    name = f"adgen_{key}.so"
    stem = Path(header_name).stem

    def fill(folder: Path) -> None:
        (folder / f"{stem}.cu").write_text(text, encoding="utf-8")
        (folder / header_name).write_text(header, encoding="utf-8")
        printed = nvcc.run([*flags(archs), "-shared", f"{stem}.cu", "-o", name, *link], folder)
        (folder / PRINTED).write_text(printed, encoding="utf-8")

    folder = cached("cuda", key, fill)
    return folder / name, usages((folder / PRINTED).read_text(encoding="utf-8"))


def flags(archs: Sequence[str]) -> list[str]:
    """How emitted CUDA is compiled for architectures, all of them at once."""
    code = [flag for name in archs for flag in ("-gencode", f"arch=compute_{_number(name)},code={name}")]
    return [*OPTIMISE, *WARNINGS, "-Xcompiler", ",".join(HOST), *REPORT, "--threads", "0", *code]
