"""What is known about one compiled entry point: plain data that can be stored beside the library.

An entry point is a C function with one argument for each leaf of the Python arguments and one for each flat result,
and a second C function that says how much memory it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adgen.diagnostics import Span
from adgen.frontend.dependencies import Dependency
from adgen.frontend.specs import Leaf, OutputTree
from adgen.ir.types import Type

TANGENT = "tangent"  # the first step of the path of a leaf that is a direction
COTANGENT = "cotangent"
TOLERANCE = "the tolerance"  # the path of that of kinks; no parameter has such a name
EDGES = "graph edges"  # the path of the memory that a pattern is written into; no parameter has such a name
LISTS = "lists of entries"  # the first step of the path of what says which entries there are
MATRICES = ("jacobian", "jacfwd", "jacrev", "hessian")  # products that are whole matrices


class Site(NamedTuple):
    """A check in compiled code: what it raises, and where."""

    exception: str
    message: str
    span: Span | None


class DeviceEntry(NamedTuple):
    """The function for arrays that are on a device: its C symbol, and whether checks may fail in its kernels."""

    name: str
    noting: bool


@dataclass(frozen=True)
class Program:
    """One entry point.

    `name` is the C symbol and `function_name` what messages call it; `leaves` say which part of the arguments each C
    parameter is; `written` are the parameters that the C function stores into, `guarded` those that the Python function
    stores into: no other array may share their memory, even where a derivative works on a copy.  `dependencies` are
    what the Python function read while it was compiled: the program is right for as long as they are what they were.
    `differentiated` are the leaves that derivatives are taken for, `directions` the structure of a tangent of them.
    `device` is there where the code runs on a device; `name` then takes arrays of the host nevertheless.
    """

    name: str
    function_name: str
    parameters: tuple[Type, ...]
    results: tuple[Type, ...]
    leaves: tuple[Leaf, ...]
    output: OutputTree
    written: tuple[int, ...]
    guarded: tuple[int, ...]
    sites: Sequence[Site]
    dependencies: tuple[Dependency, ...] = ()
    differentiated: tuple[int, ...] = ()
    directions: OutputTree | None = None
    workspace: bool = True
    device: DeviceEntry | None = None

    def current(self, function: Any) -> bool:
        """True when what the program depends on is still what it was."""
        return all(dependency.current(function) for dependency in self.dependencies)
