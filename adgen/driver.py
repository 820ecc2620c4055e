"""The line from a Python function to compiled code: one stage a line, each name that of the artefact it holds.

    source text -> ast -> ir.Function -> derivative ir.Function -> optimised ir.Function -> C text -> library

Comes in: a function, the types of its arguments, what is wanted of it.  Goes out: a library on disk and what is known
of its entry points.  Guaranteed: nothing is remembered between two calls but what the toolchain caches by content.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from adgen.diagnostics import warn
from adgen.emit import Emitted, emit
from adgen.emit.cuda import EmittedCuda, emit_cuda
from adgen.emit.functions import Fixed
from adgen.emit.profile import HOSTED, Profile
from adgen.frontend.lower import lower
from adgen.frontend.specs import Lowered, Spec
from adgen.ir.nodes import Function
from adgen.passes.implicit import pushed
from adgen.passes.localise import written_parameters
from adgen.passes.pipeline import Watch, for_device, optimise, unwatched
from adgen.runtime.differentiate import differentiate, differentiated, gradient_tree
from adgen.runtime.missing import searches
from adgen.runtime.programs import DeviceEntry, Program, Site
from adgen.runtime.tracing import begun
from adgen.runtime.wrt import Wrt
from adgen.toolchain import build, prepare
from adgen.toolchain.device import build_device, kernel_usages
from adgen.toolchain.ptxas import blocks_of
from adgen.toolchain.target import PROCESSOR, Target


@dataclass(frozen=True)
class Build:
    """A library on disk and what is in it."""

    library: Path
    programs: tuple[Program, ...]


class Built(NamedTuple):
    """The text of a module and its extension."""

    emitted: Emitted
    library: Path


def compile_product(
    function: Callable[..., Any],
    specs: Mapping[str, Spec],
    product: str,
    wrt: Wrt | None,
    threads: int = 1,
    target: Target = PROCESSOR,
) -> Build:
    """One product of a function, compiled for a target, on the processor for a number of threads."""
    prepare()
    primal = lower_function(function, specs, kinks=product == "kinks")
    for text in searches(primal, wrt) if wrt else ():
        warn(text)
    derived = differentiate(primal, product, wrt, states=True)
    optimised = prepared(derived.function, target, threads=threads)
    emitted = translated([optimised], optimised.name, target)
    emitted, library = fitted(
        emitted,
        built(emitted, target),
        lambda blocks: emit_cuda([optimised], optimised.name, blocks=blocks),
        target,
    )
    return Build(library, (program(primal, wrt, derived, optimised, emitted),))


def prepared(
    function: Function, target: Target, plain: bool = False, threads: int = 1, watch: Watch = unwatched
) -> Function:
    """A function ready for emission; `plain` and `threads` are for the processor."""
    if target.is_device:
        return for_device(function, target.deterministic, watch)
    return optimise(function, plain, threads, watch)


def translated(
    functions: Sequence[Function],
    name: str,
    target: Target,
    notes: Mapping[str, str] | None = None,
    profile: Profile = HOSTED,
    fixed: Mapping[str, Fixed] | None = None,
) -> Emitted:
    """The text of a module for a target.

    Raises AdgenError when the target cannot run a function.
    """
    if target.is_device:
        return emit_cuda(functions, name, notes, fixed)
    return emit(functions, name, notes, profile, fixed)


def fitted(emitted: Emitted, library: Path, again: Callable[[Mapping[str, int]], Emitted], target: Target) -> Built:
    """A module whose kernels are launched in blocks that suit the registers that nvcc has given them.

    `again` emits the module for other numbers of threads of some kernels' blocks.
    """
    blocks = blocks_of(kernel_usages(library)) if target.name == "cuda" else {}
    if not blocks:
        return Built(emitted, library)
    emitted = again(blocks)
    return Built(emitted, built(emitted, target))


def built(emitted: Emitted, target: Target) -> Path:
    """The extension of a module, from the cache when it is there.

    Raises AdgenError when there is no compiler or it fails.
    """
    return build_device(emitted, target) if isinstance(emitted, EmittedCuda) else build(emitted)


def lower_function(
    function: Callable[..., Any], specs: Mapping[str, Spec], traced: bool = False, kinks: bool = False
) -> Lowered:
    """The IR of a function, or of what an operator makes of one.

    `traced`: checked for what is not finite; `kinks`: it says where they are.
    """
    if (operator := getattr(function, "__adgen__", None)) is None:
        lowered = lower(function, specs, pushed, kinks)
        return begun(lowered) if traced else lowered
    made: Lowered = operator.lower(specs, traced)
    return made


def lower_product(
    function: Callable[..., Any], specs: Mapping[str, Spec], product: str, wrt: Wrt | None, traced: bool = False
) -> Lowered:
    """The IR of one product of a function."""
    return differentiate(lower_function(function, specs, traced or product == "traced"), product, wrt)


def program(primal: Lowered, wrt: Wrt | None, derived: Lowered, optimised: Function, emitted: Emitted) -> Program:
    """What is known about the entry point of an emitted function."""
    interface = emitted.interfaces[optimised.name]
    return Program(
        name=interface.c_name,
        function_name=primal.function.name,
        parameters=tuple(value.type for value in optimised.parameters),
        results=tuple(value.type for value in optimised.results),
        leaves=derived.leaves,
        output=derived.output,
        written=written_parameters(optimised),
        guarded=primal.mutated,
        sites=tuple(Site(site.exception, site.message, site.span) for site in emitted.sites),
        dependencies=tuple(replace(dependency, root=None) for dependency in primal.dependencies),
        differentiated=tuple(differentiated(primal.leaves, wrt)) if wrt else (),
        directions=gradient_tree(primal, wrt, 0) if wrt else None,
        workspace=interface.workspace != "0",
        device=DeviceEntry(interface.device, interface.noting) if interface.device else None,
    )


__all__ = [
    "Build",
    "Built",
    "built",
    "compile_product",
    "fitted",
    "lower_function",
    "lower_product",
    "prepared",
    "translated",
]
