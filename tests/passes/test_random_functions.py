"""Every pass keeps what random functions do: results and memory bit for bit, and whether they raise.

`ADGEN_FUNCTIONS` sets how many functions are tried; the default keeps the test short.
"""

import os
from collections.abc import Callable

import pytest

from adgen.ir.nodes import Function
from adgen.ir.rebuild import rebuild
from adgen.ir.verify import verify
from adgen.passes.checkpoint import checkpointed
from adgen.passes.copies import copies
from adgen.passes.dead_code import dead_code
from adgen.passes.equal_extents import equal_extents
from adgen.passes.fold import fold
from adgen.passes.forward_stores import forward_stores
from adgen.passes.fuse import fuse
from adgen.passes.hoist import hoist
from adgen.passes.hoist_checks import hoist_checks
from adgen.passes.induction import induction
from adgen.passes.known_extents import known_extents
from adgen.passes.masked import masked
from adgen.passes.packs import packs
from adgen.passes.pipeline import optimise, simplify
from adgen.passes.registers import registers
from adgen.passes.sink_buffers import sink_buffers
from adgen.passes.unroll import unroll
from adgen.passes.write_back import write_back
from tests.passes.random_functions import Generator, inputs
from tests.passes.support import behaviour


def chunks(function: Function) -> Function:
    """Every loop in chunks."""
    return checkpointed(function, 0)


PASSES = (
    rebuild,
    dead_code,
    fold,
    forward_stores,
    fuse,
    equal_extents,
    hoist,
    induction,
    sink_buffers,
    copies,
    write_back,
    unroll,
    registers,
    hoist_checks,
    known_extents,
    masked,
    packs,
    chunks,
    simplify,
    optimise,
)
EARLIER = (hoist_checks, known_extents, simplify, optimise)
COUNT = int(os.environ.get("ADGEN_FUNCTIONS", "12"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_passes_keep_the_meaning(seed: int) -> None:
    """Passes that move checks may report another failure of a call that fails more than once; no other pass may."""
    function = Generator(seed).function()
    verify(function)
    calls = [inputs(1000 * seed + k) for k in range(5)]
    expected = [behaviour(function, call) for call in calls]
    for step in PASSES:
        changed = step(function)
        verify(changed)
        for call, (kind, outcome) in zip(calls, expected):
            assert _seen(step, behaviour(changed, call)) == _seen(step, (kind, outcome)), step.__name__


def _seen(step: Callable[[Function], Function], outcome: tuple) -> tuple:
    return ("raises", None) if outcome[0] == "raises" and step in EARLIER else outcome
