"""The standard lists of passes.

`simplify` cleans a primal before it is differentiated: what is dead, constant or private then costs its derivative
nothing.  `optimise` prepares any function for emission.  Both take and give a function and keep its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps

from adgen.ir.calls import everywhere, reachable
from adgen.ir.nodes import Function
from adgen.passes.columns import columns
from adgen.passes.contractions import contractions
from adgen.passes.copies import copies
from adgen.passes.custom import external_calls, inline_custom
from adgen.passes.dead_code import dead_code, keep_results
from adgen.passes.equal_extents import equal_extents
from adgen.passes.fold import fold
from adgen.passes.forward_stores import forward_stores
from adgen.passes.fuse import fuse
from adgen.passes.gathers import gathers
from adgen.passes.grids import grids
from adgen.passes.hoist import hoist
from adgen.passes.hoist_checks import hoist_checks
from adgen.passes.implicit import implicit
from adgen.passes.independent import independent
from adgen.passes.induction import induction
from adgen.passes.kept_states import kept_states
from adgen.passes.known_extents import known_extents
from adgen.passes.lanes import lanes
from adgen.passes.masked import masked
from adgen.passes.packs import packs
from adgen.passes.parts import parts
from adgen.passes.registers import registers
from adgen.passes.rotations import rotations
from adgen.passes.sink_buffers import sink_buffers
from adgen.passes.unroll import unroll
from adgen.passes.vanishing import vanishing
from adgen.passes.write_back import write_back

Pass = Callable[[Function], Function]
Watch = Callable[[str], AbstractContextManager[None]]  # around each pass, by its name

PRIMAL: tuple[Pass, ...] = (
    fold,
    induction,
    known_extents,
    forward_stores,
    masked,
    dead_code,
    hoist,
    hoist_checks,
    hoist,
    copies,
    sink_buffers,
    write_back,
    fold,
    dead_code,
)
EMITTED: tuple[Pass, ...] = (
    fold,
    unroll,
    forward_stores,
    registers,
    dead_code,
    hoist,
    hoist_checks,
    hoist,
    equal_extents,
    fuse,
    copies,
    sink_buffers,
    fold,
    dead_code,
    vanishing,
    gathers,
    copies,
    sink_buffers,
    fold,
    dead_code,
    contractions,
    kept_states,
    rotations,
    columns,
    parts,
    lanes,
    packs,
    independent,
    external_calls,
)


HELPED: tuple[Pass, ...] = (contractions, gathers, columns, parts, lanes, packs, independent)
# A device has threads for vectors, and its loops of the host are no place for what one thread exchanges.
HOST_ONLY: tuple[Pass, ...] = (contractions, rotations, columns, parts, lanes, packs, independent)


def unwatched(name: str) -> AbstractContextManager[None]:
    """Nothing around a pass."""
    return nullcontext()


def for_device(function: Function, deterministic: bool = False, watch: Watch = unwatched) -> Function:
    """Any function made ready for emission as kernels; `deterministic`: sums always in one order."""

    @wraps(grids)
    def marked(each: Function) -> Function:
        return grids(each, deterministic)

    @wraps(gathers)
    def whole(each: Function) -> Function:
        return gathers(each, True)

    steps = [whole if step is gathers else step for step in EMITTED if step not in HOST_ONLY]
    return apply(inline_custom(function), [*steps, hoist, dead_code, marked], watch)


def simplify(function: Function) -> Function:
    """A primal made ready for differentiation."""
    return apply(implicit(function), PRIMAL)


def optimise(function: Function, plain: bool = False, threads: int = 1, watch: Watch = unwatched) -> Function:
    """Any function made ready for emission, with loops divided among a number of threads; `plain`: without what
    libraries and vector units do better."""

    @wraps(parts)
    def divided(each: Function) -> Function:
        return parts(each, threads)

    steps = [divided if step is parts else step for step in EMITTED if not plain or step not in HELPED]
    return apply(inline_custom(function), steps, watch)


def apply(function: Function, passes: Sequence[Pass], watch: Watch = unwatched) -> Function:
    """Run passes one after the other on a function and each of its callees."""

    def through(each: Function) -> Function:
        for step in passes:
            with watch(step.__name__):
                each = step(each)
        return each

    return everywhere(reachable(function), through)


__all__ = ["EMITTED", "PRIMAL", "apply", "for_device", "keep_results", "optimise", "simplify", "unwatched"]
