"""The names that programs use: `grad(f)` and its like.

All but `sparsity` and `kinks` take `trace_nan=True`: the operation that is the first to make a NaN or an infinity, in
the function or in its derivative, is then a FloatingPointError with the Python line and the operands.  Without it, the
environment variable ADGEN_TRACE_NAN decides when the operator is applied.

They take `threads=n` too: loops whose iterations do not depend on each other are divided among so many, where they are
long enough.  The default is what OMP_NUM_THREADS says when the operator is applied, else one.  The same number gives
the same bits, however many processors there are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.operators.batching import Axes, batched
from adgen.operators.jacobians import Mode, hessian_operator, jacobian_operator
from adgen.operators.kink_report import kinks_operator
from adgen.operators.parallel import using
from adgen.operators.products import Trace, plain_operator, tangent_operator, traced, vjp_operator

Function = Callable[..., Any]
Memory = str | int | None


def _decorator(
    make: Callable[..., Function],
    function: Function | None,
    trace_nan: Trace = None,
    threads: int | None = None,
    **options: Any,
) -> Function:
    """`make(function)`, or a decorator that does it: `@grad` and `@grad(wrt="x")` both work."""
    if function is None:
        return partial(_decorator, make, trace_nan=trace_nan, threads=threads, **options)
    try:
        with using(threads):
            return make(traced(function, trace_nan), **options)
    except AdgenError as error:
        raise error.with_traceback(None) from None


def jit(function: Function | None = None, trace_nan: Trace = None, threads: int | None = None) -> Function:
    """The function itself, compiled: the same results, and the same writes into its arguments.

    `jit(f).bind(*args)` is a function of no arguments, which reads the arrays as they are when it is called and writes
    into the same results each time; `out=arrays` says where results go.  Gradients, Jacobians and products along a
    direction have both as well.
    """
    return _decorator(plain_operator, function, trace_nan, threads, product="value")


def grad(
    function: Function | None = None,
    wrt: Any = None,
    memory: Memory = None,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The gradient of a function of one number.

    `grad(f)(*args)` has the structure of the parameters that `wrt` names: a name or position gives that gradient alone,
    a sequence a tuple; the default is every floating-point parameter (one: its gradient; several: a NamedTuple).
    Names of taps may be among them.

    `grad(f)(*args, out=arrays)` writes the gradient into arrays of its structure, `accumulate=True` adds it to them;
    without `out` it is fresh.  A function with a parameter `out` of its own has no such option.

    `memory` (`"256MB"`, or bytes) is what the residuals of a loop that takes its steps one after the other may take.
    Where they would take more, states are kept now and then and steps are run a second time; the time grows by one run
    of the function at most.
    """
    return _decorator(plain_operator, function, trace_nan, threads, product="grad", wrt=wrt, memory=memory)


