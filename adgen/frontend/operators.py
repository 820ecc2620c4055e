"""Operators on any values of the domain: numbers, arrays, containers, instances of the user's classes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from adgen import ops
from adgen.frontend import arrays, axisless, calls, memory, scalars, text
from adgen.frontend.arrays.model import Array
from adgen.frontend.choices import distributed, each
from adgen.frontend.join import entangled
from adgen.frontend.state import is_instance
from adgen.frontend.values import (
    Choice,
    Dynamic,
    Number,
    Sequence,
    Text,
    describe,
    is_number,
    is_static,
    python_type,
)
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64

if TYPE_CHECKING:
    from adgen.frontend.context import Context

SYMBOLS = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
METHODS = {
    operator.add: ("__add__", "__radd__"),
    operator.sub: ("__sub__", "__rsub__"),
    operator.mul: ("__mul__", "__rmul__"),
    operator.truediv: ("__truediv__", "__rtruediv__"),
    operator.floordiv: ("__floordiv__", "__rfloordiv__"),
    operator.mod: ("__mod__", "__rmod__"),
    operator.pow: ("__pow__", "__rpow__"),
    operator.matmul: ("__matmul__", "__rmatmul__"),
    operator.lt: ("__lt__", "__gt__"),
    operator.le: ("__le__", "__ge__"),
    operator.gt: ("__gt__", "__lt__"),
    operator.ge: ("__ge__", "__le__"),
    operator.eq: ("__eq__", "__eq__"),
    operator.ne: ("__ne__", "__ne__"),
}
COMPARISONS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def secure(ctx: Context, value: Any, name: str = "") -> Any:
    """A value that is kept: an array expression gets memory of its own now."""
    return memory.settle(ctx, value, name)


@distributed
def binary(ctx: Context, operator_: Callable[..., Any], a: Any, b: Any) -> Any:
    """`a <operator> b`."""
    if is_number(a) and is_number(b):
        if operator_ is operator.matmul:
            if ctx.inference is not None:
                ctx.inference.product(ctx, a, b)
            ctx.fail("AD306", "`@` needs arrays, not numbers", "use `*`")
        return scalars.binary(ctx, operator_, a, b)
    if memory.is_array(a) or memory.is_array(b):
        return _array_binary(ctx, operator_, a, b)
    for owner, other, k in ((a, b, 0), (b, a, 1)):
        method = method_of(owner, METHODS.get(operator_, ("", ""))[k])
        if method is not None:
            return calls.call(ctx, method, [owner, other], {})
    if isinstance(a, Sequence) or isinstance(b, Sequence):
        ctx.fail(
            "AD306",
            f"`{SYMBOLS[operator_]}` of a list whose length is not known when compiling is not supported",
            "make it an array with `np.array(...)`",
        )
    if isinstance(a, str | Text) and not is_static((a, b)):
        if operator_ is operator.mod:
            return Text(text.form(a))
        if operator_ is operator.add and isinstance(b, str | Text):
            return text.joined([a, b])
    if operator_ is operator.mul and isinstance(a, Number) and isinstance(b, list):
        a, b = b, a
    if operator_ is operator.mul and isinstance(a, list) and isinstance(b, Number) and b.element == I64:
        return _repeated(ctx, a, b)
    if isinstance(a, Number) or isinstance(b, Number):
        _unsupported(ctx, operator_, a, b)
    if not is_static(a) or not is_static(b):
        if isinstance(a, tuple | list) and operator_ in (operator.add, operator.mul):
            return ctx.own(scalars.static(ctx, operator_, a, b))
        if isinstance(b, tuple | list) and operator_ is operator.mul and isinstance(a, int):
            return ctx.own(scalars.static(ctx, operator_, a, b))
        _unsupported(ctx, operator_, a, b)
    return ctx.own(scalars.static(ctx, operator_, a, b))


def _repeated(ctx: Context, items: list[Any], count: Number) -> Sequence:
    """`[item] * n`: a list of run-time length."""
    if len(items) != 1 or not is_number(items[0]):
        ctx.fail_dynamic("AD227", "a list of run-time length is supported for `[number] * n`", "use an array")
    return Sequence(memory.tabulate(ctx, scalars.as_index(ctx, count), lambda index: items[0]))


def _unsupported(ctx: Context, operator_: Any, a: Any, b: Any) -> NoReturn:
    if (isinstance(a, Number) and isinstance(b, tuple | list)) or (
        isinstance(b, Number) and isinstance(a, tuple | list)
    ):
        help = "make the list an array with `np.array(...)`"
    else:
        help = None
    certain = TypeError if _never(a, b) or _never(b, a) else None
    ctx.fail("AD306", f"`{SYMBOLS[operator_]}` is not defined for {describe(a)} and {describe(b)}", help, certain)


def _never(a: Any, b: Any) -> bool:
    """True for a number and a value that no operator but `==` takes together with it."""
    floating = isinstance(a, Number) and a.weak and a.element.is_float
    return (b is None and isinstance(a, Number)) or (floating and type(b) in (str, tuple, list, dict))


def method_of(value: Any, name: str) -> Any:
    """A method of the user's class that implements an operator."""
    if not name or isinstance(value, Dynamic) or not is_instance(value):
        return None
    from adgen.frontend.source import python_function

    return python_function(getattr(type(value), name, None))


