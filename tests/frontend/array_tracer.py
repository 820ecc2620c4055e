"""Runs NumPy code through the array lowering: the same Python function on NumPy arrays and on tracers."""

from __future__ import annotations

import operator

import numpy as np

from adgen.frontend import arrays, scalars
from adgen.frontend.complexes.builder import ComplexBuilder
from adgen.frontend.context import Context
from adgen.frontend.values import Number
from adgen.ir.interpret import run
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, Buffer
from adgen.ir.verify import verify

ELEMENTS = {"float64": F64, "float32": F32, "int64": I64, "bool": BOOL}


def plain(x):
    """Tracers taken out of a value."""
    if isinstance(x, Traced):
        return x.value
    if isinstance(x, slice):
        return slice(plain(x.start), plain(x.stop), plain(x.step))
    if isinstance(x, tuple | list):
        return type(x)(plain(item) for item in x)
    return x


class Traced:
    """A dynamic value of the front end that behaves as NumPy's."""

    def __init__(self, ctx, value):
        self.ctx, self.value = ctx, value

    def wrap(self, value):
        if isinstance(value, tuple | list):
            return type(value)(self.wrap(item) for item in value)
        return Traced(self.ctx, value) if isinstance(value, Number | arrays.Array) else value

    def apply(self, function, *operands):
        operands = [plain(x) for x in operands]
        if any(isinstance(x, arrays.Array | np.ndarray | list | tuple) for x in operands):
            return self.wrap(arrays.elementwise(self.ctx, function, operands))
        return self.wrap(scalars.apply(self.ctx, function, *operands))

    def __getattr__(self, name):
        if isinstance(self.value, Number) or name.startswith("__"):
            raise AttributeError(name)
        method = arrays.method(name)
        if method is None:
            return self.wrap(arrays.attribute(self.ctx, self.value, name))
        return lambda *a, **k: self.wrap(
            method(self.ctx, self.value, *map(plain, a), **{key: plain(x) for key, x in k.items()})
        )

    def named(self):
        """What binding to a name does."""
        if isinstance(self.value, Number):
            return self
        return self.wrap(arrays.materialise(self.ctx, self.value, ""))

    def __getitem__(self, key):
        return self.wrap(arrays.getitem(self.ctx, self.value, plain(key)))

    def __setitem__(self, key, value):
        arrays.setitem(self.ctx, self.value, plain(key), plain(value))

    def augment(self, key, operator_, value):
        arrays.augment(self.ctx, self.value, plain(key), operator_, plain(value))

    def inplace(self, operator_, value):
        arrays.inplace(self.ctx, self.value, operator_, plain(value))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method == "at":
            return arrays.function(getattr(ufunc, "at"))(self.ctx, *map(plain, inputs))
        if method != "__call__":
            return self.call(getattr(ufunc, method), *inputs, **kwargs)
        if ufunc is np.matmul:
            return self.wrap(arrays.function(ufunc)(self.ctx, *map(plain, inputs)))
        return self.apply(ufunc, *inputs)

    def __array_function__(self, func, types, args, kwargs):
        return self.call(func, *args, **kwargs)

    def call(self, func, *args, **kwargs):
        expansion = arrays.function(func)
        return self.wrap(expansion(self.ctx, *map(plain, args), **{key: plain(x) for key, x in kwargs.items()}))

    def __matmul__(self, other):
        return self.call(np.matmul, self, other)

    def __rmatmul__(self, other):
        return self.call(np.matmul, other, self)

    def __neg__(self):
        return self.apply(operator.neg, self)

    def __invert__(self):
        return self.apply(operator.invert, self)

    def __abs__(self):
        return self.apply(abs, self)

    __hash__ = None


def _binary(name, swapped):
    function = getattr(operator, name)

    def method(self, other):
        return self.apply(function, other, self) if swapped else self.apply(function, self, other)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor"):
    setattr(Traced, f"__{_name.strip('_')}__", _binary(_name, False))
    setattr(Traced, f"__r{_name.strip('_')}__", _binary(_name, True))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Traced, f"__{_name}__", _binary(_name, False))


def lowered(function, *arguments):
    """The IR function of a Python function for arguments of these types, and the pieces of its result."""
    builder = ComplexBuilder()
    ctx = Context(builder=builder)
    parameters, traced = [], []
    for k, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            parameters.append(Value(Buffer(ELEMENTS[argument.dtype.name], argument.ndim), f"x{k}"))
        else:
            kind = {bool: BOOL, int: I64, float: F64}[type(argument)]
            parameters.append(Value(kind, f"x{k}"))
    with builder.block(parameters) as block:
        for parameter in parameters:
            if isinstance(parameter.type, Buffer):
                traced.append(Traced(ctx, arrays.parameter(ctx, parameter)))
            else:
                traced.append(Traced(ctx, Number(parameter)))
        outcome = function(*traced)
        outcome = outcome if isinstance(outcome, tuple) else (outcome,)
        results = []
        for item in outcome:
            item = plain(item)
            if isinstance(item, arrays.Array | np.ndarray):
                results.append(arrays.copy(ctx, arrays.wrap(ctx, item)).base)
            else:
                results.append(ctx.number(item).value)
        block.results = tuple(results)
    names = [f"r{k}" for k in range(len(results))]
    ir = builder.function("f", block, names)
    verify(ir)
    return ir


def outcome(function, *arguments):
    """The results of a function lowered for its arguments and interpreted."""
    ir = lowered(function, *arguments)
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    return run(ir, copies).results, copies


def agree(function, *arguments, exact=False):
    """The lowered function gives NumPy's results and leaves NumPy's arguments behind."""
    mine, mine_after = outcome(function, *arguments)
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in arguments]
    theirs = function(*copies)
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    assert len(mine) == len(theirs)
    for got, wanted in zip(mine, theirs):
        wanted = np.asarray(wanted)
        got = np.asarray(got)
        assert got.shape == wanted.shape, (got.shape, wanted.shape)
        assert got.dtype == wanted.dtype, (got.dtype, wanted.dtype)
        np.testing.assert_allclose(got, wanted, rtol=0 if exact else 1e-12, atol=0 if exact else 1e-13)
    for got, wanted in zip(mine_after, copies):
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


def named(x):
    """What binding to a name does, for tracers; NumPy arrays stay."""
    return x.named() if isinstance(x, Traced) else x


INPLACE = {
    operator.add: operator.iadd,
    operator.sub: operator.isub,
    operator.mul: operator.imul,
    operator.truediv: operator.itruediv,
    operator.floordiv: operator.ifloordiv,
}


def update(array, key, operator_, value):
    """`array[key] op= value`."""
    if isinstance(array, Traced):
        array.augment(key, operator_, value)
    else:
        array[key] = INPLACE[operator_](array[key], value)


def change(array, operator_, value):
    """`array op= value`."""
    if isinstance(array, Traced):
        array.inplace(operator_, value)
    else:
        INPLACE[operator_](array, value)
