"""Ways to break a well-formed function, for testing the verifier.

Every mutation takes a draw and a function and gives a function that breaks a rule, or None where it does not apply.
`scrambled` gives anything at all: perhaps well formed, perhaps nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.types import BOOL, F32, F64, I64, Buffer, Scalar, Stack
from tests.strategies import FITTING

Edit = Callable[[Operation], Sequence[Operation]]
TYPES = (F64, F32, I64, BOOL, Buffer(F64, 1), Buffer(I64, 2), Stack(F64))
JUNK = (
    None,
    True,
    0,
    -1,
    1.5,
    2**70,
    "f64",
    "no type",
    "stack<f64>",
    "f64[:]",
    (),
    ("f64",),
    (1,),
    np.zeros((2, 2)),
    np.float32(1),
)


def edited(function: Function, target: Operation, edit: Edit) -> Function:
    """The function with one operation replaced."""

    def region(old: Region) -> Region:
        new: list[Operation] = []
        for operation in old.operations:
            if operation is target:
                new.extend(edit(operation))
            else:
                new.append(replace(operation, regions=tuple(map(region, operation.regions))))
        return replace(old, operations=tuple(new))

    return replace(function, body=region(function.body))


def one(draw: st.DrawFn, function: Function, wanted: Callable[[Operation], Any]) -> Operation | None:
    """Some operation that is wanted."""
    found = [operation for operation in walk(function.body) if wanted(operation)]
    return draw(st.sampled_from(found)) if found else None


def other_type(value: Value) -> Value:
    return Value(F32 if value.type != F32 else F64, value.name)


def used(function: Function) -> set[Value]:
    """Every value that something reads."""
    found = set(function.results)
    for operation in walk(function.body):
        found.update(operation.operands)
        for region in operation.regions:
            found.update(region.results)
    return found


def undefined_operand(draw: st.DrawFn, function: Function) -> Function | None:
    if (target := one(draw, function, lambda o: o.operands)) is None:
        return None
    place = draw(st.integers(0, len(target.operands) - 1))
    stranger = Value(target.operands[place].type, "stranger")
    operands = (*target.operands[:place], stranger, *target.operands[place + 1 :])
    return edited(function, target, lambda o: [replace(o, operands=operands)])


def defined_twice(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.results)
    return target and edited(function, target, lambda o: [o, o])


def dropped(draw: st.DrawFn, function: Function) -> Function | None:
    read = used(function)
    target = one(draw, function, lambda o: any(value in read for value in o.results))
    return target and edited(function, target, lambda o: [])


def wrong_result(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.results)
    return target and edited(
        function, target, lambda o: [replace(o, results=(other_type(o.results[0]), *o.results[1:]))]
    )


def missing_operand(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.operands and o.row is not core.CHECK)
    return target and edited(function, target, lambda o: [replace(o, operands=o.operands[1:])])


def no_attributes(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.attributes and not (o.row is core.IF and not o.results))
    return target and edited(function, target, lambda o: [replace(o, attributes={})])


def more_yields(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.regions)

    def edit(operation: Operation) -> Sequence[Operation]:
        first, *rest = operation.regions
        more = Value(I64, "more")
        constant = Operation(core.CONST, (), (more,), {"type": "i64", "value": 1})
        first = replace(first, operations=(constant, *first.operations), results=(*first.results, more))
        return [replace(operation, regions=(first, *rest))]

    return target and edited(function, target, edit)


def more_arguments(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.regions)

    def edit(operation: Operation) -> Sequence[Operation]:
        *rest, last = operation.regions
        last = replace(last, arguments=(*last.arguments, Value(F64, "more")))
        return [replace(operation, regions=(*rest, last))]

    return target and edited(function, target, edit)


def more_regions(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: True)
    return target and edited(function, target, lambda o: [replace(o, regions=(*o.regions, Region((), (), ())))])


def fewer_regions(draw: st.DrawFn, function: Function) -> Function | None:
    target = one(draw, function, lambda o: o.regions)
    return target and edited(function, target, lambda o: [replace(o, regions=o.regions[1:])])


def escaped(draw: st.DrawFn, function: Function) -> Function | None:
    """A value of an inner region becomes a result."""
    inner = [
        value
        for owner in walk(function.body)
        for region in owner.regions
        for value in (*region.arguments, *(v for o in region.operations for v in o.results))
        if isinstance(value.type, Scalar)
    ]
    if not inner:
        return None
    return with_result(function, draw(st.sampled_from(inner)))


def with_result(function: Function, value: Value) -> Function:
    body = replace(function.body, results=(*function.results, value))
    return replace(function, body=body, result_names=(*function.result_names, "more"))


def with_operations(function: Function, *operations: Operation) -> Function:
    return replace(function, body=replace(function.body, operations=(*function.body.operations, *operations)))


def strange_buffer_result(draw: st.DrawFn, function: Function) -> Function | None:
    """A parameter, a table, a reshape, or a buffer that is a result already."""
    top = [o.results[0] for o in function.body.operations if o.row in (core.TABLE, core.RESHAPE, core.STACK)]
    buffers = [value for value in (*function.parameters, *function.results) if isinstance(value.type, Buffer)]
    return with_result(function, draw(st.sampled_from([*buffers, *top]))) if buffers or top else None


def missing_name(draw: st.DrawFn, function: Function) -> Function:
    return replace(function, result_names=(*function.result_names, "more"))


def written_table(draw: st.DrawFn, function: Function) -> Function:
    value, table = Value(F64), Value(Buffer(F64, 0))
    row = draw(st.sampled_from((core.STORE, core.ACCUMULATE)))
    return with_operations(
        function,
        Operation(core.CONST, (), (value,), {"type": "f64", "value": 1.0}),
        Operation(core.TABLE, (), (table,), {"element": "f64", "data": np.zeros(())}),
        Operation(row, (table, value), ()),
    )


def constant_of_another_type(draw: st.DrawFn, function: Function) -> Function:
    kind, value = draw(
        st.sampled_from((("i64", 1.0), ("i64", 2**63), ("i64", True), ("f64", 1), ("bool", 0), ("f32", None)))
    )
    types = {"i64": I64, "f64": F64, "f32": F32, "bool": BOOL}
    constant = Operation(core.CONST, (), (Value(types[kind]),), {"type": kind, "value": value})
    return with_operations(function, constant)


def table_of_another_type(draw: st.DrawFn, function: Function) -> Function:
    data = draw(st.sampled_from((np.zeros(2, np.float32), np.zeros(2, int), np.zeros(2, object))))
    table = Operation(core.TABLE, (), (Value(Buffer(F64, 1)),), {"element": "f64", "data": data})
    return with_operations(function, table)


def carried_buffer(draw: st.DrawFn, function: Function) -> Function:
    """Buffers and stacks may not be yielded."""
    kind = draw(st.sampled_from((Buffer(F64, 0), Stack(F64))))
    row, kept = (core.ALLOC, Value(kind)) if isinstance(kind, Buffer) else (core.STACK, Value(kind))
    condition, inside = Value(BOOL), Region((), (), (kept,))
    return with_operations(
        function,
        Operation(row, (), (kept,), {"element": "f64", "zero": True}),
        Operation(core.CONST, (), (condition,), {"type": "bool", "value": True}),
        Operation(core.IF, (condition,), (Value(kind),), {"types": (str(kind),)}, (inside, inside)),
    )


def stack_parameter(draw: st.DrawFn, function: Function) -> Function:
    return replace(function, body=replace(function.body, arguments=(*function.parameters, Value(Stack(F64)))))


def summed_bool(draw: st.DrawFn, function: Function) -> Function:
    value, buffer = Value(BOOL), Value(Buffer(BOOL, 0))
    return with_operations(
        function,
        Operation(core.CONST, (), (value,), {"type": "bool", "value": True}),
        Operation(core.ALLOC, (), (buffer,), {"element": "bool", "zero": True}),
        Operation(core.ACCUMULATE, (buffer, value), ()),
    )


MUTATIONS: tuple[Callable[[st.DrawFn, Function], Function | None], ...] = (
    undefined_operand, defined_twice, dropped, wrong_result, missing_operand, no_attributes, more_yields,
    more_arguments, more_regions, fewer_regions, escaped, strange_buffer_result, missing_name, written_table,
    constant_of_another_type, table_of_another_type, carried_buffer, stack_parameter, summed_bool,
)  # fmt: skip


def scrambled(draw: st.DrawFn, function: Function) -> Function:
    """One operation changed without any sense."""
    target = one(draw, function, lambda o: True)
    values = [v for o in walk(function.body) for v in (*o.operands, *o.results)] + [Value(kind) for kind in TYPES]
    rows = (*core.CORE_ROWS, *(row for row, _ in FITTING[::9]))
    some_values = st.lists(st.sampled_from(values), max_size=4).map(tuple)

    def attributes(operation: Operation) -> dict[str, Any]:
        names = ("value", "type", "element", "data", "zero", "axis", "step", "exit", "types", "exception", "message")
        changed = dict(operation.attributes)
        for name in draw(st.lists(st.sampled_from(names), min_size=1, max_size=3)):
            changed[name] = draw(st.sampled_from(JUNK))
        return changed

    def edit(operation: Operation) -> Sequence[Operation]:
        what = draw(st.sampled_from(("row", "operands", "results", "attributes", "attributes", "regions")))
        if what == "row":
            return [replace(operation, row=draw(st.sampled_from(rows)))]
        if what == "attributes":
            return [replace(operation, attributes=attributes(operation))]
        if what == "regions":
            return [replace(operation, regions=draw(st.sampled_from(((), operation.regions[::-1], (function.body,)))))]
        return [replace(operation, **{what: draw(some_values)})]

    return edited(function, target, edit) if target is not None else function
