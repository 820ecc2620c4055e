"""Calls of compiled code with arrays that are on a device.

Comes in: the leaves of the arguments, arrays of some library among them.  Goes out: results, arrays of the same kind;
numbers too, as arrays without axes.  Guaranteed: nothing is copied, and what does not fit is an `AdgenError` before
anything is written.  A call waits for its stream where a check in one of its kernels may fail, and where the library of
an argument does not know how long it is read; it never waits while the stream is captured in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import Complex
from adgen.frontend.specs import ArraySpec, OutputLeaf, OutputTree, Shapes, has_complex_output
from adgen.ir.types import Buffer, Scalar
from adgen.runtime.callcode import other_extents
from adgen.runtime.convert import DTYPES, canonical, path_text
from adgen.runtime.devices.arguments import Arguments, check, device_arrays, refuse_overlap
from adgen.runtime.devices.cublas import cublas
from adgen.runtime.devices.cuda import Cuda
from adgen.runtime.devices.libraries import Make
from adgen.runtime.devices.memory import DeviceMemory
from adgen.runtime.devices.results import maker
from adgen.runtime.devices.workspaces import workspace
from adgen.runtime.failures import out_of_memory
from adgen.runtime.placement import Zeros
from adgen.runtime.programs import DeviceEntry, Program
from adgen.runtime.trees import assembled

NOTED = 128  # bytes in which a failure is noted, in front of the workspace
Target = tuple[OutputLeaf, Any, str]


@dataclass(frozen=True)
class Prepared:
    """A call that only has to be put into a stream.

    `passed` is what C takes before the workspace, `needed` how many bytes that must have; `held` are arrays made for
    the call, whose memory is given back when the device has done with it.
    """

    arguments: Arguments
    cuda: Cuda
    passed: tuple[Any, ...]
    results: tuple[Any, ...]
    needed: int
    shapes: Shapes
    held: tuple[Any, ...]


class DeviceCalls:
    """The calls of one program; `failed` makes the exception for a status, `other` other code for other extents."""

    def __init__(
        self,
        program: Program,
        library: Any,
        c_types: Mapping[str, str],
        failed: Callable[[int, Sequence[int]], AdgenError],
        other: Callable[[Shapes], DeviceCalls | None],
    ) -> None:
        assert program.device is not None
        self.program, self.library, self.failed, self.other = program, library, failed, other
        self.entry: DeviceEntry = program.device
        ffi, lib = library.ffi, library.lib
        self.function = getattr(lib, self.entry.name)
        self.library_around = cublas if hasattr(lib, "adgen_cublas_use") else nullcontext
        self.measure = getattr(lib, f"{self.entry.name}_sizes")
        self.pointers = {name: ffi.typeof(f"{text} *") for name, text in c_types.items()}
        self.others = other_extents(program)
        self.arrays = [k for k, leaf in enumerate(program.leaves) if isinstance(leaf.spec, ArraySpec)]

    # -- one call ----------------------------------------------------------------------------------------------------

    def __call__(self, leaves: Sequence[Any], targets: Sequence[Target] = (), tree: OutputTree | None = None) -> Any:
        """The results, in `tree` where that is given; those that `targets` are for are written there."""
        prepared = self.prepare(leaves, targets)
        cuda, stream, borrowed = prepared.cuda, prepared.arguments.stream, prepared.arguments.borrowed
        with cuda.current():
            if (prepared.needed or prepared.held or borrowed) and cuda.capturing(stream):
                raise self.captured()
            space = workspace(cuda, stream)
            with space.lock:
                status, details = self.launch(prepared, stream, space.room(prepared.needed, cuda))
                if status == 0 and self.entry.noting:
                    status, details = cuda.outcome(space.room(NOTED, cuda), stream)
            if borrowed:
                cuda.synchronise(stream)
        if status in self.others:
            other = self.other(prepared.shapes)
            if other is not None:
                return other(leaves, targets, tree)
        if status:
            raise self.failed(status, details)
        return self.assembled(prepared, tree)

    def assembled(self, prepared: Prepared, tree: OutputTree | None) -> Any:
        """The results as Python sees them."""
        return assembled(tree or self.program.output, lambda leaf: prepared.results[leaf.index])

    def captured(self) -> AdgenError:
        """The exception for a call in a capture that does not own its memory."""
        return AdgenError(
            "AD517",
            f"`{self.program.function_name}` is captured in a graph, and its workspace is anybody's after the call",
            help="bind the call before the capture, as in call = f.bind(x, out=y): it has a workspace of its own",
        )

    def launch(self, prepared: Prepared, stream: int, start: int) -> tuple[int, list[int]]:
        """Put a call into a stream; its status and details."""
        detail = self.library.ffi.new("int64_t[4]")
        address = prepared.cuda.address
        work = address(start + NOTED if self.entry.noting else start)
        failure = self.library.ffi.cast("int64_t *", start)
        with self.library_around(prepared.cuda):
            status: int = self.function(*prepared.passed, work, detail, failure, address(stream))
        return status, list(detail)

    # -- before a call -----------------------------------------------------------------------------------------------

    def prepare(self, leaves: Sequence[Any], targets: Sequence[Target] = ()) -> Prepared:
        """Everything of a call that has to do with Python.

        Raises AdgenError for what does not fit.
        """
        if has_complex_output(self.program.output):
            raise AdgenError(
                "AD139",
                f"`{self.program.function_name}` gives complex numbers, which are results for NumPy arrays only",
                help="return their real and imaginary parts",
            )
        named = [self.named(k, leaves[k]) for k in self.arrays if not isinstance(leaves[k], Zeros)]
        arguments = device_arrays([*named, *((name, target) for _, target, name in targets)])
        cuda = Cuda(self.library, self.program.function_name, self.device(arguments))
        self.check(leaves, arguments, targets)
        with cuda.current():
            given, held = self.filled(leaves, arguments, cuda)
            passed, shapes = self.passed(leaves, given)
            sizes = self.library.ffi.new("int64_t[]", 1 + sum(map(_rank, self.program.results)))
            self.measure(*passed, sizes)
            results, pointers = self.results(arguments, cuda, list(sizes)[1:], targets)
        needed = sizes[0] + NOTED if self.entry.noting else sizes[0]
        return Prepared(arguments, cuda, (*passed, *pointers), results, needed, shapes, held)

    def named(self, position: int, value: Any) -> tuple[str, Any]:
        """A leaf and what messages call it."""
        return path_text(self.program.leaves[position].path), value

    def device(self, arguments: Arguments) -> int | None:
        """The device of a call: that of the arrays; where none says, that of their memory.

        Raises AdgenError for memory that is on none.
        """
        if arguments.device is not None:
            return arguments.device
        cuda = Cuda(self.library, self.program.function_name)
        for array in arguments.arrays:
            if array.size:
                found = cuda.of(array.pointer)
                if found is None:
                    raise AdgenError(
                        "AD133",
                        f"argument `{array.name}` says that it is on a device, and its memory is the host's",
                        help="pass an array whose memory was allocated on a device",
                    )
                return found
        return None

    def check(self, leaves: Sequence[Any], arguments: Arguments, targets: Sequence[Target]) -> None:
        """Refuse arrays that do not fit the program, and those that overlap."""
        program = self.program
        places = [k for k in self.arrays if not isinstance(leaves[k], Zeros)]
        for array, k in zip(arguments.arrays, places):
            spec = program.leaves[k].spec
            assert isinstance(spec, ArraySpec)
            check(array, DTYPES[spec.element], spec.rank, k in program.written, program.function_name)
        written = [places.index(k) for k in program.guarded if k in places]
        for position, (leaf, _, _) in enumerate(targets, len(places)):
            check(arguments.arrays[position], DTYPES[leaf.element], leaf.rank or 0, True, program.function_name)
            written.append(position)
        refuse_overlap(arguments.arrays, written, program.function_name)

    def filled(
        self, leaves: Sequence[Any], arguments: Arguments, cuda: Cuda
    ) -> tuple[dict[int, tuple[int, tuple[int, ...]]], tuple[Any, ...]]:
        """The address and the shape of each array, zeros made for those that are; and what was made."""
        ready = iter(arguments.arrays)
        found, held = {}, []
        for k in self.arrays:
            value = leaves[k]
            if isinstance(value, Zeros):
                made = DeviceMemory(value.shape, value.dtype, cuda, arguments.stream)
                cuda.clear(made.pointer, prod(made.shape) * made.dtype.itemsize, arguments.stream)
                held.append(made)
                found[k] = made.pointer, made.shape
            else:
                array = next(ready)
                found[k] = array.pointer, array.shape
        return found, tuple(held)

    def passed(
        self, leaves: Sequence[Any], given: Mapping[int, tuple[int, tuple[int, ...]]]
    ) -> tuple[tuple[Any, ...], Shapes]:
        """What C takes for the arguments, and the shapes of the arrays as C sees them."""
        passed: list[Any] = []
        shapes = {}
        for k, (leaf, kind) in enumerate(zip(self.program.leaves, self.program.parameters, strict=True)):
            if k not in given:
                passed.append(canonical(leaves[k], leaf.spec))
                continue
            pointer, shape = given[k]
            assert isinstance(kind, Buffer)
            extents = (*shape, 2) if isinstance(leaf.spec.element, Complex) else shape
            passed += [self.pointer(kind.element, pointer), *extents]
            shapes[leaf.path] = extents
        return tuple(passed), shapes

    def pointer(self, element: Scalar, address: int) -> Any:
        """An address for C."""
        return self.library.ffi.cast(self.pointers[str(element)], address)

    def results(
        self, arguments: Arguments, cuda: Cuda, extents: Sequence[int], targets: Sequence[Target]
    ) -> tuple[tuple[Any, ...], list[Any]]:
        """Arrays for the results, and their addresses; new ones are of the kind of the arguments."""
        make = maker(arguments, cuda)
        first = len(arguments.arrays) - len(targets)
        ready = {leaf.index: (value, arguments.arrays[first + k]) for k, (leaf, value, _) in enumerate(targets)}
        results, pointers, place = [], [], 0
        for position, kind in enumerate(self.program.results):
            element, rank = (kind.element, kind.rank) if isinstance(kind, Buffer) else (kind, 0)
            assert isinstance(element, Scalar)
            shape = tuple(extents[place : place + rank])
            place += rank
            if position in ready:
                value, array = ready[position]
                if array.shape != shape:
                    raise AdgenError(
                        "AD154",
                        f"a result of shape {shape} does not fit into {array.name} of shape {array.shape}",
                        help="give `out` the shape of the results",
                    )
                pointer = array.pointer
            else:
                value = self.made(make, shape, DTYPES[element])
                pointer = address_of(value)
            results.append(value)
            pointers.append(self.pointer(element, pointer))
        return tuple(results), pointers

    def made(self, make: Make, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        """An array for a result.

        Raises AdgenError when its library has no memory for it.
        """
        try:
            return make(shape, dtype)
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, AdgenError) or "OutOfMemory" not in type(error).__name__:
                raise
            raise out_of_memory(self.program.function_name, prod(shape) * dtype.itemsize) from error

    # -- arguments that are kept ---------------------------------------------------------------------------------------

    def copies(self, leaves: Sequence[Any]) -> list[Any]:
        """The leaves, arrays copied on the device in the order of their stream."""
        places = [k for k in self.arrays if k < len(leaves)]
        arguments = device_arrays([self.named(k, leaves[k]) for k in places])
        cuda = Cuda(self.library, self.program.function_name, self.device(arguments))
        make, found = maker(arguments, cuda), list(leaves)
        with cuda.current():
            for k, array in zip(places, arguments.arrays, strict=True):
                found[k] = make(array.shape, array.dtype)
                if array.size:
                    cuda.copy(address_of(found[k]), array.pointer, array.size, arguments.stream)
        if arguments.borrowed:
            cuda.synchronise(arguments.stream)
        return found


def address_of(value: Any) -> int:
    """The address of an array that a library has just made."""
    pointer: int | None = value.__cuda_array_interface__["data"][0]
    return pointer or 0


def _rank(kind: Any) -> int:
    return kind.rank if isinstance(kind, Buffer) else 0
