"""The domain of the partial evaluator: what a Python expression evaluates to while a function is lowered.

A *static* value is a Python object known now: numbers, strings, None, types, functions, modules, NumPy arrays of
module level.  A *dynamic* value is a number known at run time only: `Number` here, `Array` in `frontend.arrays`; both
derive from `Dynamic`.  Tuples, lists, dicts and instances of classes are ordinary Python containers whose items are
values of this domain.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.diagnostics import Span
from adgen.frontend.complexes.types import C64, C128
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, NARROW, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Frame


class Dynamic:
    """Base of the values that stand for numbers known at run time only."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Number(Dynamic):
    """A dynamic scalar.  `weak` marks a Python scalar, whose type yields to NumPy's (NEP 50).

    A weak narrow integer is one of NumPy on one path through the program and a Python int that fits on another.

    `array` marks an array without axes: it is computed with as a NumPy scalar, but it is an `ndarray` and can be
    written into.  The object stands for the memory: two names that hold the same `Number` name one array.
    """

    value: Value
    weak: bool = True
    array: bool = False

    @property
    def element(self) -> Scalar:
        """The scalar type."""
        assert isinstance(self.value.type, Scalar)
        return self.value.type

    def __bool__(self) -> bool:
        raise AssertionError("a dynamic number has no static truth")


class Unbound:
    """The value of a local name before it is bound."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()


@dataclass(frozen=True, eq=False)
class Maybe:
    """A name that is bound on some paths only: `value` is right where `bound` is true."""

    value: Any
    bound: Number


@dataclass(frozen=True, eq=False)
class Poison:
    """A value that differs between paths in a way that cannot be joined: using it is the error described here."""

    code: str
    message: str
    help: str | None = None


@dataclass(frozen=True, eq=False)
class Choice:
    """A value whose static part is chosen at run time: the candidate whose code `tag` is.

    Numbers in a candidate are right where it is the one.  `reason` is the diagnostic where one value is needed, at
    `span`.
    """

    tag: Value
    candidates: Mapping[int, Any]
    reason: Poison
    span: Span | None


@dataclass(frozen=True, eq=False)
class Closure:
    """A function made inside a lowered function: `def` or `lambda`, with the frame it reads its outer names from."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    frame: Frame
    defaults: tuple[Any, ...] = ()
    keyword_defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Deferred:
    """A closure as something that `functools.partial` takes."""

    closure: Closure

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a closure is called through the context")


@dataclass(frozen=True, eq=False)
class Method:
    """A method read from a value of the domain: calling it puts `owner` first."""

    owner: Any
    function: Any
    name: str


@dataclass(eq=False)
class Loop:
    """Something that is iterated by an IR loop: `range`, an array, `zip` of those ...

    The loop runs over `range(start, stop, step)`, whose bounds are ints or dynamic numbers; `item(index)` gives the
    item for an index, which is an int when the loop is unrolled and a dynamic number otherwise.  `unroll` asks for
    ints: the items are those of a static container.  An iterator (`what` says which) can be run through once: `used`
    says how many items have been taken, which is part of the state of the program as the contents of a list are.
    `memory`: how many bytes the residuals of the loop may take; None: nothing was said.
    """

    start: Any
    stop: Any
    step: int
    item: Callable[[Any], Any]
    what: str = "range"
    unroll: bool = False
    used: Any = 0
    memory: int | None = None

    @property
    def trip(self) -> int | None:
        """The number of iterations when it is known now."""
        if isinstance(self.start, int) and isinstance(self.stop, int):
            return len(range(self.start, self.stop, self.step))
        return None


@dataclass(eq=False)
class Generator:
    """A generator expression; `source` is what its first clause runs over, `used` how many items were taken."""

    node: Any
    frame: Frame
    source: Any
    used: Any = 0


@dataclass(eq=False)
class Yielding:
    """What a call of a function with `yield` gives: its body runs when it is iterated; `used` when that was done."""

    frame: Frame
    used: Any = 0


@dataclass(frozen=True, eq=False)
class Text:
    """A string that has a run-time number in it: good for a message, unknown when compiling; `form` has gaps."""

    form: str


@dataclass(eq=False)
class Sequence:
    """A list whose length is known at run time only: what a comprehension over an array gives."""

    array: Any


