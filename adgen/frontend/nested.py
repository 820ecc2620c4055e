"""Calls of derivative operators inside a lowered function: `adgen.grad(g)(x)` in the body of `f`.

Comes in: the operator behind the callee, which can give the IR of its product, and the arguments.  Goes out: that IR,
copied into the function being lowered, with the arguments in place of its parameters.
"""

from __future__ import annotations

import dataclasses
import operator
import sys
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Protocol

from adgen.diagnostics import AdgenError
from adgen.frontend import arrays, memory, scalars
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.arrays.model import View
from adgen.frontend.complexes import library as complexes
from adgen.frontend.complexes.types import Complex, complex_of
from adgen.frontend.dependencies import Dependency
from adgen.frontend.specs import (
    ArraySpec,
    ComplexArray,
    Leaf,
    Lowered,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    Path,
    ScalarSpec,
    Spec,
    StaticSpec,
    StructSpec,
    complex_spec,
)
from adgen.frontend.state import is_instance
from adgen.frontend.values import Number, instance_fields, is_number, is_static, python_type
from adgen.ir.calls import renamed
from adgen.ir.nodes import Function, Operation, Region, Value

if TYPE_CHECKING:
    from adgen.frontend.context import Context


class Operator(Protocol):
    """What an operator on a function offers to the front end."""

    product: str
    takes_tangent: bool

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by parameter name."""

    def lower(self, specs: Mapping[str, Spec], traced: bool = False, along: bool = False) -> Lowered:
        """The product for arguments of these types; `along` a tangent that is given too."""

    def directed(self, specs: Mapping[str, Spec]) -> tuple[tuple[str, ...], bool]:
        """The parameters that tangents are for, and whether the tangent of the only one is given as it is."""


def operator_of(callee: Any) -> Operator | None:
    """The operator behind a function that one made."""
    found: Operator | None = getattr(callee, "__adgen__", None)
    return found


def makes_operator(callee: Any) -> bool:
    """True for `adgen.grad` and its kin: functions of functions, which run when compiling."""
    if not isinstance(callee, FunctionType) or not str(callee.__module__).startswith("adgen.operators"):
        return False
    return getattr(sys.modules["adgen"], callee.__name__, None) is callee


def make(ctx: Context, callee: Any, args: list[Any], kwargs: dict[str, Any], text: str) -> Any:
    """Apply an operator to a function that is known when compiling."""
    if not is_static([args, list(kwargs.values())]):
        help = "define the function at module level and pass what it needs as arguments"
        ctx.fail("AD245", f"`{text}` of a function that is made inside of another one is not supported", help)
    return scalars.static(ctx, callee, *args, **kwargs)


def call(ctx: Context, callee: Any, behind: Operator, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The product of the operator's function at these arguments."""
    span = ctx.builder.span
    own = {name: value for name, value in kwargs.items() if name != "tangent" or not behind.takes_tangent}
    if behind.takes_tangent and len(own) == len(kwargs):
        ctx.fail("AD153", f"`{behind.product}` needs a tangent", "call it as f(x, tangent=v)")
    try:
        arguments = behind.arguments(tuple(args), own)
        arguments = {name: ctx.number(x) if type(x) is float else x for name, x in arguments.items()}
        specs = {name: spec_of(ctx, value) for name, value in arguments.items()}
        lowered = behind.lower(specs, along=True)
        names, bare = behind.directed(specs) if behind.takes_tangent else ((), False)
    except AdgenError as error:
        raise AdgenError(error.code, error.message, error.span or span, error.help) from None
    for dependency in lowered.dependencies:
        _depend(ctx, callee, dependency)
    ctx.ruled += lowered.ruled
    operands = [
        operand(ctx, _part(ctx, arguments, leaf.path))
        if leaf.path[0] in arguments
        else _tangent(ctx, kwargs["tangent"], leaf, names, bare, arguments)
        for leaf in lowered.leaves
    ]
    results = splice(ctx, with_callees(ctx, lowered.function), operands)
    return ctx.own(tree(ctx, lowered.output, results))


def _tangent(
    ctx: Context, given: Any, leaf: Leaf, names: Sequence[str], bare: bool, arguments: dict[str, Any]
) -> Value:
    """The part of a tangent that belongs to a leaf, of its type and shape."""
    _, name, *rest = leaf.path
    key = name if isinstance(given, dict) else names.index(str(name))
    value = given if bare else at({"": given}, ("", name if is_instance(given) else key))
    value, like = at({"": value}, ("", *rest)), at(arguments, (name, *rest))
    if isinstance(leaf.spec, ScalarSpec):
        if not is_number(value):
            ctx.fail("AD152", f"the tangent of `{name}` must be a number")
        return scalars.to(ctx, value, leaf.spec.element)
    if not memory.is_array(value) or memory.wrap(ctx, value).rank != leaf.spec.rank:
        ctx.fail("AD152", f"the tangent of `{name}` must be an array of rank {leaf.spec.rank}")
    array = memory.wrap(ctx, value)
    for axis, (mine, other) in enumerate(zip(memory.wrap(ctx, like).extents, array.extents)):
        memory.agree(ctx, mine, other, f"the tangent of `{name}` has extent {{1}} along axis {axis}, not {{0}}")
    element = leaf.spec.element
    return operand(ctx, array if array.element == element else astype(ctx, array, element))


