"""Make a function pure: parameters that it writes become local copies whose final contents are results."""

from __future__ import annotations

from dataclasses import replace

from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.rebuild import clone
from adgen.ir.types import Buffer
from adgen.passes.activity import roots


def written_parameters(function: Function) -> tuple[int, ...]:
    """The positions of the buffer parameters that the function stores into."""
    root = roots(function)
    written = {root[value] for o in walk(function.body) for value in core.writes_of(o)}
    return tuple(k for k, value in enumerate(function.parameters) if value in written)


def localise(function: Function) -> Function:
    """Copy every written buffer parameter; its final contents become an extra result `<name>_out`.

    Before:  function f(%A: f64[:], %x: f64) -> () {
               %zero = const {type="i64", value=0} : i64
               store %A, %x, %zero
               return
             }
    After:   function f(%A: f64[:], %x: f64) -> (A_out) {
               %0 = dim %A {axis=0} : i64
               %A_out = alloc %0 {element="f64", zero=false} : f64[:]
               %zero = const {type="i64", value=0} : i64
               for %zero, %0 {exit=false, step=1} (%i: i64) {
                 %1 = load %A, %i : f64
                 store %A_out, %1, %i
                 yield
               }
               store %A_out, %x, %zero
               return %A_out
             }
    """
    written = written_parameters(function)
    if not written:
        return function
    builder = Builder()
    builder.span = function.span
    parameters = tuple(Value(value.type, value.name) for value in function.parameters)
    mapping = dict(zip(function.parameters, parameters, strict=True))
    with builder.block(parameters) as block:
        copies = []
        for position in written:
            source = parameters[position]
            target = copy_of(builder, source, f"{source.name}_out")
            mapping[function.parameters[position]] = target
            copies.append(target)
        clone(builder, function.body.operations, mapping)
        block.results = (*(mapping.get(value, value) for value in function.results), *copies)
    names = (*function.result_names, *(copy.name for copy in copies))
    return replace(builder.function(function.name, block, names, **function.notes), callees=function.callees)


def copy_of(builder: Builder, source: Value, name: str) -> Value:
    """A fresh buffer with the contents of another."""
    assert isinstance(source.type, Buffer)
    target = builder.alloc(source.type.element, builder.dims(source), name, zero=False)
    copy_into(builder, source, target)
    return target


def copy_into(builder: Builder, source: Value, target: Value) -> None:
    """Copy all elements of one buffer to another of the same extents."""
    builder.nest(builder.dims(source), lambda *index: builder.store(target, builder.load(source, index), index))


def add_into(builder: Builder, source: Value, target: Value) -> None:
    """Add all elements of one buffer to those of another of the same extents, to zeros as if these were nothing."""

    def add(*index: Value) -> None:
        builder.accumulate(target, builder.load(source, index), index)

    builder.nest(builder.dims(target), add, unordered=True)
