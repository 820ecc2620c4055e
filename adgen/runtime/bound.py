"""Calls with fixed arguments: `bind`, and results that go into arrays which the caller has: `out=`.

Comes in: an entry, the leaves of its arguments, perhaps arrays for the results.  Goes out: a function of no arguments
that reads the arrays as they are when it is called, writes into the same results each time and gives them back.
Guaranteed: an array that results cannot go into, or that shares memory with an argument, is an `AdgenError`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import (
    ArraySpec,
    Leaf,
    OutputConstant,
    OutputLeaf,
    OutputStruct,
    OutputTree,
    has_complex_output,
    output_leaves,
)
from adgen.ir.types import Buffer
from adgen.runtime.callcode import given_as
from adgen.runtime.calls import Entry
from adgen.runtime.convert import DTYPES, canonical, path_text, shares
from adgen.runtime.fastcalls import steps
from adgen.runtime.trees import assembled, flatten

Outputs = list[Any]
NOWHERE = object()  # no `out`
WITHIN = {"value_and_grad": 1}  # which part of a pair of results `out` is for


def bound_call(entry: Entry, leaves: Sequence[Any], out: Any = NOWHERE, part: int | None = None) -> Callable[[], Any]:
    """A call of an entry with these leaves, whose results go into `out`, or where those of its first call went.

    With `part`, `out` is for that part of the results.  Numbers are fixed from now on.
    """
    program = entry.program
    if entry.on_device(leaves):
        from adgen.runtime.devices.bound import BoundDeviceCall

        structure, targets = (program.output, []) if out is NOWHERE else destinations(entry, out, part)
        return BoundDeviceCall(entry.device, leaves, targets, structure)
    given = [
        value if isinstance(leaf.spec, ArraySpec) else canonical(value, leaf.spec)
        for value, leaf in zip(leaves, program.leaves, strict=True)
    ]
    entry.check_guarded(given)
    tree: OutputTree = program.output
    outputs: Outputs = [None for _ in program.results]
    if out is not NOWHERE:
        tree, outputs = placed(entry, given, out, part)
    slow = BoundCall(entry.flat, given, tree, outputs)
    held = [in_place(value, leaf.spec) for value, leaf in zip(given, program.leaves)]
    usable = all(value is not None for value in held) and all(
        target is None or is_plain(target, kind) for target, kind in zip(outputs, program.results)
    )
    if not usable or entry.calls is None or entry.short is None:
        return slow
    made: Callable[[], Any] = entry.calls.Bound(entry.short, tuple(held), outputs, steps(tree), slow.settle, slow)
    return made


def call_into(entry: Entry, leaves: Sequence[Any], out: Any, part: int | None = None) -> Any:
    """One call of an entry with these leaves, whose results, or with `part` that part of them, go into `out`."""
    if entry.on_device(leaves):
        tree, targets = destinations(entry, out, part)
        return entry.device(leaves, targets, tree)
    return bound_call(entry, leaves, out, part)()


def bindable(wrapper: Callable[..., Any], bind: Callable[..., Callable[[], Any]]) -> Callable[..., Any]:
    """The wrapper with a `bind` that takes what it takes."""

    def binding(*args: Any, **kwargs: Any) -> Callable[[], Any]:
        """A function of no arguments: the call with these arguments, whose results go to the same place each time."""
        try:
            return bind(args, kwargs)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    wrapper.bind = binding  # type: ignore[attr-defined]
    return wrapper


class BoundCall:
    """A call with fixed arguments by the longer way; `outputs` are where its flat results go, None as yet nowhere."""

    def __init__(self, flat: Entry, given: Sequence[Any], tree: OutputTree, outputs: Outputs) -> None:
        self.flat = flat
        self.given = given
        self.tree = tree
        self.outputs = outputs

    def __call__(self) -> Any:
        """The results for what the arguments hold now."""
        try:
            for value, leaf in zip(self.given, self.flat.program.leaves):
                check_rank(value, leaf)
            return self.finish(self.flat.with_leaves(self.given))
        except AdgenError as error:
            raise error.with_traceback(None) from None

    def settle(self, status: int, details: Sequence[int], *leaves: Any) -> Any:
        """What a short call gives whose status is not 0."""
        return self.finish(self.flat.settle(status, details, *leaves))

    def finish(self, results: Sequence[Any]) -> Any:
        """The results in their places, as Python sees them.

        Raises AdgenError when they no longer fit.
        """
        for output, result in zip(self.outputs, results, strict=True):
            if output is not None and output.shape != np.shape(result):
                raise AdgenError(
                    "AD154",
                    f"a result of shape {np.shape(result)} does not fit into its array of shape {output.shape}",
                    help="bind again when the arrays have another shape, and give `out` the shape of the results",
                )
        for position, (output, result) in enumerate(zip(self.outputs, results)):
            if output is not None:
                output[...] = result
            elif isinstance(self.flat.program.results[position], Buffer):
                self.outputs[position] = result

        def at(leaf: OutputLeaf) -> Any:
            return given_as(leaf, results[leaf.index]) if leaf.rank is None else self.outputs[leaf.index]

        return assembled(self.tree, at)


# -- arguments -------------------------------------------------------------------------------------------------------


def check_rank(value: Any, leaf: Leaf) -> None:
    """Refuse an array that has been given another number of axes since."""
    if isinstance(leaf.spec, ArraySpec) and value.ndim != leaf.spec.rank:
        raise AdgenError(
            "AD166",
            f"argument `{path_text(leaf.path)}` has {value.ndim} axes now, and had {leaf.spec.rank}",
            help="bind again after an array has been reshaped",
        )


def in_place(value: Any, spec: Any) -> Any:
    """The leaf as compiled code takes it, when that is the same memory; else None."""
    if not isinstance(spec, ArraySpec):
        return value
    found = canonical(value, spec)
    return found if found is value or np.may_share_memory(found, value) else None


def is_plain(target: Any, kind: Any) -> bool:
    """True when compiled code can write a result of this type into an array as it is."""
    if not isinstance(kind, Buffer) or type(target) is not np.ndarray:
        return False
    return target.dtype is DTYPES[kind.element] and bool(target.flags.carray)


# -- results ---------------------------------------------------------------------------------------------------------


def placed(entry: Entry, given: Sequence[Any], out: Any, part: int | None) -> tuple[OutputTree, Outputs]:
    """The output with `out` in the place of what it is for, and the arrays in it by flat result.

    Raises AdgenError when `out` has another structure, or an array in it does not fit.
    """
    tree, targets = destinations(entry, out, part)
    outputs: Outputs = [None for _ in entry.program.results]
    for leaf, target, name in targets:
        check_target(target, leaf, name)
        outputs[leaf.index] = target
        check_apart(entry, given, outputs, leaf.index, name)
    return tree, outputs


def destinations(entry: Entry, out: Any, part: int | None) -> tuple[OutputTree, list[tuple[OutputLeaf, Any, str]]]:
    """The output with `out` in the place of what it is for, and the arrays in it as `targets_of` gives them."""
    whole = entry.program.output
    wanted = whole if part is None else item_of(whole, part)
    if has_complex_output(wanted):
        raise AdgenError("AD166", "complex results cannot go into `out`", help="copy them: array[...] = f(x)")
    constant = OutputConstant(out)
    return constant if part is None else with_item(whole, part, constant), targets_of(wanted, out)


def targets_of(wanted: OutputTree, out: Any) -> list[tuple[OutputLeaf, Any, str]]:
    """The arrays in `out`, each with the result that goes into it and what messages call it."""
    leaves = list(output_leaves(wanted))
    if len({leaf.index for leaf in leaves}) < len(leaves):
        raise AdgenError("AD166", "the same result is in several places, so it cannot go into `out`", help="copy it")
    try:
        return list(flatten(wanted, out, "out"))
    except ValueError as error:
        raise AdgenError("AD150", str(error), help="give `out` the structure of the result") from None


def check_target(target: Any, leaf: OutputLeaf, name: str) -> None:
    """Refuse what a result cannot be written into; its shape is known when there is one."""
    dtype, rank = DTYPES[leaf.element], leaf.rank or 0
    if not isinstance(target, np.ndarray):
        raise AdgenError("AD154", f"{name} is a {type(target).__name__}, not an array", help="pass np.zeros(shape)")
    if target.ndim != rank or target.dtype != dtype or not target.flags.writeable:
        what = f"of {target.dtype} and shape {target.shape}{'' if target.flags.writeable else ', read-only'}"
        wanted = f"pass a writable one of {dtype} and rank {rank}"
        raise AdgenError("AD154", f"{name} is an array {what}, which the result does not fit into", help=wanted)


def check_apart(entry: Entry, given: Sequence[Any], outputs: Outputs, position: int, name: str) -> None:
    """Refuse an array for results that shares memory with an argument, or with one for another result."""
    target = outputs[position]
    for leaf, value in zip(entry.program.leaves, given):
        if isinstance(leaf.spec, ArraySpec) and shares(target, value):
            raise AdgenError(
                "AD166",
                f"{name} shares memory with argument `{path_text(leaf.path)}`, which the function reads",
                help="give it memory of its own: np.empty_like(array)",
            )
    if any(other is not None and shares(target, other) for k, other in enumerate(outputs) if k != position):
        raise AdgenError("AD166", f"{name} shares memory with another part of it", help="give each its own memory")


def item_of(tree: OutputTree, part: int) -> OutputTree:
    """One of the items of an output."""
    assert isinstance(tree, OutputStruct)
    return tree.items[part][1]


def with_item(tree: OutputTree, part: int, item: OutputTree) -> OutputTree:
    """The output with another item in that place."""
    assert isinstance(tree, OutputStruct)
    items = [(key, item if k == part else old) for k, (key, old) in enumerate(tree.items)]
    return OutputStruct(tree.kind, tuple(items))
