"""A workload on adgen and on the peers, with arrays that are on the device before anything is timed.

Comes in: a workload and NumPy arrays.  Goes out: calls that put work on the device, how their results are read and how
they are timed.  Guaranteed: a peer that waits for its results in each call, on its own streams, is timed on the wall.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import adgen
from benchmarks.gpu.device import Call, Device, wall_seconds
from benchmarks.suite import Options, calls_of, installed
from benchmarks.workload import Array, Calls, Inputs, Workload, flat


class Player(NamedTuple):
    """The function and its derivative, None where there is none, on arrays of the device."""

    value: Call
    derivative: Call | None
    seconds: Callable[[Call, int], float]
    read_value: Callable[[Any], Array] = flat
    read_derivative: Callable[[Any], Array] = flat


def present(target: str, peers: tuple[str, ...]) -> tuple[str, ...]:
    """The peers that are installed; from now on they compute on the device of the target."""
    if target == "cuda":
        os.environ.setdefault("JAX_PLATFORMS", "cuda")
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the others need memory too
    found = tuple(peer for peer in peers if installed(peer))
    if target == "cuda" and "torch" in found:
        sys.modules["torch"].set_default_device("cuda")
    return found


def on_processor(workload: Workload, inputs: Inputs) -> Calls:
    """adgen's C, with which the others are compared."""
    with adgen.target("c"):
        found = calls_of("adgen", workload, inputs, Options())
    assert found is not None
    return found


def ours(workload: Workload, inputs: Inputs, device: Device) -> Player:
    """adgen on the device: bound calls, which allocate nothing."""
    there = {name: device.place(value) for name, value in inputs.items()}
    with adgen.target(device.target):
        calls = calls_of("adgen", workload, there, Options())
    assert calls is not None
    return Player(bound(calls.value), bound(calls.derivative), device.seconds)


def bound(call: Call) -> Call:
    """A call of an operator, with its arguments and results where they are."""
    assert isinstance(call, partial)
    made: Call = call.func.bind(*call.args, **call.keywords)  # type: ignore[attr-defined]
    return made


def player_of(peer: str, workload: Workload, inputs: Inputs, device: Device) -> Player | None:
    """What a peer makes of a workload."""
    if peer == "adgen":
        return ours(workload, inputs, device)
    if peer == "cupy":
        module = import_module("benchmarks.peers.cupy")
        value = module.value(workload, inputs)
        return value and Player(value, None, device.seconds, lambda result: flat(module.cupy.asnumpy(result)))
    calls = calls_of(peer, workload, inputs, Options())
    return calls and Player(calls.value, calls.derivative, wall_seconds if peer == "jax" else device.seconds)


def release() -> None:
    """Give memory of the device back that libraries keep."""
    gc.collect()
    if "cupy" in sys.modules:
        sys.modules["cupy"].get_default_memory_pool().free_all_blocks()
    if "torch" in sys.modules and sys.modules["torch"].cuda.is_available():
        sys.modules["torch"].cuda.empty_cache()