def value_and_grad(
    function: Function | None = None,
    wrt: Any = None,
    memory: Memory = None,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """`(f(*args), grad(f)(*args))` from one sweep; `out` and `accumulate` are as with `grad`."""
    return _decorator(plain_operator, function, trace_nan, threads, product="value_and_grad", wrt=wrt, memory=memory)


def jvp(
    function: Function | None = None, wrt: Any = None, trace_nan: Trace = None, threads: int | None = None
) -> Function:
    """The value and its derivative along a direction: `jvp(f)(*args, tangent=v) -> (value, tangent)`."""
    return _decorator(tangent_operator, function, trace_nan, threads, product="jvp", wrt=wrt)


def vjp(
    function: Function | None = None,
    wrt: Any = None,
    memory: Memory = None,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The value and a function from cotangents to gradients: `vjp(f)(*args) -> (value, pullback)`.

    `pullback(cotangent)` may be called many times; a result that is a number has the cotangent 1 by default.  It takes
    `out` and `accumulate` as `grad` does.
    """
    return _decorator(vjp_operator, function, trace_nan, threads, wrt=wrt, memory=memory)


def vmap(
    function: Function | None = None,
    in_axes: Axes = 0,
    out_axis: int = 0,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The function applied to each item of its arguments along an axis, in one compiled loop.

    `in_axes`: that axis for all parameters, or one for each, None for a parameter that all items share.  The results,
    numbers or arrays of one shape, become one array whose axis `out_axis` is new.  Where lengths differ it raises
    ValueError.
    """
    return _decorator(batched, function, trace_nan, threads, in_axes=in_axes, out_axis=out_axis)


def hvp(
    function: Function | None = None,
    wrt: Any = None,
    memory: Memory = None,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The Hessian times a direction: `hvp(f)(*args, tangent=v)`, with the structure of the gradient."""
    return _decorator(tangent_operator, function, trace_nan, threads, product="hvp", wrt=wrt, memory=memory)


def jacobian(
    function: Function | None = None,
    wrt: Any = None,
    sparse: bool = False,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The Jacobian, of shape `result.shape + parameter.shape`, in whichever mode is cheaper.

    With `sparse=True` a CSR array of SciPy of shape `(result.size, parameter.size)`, by as few products as its pattern
    allows.
    """
    return _jacobian(function, "best", wrt, sparse, trace_nan, threads)


def jacfwd(
    function: Function | None = None,
    wrt: Any = None,
    sparse: bool = False,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The Jacobian by forward mode, one column at a time; `sparse=True` as in `jacobian`."""
    return _jacobian(function, "forward", wrt, sparse, trace_nan, threads)


def jacrev(
    function: Function | None = None,
    wrt: Any = None,
    sparse: bool = False,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The Jacobian by reverse mode, one row at a time; `sparse=True` as in `jacobian`."""
    return _jacobian(function, "reverse", wrt, sparse, trace_nan, threads)


def _jacobian(
    function: Function | None, mode: Mode, wrt: Any, sparse: bool, trace_nan: Trace, threads: int | None
) -> Function:
    if not sparse:
        return _decorator(jacobian_operator, function, trace_nan, threads, mode=mode, wrt=wrt)
    from adgen.operators.sparse import sparse_jacobian_operator

    return _decorator(sparse_jacobian_operator, function, trace_nan, threads, mode=mode, wrt=wrt)


def hessian(
    function: Function | None = None,
    wrt: Any = None,
    sparse: bool = False,
    trace_nan: Trace = None,
    threads: int | None = None,
) -> Function:
    """The second derivatives of a function of one number, of shape `parameter.shape + parameter.shape`.

    With `sparse=True` a CSR array of SciPy of shape `(parameter.size, parameter.size)`.
    """
    if not sparse:
        return _decorator(hessian_operator, function, trace_nan, threads, wrt=wrt)
    from adgen.operators.sparse import sparse_hessian_operator

    return _decorator(sparse_hessian_operator, function, trace_nan, threads, wrt=wrt)


def kinks(function: Function | None = None, wrt: Any = None, tolerance: float = 1e-8) -> Function:
    """Where arguments sit at a kink of the function: `kinks(f)(*args)` gives a list of records.

    A record has the Python line, the operation, its operands, how far they are from the kink (`tolerance` at most), and
    which derivative is taken there.  Branches on a comparison count; so do jumps, as of `np.floor`.  Of a derivative
    the kinks are those of its function.
    """
    return _decorator(kinks_operator, function, False, None, wrt=wrt, tolerance=tolerance)


def sparsity(function: Function | None = None, wrt: Any = None, of: str = "jacobian") -> Function:
    """Where a Jacobian, or with `of="hessian"` a Hessian, can be other than zero.

    `sparsity(f)(*args)` gives `(rows, columns)` of the entries that `jacobian(f, sparse=True)(*args)` stores, in their
    order.  It follows from the program, the shapes and the integers among the arguments, whatever the other numbers.
    """
    from adgen.operators.sparse import sparsity_operator

    return _decorator(sparsity_operator, function, False, None, wrt=wrt, of=of)
