"""Calling emitted entry points from tests, without the runtime: straight through cffi."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adgen.emit import emit
from adgen.ir.interpret import DTYPES
from adgen.ir.nodes import Function
from adgen.ir.types import Buffer
from adgen.ops import spelling
from adgen.toolchain import build, load

C_TYPES = {kind.name: name.replace("bool", "_Bool") for kind, name in spelling.C_TYPES.items()}


class Native:
    """Compiled functions by name; a call gives the status and the results."""

    def __init__(self, functions: Sequence[Function], name: str = "module") -> None:
        self.emitted = emit(functions, name)
        self.functions = {function.name: function for function in functions}
        module = load(build(self.emitted))
        self.ffi, self.lib = module.ffi, module.lib

    def call(self, name: str, arguments: Sequence[Any]) -> tuple[int, list[Any]]:
        """Call an entry point; arrays are passed as they are, and may be written."""
        function, ffi = self.functions[name], self.ffi
        given: list[Any] = []
        for argument, value in zip(arguments, function.parameters, strict=True):
            if isinstance(value.type, Buffer):
                given.append(ffi.from_buffer(f"{C_TYPES[str(value.type.element)]}[]", argument))
                given.extend(argument.shape)
            else:
                given.append(argument)
        ranks = sum(value.type.rank for value in function.results if isinstance(value.type, Buffer))
        sizes = ffi.new("int64_t[]", 1 + ranks)
        getattr(self.lib, f"{name}_sizes")(*given, sizes)
        extents = list(sizes)[1:]
        work = ffi.new("char[]", sizes[0] + 64)
        results: list[Any] = []
        outputs = []
        for value in function.results:
            kind = C_TYPES[str(value.type.element if isinstance(value.type, Buffer) else value.type)]
            if isinstance(value.type, Buffer):
                shape, extents = extents[: value.type.rank], extents[value.type.rank :]
                results.append(np.empty(shape, DTYPES[value.type.element]))
                outputs.append(ffi.from_buffer(f"{kind}[]", results[-1]))
            else:
                results.append(ffi.new(f"{kind} *"))
                outputs.append(results[-1])
        detail = ffi.new("int64_t[2]")
        status = getattr(self.lib, name)(*given, *outputs, work, detail)
        self.detail = list(detail)
        return status, [result if isinstance(result, np.ndarray) else result[0] for result in results]
