"""A CUDA module from IR functions.

Comes in: functions in which `passes.grids` has marked the loops that are kernels, and a module name.  Goes out:
`EmittedCuda`: a source for nvcc with its header, and functions that take arrays of the host, with all that calls from
Python need.  Guaranteed: the same functions give the same text; the source with its header needs CUDA's runtime alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from adgen.diagnostics import Span
from adgen.emit.c import BANNER, DETAILS, Emitted, Site
from adgen.emit.cells import cell_declarations, cell_entries
from adgen.emit.cuda.helpers import cuda_helpers, for_device
from adgen.emit.cuda.host import FAILURE, HostWriter
from adgen.emit.cuda.kernel import KernelText, KernelWriter
from adgen.emit.cuda.outline import Kernel, Outlined, outline
from adgen.emit.cuda.wrapper import BYTES_OF, CUBLAS, RUNTIME, wrapper
from adgen.emit.functions import CFunction, Fixed
from adgen.emit.names import Names
from adgen.emit.render import render
from adgen.emit.tables import Tables
from adgen.emit.text import comment
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, walk

RULES = """/*
 * Arrays, results (numbers too), work and failure are in the memory of the device; detail is in that of the host.
 * Every function puts its work into the stream and returns 0 without waiting, or the number of the check of an extent
 * or argument that failed with {details}, or -2 when a kernel could not be launched, with CUDA's error in detail[0].
 * It allocates nothing: work points to sizes[0] bytes, as the function NAME_sizes tells; the extents of array
 * results follow in sizes[1], sizes[2], ...  failure points to {failure} numbers: when the stream has got there,
 * failure[4] is 0 or the number of the check that failed in a kernel, with details in failure[5] to failure[8]; arrays
 * and results then hold whatever had been written.  Array results, work and failure overlap with nothing else.
 */"""


# names that C++ and CUDA have and C has not
WORDS = """
alignas alignof and and_eq asm bitand bitor catch class compl const_cast constexpr decltype delete dynamic_cast explicit
export final friend mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected
public reinterpret_cast static_assert static_cast template this thread_local throw try typeid typename using virtual
wchar_t char16_t char32_t xor xor_eq std dim3 threadIdx blockIdx blockDim gridDim warpSize failure stream launch thread
threads thread_y threads_y cudaStream_t j0 j1 jn y0 y1 yn rsqrt rcbrt sinpi cospi normcdf norm min max abs div erfcx
exp10 memory sums
"""


NO_BLOCKS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class EmittedCuda(Emitted):
    """The text of a CUDA module: `c_source` is the `.cu` file, `cuda_header` its header `header_name` with `.cuh`, and
    `cuda_host` the functions for arrays of the host, which `header` declares."""

    cuda_header: str = ""
    cuda_header_name: str = ""
    cuda_host: str = ""


@dataclass(frozen=True)
class _Kernel:
    place: str
    text: KernelText


@dataclass(frozen=True)
class _Function:
    host: CFunction
    kernels: list[_Kernel]


def emit_cuda(
    functions: Sequence[Function],
    module_name: str,
    notes: Mapping[str, str] | None = None,
    fixed: Mapping[str, Fixed] | None = None,
    blocks: Mapping[str, int] = NO_BLOCKS,
) -> EmittedCuda:
    """The CUDA module of some functions; `notes` are lines for the comment above a function, `fixed` known extents,
    `blocks` how many threads blocks have of kernels where it is not the usual number.

    Raises AdgenError when a device cannot run a function.
    """
    outlined = [outline(function) for function in functions]
    names = Names(WORDS.split())
    c_names = {function.name: names.claim(function.name) for function in functions}
    for name in c_names.values():
        names.taken |= {f"{name}_sizes", f"{name}_host", f"{name}_host_sizes"}
    use_cublas = names.claim(f"{module_name}_use_cublas")
    tables = Tables([kernel.function for each in outlined for kernel in each.kernels], names)
    sites: list[Operation] = []
    spelled: dict[str, None] = {}
    made = []
    for function, each in zip(functions, outlined, strict=True):
        c_name = c_names[function.name]
        texts = _kernels(each, c_name, names, sites, spelled, tables, blocks)
        own = (fixed or {}).get(function.name, {})
        host = HostWriter(function, each, texts, c_name, sites, spelled, names.taken, own)
        made.append(
            _Function(
                host.write((notes or {}).get(function.name, "")),
                [_Kernel(_place(kernel), texts[kernel]) for kernel in each.kernels],
            )
        )
    lines = [line for f in made for line in (*f.host.lines, *f.host.size_lines)]
    lines += [line for f in made for kernel in f.kernels for line in kernel.text.lines]
    text = "\n".join(lines)
    words = set(re.findall(r"[A-Za-z_]\w*", text))
    header_name = f"{module_name}.cuh"
    guard = f"ADGEN_{re.sub(r'[^A-Za-z0-9]', '_', module_name).upper()}_CUH"
    rules = RULES.format(details=DETAILS["adgen_fail_four" in words], failure=FAILURE)
    wrappers = [wrapper(f.host.interface) for f in made]
    interfaces = [each.interface for each in wrappers]
    declarations = "\n".join([*(interface.prototype for interface in interfaces), *(each.device for each in wrappers)])
    libraries = [use_cublas] if "adgen_product_" in text else []  # functions that are told of a library
    declarations = "\n".join([declarations, RUNTIME, *(CUBLAS for _ in libraries)])
    return EmittedCuda(
        module_name,
        render(
            "cuda/source.cu.j2",
            banner=BANNER,
            header_name=header_name,
            helpers=[*cuda_helpers(text), *(for_device(helper) for helper in spelled)],
            tables=[
                text.replace("static const ", "static __device__ const ")
                for n, text in tables.texts.items()
                if n in words
            ],
            functions=made,
            libraries=libraries,
        ),
        f"#include <stdbool.h>\n#include <stdint.h>\n{declarations}\n",
        f"{module_name}_host.h",
        "\n".join([re.sub(r"\bbool\b", "_Bool", declarations), cell_declarations(interfaces)]),
        {interface.name: interface for interface in interfaces},
        tuple(Site(o.attributes["exception"], o.attributes["message"], o.span) for o in sites),
        calls=cell_entries(interfaces),
        cuda_header=render(
            "cuda/header.cuh.j2", banner=BANNER, guard=guard, rules=rules, functions=made, libraries=libraries
        ),
        cuda_header_name=header_name,
        cuda_host=render(
            "cuda/host.cu.j2",
            banner=BANNER,
            header_name=header_name,
            words=FAILURE,
            most=max((each.most for each in wrappers), default=1),
            helpers=[BYTES_OF] if any(each.sized for each in wrappers) else [],
            functions=[each.names for each in wrappers],
            libraries=libraries,
        ),
    )


def _kernels(
    outlined: Outlined,
    c_name: str,
    names: Names,
    sites: list[Operation],
    helpers: dict[str, None],
    tables: Tables,
    blocks: Mapping[str, int],
) -> dict[Kernel, KernelText]:
    """The texts of the kernels of one function."""
    checks = any(o.row is core.CHECK for kernel in outlined.kernels for o in walk(kernel.function.body))
    return {
        kernel: KernelWriter(
            kernel, names.claim(f"{c_name}_{k}"), sites, helpers, tables.names, names.taken, checks, blocks
        ).write()
        for k, kernel in enumerate(outlined.kernels, 1)
    }


def _place(kernel: Kernel) -> str:
    """What a kernel is, for the comment above it."""
    span = kernel.function.span
    where = f", {span.file.rpartition('/')[2]}:{span.line}" if isinstance(span, Span) else ""
    who = ("one thread", "a thread for each iteration", "a thread for each iteration of two loops")[kernel.axes]
    return comment(f"{who}{where}")[3:-3]
