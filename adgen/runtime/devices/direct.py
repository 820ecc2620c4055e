"""The short way of calls with arrays that are on a device.

Comes in: an entry, the types of the arguments that it is for.  Goes out: a function that only looks at what types do
not tell: dtypes, ranks, the values of options.  Guaranteed: anything unexpected goes to the longer way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adgen.frontend.specs import ArraySpec, Spec, StaticSpec, StructSpec, bound, has_complex
from adgen.runtime.calls import Entry
from adgen.runtime.convert import DTYPES
from adgen.runtime.placement import form_of
from adgen.runtime.signatures import is_fixed

Call = Callable[..., Any]
Test = Callable[[Any], bool]


def device_call(
    entry: Entry, specs: Mapping[str, Spec], arguments: Mapping[str, Any], given: Sequence[bool], otherwise: Call
) -> Call | None:
    """A function for calls with arguments of exactly the types of `arguments`; None when these need more than a check.

    Parameters that are not `given` keep the value of `arguments`, whatever is passed for them.
    """
    tests: list[tuple[int, Test]] = []
    leaves: list[tuple[int, Any]] = []  # the place of each leaf among what is given, or its value for -1
    for place, ((name, spec), present) in enumerate(zip(specs.items(), given, strict=True)):
        if isinstance(spec, StructSpec) or has_complex(spec):
            return None
        if isinstance(spec, StaticSpec):
            if not is_fixed(spec.value):
                return None
            tests += [(place, same_as(spec.value))] if present else []
            continue
        leaves.append((place, None) if present else (-1, arguments[name]))
        if isinstance(spec, ArraySpec):
            if not present or any(map(bound, spec.extents)):
                return None
            tests.append((place, has_form(spec, name)))

    def call(*given: Any) -> Any:
        if not all(test(given[place]) for place, test in tests):
            return otherwise(*given)
        try:
            return entry.device([value if place < 0 else given[place] for place, value in leaves])
        except OverflowError:  # an int that is too large for C
            return otherwise(*given)

    return call


def same_as(option: Any) -> Test:
    """Whether a value is this option."""
    if type(option) in (str, int):
        return lambda value: value == option
    return lambda value: value is option


def has_form(spec: ArraySpec, name: str) -> Test:
    """Whether an array has the dtype and the rank of a spec."""
    dtype, rank = DTYPES[spec.element], spec.rank

    def test(value: Any) -> bool:
        form = form_of(value, name)
        return len(form.shape) == rank and form.dtype == dtype

    return test
