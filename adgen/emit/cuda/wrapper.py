"""What a function for arrays in the memory of the host does around one for arrays in the memory of the device.

Comes in: how an entry is called.  Goes out: the names and lines that the template of such functions takes, and C
declarations of all that Python calls.  Guaranteed: what the function writes is copied back, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from adgen.emit.interface import Interface, Parameter
from adgen.emit.text import c_type

ENDING = "_host"
# What Python needs of CUDA's runtime, so that it needs no library for that: the same functions in each extension.
RUNTIME = """\
int adgen_cuda_driver(int *version);
int adgen_cuda_device(int *device);
int adgen_cuda_use(int device);
int adgen_cuda_place(const void *memory, int *device);
int adgen_cuda_allocate(void **memory, int64_t bytes);
int adgen_cuda_free(void *memory);
int adgen_cuda_to_device(void *to, const void *from, int64_t bytes);
int adgen_cuda_to_host(void *to, const void *from, int64_t bytes);
int adgen_cuda_copy(void *to, const void *from, int64_t bytes, void *stream);
int adgen_cuda_clear(void *to, int64_t bytes, void *stream);
int adgen_cuda_synchronise(void *stream);
int adgen_cuda_capturing(void *stream, int *capturing);
int adgen_cuda_outcome(const int64_t *failure, void *stream, int64_t *detail);
const char *adgen_cuda_name(int error);
const char *adgen_cuda_text(int error);"""
# The same of cuBLAS where there are products of matrices; a handle is null where the library is not linked.
CUBLAS = """\
int adgen_cublas_create(void **handle);
int adgen_cublas_destroy(void *handle);
void adgen_cublas_use(void *handle);"""

BYTES_OF = """\
inline size_t bytes_of(size_t element, const int64_t *extents, int rank)
{
    for (int axis = 0; axis < rank; ++axis) element *= extents[axis] > 0 ? (size_t)extents[axis] : 0;
    return element;
}"""


@dataclass(frozen=True)
class Wrapper:
    """How a function of the host is called, the names of the template, and the function of the device for C."""

    interface: Interface
    names: Mapping[str, object]
    device: str
    most: int  # pieces of memory
    sized: bool  # by extents


def wrapper(interface: Interface) -> Wrapper:
    """The function of the host for one of the device."""
    inputs, passed, given, before, after = [], [], [], [], []
    for parameter in interface.parameters:
        kind, name = c_type(parameter.type), parameter.c_name
        if not parameter.is_buffer:
            inputs.append(f"{kind} {name}")
            passed.append(name)
            given.append(name)
            continue
        extents = [f"{name}_n{axis}" for axis in range(parameter.rank)]
        inputs += [f"{'' if parameter.written else 'const '}{kind} *{name}", *(f"int64_t {text}" for text in extents)]
        passed += [name, *extents]
        given += [f"at_{name}", *extents]
        before += _sized(parameter, extents)
        before.append(f"{kind} *const at_{name} = memory.copied({name}, bytes_{name});")
        if parameter.written:
            after.append(f"memory.back({name}, at_{name}, bytes_{name});")
    outputs, place = [], 1
    for result in interface.results:
        kind, name = c_type(result.type), result.c_name
        outputs.append(f"{kind} *{name}")
        extents = [f"sizes[{place + axis}]" for axis in range(result.rank)]
        place += result.rank
        before += _sized(result, extents)
        before.append(f"{kind} *const at_{name} = ({kind} *)memory.room(bytes_{name});")
        after.append(f"if (status == 0) memory.back({name}, at_{name}, bytes_{name});")
        given.append(f"at_{name}")
    name = interface.c_name + ENDING
    names = {
        "name": name,
        "device": interface.c_name,
        "inputs": _listed(inputs),
        "outputs": _listed(outputs),
        "passed": _listed(passed),
        "given": _listed(given),
        "before": before,
        "after": after,
        "sizes": place,
    }
    prototype = f"int {name}({_listed([*inputs, *outputs])}void *work, int64_t *detail)"
    sizes = f"void {name}_sizes({_listed(inputs)}int64_t *sizes)"
    device = interface.c_name
    rest = "void *work, int64_t *detail, int64_t *failure, void *stream"
    own = f"int {device}({_listed([*inputs, *outputs])}{rest});\nvoid {device}_sizes({_listed(inputs)}int64_t *sizes);"
    text = f"{prototype};\n{sizes};"
    made = replace(interface, c_name=name, prototype=text, room=None, device=device)
    pieces = [*interface.parameters, *interface.results]
    return Wrapper(made, names, own, len(pieces) + 2, any(piece.is_buffer and piece.rank for piece in pieces))


def _sized(parameter: Parameter, extents: list[str]) -> list[str]:
    kind, name = c_type(parameter.type), parameter.c_name
    if not extents:
        return [f"const size_t bytes_{name} = sizeof({kind});"]
    return [
        f"const int64_t extents_{name}[] = {{{', '.join(extents)}}};",
        f"const size_t bytes_{name} = bytes_of(sizeof({kind}), extents_{name}, {len(extents)});",
    ]


def _listed(texts: list[str]) -> str:
    return "".join(f"{text}, " for text in texts)