PYTHON_TYPES: dict[tuple[Scalar, bool], type] = {
    (BOOL, True): bool,
    (I64, True): int,
    (F64, True): float,
    (F32, True): float,
    (C128, True): complex,
    (C64, True): complex,
    (BOOL, False): np.bool_,
    (I64, False): np.int64,
    (F64, False): np.float64,
    (F32, False): np.float32,
    (C128, False): np.complex128,
    (C64, False): np.complex64,
    **{(element, weak): np.dtype(element.full_name).type for element in NARROW for weak in (False, True)},
}

NUMERIC_TYPES = (bool, int, float, complex, np.bool_, np.integer, np.floating, np.complexfloating)


def python_type(value: Any) -> type:
    """The type that `type(value)` has when the program runs."""
    if isinstance(value, Number) and not value.array:
        return PYTHON_TYPES[value.element, value.weak]
    if isinstance(value, Dynamic):
        return np.ndarray
    if isinstance(value, Sequence):
        return list
    if isinstance(value, Text):
        return str
    if isinstance(value, Generator | Yielding):
        return types.GeneratorType
    if isinstance(value, Loop):
        return range if value.what == "range" else ITERATORS.get(value.what, zip)
    return type(value)


ALL = -1  # items taken from an iterator that has been used up
ITERATORS: dict[str, type] = {
    "zip": zip,
    "map": map,
    "filter": filter,
    "enumerate": enumerate,
    "reversed": reversed,
    "iterator": type(iter(())),
}


def is_iterator(value: Any) -> bool:
    """True for what can be run through once."""
    return isinstance(value, Generator | Yielding) or (isinstance(value, Loop) and value.what in ITERATORS)


def is_number(value: Any) -> bool:
    """True for a scalar, static or dynamic."""
    return isinstance(value, (Number, *NUMERIC_TYPES))


# The values that stand for something of the program, and are no Python objects of it.
KINDS = (Dynamic, Maybe, Poison, Choice, Closure, Deferred, Method, Loop, Sequence, Generator, Yielding, Unbound, Text)


def is_static(value: Any, depth: int = 0) -> bool:
    """True when no part of the value is dynamic, so that Python itself can compute with it."""
    if isinstance(value, KINDS):
        return False
    if isinstance(value, functools.partial):
        return all(is_static(item, depth + 1) for item in (value.func, *value.args, *value.keywords.values()))
    if hasattr(type(value), "__next__"):  # Python would use it up while compiling
        return False
    if depth > 8:
        return True
    if isinstance(value, tuple | list | set | frozenset):
        return all(is_static(item, depth + 1) for item in value)
    if isinstance(value, dict):
        return all(is_static(item, depth + 1) for item in value.values())
    if isinstance(value, slice):
        return all(is_static(item) for item in (value.start, value.stop, value.step))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return all(is_static(item, depth + 1) for item in instance_fields(value).values())
    return True


def instance_fields(value: Any) -> dict[str, Any]:
    """The attributes held by an instance of a user's class."""
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if hasattr(value, f.name)}


def describe(value: Any) -> str:
    """A few words for a message: what kind of value this is."""
    if isinstance(value, Number):
        name = PYTHON_TYPES[value.element, value.element != F32].__name__
        return f"{'an' if name.startswith('i') else 'a'} {name}"
    if isinstance(value, Dynamic):
        rank = getattr(value, "rank", None)
        return "an array" if rank is None else f"an array of rank {rank}"
    if value is None:
        return "None"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    if isinstance(value, list | Sequence):
        return "a list"
    if isinstance(value, dict):
        return "a dict"
    if isinstance(value, str):
        return f"the string {value!r}"
    if isinstance(value, NUMERIC_TYPES):
        return f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"
    if isinstance(value, Closure):
        return f"the function `{value.name}`"
    if isinstance(value, Maybe):
        return describe(value.value)
    if isinstance(value, Choice):
        return " or ".join(dict.fromkeys(describe(candidate) for candidate in value.candidates.values()))
    if isinstance(value, Text):
        return "a string with run-time values in it"
    if isinstance(value, Generator | Yielding | Loop):
        kind = python_type(value).__name__
        return f"{'an' if kind[0] in 'aeiou' else 'a'} `{kind}`"
    if isinstance(value, functools.partial | Deferred):
        return describe(value.func if isinstance(value, functools.partial) else value.closure)
    if callable(value):
        return f"`{getattr(value, '__name__', value)}`"
    return f"a `{type(value).__name__}`"
