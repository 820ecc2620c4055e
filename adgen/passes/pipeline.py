"""The standard lists of passes.

`simplify` cleans a primal before it is differentiated: what is dead, constant or private then costs its derivative
nothing.  `optimise` prepares any function for emission.  Both take and give a function and keep its meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adgen.ir.calls import everywhere, reachable
from adgen.ir.nodes import Function
from adgen.passes.contractions import contractions
from adgen.passes.copies import copies
from adgen.passes.custom import external_calls, inline_custom
from adgen.passes.dead_code import dead_code, keep_results
from adgen.passes.fold import fold
from adgen.passes.forward_stores import forward_stores
from adgen.passes.gathers import gathers
from adgen.passes.hoist import hoist
from adgen.passes.hoist_checks import hoist_checks
from adgen.passes.implicit import implicit
from adgen.passes.independent import independent
from adgen.passes.induction import induction
from adgen.passes.kept_states import kept_states
from adgen.passes.rotations import rotations
from adgen.passes.sink_buffers import sink_buffers
from adgen.passes.write_back import write_back

Pass = Callable[[Function], Function]

PRIMAL: tuple[Pass, ...] = (
    fold,
    induction,
    forward_stores,
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
    forward_stores,
    dead_code,
    hoist,
    hoist_checks,
    hoist,
    copies,
    sink_buffers,
    fold,
    dead_code,
    gathers,
    sink_buffers,
    fold,
    dead_code,
    contractions,
    independent,
    external_calls,
    kept_states,
    rotations,
)


HELPED: tuple[Pass, ...] = (contractions, gathers, independent)


def simplify(function: Function) -> Function:
    """A primal made ready for differentiation."""
    return apply(implicit(function), PRIMAL)


def optimise(function: Function, plain: bool = False) -> Function:
    """Any function made ready for emission; `plain`: without what libraries and vector units do better."""
    return apply(inline_custom(function), [step for step in EMITTED if not plain or step not in HELPED])


def apply(function: Function, passes: Sequence[Pass]) -> Function:
    """Run passes one after the other on a function and each of its callees."""

    def through(each: Function) -> Function:
        for step in passes:
            each = step(each)
        return each

    return everywhere(reachable(function), through)


__all__ = ["EMITTED", "PRIMAL", "apply", "keep_results", "optimise", "simplify"]
