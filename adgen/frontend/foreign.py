"""Calls of C functions of the user's.

Comes in: an `External`, which `adgen.external` made, and arguments.  Goes out: in Python the result, in a function that
is being lowered a `custom` operation without rules, around which there is one with rules where the user named any.
Guaranteed: the C function is given numbers and arrays of the types and extents that were declared, and nothing else.

The region of the operation says what the C may do: read all of its inputs, write anything to all of its outputs.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend import arrays, custom, memory, nested, scalars
from adgen.frontend.rules import Rules
from adgen.frontend.specs import ArraySpec, ScalarSpec
from adgen.frontend.values import Number, describe, is_number
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.translate import DTYPES
from adgen.ir.types import F64, Buffer, Scalar
from adgen.ops.foreign import ForeignFunction

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Declared = ScalarSpec | ArraySpec


@dataclass(frozen=True, eq=False)
class Primitive:
    """A C function as one of Python: no derivative, arguments in any structure, None left out.

    `results` are those of a tuple, where None stands for None; a `bare` one is given alone.
    """

    function: ForeignFunction
    parameters: tuple[tuple[str, Declared], ...]
    results: tuple[Declared | None, ...]
    bare: bool

    def __call__(self, *values: Any) -> Any:
        """Run the C."""
        given = list(flat(values))
        self.require(len(given))
        return self.run(given)

    def run(self, given: Sequence[Any]) -> Any:
        """Run the C for one number or array for each parameter."""
        sizes: dict[str, int] = {}
        operands: list[Any] = []
        for (name, spec), value, parameter in zip(self.parameters, given, self.function.inputs, strict=True):
            operands.append(fitted(value, spec, f"argument `{name}` of `{self.function.name}`"))
            for axis, (extent, size) in enumerate(zip(extents_of(spec), np.shape(operands[-1]))):
                known = extent if isinstance(extent, int) else sizes.setdefault(extent, size)
                if known != size:
                    raise ValueError(self.mismatch(name, axis, extent).format(known, size))
            operands += np.shape(operands[-1]) if parameter.extents else ()
        filled = [
            np.zeros([e if isinstance(e, int) else sizes[e] for e in spec.extents], DTYPES[spec.element])
            for spec in self.results
            if isinstance(spec, ArraySpec)
        ]
        return self.packed(self.function.run(*operands, *filled), filled)

    def require(self, count: int) -> None:
        """Raise TypeError for a wrong number of arguments."""
        if count != len(self.parameters):
            raise TypeError(f"`{self.function.name}` takes {len(self.parameters)} arguments, not {count}")

    def mismatch(self, name: str, axis: int, extent: str | int) -> str:
        """The message for an extent {1} that should be {0}."""
        wanted = "{0}" if isinstance(extent, int) else f"`{extent}` = {{0}}"
        return f"`{self.function.name}`: `{name}` has extent {{1}} along axis {axis}, not {wanted}"

    def packed(self, numbers: Sequence[Any], arrays: Sequence[Any]) -> Any:
        """The results as the function gives them."""
        rest = iter(numbers), iter(arrays)
        found = tuple(None if spec is None else next(rest[isinstance(spec, ArraySpec)]) for spec in self.results)
        return found[0] if self.bare else found


class External:
    """What `adgen.external` gives: a function that runs C, and which may have derivative rules."""

    def __init__(self, primitive: Primitive, rules: Rules | None, others: tuple[Primitive, ...]) -> None:
        self.primitive = primitive
        self.others = others  # the derivative functions that are C too
        self.__name__ = primitive.function.name
        self.__adgen_rules__ = rules
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name, _ in primitive.parameters])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the C."""
        try:
            bound = self.__signature__.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"`{self.__name__}`: {error}") from None
        return self.primitive.run([bound.arguments[name] for name, _ in self.primitive.parameters])

    def __repr__(self) -> str:
        return f"<external {self.primitive.function.prototype}>"


