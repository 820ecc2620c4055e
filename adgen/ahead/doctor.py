"""`adgen doctor`: what adgen finds on this machine, what is missing, and how to get it."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import adgen
from adgen.diagnostics import AdgenError
from adgen.toolchain import cache_folder, cublas, find_compiler
from adgen.toolchain.blas import PACKAGE, installed
from adgen.toolchain.cc import python_headers
from adgen.toolchain.cuda_devices import devices
from adgen.toolchain.nvcc import find_nvcc

PACKAGES = ("numpy", "sympy", "cffi", "jinja2")


@dataclass(frozen=True)
class Finding:
    """One thing: whether it is there, and what was found or what to do; whether all is well without it."""

    name: str
    good: bool
    text: str
    optional: bool = False

    @property
    def state(self) -> str:
        """One word for it."""
        return "ok" if self.good else "without" if self.optional else "MISSING"


def diagnose() -> tuple[str, bool]:
    """The findings as text, and whether all is well."""
    found = [
        Finding("adgen", True, f"{adgen.__version__}, Python {sys.version.split()[0]}"),
        *(Finding(name, True, importlib.metadata.version(name)) for name in PACKAGES),
        _tried("compiler", _compiler),
        _blas(),
        _tried("Python.h", lambda: str(python_headers())),
        _tried("cache", _cache),
        _tried("a compile", _compile),
        _tried("nvcc", _nvcc, optional=True),
        _cublas(),
        _cuda_device(),
    ]
    width = max(len(finding.name) for finding in found)
    lines = [f"{f.state:<7}  {f.name:<{width}}  {f.text}" for f in found]
    return "\n".join(lines), all(finding.good or finding.optional for finding in found)


def _tried(name: str, look: Callable[[], str], optional: bool = False) -> Finding:
    try:
        return Finding(name, True, look(), optional)
    except AdgenError as error:
        return Finding(name, False, f"{error.message}. {error.help or ''}".rstrip(), optional)


def _compiler() -> str:
    compiler = find_compiler()
    return f"{' '.join(compiler.command)}: {compiler.version} {' '.join(compiler.native)}".rstrip()


def _blas() -> Finding:
    link = installed().link
    missing = f"products of matrices are loops: pip install {PACKAGE.replace('_', '-')}"
    return Finding("BLAS", bool(link), link[0][2:] if link else missing)


def _nvcc() -> str:
    nvcc = find_nvcc()
    return f"{' '.join(nvcc.command)}: {nvcc.version}, {nvcc.architectures[0]} to {nvcc.architectures[-1]}"


def _cublas() -> Finding:
    try:
        found = cublas.installed(find_nvcc())
    except AdgenError:
        return Finding("cuBLAS", False, "there is no nvcc to use it with", optional=True)
    missing = "products of matrices on a device are tiles: pip install nvidia-cublas"
    return Finding("cuBLAS", found is not None, str(found or missing), optional=True)


def _cuda_device() -> Finding:
    found = [f"{each.name}, compute capability {each.capability}, {each.memory} MiB" for each in devices()]
    missing = "none: kernels run in the emulator: --target cuda-emulated"
    return Finding("CUDA device", bool(found), "; ".join(found) or missing, optional=True)


def _cache() -> str:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise AdgenError(
            "AD501", f"{folder} cannot be written: {error.strerror}", help="set ADGEN_CACHE_DIR to another folder"
        ) from None
    files = [path for path in folder.rglob("*") if path.is_file()]
    return f"{folder}, {sum(map(_size, files)) / 1e6:.1f} MB in {len(files)} files"


def _size(path: Path) -> int:
    """The bytes of a file, which another process may have removed."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _compile() -> str:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.c"
        source.write_text("#include <math.h>\ndouble f(double x);\ndouble f(double x) { return sin(x); }\n")
        find_compiler().run(["-shared", "-fPIC", source.name, "-o", "probe.so", "-lm"], Path(folder))
        return f"works ({os.cpu_count()} cores)"