def _array_binary(ctx: Context, operator_: Callable[..., Any], a: Any, b: Any) -> Any:
    operands = [arrays.from_nested(ctx, x) if isinstance(x, tuple | list) else x for x in (a, b)]
    operands = [x.array if isinstance(x, Sequence) else x for x in operands]
    operands = [memory.wrap(ctx, x) for x in operands]
    for x in operands:
        if not isinstance(x, Dynamic) and not is_number(x):
            _unsupported(ctx, operator_, a, b)
    if operator_ is operator.matmul:
        if ctx.inference is not None:
            ctx.inference.product(ctx, *operands)
        product = arrays.function(np.matmul)
        return calls.expand(ctx, product, operands, {}, np.matmul)
    return calls.expand(ctx, calls.elementwise_rule(operator_), operands, {}, operator_)


@distributed
def augmented(ctx: Context, operator_: Callable[..., Any], target: Any, value: Any) -> Any:
    """`target op= value` for a name: an array is changed in place, a list is extended, anything else is rebound."""
    if isinstance(target, Array):
        if operator_ is operator.matmul:
            ctx.fail("AD224", "`@=` is not supported", "write `a = a @ b` or `a[...] = a @ b`")
        if isinstance(value, tuple | list):
            value = arrays.from_nested(ctx, value)
        if isinstance(value, Sequence):
            value = value.array
        arrays.inplace(ctx, target, operator_, memory.wrap(ctx, value))
        return target
    if isinstance(target, np.ndarray):
        refuse_global_write(ctx)
    if isinstance(target, Number) and target.array:
        return axisless.augmented(ctx, operator_, target, value)
    if isinstance(target, list):
        if operator_ is operator.add and isinstance(value, list | tuple):
            own_check(ctx, target)
            target.extend(value)
            return target
        if operator_ is operator.mul and isinstance(value, int):
            own_check(ctx, target)
            target *= value
            return target
    return binary(ctx, operator_, target, value)


def refuse_global_write(ctx: Context) -> None:
    """Refuse to write into a NumPy array that lives outside of the function."""
    ctx.fail(
        "AD225",
        "a global (module-level) array is written here; adgen treats it as a constant",
        "pass it as an argument, or copy it first",
    )


def own_check(ctx: Context, container: Any) -> None:
    """Refuse to change a container that was not made by the program being lowered."""
    if id(container) not in ctx.owned:
        ctx.fail(
            "AD226",
            f"{describe(container)} that was made outside of the function is changed here",
            "make a copy of it inside the function",
        )
    if entangled(ctx, container):
        ctx.fail_dynamic(
            "AD340",
            f"{describe(container)} is changed here that may be one of several: which one is decided at run time",
            "make a copy of it before it is chosen, or change each of them under its own condition",
        )