def flat(values: Any) -> Iterator[Any]:
    """The numbers and arrays in tuples and lists."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from flat(value)
        elif value is not None:
            yield value


def extents_of(spec: Declared) -> tuple[str | int, ...]:
    """The extents of an array; none for a number."""
    return spec.extents if isinstance(spec, ArraySpec) else ()


def fitted(value: Any, spec: Declared, what: str) -> Any:
    """An argument in Python of the declared type.

    Raises TypeError where it is something else.
    """
    array, dtype = np.asarray(value), np.dtype(DTYPES[spec.element])
    rank = len(extents_of(spec))
    fits = array.dtype == dtype if rank else converts(array.dtype, dtype, isinstance(value, int | float))
    if array.ndim != rank or not fits:
        found = f"an array of rank {array.ndim} and dtype {array.dtype}" if array.ndim else f"a {type(value).__name__}"
        raise TypeError(f"{what} must be {wanted(spec)}, not {found}")
    return np.ascontiguousarray(array) if rank else array.astype(dtype)[()]


def converts(given: Any, dtype: Any, weak: bool) -> bool:
    """True where a number of a dtype may be passed as one of another; those of Python yield to it."""
    return np.can_cast(given, dtype, "same_kind" if weak else "safe")


def wanted(spec: Declared) -> str:
    """A declared type in words."""
    return f"an array {spec}" if isinstance(spec, ArraySpec) else f"a number of type {spec}"


# -- in a function that is being lowered -------------------------------------------------------------------------------


def call(ctx: Context, callee: External, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A call by the user."""
    try:
        bound = callee.__signature__.bind(*args, **kwargs)
    except TypeError as error:
        ctx.fail("AD403", f"`{callee.__name__}`: {error}")
    values = [bound.arguments[name] for name, _ in callee.primitive.parameters]
    converted = _converted(ctx, callee.primitive, values)
    if callee.__adgen_rules__ is not None:
        return custom.call(ctx, callee, callee.__adgen_rules__, converted, {})
    return _run(ctx, callee.primitive, converted)


def apply(ctx: Context, primitive: Primitive, args: Sequence[Any]) -> Any:
    """A call by a rule."""
    values = list(flat(args))
    try:
        primitive.require(len(values))
    except TypeError as error:
        ctx.fail("AD403", str(error))
    return _run(ctx, primitive, _converted(ctx, primitive, values))


def _converted(ctx: Context, primitive: Primitive, values: Sequence[Any]) -> list[Any]:
    """The arguments as numbers and arrays of the declared types, whose extents are checked."""
    named: dict[str, Value] = {}
    found = []
    for (name, spec), value in zip(primitive.parameters, values, strict=True):
        if not isinstance(spec, ArraySpec):
            found.append(_number(ctx, primitive, name, spec, value))
            continue
        array = _array(ctx, primitive, name, spec, value)
        for axis, (extent, size) in enumerate(zip(spec.extents, array.extents, strict=True)):
            known = ctx.builder.index(extent) if isinstance(extent, int) else named.setdefault(extent, size)
            memory.agree(ctx, known, size, primitive.mismatch(name, axis, extent))
        found.append(array)
    return found


def _number(ctx: Context, primitive: Primitive, name: str, spec: ScalarSpec, value: Any) -> Number:
    if ctx.inference is not None and isinstance(value, Number) and spec.element.is_integer:
        ctx.inference.integer(ctx, value)
    if not is_number(value):
        _refuse(ctx, primitive, name, spec, value)
    element, weak = scalars.kind(ctx, value)
    if element not in DTYPES or not converts(DTYPES[element], DTYPES[spec.element], weak):
        _refuse(ctx, primitive, name, spec, value)
    return Number(scalars.to(ctx, value, spec.element), spec.weak)


