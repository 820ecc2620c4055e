"""Python's built-in functions on values of the domain, and a few of `functools`, `operator` and NumPy that are alike.

One rule per function object; a rule takes the context and the arguments.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.frontend import arrays, attributes, calls, composites, memory, operators, reductions, scalars, sequences
from adgen.frontend import comprehensions as iteration
from adgen.frontend.complexes import library
from adgen.frontend.complexes.types import C64, C128
from adgen.frontend.kinds import NUMPY
from adgen.frontend.library.arrays import vectorized
from adgen.frontend.values import (
    NUMERIC_TYPES,
    PYTHON_TYPES,
    Closure,
    Deferred,
    Dynamic,
    Generator,
    Loop,
    Number,
    Sequence,
    Text,
    Yielding,
    describe,
    is_number,
    is_static,
    python_type,
)
from adgen.ir.types import BOOL, F32, F64, INTEGERS, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Rule = Callable[..., Any]


def rule(callee: Any) -> Rule | None:
    """The rule for a function, by identity."""
    if getattr(callee, "__name__", "") == "prange" and str(callee.__module__).startswith("numba."):
        return sequences.make_range
    try:
        found = TABLE.get(callee)
        return binary_operator(callee) if found is None and callee in operators.SYMBOLS else found
    except TypeError:
        return None


# -- conversions ---------------------------------------------------------------------------------------------------


def make_list(ctx: Context, iterable: Any = ()) -> Any:
    """`list`."""
    if isinstance(iterable, Sequence):
        return iterable
    return ctx.own(iteration.spread(ctx, iterable))


def make_tuple(ctx: Context, iterable: Any = ()) -> Any:
    """`tuple`."""
    return tuple(iteration.spread(ctx, iterable))


def make_dict(ctx: Context, items: Any = (), **named: Any) -> Any:
    """`dict`."""
    pairs = items.items() if isinstance(items, dict) else iteration.spread(ctx, items)
    result = {}
    for key, value in pairs:
        if not is_static(key):
            ctx.fail_dynamic("AD222", "the keys of a dict must be known when compiling")
        result[key] = value
    return ctx.own({**result, **named})


def make_set(ctx: Context, iterable: Any = ()) -> Any:
    """`set` of what is static."""
    items = iteration.spread(ctx, iterable)
    if not is_static(items):
        ctx.fail("AD221", "a set of run-time values is not supported", "use a tuple or an array")
    return ctx.own(set(items))


def make_number(kind: Any) -> Rule:
    """`int`, `float`, `bool`."""

    def apply(ctx: Context, x: Any = 0, *rest: Any) -> Any:
        if isinstance(x, Number):
            if kind is int and x.element.is_float:
                ctx.may_raise(ValueError, OverflowError)
            return composites.TABLE[kind](ctx, x)
        if memory.is_array(x):
            return composites.TABLE[kind](ctx, _single(ctx, x, kind.__name__))
        if kind is bool:
            truth = operators.truth(ctx, x)
            return truth if isinstance(truth, bool) else Number(truth)
        return scalars.static(ctx, kind, x, *rest)

    return apply


def _single(ctx: Context, x: Any, name: str) -> Number:
    array = memory.wrap(ctx, x)
    one = ctx.builder.index(1)
    for extent in array.extents:
        memory.agree(ctx, extent, one, f"only arrays of one element can be converted with {name}(): an extent is {{0}}")
    return ctx.number(array.read(ctx, [ctx.builder.index(0)] * array.rank))


def numpy_scalar(element: Scalar) -> Rule:
    """`np.float64(x)` and its kin."""
    kind = PYTHON_TYPES[element, False]

    def apply(ctx: Context, x: Any = 0) -> Any:
        if isinstance(x, Number):
            return scalars.fitted(ctx, x, element) if x.weak else scalars.cast(ctx, x, element)
        if memory.is_array(x):
            return attributes._of_array(ctx, memory.wrap(ctx, x), "astype").function(ctx, x, NUMPY[element], False)
        return scalars.static(ctx, kind, x)

    return apply


def make_str(ctx: Context, x: Any = "") -> Any:
    """`str`; a run-time number has no text when compiling."""
    return scalars.static(ctx, str, x) if is_static(x) else Text("...")


# -- types -----------------------------------------------------------------------------------------------------------


def make_type(ctx: Context, x: Any) -> Any:
    """`type(x)`."""
    return python_type(x)


def is_instance(ctx: Context, x: Any, kinds: Any) -> Any:
    """`isinstance`."""
    if not isinstance(x, Dynamic | Closure | Sequence | Loop | Generator | Yielding | Text):
        return scalars.static(ctx, isinstance, x, kinds)
    if isinstance(x, Closure):
        return scalars.static(ctx, isinstance, make_tuple, kinds)
    return scalars.static(ctx, issubclass, python_type(x), kinds)


def has_attribute(ctx: Context, x: Any, name: Any) -> Any:
    """`hasattr`."""
    if isinstance(x, Dynamic | Sequence | Loop | Generator | Yielding | Text):
        return hasattr(python_type(x), name)
    return hasattr(x, name)


def get_attribute(ctx: Context, x: Any, name: Any, default: Any = NotImplemented) -> Any:
    """`getattr`."""
    if not isinstance(name, str):
        ctx.fail("AD305", f"the name of an attribute must be a string, not {describe(name)}")
    if default is not NotImplemented and not has_attribute(ctx, x, name):
        return default
    return attributes.get(ctx, x, name)


def is_callable(ctx: Context, x: Any) -> Any:
    """`callable`."""
    return isinstance(x, Closure) or (not isinstance(x, Dynamic) and callable(x))


# -- arithmetic ------------------------------------------------------------------------------------------------------


def quotient_and_remainder(ctx: Context, a: Any, b: Any) -> Any:
    """`divmod`."""
    return operators.binary(ctx, operator.floordiv, a, b), operators.binary(ctx, operator.mod, a, b)


def power(ctx: Context, base: Any, exponent: Any, modulus: Any = None) -> Any:
    """`pow`."""
    if modulus is not None:
        if is_static([base, exponent, modulus]):
            return scalars.static(ctx, pow, base, exponent, modulus)
        ctx.fail("AD203", "`pow` with a modulus is not supported", "write `(a ** b) % m`")
    return operators.binary(ctx, operator.pow, base, exponent)


def absolute(ctx: Context, x: Any) -> Any:
    """`abs`."""
    if is_number(x):
        return scalars.unary(ctx, abs, x)
    if memory.is_array(x):
        return calls.known(ctx, np.absolute, [x], {})[1]
    method = operators.method_of(x, "__abs__")
    if method is not None:
        return calls.call(ctx, method, [x], {})
    return scalars.static(ctx, abs, x)


def rounded(ctx: Context, x: Any, ndigits: Any = None) -> Any:
    """`round`."""
    if isinstance(x, Number):
        if x.element.is_float:
            ctx.may_raise(ValueError, OverflowError)
        return composites.python_round(ctx, x, ndigits)
    if memory.is_array(x):
        return calls.known(ctx, np.round, [x] if ndigits is None else [x, ndigits], {})[1]
    return scalars.static(ctx, round, x, ndigits)


def binary_operator(function: Any) -> Rule:
    """A function of the module `operator`."""

    def apply(ctx: Context, a: Any, b: Any) -> Any:
        if function in operators.COMPARISONS.values():
            return operators.equality(ctx, function, a, b)
        return operators.binary(ctx, function, a, b)

    return apply


def factorial(ctx: Context, n: Any) -> Any:
    """`math.factorial` of a run-time int, from a table.

    The table holds ints where the result is known to fit into 64 bits, else the nearest floats: a larger Python int
    would become a float as soon as it meets one.
    """
    if not isinstance(n, Number):
        return scalars.static(ctx, math.factorial, n)
    builder = ctx.builder
    value = scalars.as_index(ctx, n, "the argument of `factorial`")
    exact = ctx.ranges.below(value, builder.index(21))
    largest = 20 if exact else 170
    if not ctx.ranges.nonnegative(value):
        low = builder.op(ops.GE, value, builder.index(0))
        builder.check(low, "ValueError", "factorial() not defined for negative values")
    if not exact:
        fits = builder.op(ops.LE, value, builder.index(largest))
        builder.check(fits, "OverflowError", "the factorial of {0} is too large for a float", (value,))
    table = np.array([math.factorial(k) for k in range(largest + 1)], dtype=np.int64 if exact else np.float64)
    base = arrays.base(arrays.constant(ctx, table))
    assert base is not None
    return Number(builder.load(base, (value,)))


# -- passed through ----------------------------------------------------------------------------------------------------


def first_argument(ctx: Context, x: Any, *rest: Any, **named: Any) -> Any:
    """Functions that give their argument."""
    return x


def nothing(ctx: Context, *args: Any, **kwargs: Any) -> Any:
    """Functions whose only effect is a message."""
    return None


def wraps(ctx: Context, wrapped: Any, *rest: Any, **named: Any) -> Any:
    """`functools.wraps(f)`: a decorator that changes nothing that matters here."""
    return _identity_decorator


def _identity_decorator(function: Any) -> Any:
    return function


def partial(ctx: Context, function: Any, *args: Any, **kwargs: Any) -> Any:
    """`functools.partial`."""
    return functools.partial(_callable(function), *args, **kwargs)


def _callable(function: Any) -> Any:
    if isinstance(function, Closure):
        return Deferred(function)
    return function


def is_scalar(ctx: Context, x: Any) -> Any:
    """`np.isscalar`."""
    return (is_number(x) and python_type(x) is not np.ndarray) or isinstance(x, str | bytes)


def of_scalar(name: str, function: Any) -> Rule:
    """`np.shape`, `np.ndim`, `np.size`."""

    def apply(ctx: Context, x: Any, *rest: Any) -> Any:
        if isinstance(x, Number):
            if ctx.inference is not None:
                ctx.inference.array(ctx, x, 1)
            return {"shape": (), "ndim": 0, "size": 1}[name]
        if isinstance(x, Sequence):
            x = x.array
        if not rest and isinstance(x, Dynamic | np.ndarray):
            return attributes.get(ctx, x, name)
        if is_number(x):
            return {"shape": (), "ndim": 0, "size": 1}[name]
        return calls.known(ctx, function, [x, *rest], {})[1]

    return apply


MOVERS = (
    itertools.chain,
    itertools.combinations,
    itertools.combinations_with_replacement,
    itertools.permutations,
    itertools.product,
    itertools.zip_longest,
)


def vectorize(ctx: Context, pyfunc: Any, otypes: Any = None, doc: Any = None) -> Any:
    """`np.vectorize`: a function of numbers as one of arrays."""
    if otypes is not None:
        ctx.fail("AD234", "`np.vectorize`: the argument `otypes` is not supported", "convert the result with `.astype`")
    return functools.partial(vectorized, _callable(pyfunc))


TABLE: dict[Any, Rule] = {
    np.vectorize: vectorize,
    np.ndarray: arrays.ndarray,
    builtins.len: sequences.length,
    builtins.range: sequences.make_range,
    builtins.enumerate: sequences.make_enumerate,
    builtins.zip: sequences.make_zip,
    builtins.reversed: sequences.make_reversed,
    builtins.map: sequences.make_map,
    builtins.filter: sequences.make_filter,
    builtins.sum: reductions.total,
    builtins.max: reductions.extreme("max"),
    builtins.min: reductions.extreme("min"),
    builtins.any: reductions.quantifier("any"),
    builtins.all: reductions.quantifier("all"),
    builtins.sorted: reductions.make_sorted,
    builtins.list: make_list,
    builtins.tuple: make_tuple,
    builtins.dict: make_dict,
    builtins.set: make_set,
    builtins.int: make_number(int),
    builtins.float: make_number(float),
    builtins.bool: make_number(bool),
    builtins.complex: library.make,
    builtins.str: make_str,
    builtins.repr: make_str,
    builtins.type: make_type,
    builtins.isinstance: is_instance,
    builtins.hasattr: has_attribute,
    builtins.getattr: get_attribute,
    builtins.callable: is_callable,
    builtins.divmod: quotient_and_remainder,
    builtins.pow: power,
    builtins.abs: absolute,
    builtins.round: rounded,
    builtins.iter: sequences.make_iterator,
    builtins.next: iteration.following,
    itertools.count: sequences.make_count,
    itertools.repeat: sequences.make_repeat,
    itertools.islice: sequences.make_islice,
    **{function: sequences.moving(function) for function in MOVERS},
    np.float64: numpy_scalar(F64),
    np.float32: numpy_scalar(F32),
    **{PYTHON_TYPES[element, False]: numpy_scalar(element) for element in INTEGERS},
    np.bool_: numpy_scalar(BOOL),
    np.complex128: numpy_scalar(C128),
    np.complex64: numpy_scalar(C64),
    np.isscalar: is_scalar,
    np.shape: of_scalar("shape", np.shape),
    np.ndim: of_scalar("ndim", np.ndim),
    np.size: of_scalar("size", np.size),
    math.prod: reductions.product,
    math.fsum: reductions.exact_sum,
    math.dist: reductions.distance,
    math.factorial: factorial,
    functools.reduce: reductions.fold,
    functools.wraps: wraps,
    functools.partial: partial,
    _identity_decorator: first_argument,
    warnings.warn: nothing,
}

__all__ = ["NUMERIC_TYPES", "TABLE", "rule"]
