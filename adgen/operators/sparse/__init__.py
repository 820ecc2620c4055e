"""Sparse Jacobians and Hessians: as few products as a colouring needs, results as matrices of SciPy.

Comes in: a function.  Goes out: a function that gives for each result and each parameter a CSR array, with a row for
each element of the result and a column for each of the parameter, or the rows and columns of its entries.  Guaranteed:
the entries are those of the dense matrix; memory is linear in how many there are.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from adgen.diagnostics import AdgenError
from adgen.operators.core import Operator, dressed
from adgen.operators.jacobians import Mode
from adgen.operators.sparse.blocks import Matrix
from adgen.operators.sparse.evaluation import bound, places, values
from adgen.operators.sparse.patterns import found, key_of
from adgen.runtime.bound import bindable
from adgen.runtime.calls import Entry
from adgen.runtime.pullback import leaves_of

Function = Callable[..., Any]
BOTH = ("forward", "reverse")
KEPT = 8  # patterns that an operator keeps
_kept: WeakKeyDictionary[Operator, OrderedDict[Any, Matrix]] = WeakKeyDictionary()


def sparse_jacobian_operator(function: Function, mode: Mode, wrt: Any = None) -> Function:
    """`jacobian`, `jacfwd` or `jacrev` with `sparse=True`."""
    return _operator(function, "jvp", BOTH if mode == "best" else (mode,), wrt, values)


def sparse_hessian_operator(function: Function, wrt: Any = None) -> Function:
    """`hessian` with `sparse=True`."""
    return _operator(function, "hvp", None, wrt, values)


def sparsity_operator(function: Function, of: str, wrt: Any = None) -> Function:
    """`sparsity` of a function."""
    if of not in ("jacobian", "hessian"):
        raise AdgenError("AD163", f"there is no sparsity of a {of!r}", help='choose of="jacobian" or of="hessian"')
    return _operator(function, "jvp" if of == "jacobian" else "hvp", BOTH if of == "jacobian" else None, wrt, places)


def _operator(function: Function, product: str, modes: Sequence[str] | None, wrt: Any, what: Any) -> Function:
    operator = Operator(function, f"{product}_pattern", wrt)

    def evaluated(way: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        arguments = operator.arguments(args, kwargs)
        pattern = operator.entry_for(arguments)
        return way(operator, arguments, pattern, matrix_of(operator, pattern, arguments, modes))

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return evaluated(what, args, kwargs)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    made = dressed(wrapper, operator)
    return made if what is places else bindable(made, lambda args, kwargs: evaluated(bound, args, kwargs))


def matrix_of(operator: Operator, entry: Entry, arguments: Mapping[str, Any], modes: Sequence[str] | None) -> Matrix:
    """The pattern and plan for some arguments, found now by a pattern program if need be."""
    kept = _kept.setdefault(operator, OrderedDict())
    primals = leaves_of(entry, arguments)
    key = key_of(entry, primals)
    with operator.lock:
        matrix = kept.pop(key, None)
        if matrix is None:
            matrix = Matrix(found(entry, primals), modes)
        kept[key] = matrix  # the last one used is the last one to go
        while len(kept) > KEPT:
            kept.popitem(last=False)
    return matrix