def with_callees(ctx: Context, function: Function) -> Region:
    """The body of a function; its callees join those of the function being lowered, under names of their own."""
    names: dict[str, str] = {}
    for name in function.callees:
        names[name] = ctx.reserve(name, names.values())
    for name, callee in function.callees.items():
        notes = {key: note for key, note in callee.notes.items() if key != "derived"}  # of a table that ends here
        body = renamed(callee.body, names)
        ctx.callees[names[name]] = dataclasses.replace(callee, name=names[name], body=body, notes=notes)
    return renamed(function.body, names)


def _depend(ctx: Context, callee: Any, dependency: Dependency) -> None:
    note = getattr(ctx.record, "through", None)
    if note is not None:
        note(callee, dependency)


def spec_of(ctx: Context, value: Any) -> Spec:
    """The spec of an argument that is a value of the domain."""
    if isinstance(value, Number):
        if isinstance(value.element, Complex):
            return complex_spec(python_type(arrays.bare(value)), value.weak)
        return ScalarSpec(value.element, value.weak)
    if memory.is_array(value):
        array = memory.wrap(ctx, value)
        return ArraySpec(array.element, array.rank)
    if isinstance(value, tuple | list | dict) and not is_static(value):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return StructSpec(type(value), tuple((key, spec_of(ctx, item)) for key, item in pairs))
    if dataclasses.is_dataclass(value) and is_instance(value):
        return StructSpec(type(value), tuple((k, spec_of(ctx, item)) for k, item in instance_fields(value).items()))
    return StaticSpec(value)


def _part(ctx: Context, arguments: dict[str, Any], path: Path) -> Any:
    """The part of the arguments at a path, which may end in a complex number."""
    owner = at(arguments, path[:-1])
    return complexes.parts(ctx, owner)[path[-1] == "imag"] if is_number(owner) else at(owner, path[-1:])


def at(arguments: dict[str, Any], path: Path) -> Any:
    value: Any = arguments
    for key in path:
        indexed = isinstance(value, dict) or isinstance(key, int)
        value = operator.getitem(value, key) if indexed else getattr(value, str(key))
    return value


def operand(ctx: Context, value: Any) -> Value:
    """An argument as the scalar or the whole buffer that an IR function takes."""
    if isinstance(value, Number):
        return value.value
    array = memory.wrap(ctx, value)
    if not (isinstance(array, View) and array.whole(ctx)):
        array = arrays.copy(ctx, array, "")
    base = memory.base_of(array)
    assert base is not None
    return base


def splice(ctx: Context, body: Region, operands: Sequence[Value]) -> list[Value]:
    """Copy the operations of a function's body to the present place; gives the values of its results."""
    values: dict[Value, Value] = dict(zip(body.arguments, operands))
    for operation in body.operations:
        ctx.builder.append(copied(ctx, operation, values))
    return [values[value] for value in body.results]


def copied(ctx: Context, source: Operation, values: dict[Value, Value]) -> Operation:
    """A copy of an operation with values of its own, which `values` gains."""

    def region(source: Region) -> Region:
        arguments = tuple(Value(value.type, value.name) for value in source.arguments)
        values.update(zip(source.arguments, arguments))
        inside = tuple(copied(ctx, inner, values) for inner in source.operations)
        return Region(arguments, inside, tuple(values[value] for value in source.results))

    operands = tuple(values[value] for value in source.operands)
    regions = tuple(region(inner) for inner in source.regions)
    made = tuple(Value(value.type, value.name) for value in source.results)
    values.update(zip(source.results, made))
    return Operation(source.row, operands, made, source.attributes, regions, source.span or ctx.builder.span)


def tree(ctx: Context, shape: OutputTree, results: Sequence[Value]) -> Any:
    """The results as the value that the operator's function gives."""
    if isinstance(shape, OutputConstant):
        return shape.value
    if isinstance(shape, OutputLeaf):
        value = results[shape.index]
        return Number(value, shape.weak) if shape.rank is None else arrays.parameter(ctx, value)
    if shape.kind is ComplexArray:
        ((_, pairs),) = shape.items
        assert isinstance(pairs, OutputLeaf)
        return arrays.parameter(ctx, results[pairs.index], complex_of(pairs.element))
    return complexes.rebuilt(ctx, shape.kind, [(key, tree(ctx, inner, results)) for key, inner in shape.items])