def _array(ctx: Context, primitive: Primitive, name: str, spec: ArraySpec, value: Any) -> Any:
    if ctx.inference is not None:
        ctx.inference.rank(ctx, value, spec.rank)
    if isinstance(value, tuple | list):
        value = arrays.from_nested(ctx, value)
    if not memory.is_array(value):
        _refuse(ctx, primitive, name, spec, value)
    array = memory.wrap(ctx, value)
    if array.rank != spec.rank or array.element != spec.element:
        _refuse(ctx, primitive, name, spec, value)
    return array


def _refuse(ctx: Context, primitive: Primitive, name: str, spec: Declared, value: Any) -> None:
    array = memory.wrap(ctx, value) if memory.is_array(value) else None
    given = describe(value) if array is None else f"an array {ArraySpec(array.element, array.rank)}"
    ctx.fail(
        "AD158",
        f"argument `{name}` of the C function `{primitive.function.name}` must be {wanted(spec)}, not {given}",
        f"convert it first, as with `{'.astype(np.float64)' if isinstance(spec, ArraySpec) else 'float(x)'}`",
    )


def _run(ctx: Context, primitive: Primitive, values: Sequence[Any]) -> Any:
    """The operation for converted arguments."""
    function = primitive.function
    try:
        function.home.ready(function)
    except AdgenError as error:
        raise AdgenError(error.code, error.message, ctx.span, error.help) from None
    named: dict[str, Value] = {}
    operands: list[Value] = []
    for (_, spec), parameter, value in zip(primitive.parameters, function.inputs, values, strict=True):
        operands.append(nested.operand(ctx, value))
        if isinstance(spec, ArraySpec):
            named.update(zip(map(str, spec.extents), value.extents))
            operands += value.extents if parameter.extents else ()
    filled = []
    for result, output in zip(filter(None, primitive.results), function.outputs, strict=True):
        if isinstance(result, ArraySpec):
            extents = [ctx.builder.index(e) if isinstance(e, int) else named[e] for e in result.extents]
            filled.append(memory.allocate(ctx, result.element, extents, output.name))
    bases = [nested.operand(ctx, array) for array in filled]
    made = _emit(ctx.builder, function, operands, bases)
    for base in bases:
        ctx.writes.written(base)
    return primitive.packed([Number(value) for value in made], filled)


def _emit(
    builder: Builder, function: ForeignFunction, operands: Sequence[Value], arrays: Sequence[Value]
) -> tuple[Value, ...]:
    """The operation: what it runs, and what that may do."""
    numbers = [output for output in function.outputs if not output.rank]
    with builder.block() as block:
        seen = _unknown(builder, F64, *(value for value in operands if isinstance(value.type, Scalar)))
        for value in operands:
            seen = _read(builder, value, (), seen) if isinstance(value.type, Buffer) else seen
        for array, output in zip(arrays, (output for output in function.outputs if output.rank), strict=True):

            def write(*place: Value, array: Value = array, element: Scalar = output.element) -> None:
                builder.store(array, _unknown(builder, element, seen, builder.load(array, place)), place)

            builder.nest(builder.dims(array), write)
        block.results = tuple(_unknown(builder, output.element, seen) for output in numbers)
    attributes = {
        "outputs": len(arrays),
        "types": tuple(str(output.element) for output in numbers),
        "vjp": "",
        "jvp": "",
        "external": function,
    }
    names = ["" if function.returns else output.name for output in numbers]
    return builder.emit(core.CUSTOM, (*operands, *arrays), attributes, (block.region(),), names)


def _unknown(builder: Builder, element: Scalar, *operands: Value) -> Value:
    """A number of which nobody knows but what it may depend on."""
    return builder.op(core.UNKNOWN, *operands, type=str(element))


def _read(builder: Builder, array: Value, place: tuple[Value, ...], seen: Value) -> Value:
    """What depends on all elements of an array."""
    extents = builder.dims(array)
    if len(place) == len(extents):
        return _unknown(builder, F64, seen, builder.load(array, place))

    def item(index: Value, carried: Value) -> tuple[Value]:
        return (_read(builder, array, (*place, index), carried),)

    (after,) = builder.loop(builder.index(0), extents[len(place)], (seen,), item)
    return after
