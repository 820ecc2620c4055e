"""Calling compiled code with Python arguments.

Comes in: a `Program`, the loaded library that holds it, and arguments.  Goes out: results as the function gives them.
There are two ways with the same results: through the extension module of `toolchain/fastcall`, where there is one and
the arguments are of the plain kind, and through cffi.  Guaranteed: calls may run at the same time from many threads; an
array argument that fits is passed without a copy; a failed check is the exception that Python would raise, with the
Python line; results of a failed call do not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import (
    ArraySpec,
    OutputLeaf,
    OutputStruct,
    ScalarSpec,
    Shapes,
    Spec,
    StaticSpec,
    StructSpec,
    has_complex,
)
from adgen.ir.types import BOOL, INTEGERS, Buffer
from adgen.runtime.callcode import call_source, needs_sizes, other_extents, output_constants, readers, scalar_results
from adgen.runtime.convert import (
    DTYPES,
    canonical,
    check_written,
    leaf_value,
    overlapping,
    path_text,
    refuse_overlap,
    restore,
)
from adgen.runtime.failures import OUT_OF_MEMORY, failure, out_of_memory
from adgen.runtime.fastcalls import element_of, leaf_parameters, leaves_among, results_of, steps
from adgen.runtime.placement import is_device_array
from adgen.runtime.programs import Program
from adgen.runtime.signatures import ArgumentError, is_fixed
from adgen.runtime.workspace import KEPT_BYTES, Workspace

if TYPE_CHECKING:
    from adgen.runtime.devices.calls import DeviceCalls

C_TYPES = {"f64": "double", "f32": "float", "bool": "_Bool", **{k.name: f"{k.full_name}_t" for k in INTEGERS}}


def no_other(shapes: Shapes) -> Entry | None:
    """What stands in for other code where there is none."""
    return None


class Entry:
    """One compiled entry point, ready to be called; `raw` takes the leaves of the arguments in canonical form.

    `stretching` gives what to call instead for arrays of these shapes, when the code takes others for granted.
    `calls` is the extension module that makes calls short, where there is one.  With `telling`, the first call with
    NumPy arrays warns of what it costs to copy them to a device.
    """

    def __init__(
        self,
        program: Program,
        library: Any,
        namespace: Mapping[str, Any] | None = None,
        stretching: Callable[[Shapes], Entry | None] = no_other,
        calls: Any = None,
        telling: bool = False,
    ) -> None:
        self.program = program
        self.library = library
        self.user_names = namespace or {}
        self.stretching = stretching
        self.others: dict[tuple[tuple[bool, ...], ...], Callable[..., Any] | None] = {}
        # A call pops a slot and appends it when it is done.  Both are atomic, so no two calls ever share one.
        self.slots: list[tuple[Any, ...]] = []
        self.other_statuses = other_extents(program)
        self.calls = calls if calls and hasattr(library.lib, f"adgen_calls_{program.name}") else None
        fast = self.fast(leaf_parameters(program), lambda *leaves: self.cffi_raw(*leaves))
        self.short: Callable[..., Any] | None = fast
        self.raw: Callable[..., Any] = fast or self.cffi_raw
        if telling and program.device and not hasattr(library.lib, "adgen_emulated_races"):
            self.raw = self._with_warning(self.raw)

    def __call__(self, arguments: Mapping[str, Any]) -> Any:
        """Call with arguments by parameter name, of the types that the program was made for."""
        return self.with_leaves([leaf_value(arguments, leaf.path) for leaf in self.program.leaves])

    def with_leaves(self, given: Sequence[Any]) -> Any:
        """Call with the leaves of the arguments as they are."""
        if self.on_device(given):
            return self.device(given)
        program = self.program
        self.check_guarded(given)
        values = [canonical(value, leaf.spec) for value, leaf in zip(given, program.leaves, strict=True)]
        results = self.raw(*values)
        for position in program.written:
            if values[position] is not given[position]:
                restore(given[position], values[position], program.leaves[position].spec)
        return results

    def run(self, values: Sequence[Any]) -> Any:
        """Call with the leaves in canonical form, arrays where they are."""
        return self.device(values) if self.on_device(values) else self.raw(*values)

    def on_device(self, given: Sequence[Any], able: bool = True) -> bool:
        """True when an array among the leaves is on a device.

        Raises AdgenError when the code is for the processor, or what it is called for not `able` to take such arrays.
        """
        for value, leaf in zip(given, self.program.leaves):
            if type(value) is np.ndarray or not isinstance(leaf.spec, ArraySpec) or not is_device_array(value):
                continue
            name = path_text(leaf.path)
            if self.program.device is None:
                raise not_on_a_device(name, self.program.function_name)
            if not able:
                function = self.program.function_name
                raise ArgumentError(
                    "AD139",
                    f"argument `{name}` is on a device, and this operator on `{function}` takes NumPy arrays",
                    help="copy it to the host",
                )
            return True
        return False

    @cached_property
    def device(self) -> DeviceCalls:
        """The calls with arrays that are on a device."""
        from adgen.runtime.devices.calls import DeviceCalls

        def other(shapes: Shapes) -> DeviceCalls | None:
            found = self.stretching(shapes)
            return None if found is None else found.device

        return DeviceCalls(self.program, self.library, C_TYPES, self.exception, other)

    def _with_warning(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """`raw` for the first time, which tells what copies cost."""

        def first(*leaves: Any) -> Any:
            from adgen.runtime.devices.host import warn_of_copies

            results = call(*leaves)
            self.raw = call
            warn_of_copies(self.program, leaves, results)
            return results

        return first

    @cached_property
    def flat(self) -> Entry:
        """The entry whose result is the tuple of the flat results."""
        leaves = tuple(
            (k, OutputLeaf(k, kind.element, kind.rank) if isinstance(kind, Buffer) else OutputLeaf(k, element_of(kind)))
            for k, kind in enumerate(self.program.results)
        )
        program = replace(self.program, output=OutputStruct(tuple, leaves))

        def stretching(shapes: Shapes) -> Entry | None:
            other = self.stretching(shapes)
            return other and other.flat

        return Entry(program, self.library, self.user_names, stretching, self.calls)

    def fast(self, parameters: tuple[Any, ...], otherwise: Callable[..., Any], conditions: tuple[Any, ...] = ()) -> Any:
        """The short call with these parameters, which gives all other arguments to `otherwise`; None without one."""
        if self.calls is None:
            return None
        table = getattr(self.library.lib, f"adgen_calls_{self.program.name}")
        function, sizes = (int(self.library.ffi.cast("intptr_t", address)) for address in table)

        def failed(status: int, details: Sequence[int], *given: Any) -> Any:
            return self.settle(status, details, *leaves_among(parameters, given))

        try:
            return self.calls.Call(
                function=function,
                sizes=sizes,
                measured=needs_sizes(self.program),
                parameters=parameters,
                conditions=conditions,
                results=results_of(self.program),
                steps=steps(self.program.output),
                failed=failed,
                otherwise=otherwise,
            )
        except ValueError:  # too many arguments or results
            return None

    def settle(self, status: int, details: Sequence[int], *leaves: Any) -> Any:
        """What a call gives whose status is not 0: what other code gives for these extents, or an exception."""
        other = self._stretching(leaves) if status in self.other_statuses else None
        if other:
            return other(*leaves)
        raise self.exception(status, details)

    @cached_property
    def cffi_raw(self) -> Callable[..., Any]:
        """`raw` through cffi."""
        leaves = [f"a{position}" for position in range(len(self.program.parameters))]
        return self.define(call_source(self.program, "raw", leaves), "raw")

    def check_guarded(self, given: Sequence[Any]) -> None:
        """Refuse arrays that the Python function writes and that cannot be written, or overlap with another."""
        program = self.program
        if not program.guarded:
            return
        arrays = [
            (path_text(leaf.path), value)
            for leaf, value in zip(program.leaves, given)
            if isinstance(leaf.spec, ArraySpec)
        ]
        positions = [p for p, leaf in enumerate(program.leaves) if isinstance(leaf.spec, ArraySpec)]
        for position in (k for k in program.written if k < len(given)):  # what follows is no argument
            leaf = program.leaves[position]
            assert isinstance(leaf.spec, ArraySpec)
            check_written(given[position], leaf.spec, path_text(leaf.path), program.function_name)
        refuse_overlap(arrays, [positions.index(p) for p in program.guarded], program.function_name)

    def define(self, source: str, name: str, **names: Any) -> Callable[..., Any]:
        """The function that a text from `callcode` defines."""
        namespace = {**self.names, **names}
        exec(compile(source, f"<adgen call of {self.program.name}>", "exec"), namespace)
        function: Callable[..., Any] = namespace[name]
        return function

    @cached_property
    def names(self) -> dict[str, Any]:
        """What the names in the texts from `callcode` mean."""
        ffi, lib, name = self.library.ffi, self.library.lib, self.program.name
        types = {f"{element}s": ffi.typeof(f"{c}[]") for element, c in C_TYPES.items()}
        return {
            **types,
            **{str(element): dtype for element, dtype in DTYPES.items() if element != BOOL},
            "bool_": DTYPES[BOOL],
            **output_constants(self.program.output),
            "entry": getattr(lib, name),
            "measure": getattr(lib, f"{name}_sizes"),
            "from_buffer": ffi.from_buffer,
            **{f"read_{element}": read for element, read in readers(self.program).items()},
            "NULL": ffi.NULL,
            "KEPT_BYTES": KEPT_BYTES,
            "empty": np.empty,
            "new_tuple": tuple.__new__,
            "stretching": self._stretching,
            "overlapping": overlapping,
            "take": self.slots.pop,
            "give": self.slots.append,
            "new_slot": self._slot,
            "failed": self._failed,
        }

    def _stretching(self, values: Sequence[Any]) -> Callable[..., Any] | None:
        leaves = zip(self.program.leaves, values, strict=True)
        shapes = {leaf.path: v.shape for leaf, v in leaves if isinstance(leaf.spec, ArraySpec)}
        key = tuple(tuple(extent == 1 for extent in shape) for shape in shapes.values())
        if key not in self.others:
            other = self.stretching(shapes)
            self.others[key] = other and other.raw
        return self.others[key]

    def _slot(self) -> tuple[Any, ...]:
        """Memory for one call at a time, laid out as `callcode.slot_names` says."""
        ffi, program = self.library.ffi, self.program
        extents = sum(kind.rank for kind in program.results if isinstance(kind, Buffer))
        parts = [ffi.new("int64_t[4]"), ffi.new("int64_t[]", 1 + extents), Workspace(ffi)]
        read_together = readers(program)
        for element, positions in scalar_results(program).items():
            numbers = ffi.new(f"{C_TYPES[element]}[]", len(positions))
            parts += [
                ffi.buffer(numbers) if element in read_together else numbers,
                *(numbers + k for k in range(len(positions))),
            ]
        return tuple(parts)

    def _failed(self, status: int, slot: tuple[Any, ...]) -> AdgenError:
        details = list(slot[0])
        self.slots.append(slot)
        return self.exception(status, details)

    def exception(self, status: int, details: Sequence[int]) -> AdgenError:
        """The exception that a status means."""
        name = self.program.function_name
        if status == OUT_OF_MEMORY:
            return out_of_memory(name, details[1] if self.program.device else 0)
        if status < 0:
            from adgen.runtime.devices.cuda import Cuda

            return Cuda(self.library, name).error(details[0])
        site = self.program.sites[status - 1]
        return failure(site.exception, site.message, site.span, details, self.user_names)


def not_on_a_device(name: str, function_name: str) -> AdgenError:
    """The exception for an array on a device where code is for the processor."""
    return ArgumentError(
        "AD139",
        f"argument `{name}` is on a device, and `{function_name}` is compiled for the processor",
        help="copy it to the host, or compile for a device: with adgen.target('cuda'): g = adgen.grad(f)",
    )


def direct_call(
    entry: Entry,
    specs: Mapping[str, Spec],
    arguments: Mapping[str, Any],
    given: Sequence[bool],
    otherwise: Callable[..., Any],
) -> Callable[..., Any] | None:
    """A function for calls with arguments of exactly the types of `arguments`.

    Parameters that are not `given` keep the value of `arguments`, whatever is passed for them.  What types do not tell
    (dtype, rank, layout, the value of an option) is checked; anything unexpected goes to `otherwise`, which takes the
    same arguments.  None when these arguments need more than a check.
    """
    for spec in specs.values():
        if isinstance(spec, StructSpec) or has_complex(spec):
            return None
        if isinstance(spec, StaticSpec) and not is_fixed(spec.value):
            return None
    names: list[str] = []
    casts: list[str] = []
    options: list[str] = []
    bound: dict[str, Any] = {"otherwise": otherwise}
    leaf = 0
    for position, ((name, spec), present) in enumerate(zip(specs.items(), given, strict=True)):
        value = arguments[name]
        if isinstance(spec, StaticSpec):
            names.append(f"s{position}")
            bound[f"option{position}"] = value
            if present and value is not None:
                options.append(f"s{position} {'!=' if type(value) in (str, int) else 'is not'} option{position}")
            continue
        assert isinstance(spec, ScalarSpec | ArraySpec)
        if isinstance(spec, ScalarSpec) and isinstance(value, np.ndarray):
            return None
        names.append(f"a{leaf}" if present else f"s{position}")
        if not present:
            bound[f"a{leaf}"] = canonical(value, spec)
        elif isinstance(value, np.bool_):
            casts.append(f"a{leaf} = bool(a{leaf})")
        leaf += 1
    slow = f"otherwise({', '.join(names)})"
    tests = [*options, *_array_tests(entry.program, names)]
    checks = [f"if {' or '.join(tests)}:", f"    return {slow}"] if tests else []
    return entry.define(call_source(entry.program, "direct", names, [*checks, *casts], slow), "direct", **bound)


def _array_tests(program: Program, names: Sequence[str]) -> list[str]:
    """What must not be true of array arguments."""
    arrays = [position for position, kind in enumerate(program.parameters) if isinstance(kind, Buffer)]
    tests = []
    for position in arrays:
        kind, name = program.parameters[position], f"a{position}"
        assert isinstance(kind, Buffer)
        dtype = "bool_" if kind.element == BOOL else str(kind.element)
        if name in names:
            tests.append(f"{name}.dtype is not {dtype} or {name}.ndim != {kind.rank} or not {name}.flags.carray")
    if program.guarded and len(arrays) > 1:
        written, every = ("".join(f"a{p}, " for p in positions) for positions in (program.guarded, arrays))
        tests.append(f"overlapping(({written}), ({every}))")
    return tests
