"""The Python text of a call: what has to happen between the interpreter and the C function, and nothing else.

Comes in: a `Program`.  Goes out: the source of a function that takes the leaves of the arguments.  Guaranteed: the text
depends on the program alone; names in it other than its own are those that `calls.namespace` binds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Any

import numpy as np

from adgen.frontend.specs import OTHER_EXTENTS, OutputConstant, OutputLeaf, OutputStruct, OutputTree, rebuild
from adgen.ir.types import BOOL, F32, F64, INTEGERS, Buffer, Scalar
from adgen.runtime.convert import DTYPES
from adgen.runtime.programs import Program

UNPACKED = 4  # so many numbers of one type are read together, which is faster
# What a scalar result that is a NumPy number is given back as; Python numbers are what C gives anyway.
NUMPY_TYPES = {
    F64: np.float64,
    F32: np.float32,
    BOOL: np.bool_,
    **{element: np.dtype(element.full_name).type for element in INTEGERS},
}


def scalar_results(program: Program) -> dict[str, list[int]]:
    """The scalar results by element name: each group lives in one small C array of a slot."""
    groups: dict[str, list[int]] = {}
    for position, kind in enumerate(program.results):
        if isinstance(kind, Scalar):
            groups.setdefault(kind.name, []).append(position)
    return groups


def readers(program: Program) -> dict[str, Callable[[Any], tuple[Any, ...]]]:
    """For the elements of which there are many scalar results what reads them from a slot."""
    formats = {str(element): DTYPES[element].char for element in NUMPY_TYPES}
    groups = scalar_results(program).items()
    return {name: Struct(formats[name] * len(at)).unpack for name, at in groups if len(at) >= UNPACKED}


def slot_names(program: Program) -> list[str]:
    """The parts of a slot, in order."""
    names = ["detail", "sizes", "work"]
    for element, positions in scalar_results(program).items():
        names += [f"all_{element}", *(f"p_r{position}" for position in positions)]
    return names


def other_extents(program: Program) -> tuple[int, ...]:
    """The statuses that say that extents are not what the code takes for granted."""
    return tuple(number for number, site in enumerate(program.sites, 1) if site.exception == OTHER_EXTENTS)


def needs_sizes(program: Program) -> bool:
    """True when the C code must be asked for the workspace and the extents of results."""
    return program.workspace or any(isinstance(kind, Buffer) for kind in program.results)


def call_source(
    program: Program,
    name: str,
    parameters: Sequence[str],
    checks: Sequence[str] = (),
    otherwise: str = "",
) -> str:
    """The function that does one call.

    Its parameters are some of the leaves `a0`, `a1`, ...; `checks` are lines that run first; `otherwise` is what to
    return when an integer turns out to be too large for C.
    """
    lines = [*checks, *_open_arguments(program)]
    lines += ["try:", "    slot = take()", "except IndexError:", "    slot = new_slot()"]
    lines.append(f"{', '.join(slot_names(program))} = slot")
    arguments = list(_c_arguments(program))
    calls = []
    if needs_sizes(program):
        calls.append(f"measure({', '.join([*arguments, 'sizes'])})")
        calls += _allocate(program)
    for position, kind in enumerate(program.results):
        arguments.append(f"from_buffer({kind.element}s, r{position})" if isinstance(kind, Buffer) else f"p_r{position}")
    arguments += ["work.room(sizes[0])" if program.workspace else "NULL", "detail"]
    calls.append(f"status = entry({', '.join(arguments)})")
    if otherwise and any(kind in INTEGERS for kind in program.parameters):
        guard = ["except OverflowError:", "    give(slot)", f"    return {otherwise}"]
        calls = ["try:", *(f"    {line}" for line in calls), *guard]
    lines += [*calls, "if status:"]
    if others := other_extents(program):
        leaves = "".join(f"a{k}, " for k in range(len(program.parameters)))
        lines += [f"    other = stretching(({leaves})) if status in {others} else None", "    if other:"]
        lines += ["        give(slot)", f"        return other({leaves})"]
    lines.append("    raise failed(status, slot)")
    together = _together(program)
    for element, positions in scalar_results(program).items() if not together else ():
        names = "".join(f"r{position}, " for position in positions)
        each = "".join(f"all_{element}[{k}], " for k in range(len(positions)))
        lines.append(f"{names}= {each if len(positions) < UNPACKED else f'read_{element}(all_{element})'}")
    if program.workspace:
        lines += ["if work.size > KEPT_BYTES:", "    work.forget()"]
    if together:
        lines.append(f"numbers = read_{together}(all_{together})")
    expression = "new_tuple(k0, numbers)" if together else _expression(program.output, Constants())
    lines += ["give(slot)", f"return {expression}"]
    return f"def {name}({', '.join(parameters)}):\n" + "".join(f"    {line}\n" for line in lines)


def _together(program: Program) -> str:
    """The element when the results are many numbers of one type that become a NamedTuple as they are, else nothing."""
    output, groups = program.output, scalar_results(program)
    if not isinstance(output, OutputStruct) or not issubclass(output.kind, tuple) or output.kind is tuple:
        return ""
    items = [item for _, item in output.items]
    plain = all(isinstance(item, OutputLeaf) and item.rank is None and item.weak for item in items)
    indices = [item.index for item in items if isinstance(item, OutputLeaf)]
    (element, *others) = groups or {"": []}
    fits = plain and indices == list(range(len(program.results))) and len(indices) >= UNPACKED and not others
    return element if fits and element != F32.name else ""


def _open_arguments(program: Program) -> Iterator[str]:
    for position, kind in enumerate(program.parameters):
        if isinstance(kind, Buffer):
            yield f"p{position} = from_buffer({kind.element}s, a{position})"
            if kind.rank:
                yield f"{''.join(f'n{position}_{axis}, ' for axis in range(kind.rank))} = a{position}.shape"


def _c_arguments(program: Program) -> Iterator[str]:
    for position, kind in enumerate(program.parameters):
        if isinstance(kind, Buffer):
            yield f"p{position}"
            yield from (f"n{position}_{axis}" for axis in range(kind.rank))
        else:
            yield f"a{position}"


def _allocate(program: Program) -> Iterator[str]:
    following = 1
    for position, kind in enumerate(program.results):
        if isinstance(kind, Buffer):
            extents = "".join(f"sizes[{following + axis}], " for axis in range(kind.rank))
            following += kind.rank
            dtype = "bool_" if kind.element == BOOL else str(kind.element)
            yield f"r{position} = empty(({extents}), {dtype})"


class Constants:
    """Names for the objects that an output expression mentions, in order of first use."""

    def __init__(self) -> None:
        self.objects: list[object] = []

    def name(self, value: object) -> str:
        """The name that an object is bound to."""
        self.objects.append(value)
        return f"k{len(self.objects) - 1}"


def output_constants(tree: OutputTree) -> dict[str, object]:
    """What the names `k0`, `k1`, ... of an output expression mean."""
    constants = Constants()
    _expression(tree, constants)
    return {f"k{position}": value for position, value in enumerate(constants.objects)}


def is_python(leaf: OutputLeaf) -> bool:
    """True for a scalar result that is a Python number."""
    return leaf.weak and leaf.element != F32


def given_as(leaf: OutputLeaf, value: Any) -> Any:
    """A scalar result as it is given back."""
    return value if is_python(leaf) else DTYPES[leaf.element].type(value)


def _expression(tree: OutputTree, constants: Constants) -> str:
    if isinstance(tree, OutputLeaf):
        plain = tree.rank is not None or is_python(tree)
        return f"r{tree.index}" if plain else f"{constants.name(NUMPY_TYPES[tree.element])}(r{tree.index})"
    if isinstance(tree, OutputConstant):
        return constants.name(tree.value)
    items = [_expression(item, constants) for _, item in tree.items]
    if tree.kind in (tuple, list):
        text = "".join(f"{item}, " for item in items)
        return f"({text})" if tree.kind is tuple else f"[{text}]"
    if tree.kind is dict:
        pairs = (f"{constants.name(key)}: {item}" for (key, _), item in zip(tree.items, items, strict=True))
        return f"{{{', '.join(pairs)}}}"
    if issubclass(tree.kind, tuple):  # a NamedTuple, made without the detour over its own __new__
        return f"new_tuple({constants.name(tree.kind)}, ({''.join(f'{item}, ' for item in items)}))"
    return f"{constants.name(_instance(tree))}({', '.join(items)})"


def _instance(tree: OutputStruct) -> object:
    keys = [key for key, _ in tree.items]
    return lambda *values: rebuild(tree.kind, list(zip(keys, values, strict=True)))
