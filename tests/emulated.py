"""Calling emitted CUDA from tests, in the emulator: functions for arrays of the host, straight through cffi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from adgen.emit.cuda import emit_cuda, helpers, host, kernel, outline
from adgen.ir import sizes
from adgen.ir.interpret import DTYPES
from adgen.ir.nodes import Function
from adgen.ir.types import Buffer
from adgen.passes import folds, grids, row_steps, rows, scans
from adgen.toolchain import load
from adgen.toolchain.device import build_device
from adgen.toolchain.target import Target
from tests.native import C_TYPES

ORDERS = ("forward", "backward", "shuffled")


class Emulated:
    """Compiled functions by name; a call gives the exception's message, or None, and the results."""

    def __init__(self, functions: Sequence[Function], name: str = "module") -> None:
        self.emitted = emit_cuda(functions, name)
        self.functions = {function.name: function for function in functions}
        module = load(build_device(self.emitted, Target("cuda-emulated")))
        self.ffi, self.lib = module.ffi, module.lib

    def call(self, name: str, arguments: Sequence[Any]) -> tuple[tuple[str, str] | None, list[Any]]:
        """Call a function; arrays are passed as they are, and may be written."""
        function, ffi, c_name = self.functions[name], self.ffi, self.emitted.interfaces[f"{name}"].c_name
        given: list[Any] = []
        for argument, value in zip(arguments, function.parameters, strict=True):
            if isinstance(value.type, Buffer):
                given.append(ffi.from_buffer(f"{C_TYPES[str(value.type.element)]}[]", argument))
                given.extend(argument.shape)
            else:
                given.append(argument)
        ranks = sum(value.type.rank for value in function.results if isinstance(value.type, Buffer))
        sizes = ffi.new("int64_t[]", 1 + ranks)
        getattr(self.lib, f"{c_name}_sizes")(*given, sizes)
        extents = list(sizes)[1:]
        results = []
        for value in function.results:
            element = value.type.element if isinstance(value.type, Buffer) else value.type
            rank = value.type.rank if isinstance(value.type, Buffer) else 0
            shape, extents = extents[:rank], extents[rank:]
            results.append(np.empty(shape, DTYPES[element]))
            given.append(ffi.from_buffer(f"{C_TYPES[str(element)]}[]", results[-1]))
        self.detail = ffi.new("int64_t[4]")
        status = getattr(self.lib, c_name)(*given, ffi.NULL, self.detail)
        if status < 0:
            raise RuntimeError(f"CUDA error {self.detail[0]}")
        site = self.emitted.sites[status - 1] if status else None
        return (site.exception, site.message) if site else None, results

    def races(self) -> int:
        """How many races there were since the last time that this was asked."""
        found = int(self.lib.adgen_emulated_races())
        self.lib.adgen_emulated_races_reset()
        return found


def few_threads(patch: pytest.MonkeyPatch, threads: int = 6) -> None:
    """Devices so small that arrays of ten elements take every path: threads with several iterations, slices, parts."""
    for name, value in (
        ("THREADS", threads),
        ("ELEMENTS", 64),
        ("BLOCK", 4),
        ("SLICED", 4),
        ("BLOCKS", 8),
        ("LONG", 4),
    ):
        patch.setattr(sizes, name, value)
    patch.setattr(grids, "SHORT", 1)
    patch.setattr(grids, "NARROW", 1)
    patch.setattr(folds, "ROUNDS", (12, 24))
    patch.setattr(scans, "ROUNDS", (12, 24))
    patch.setattr(scans, "APIECE", 2)
    patch.setattr(row_steps, "APIECE", 1)
    patch.setattr(row_steps, "FEWEST", 2)
    patch.setattr(rows, "SHORTEST", 1)
    patch.setattr(host, "BLOCK", 4)
    patch.setattr(kernel, "BLOCK", 4)
    patch.setattr(outline, "FRAME", 4)
    patch.setattr(outline, "LONGEST", 6)
    patch.setattr(host, "LARGEST_GRID", 3)
    patch.setattr(helpers, "THREADS", helpers.THREADS.replace("256", "8"))
    patch.setattr(helpers, "PLANE", helpers.PLANE.replace("65535", "2"))
