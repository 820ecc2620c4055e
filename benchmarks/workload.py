"""What a workload is: a function, its inputs by size, and the derivative that is timed, in the words of each peer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Inputs = dict[str, Any]
Product = Literal["grad", "each", "jacobian", "jacobians", "hessian", "hvp", "newton"]


def flat(result: Any) -> Array:
    """A result, or a structure of results, as one array."""
    if isinstance(result, tuple | list):
        return np.concatenate([flat(part) for part in result])
    if hasattr(result, "toarray"):
        result = result.toarray()
    elif hasattr(result, "detach"):
        result = result.detach().cpu().numpy()
    elif hasattr(result, "to_host"):
        result = result.to_host()
    return np.asarray(result, dtype=float).ravel()


class Calls(NamedTuple):
    """The function and its derivative on fixed inputs, ready to be timed, and how their results are read."""

    value: Callable[[], Any]
    derivative: Callable[[], Any]
    read_value: Callable[[Any], Array] = flat
    read_derivative: Callable[[Any], Array] = flat


class Dialect(NamedTuple):
    """How a peer writes what its arrays do not have in common with NumPy's."""

    np: Any
    erf: Callable[[Any], Any]
    repeat: Callable[[int, Callable[[Any], Any], Any], Any]  # (count, step, state) -> state
    scan: Callable[[Callable[[Any, Any], tuple[Any, Any]], Any, Any], Any]  # (step, state, items) -> sum of outputs
    constant: Callable[[Array], Any] = np.asarray


Build = Callable[[Inputs], Calls]


@dataclass(frozen=True)
class Workload:
    """One row of the table for each size.

    `product` names the derivative for `wrt`; "each" is the gradient of a sum over items, of which `arrays` gives the
    values, "jacobians" the Jacobian of each item along the first axis, "newton" the gradient over a Hessian that is
    diagonal.  A tangent is the input `v`.
    """

    function: Callable[..., Any]
    inputs: Callable[[Any], Inputs]
    sizes: Mapping[str, Any]
    wrt: tuple[str, ...]
    product: Product = "grad"
    sparse: bool = False
    arrays: Callable[..., Any] | None = None  # arrays(dialect, **inputs), for the peers that take array operations
    symbolic: bool = False  # whether CasADi can take `arrays`, too
    own: Mapping[str, Build] = field(default_factory=dict)  # by peer: what needs a form of its own
    from_data: bool = False  # whether `inputs` reads files: it then gets their folder before the size
    hand: str = ""  # the module of the folder of hand-written C
    hand_peer: str = "c"
    adapt: Callable[[Inputs], Inputs] | None = None  # from that module's inputs to these, if not by their names

    @property
    def names(self) -> list[str]:
        """Of the inputs that the function takes."""
        return list(signature(self.function).parameters)

    def arguments(self, inputs: Inputs) -> Inputs:
        """The inputs that the function takes, in its order."""
        return {name: inputs[name] for name in self.names}