@distributed
def unary(ctx: Context, operator_: Callable[..., Any], a: Any) -> Any:
    """`-a`, `+a`, `~a`."""
    if is_number(a):
        return scalars.unary(ctx, operator_, a)
    if memory.is_array(a):
        return arrays.elementwise(ctx, operator_, [memory.wrap(ctx, a)])
    names = {operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__"}
    method = method_of(a, names[operator_])
    if method is not None:
        return calls.call(ctx, method, [a], {})
    if not is_static(a):
        ctx.fail("AD306", f"this operator is not defined for {describe(a)}")
    return scalars.static(ctx, operator_, a)


def as_number(truth: bool | Value) -> bool | Number:
    """A truth value as a value of the domain."""
    return Number(truth) if isinstance(truth, Value) else truth


def truth(ctx: Context, value: Any) -> bool | Value:
    """`bool(value)`; a bool when it is static."""
    if isinstance(value, Choice):
        found = each(ctx, value, lambda candidate: as_number(truth(ctx, candidate)))
        return found.value if isinstance(found, Number) else bool(found)
    if isinstance(value, Number):
        known = ctx.builder.known(value.value)
        return bool(known) if known is not None else scalars.truth(ctx, value)
    if memory.is_array(value):
        array = memory.wrap(ctx, value)
        if all(ctx.builder.known(extent) == 1 for extent in array.extents):
            return truth(ctx, ctx.number(array.read(ctx, [ctx.builder.index(0)] * array.rank)))
        ctx.fail("AD318", "the truth value of an array is ambiguous", "use `np.any(...)` or `np.all(...)`")
    if isinstance(value, tuple | list | dict):
        return len(value) > 0
    if isinstance(value, Sequence):
        extent = value.array.extents[0]
        return truth(ctx, Number(ctx.builder.op(ops.GT, extent, ctx.builder.index(0))))
    if isinstance(value, Text):
        ctx.fail("AD230", f"the truth of {describe(value)} is not known when compiling")
    if not is_static(value):
        return True
    return bool(scalars.static(ctx, bool, value))


@distributed
def compare(ctx: Context, op: ast.cmpop, a: Any, b: Any) -> Any:
    """One comparison."""
    if isinstance(op, ast.Is | ast.IsNot):
        return _identity(ctx, a, b) == isinstance(op, ast.Is)
    if isinstance(op, ast.In | ast.NotIn):
        found = contains(ctx, b, a)
        if isinstance(op, ast.In):
            return found
        return not found if isinstance(found, bool) else scalars.unary(ctx, operator.not_, found)
    function = COMPARISONS[type(op)]
    return equality(ctx, function, a, b)


@distributed
def equality(ctx: Context, function: Callable[..., Any], a: Any, b: Any) -> Any:
    """`==`, `<` and their kin for any values."""
    if is_number(a) and is_number(b):
        return scalars.binary(ctx, function, a, b)
    if function in (operator.eq, operator.ne):
        for x, y in ((a, b), (b, a)):
            plain = x is None or isinstance(x, str | type)
            if plain and isinstance(y, Number):
                return function is operator.ne
            if plain and x is None and memory.is_array(y):
                ctx.fail("AD306", "an array is compared with None", "use `is None`")
    if memory.is_array(a) or memory.is_array(b):
        return _array_binary(ctx, function, a, b)
    for owner, other, k in ((a, b, 0), (b, a, 1)):
        method = method_of(owner, METHODS[function][k])
        if method is not None:
            return calls.call(ctx, method, [owner, other], {})
    if is_static(a) and is_static(b):
        return scalars.static(ctx, function, a, b)
    if function in (operator.eq, operator.ne) and isinstance(a, tuple | list) and type(a) is type(b):
        equal: Any = len(a) == len(b)
        for x, y in zip(a, b):
            equal = conjunction(ctx, equal, equality(ctx, operator.eq, x, y)) if equal is not False else False
        if function is operator.eq:
            return equal
        return not equal if isinstance(equal, bool) else scalars.unary(ctx, operator.not_, equal)
    _unsupported(ctx, function, a, b)


def conjunction(ctx: Context, a: Any, b: Any, row: Any = ops.AND) -> Any:
    """`a and b` (or `or`, by the row) of truth values that are at hand."""
    left, right = truth(ctx, a), truth(ctx, b)
    neutral = row is ops.AND
    if isinstance(left, bool):
        left, right = right, left
    if isinstance(right, bool):
        if right == neutral:
            return left if isinstance(left, bool) else Number(left)
        return right
    assert isinstance(left, Value)
    return Number(ctx.builder.op(row, left, right))


def _identity(ctx: Context, a: Any, b: Any) -> bool:
    if isinstance(a, Number) or isinstance(b, Number):
        if is_number(a) and is_number(b):
            kind = (bool, np.bool_)
            if python_type(a) in kind or python_type(b) in kind:
                ctx.fail("AD306", "`is` of numbers is not supported", "use `==`")
            ctx.fail("AD306", "`is` of numbers is not supported", "use `==`")
        return False
    if memory.is_array(a) and memory.is_array(b):
        return memory.identical(a, b)
    return a is b


@distributed
def contains(ctx: Context, container: Any, item: Any) -> Any:
    """`item in container`."""
    if is_static(container) and is_static(item):
        return scalars.static(ctx, operator.contains, container, item)
    if isinstance(container, range) and isinstance(item, Number):
        container = tuple(container) if len(container) <= 64 else container
    if isinstance(container, dict):
        if is_static(item):
            return item in container
        container = tuple(container)
    if isinstance(container, tuple | list | set | frozenset):
        found: Any = False
        for element in container:
            found = conjunction(ctx, found, equality(ctx, operator.eq, element, item), ops.OR)
            if found is True:
                return True
        return found
    if memory.is_array(container):
        hits = arrays.elementwise(ctx, operator.eq, [memory.wrap(ctx, container), item])
        anywhere = arrays.function(np.any)
        return calls.expand(ctx, anywhere, [hits], {}, np.any)
    ctx.fail("AD306", f"`in` is not defined for {describe(container)}")


OR = ops.OR
__all__ = ["BOOL", "OR", "augmented", "binary", "compare", "contains", "equality", "secure", "truth", "unary"]
