"""Counters as functions of the iteration number.

Comes in: a function.  Goes out: the function with loop-carried integers that grow by a known amount in every iteration
replaced by their closed form.  Guaranteed: the same integers, unless they overflow.

The amount may be the same in every iteration or linear in the loop's index, and it may be added by inner loops whose
number of iterations is known: `e += 1` in a triangular nest becomes a polynomial.  Then nothing is carried from one
iteration to the next, and the reverse of the loop needs no record of the counter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from adgen import ops
from adgen.ir import core
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.rebuild import Mapping, clone, mapped, rebuild, record
from adgen.ir.types import I64
from adgen.passes.dead_code import dead_code
from adgen.passes.extents import number_of, trip_count
from adgen.passes.forms import Forms
from adgen.passes.indices import Definitions
from adgen.passes.polynomials import ZERO, Form
from adgen.passes.ranges import Ranges, Scope


def induction(function: Function) -> Function:
    """Compute counters from loop indices.

    Before:  function f(%A: f64[:], %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %two = const {type="i64", value=2} : i64
               %e = for %zero, %n, %two {exit=false, step=1} (%i: i64, %k: i64) {
                 %x = to_f64 %i : f64
                 store %A, %x, %k
                 %m = add %k, %two : i64
                 yield %m
               } : i64
               return %e
             }
    After:   function f(%A: f64[:], %n: i64) -> (out) {
               %zero = const {type="i64", value=0} : i64
               %two = const {type="i64", value=2} : i64
               for %zero, %n {exit=false, step=1} (%i: i64) {
                 %0 = mul %two, %i : i64
                 %k = add %0, %two : i64
                 %x = to_f64 %i : f64
                 store %A, %x, %k
                 yield
               }
               %1 = maximum %n, %zero : i64
               %2 = mul %two, %1 : i64
               %e = add %2, %two : i64
               return %e
             }
    """
    plans = _Plans(function)
    if not plans.counters:
        return function
    return dead_code(rebuild(function, _Replacement(plans)))


@dataclass(frozen=True)
class _Counter:
    """Carried value number `position` grows by `first + number * growth` in iteration `number`."""

    position: int
    first: Form
    growth: Form


class _Plans:
    """The counters of every loop, found from the inside out."""

    def __init__(self, function: Function) -> None:
        self.forms = Forms(Definitions(function))
        self.ranges = Ranges(self.forms)
        self.counters: dict[int, list[_Counter]] = {}
        self._number: dict[Value, int] = {}
        self._count = 0
        self._used: set[Value] = set(function.results)
        for operation in walk(function.body):
            self._used.update(operation.operands)
            for region in operation.regions:
                self._used.update(region.results)
        self.ranges.open(Scope())
        self._scan(function.body)

    def _scan(self, region: Region) -> None:
        for operation in region.operations:
            begin = self._count
            for inner in operation.regions:
                self._define(inner.arguments)
                self.ranges.open(self._scope(operation, inner))
                self._scan(inner)
                self.ranges.close()
            if operation.row is core.FOR:
                self._loop(operation, begin)
            self._define(operation.results)

    def _define(self, values: Sequence[Value]) -> None:
        for value in values:
            self._count += 1
            self._number[value] = self._count

    def _scope(self, operation: Operation, region: Region) -> Scope:
        if operation.row is not core.FOR:
            return Scope()
        start, stop = (self.forms.of(value) for value in operation.operands[:2])
        index = self.forms.atom(region.arguments[0])
        if operation.attributes["step"] > 0:
            return Scope([stop - start - 1], index, start, stop - 1)
        return Scope([start - stop - 1], index, stop + 1, start)

    def _loop(self, loop: Operation, begin: int) -> None:
        (region,) = loop.regions
        exit = bool(loop.attributes["exit"])
        found = []
        for position, argument in enumerate(region.arguments[1:]):
            result = loop.results[position]
            if argument.type != I64 or (exit and result in self._used):
                continue
            counter = self._counter(loop, position, argument, region.results[exit:][position], begin)
            if counter is not None:
                found.append(counter)
                self._define_result(loop, counter, result)
        if found:
            self.counters[id(loop)] = found

    def _counter(
        self, loop: Operation, position: int, argument: Value, following: Value, begin: int
    ) -> _Counter | None:
        """How a carried value grows, when that depends on nothing that changes in the loop but its index."""
        atom, index = self.forms.atom(argument), self.forms.atom(loop.regions[0].arguments[0])
        amount = self.forms.of(following) - Form({(atom,): 1})
        parts = amount.split(index)
        if parts is None or any(
            other != index and self._number.get(self.forms.atoms[other], 0) > begin for other in amount.atoms
        ):
            return None
        slope, rest = parts
        if amount.whole()[1] != 1:
            return None
        start, step = self.forms.of(loop.operands[0]), loop.attributes["step"]
        return _Counter(position, rest + slope * start, ZERO.plus(slope, step))

    def _define_result(self, loop: Operation, counter: _Counter, result: Value) -> None:
        """Tell the loop around how the counter leaves this one, where that is a polynomial."""
        start, stop = (self.forms.of(value) for value in loop.operands[:2])
        trips = stop - start if loop.attributes["step"] == 1 else start - stop
        if abs(loop.attributes["step"]) == 1 and not counter.growth.terms and self.ranges.proves(trips):
            initial = self.forms.of(loop.operands[2 + counter.position])
            self.forms.define(result, initial + counter.first * trips)


class _Replacement:
    """The transform: loops without their counters."""

    def __init__(self, plans: _Plans) -> None:
        self.plans = plans

    def __call__(self, builder: Builder, operation: Operation, mapping: Mapping) -> bool:
        counters = self.plans.counters.get(id(operation))
        if counters is None:
            return False
        (region,) = operation.regions
        exit = int(bool(operation.attributes["exit"]))
        replaced = {counter.position for counter in counters}
        kept = [position for position in range(len(operation.results)) if position not in replaced]
        start, stop, *carried = mapped(operation.operands, mapping)
        here = replace(operation, operands=(start, stop, *carried))
        arguments = [Value(v.type, v.name) for v in (region.arguments[0], *(region.arguments[1 + k] for k in kept))]
        mapping.update(zip((region.arguments[0], *(region.arguments[1 + k] for k in kept)), arguments))
        with builder.block(arguments) as block:
            number = number_of(builder, here, arguments[0])
            for counter in counters:
                argument = region.arguments[1 + counter.position]
                mapping[argument] = self._closed(builder, carried[counter.position], counter, number, mapping)
                _name(builder, mapping[argument], argument.name)
            clone(builder, region.operations, mapping, self)
            yields = mapped(region.results, mapping)
            block.results = (*yields[:exit], *(yields[exit + k] for k in kept))
        results = builder.emit(
            core.FOR,
            (start, stop, *(carried[k] for k in kept)),
            operation.attributes,
            (block.region(),),
            [operation.results[k].name for k in kept],
            builder.span,
        )
        final = dict(zip(kept, results))
        if not exit:
            number = trip_count(builder, here)
            for counter in counters:
                initial = carried[counter.position]
                final[counter.position] = self._closed(builder, initial, counter, number, mapping)
        else:
            final.update((counter.position, carried[counter.position]) for counter in counters)  # nobody looks
        record(builder, operation, tuple(final[k] for k in range(len(final))), mapping)
        return True

    def _closed(self, builder: Builder, initial: Value, counter: _Counter, number: Value, mapping: Mapping) -> Value:
        """The counter before iteration `number`."""
        total = initial
        if counter.first.terms:
            amount = builder.op(ops.MUL, number, self._emit(builder, counter.first, mapping))
            total = builder.op(ops.ADD, amount, total)
        if counter.growth.terms:
            previous = builder.op(ops.SUB, number, builder.index(1))
            pairs = builder.op(ops.FLOORDIV, builder.op(ops.MUL, number, previous), builder.index(2))
            sign = counter.growth.constant
            if sign is not None and sign < 0:
                amount = builder.op(ops.MUL, pairs, builder.index(-int(sign)))
                return builder.op(ops.SUB, total, amount)
            amount = builder.op(ops.MUL, pairs, self._emit(builder, counter.growth, mapping))
            total = builder.op(ops.ADD, total, amount)
        return total

    def _emit(self, builder: Builder, form: Form, mapping: Mapping) -> Value:
        atoms = self.plans.forms.atoms
        return self.plans.forms.emit(builder, form, {k: mapping.get(atoms[k], atoms[k]) for k in form.atoms})


def _name(builder: Builder, value: Value, name: str) -> None:
    """Give a computed counter the name of the variable."""
    made = builder.definitions.get(value)
    if not value.name and made is not None and made.row is not core.CONST:
        value.name = name
