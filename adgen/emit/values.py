"""Scalars as C: each is written out at its only use, or kept in a variable.

Comes in: expressions for values, in program order.  Goes out: declarations and assignments, and an expression for every
use.  Guaranteed: an expression that waits for its use is evaluated before anything that it reads changes; several
variables are assigned as if at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from adgen import ops
from adgen.diagnostics import Span
from adgen.emit.expression import Expression, assignment
from adgen.emit.layout import Line, Statement
from adgen.emit.names import Names
from adgen.emit.text import c_type
from adgen.emit.uses import Uses
from adgen.emit.variables import Variable, Variables
from adgen.ir.nodes import Value
from adgen.ir.types import F64, I64

LONGEST = 160  # characters of an expression that is written out at its use
SHORT = 24  # characters of integer arithmetic that is repeated rather than kept
CHEAP = (ops.ADD, ops.SUB, ops.MUL, ops.NEG)


class Values:
    """The scalars of a function while its text is written."""

    def __init__(self, uses: Uses, names: Names) -> None:
        self.uses = uses
        self.variables = Variables(uses)
        self.names = names
        self.known: dict[Value, Expression] = {}  # what is repeated at every use
        self.pending: dict[Value, Expression] = {}  # what waits for its only use
        self.readers: dict[Any, set[Value]] = {}  # pending values by what they read
        self.statements: list[Statement] = []
        self.opened: list[list[Variable]] = [[]]  # variables by the block that they are declared in
        self.arrays: dict[Value, Variable] = {}  # what holds a buffer, by its root
        self.folding = False  # inside `c ? a : b` nothing can be kept

    # -- statements ----------------------------------------------------------------------------------------------

    def emit(self, text: str, span: Span | None, reads: Iterable[Any] = ()) -> None:
        """Append a statement."""
        self.note(reads)
        self.statements.append(Line(text, span))

    def note(self, reads: Iterable[Any]) -> None:
        """Variables and buffers are read by text that is being written."""
        for each in reads:
            variable = each if isinstance(each, Variable) else self.arrays.get(each)
            if variable is not None:
                variable.read = True

    def hold(self, buffer: Value, hint: str) -> str:
        """Name the array or pointer that holds a buffer in the innermost block."""
        variable = self.arrays[buffer] = Variable(F64, [], name=self.names.claim(hint))
        self.opened[-1].append(variable)
        return variable.name

    @contextmanager
    def block(self) -> Iterator[list[Statement]]:
        """Statements of a block in braces; names declared in it are free again afterwards."""
        outside, self.statements = self.statements, []
        self.opened.append([])
        with self.names.block():
            yield self.statements
        for variable in self.opened.pop():
            if not variable.read:
                self.statements.append(Line(f"(void){variable.name};"))
        self.statements = outside

    # -- uses ----------------------------------------------------------------------------------------------------

    def use(self, value: Value) -> Expression:
        """The expression for a value at a place where it is used."""
        if value in self.pending:
            return self._taken(value)
        if value in self.known:
            return self.known[value]
        return self.stored(self.variables.of[value])

    def stored(self, variable: Variable) -> Expression:
        """A variable as an expression."""
        return Expression(variable.name, reads=frozenset((variable,)))

    def lasting(self, value: Value) -> Expression:
        """The expression for a value that will be written out at many places."""
        if value in self.pending:
            self.declare(value, self._taken(value))
        return self.use(value)

    def _taken(self, value: Value) -> Expression:
        expression = self.pending.pop(value)
        for key in expression.reads:
            self.readers[key].discard(value)
        return expression

    # -- definitions ---------------------------------------------------------------------------------------------

    def define(self, value: Value, expression: Expression) -> None:
        """A value is made: assign it, or let it wait, or declare it."""
        variable = self.variables.of[value]
        if variable.mutable:
            self.assign(variable, expression)
        elif self.repeats(value, expression):
            self.known[value] = expression
        elif self.waits(value, expression):
            self.pending[value] = expression
            for key in expression.reads:
                self.readers.setdefault(key, set()).add(value)
        else:
            self.declare(value, expression)

    def repeats(self, value: Value, expression: Expression) -> bool:
        """True for index arithmetic that means the same everywhere and that the user gave no name."""
        if value.type != I64 or expression.row not in CHEAP or len(expression.text) > SHORT:
            return False
        steady = all(isinstance(each, Variable) and not each.mutable for each in expression.reads)
        return steady and (not value.name or value.name.startswith("_") or self.uses.count[value] == 1)

    def waits(self, value: Value, expression: Expression) -> bool:
        """True when the expression can be written out at its use, and what the user named apart stays apart."""
        if not self.uses.foldable(value) or len(expression.text) > LONGEST:
            return False
        if self.folding or not value.name or value.name.startswith("_") or self.uses.user[value] is None:
            return True
        return self.uses.same_line(value)

    def kept(self, value: Value, expression: Expression) -> None:
        """Evaluate a value here, neither earlier nor later."""
        if self.variables.of[value].mutable:
            self.assign(self.variables.of[value], expression)
        else:
            self.declare(value, expression)

    def declare(self, value: Value, expression: Expression) -> None:
        """Keep a value under a name of its own."""
        self.start(self.variables.of[value], expression, constant=True)

    def start(self, variable: Variable, expression: Expression | None, constant: bool = False) -> None:
        """Declare a variable."""
        hint = variable.hint().lstrip("_")
        variable.name = self.names.claim(hint or (expression.hint if expression else ""))
        self.opened[-1].append(variable)
        text = f"{'const ' if constant else ''}{c_type(variable.kind)} {variable.name}"
        if expression is None:
            self.emit(f"{text};", None)
        else:
            self.emit(f"{text} = {expression.text};", expression.span, expression.reads)

    def assign(self, variable: Variable, expression: Expression) -> None:
        """Give a variable its next value, once whatever still needs the last one has been evaluated."""
        if expression.text == variable.name:
            return
        self.settle((variable,))
        if not variable.name:
            self.start(variable, expression)
        else:
            text = assignment(self.stored(variable), expression)
            self.emit(text, expression.span, expression.reads - {variable})

    def settle(self, changing: Iterable[Any]) -> None:
        """Evaluate what waits and reads variables or buffers that are about to change."""
        waiting = {value for key in changing for value in self.readers.get(key, ())}
        for value in sorted(waiting, key=lambda value: self.uses.born[value][1]):
            self.declare(value, self._taken(value))

    def copy(self, pairs: Sequence[tuple[Variable, Value]], span: Span | None) -> None:
        """Assign values to variables as if at once."""
        todo: list[tuple[Variable, Expression]] = []
        for variable, value in pairs:
            if self.variables.of.get(value) is not variable:
                expression = self.use(value)
                todo.append((variable, replace(expression, span=expression.span or span)))
        while todo:
            place = 0
            passed: set[int] = set()
            while (reader := _reader(place, todo)) is not None and place not in passed:
                passed.add(place)
                place = reader
            if reader is None:
                self.assign(*todo.pop(place))
            else:  # each waits for the next: one of them keeps its value aside
                variable, expression = todo[place]
                kept = Variable(variable.kind, [])
                kept.name = self.names.claim(f"{variable.name}_next")
                text = f"const {c_type(kept.kind)} {kept.name} = {expression.text};"
                self.emit(text, expression.span, expression.reads)
                todo[place] = variable, replace(self.stored(kept), span=expression.span)


def _reader(place: int, todo: Sequence[tuple[Variable, Expression]]) -> int | None:
    """Another assignment that still reads the variable that the one at `place` would overwrite."""
    variable = todo[place][0]
    return next((k for k, (_, other) in enumerate(todo) if k != place and variable in other.reads), None)


def described(name: str, indices: Sequence[Expression]) -> str:
    """A name for an element that has none: `x_i`, `v_i_plus_1`; empty where that would be no name."""
    words = [name]
    for index in indices:
        found = re.fullmatch(r"(\w+)(?: ([+-]) (\w+))?", index.text)
        if found is None:
            return ""
        words.append(found[1])
        if found[2]:
            words += ["plus" if found[2] == "+" else "minus", found[3]]
    return "_".join(words)
