"""What a slot may hold where control flow meets.

A `Template` says what a slot may hold at a join: a number of some type, a copy in a cell, a structure of those, one
fixed value, one of several values that are unlike, or nothing that can be expressed (`Never`).  `flatten` turns a
value into the IR scalars that a region yields, `rebuild` turns the results back into a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adgen import ops
from adgen.frontend import scalars
from adgen.frontend.same import same
from adgen.frontend.state import Items
from adgen.frontend.values import UNBOUND, Choice, Maybe, Number, Poison, Unbound, is_number
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context


class Flattener:
    """Collects what a region yields for a set of slots: IR scalars, and copies of arrays into cells.

    `items` gives what a structure holds where the region ends.
    """

    def __init__(self, items: Items) -> None:
        self.items = items
        self.values: list[Value] = []
        self.copies: list[tuple[Cell, Any]] = []


class Template:
    """What a slot may hold where control flow meets."""

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        """Add the scalars (and array copies) that carry `value`."""
        raise NotImplementedError

    def dummy(self, ctx: Context, out: Flattener) -> None:
        """Add placeholders for a path on which there is no value."""
        raise NotImplementedError

    def types(self) -> list[tuple[Scalar, str]]:
        """The types and name hints of the scalars that `flatten` adds."""
        raise NotImplementedError

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        """The value that the scalars carry."""
        raise NotImplementedError

    def cells(self) -> Iterator[Cell]:
        """The cells inside."""
        return iter(())


@dataclass(eq=False)
class Fixed(Template):
    """The same value on all paths."""

    value: Any

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        pass

    def dummy(self, ctx: Context, out: Flattener) -> None:
        pass

    def types(self) -> list[tuple[Scalar, str]]:
        return []

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        return self.value


@dataclass(eq=False)
class Never(Fixed):
    """Values that cannot be joined: the result is a `Poison` that fails when it is used."""


@dataclass(eq=False)
class Scalars(Template):
    """A number."""

    element: Scalar
    weak: bool
    name: str = ""
    guess: bool = False

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        out.values.append(scalars.to(ctx, value, self.element))

    def dummy(self, ctx: Context, out: Flattener) -> None:
        out.values.append(ctx.builder.const(0, self.element))

    def types(self) -> list[tuple[Scalar, str]]:
        return [(self.element, self.name)]

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        return Number(next(values), self.weak)


@dataclass(eq=False)
class Cell(Template):
    """An array, kept in a buffer of its own that is made before the join."""

    element: Scalar
    rank: int
    name: str = ""
    array: Any = None
    weak: bool = False

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        out.copies.append((self, value))

    def dummy(self, ctx: Context, out: Flattener) -> None:
        pass

    def types(self) -> list[tuple[Scalar, str]]:
        return []

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        return self.array

    def cells(self) -> Iterator[Cell]:
        yield self


@dataclass(eq=False)
class Struct(Template):
    """A tuple, list, dict or instance with a template for every item.

    `sources` are containers in the place of which a new one comes that something else goes on holding.
    """

    model: Any
    items: dict[Any, Template]
    sources: tuple[Any, ...] = ()

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        content = out.items(value)
        for key, template in self.items.items():
            template.flatten(ctx, content[key], out)

    def dummy(self, ctx: Context, out: Flattener) -> None:
        for template in self.items.values():
            template.dummy(ctx, out)

    def types(self) -> list[tuple[Scalar, str]]:
        return [pair for template in self.items.values() for pair in template.types()]

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        content = {key: template.rebuild(ctx, values) for key, template in self.items.items()}
        made = ctx.own(make_like(self.model, content))
        if self.sources and not isinstance(made, tuple):
            ctx.merged.append((made, self.sources))
        return made

    def cells(self) -> Iterator[Cell]:
        for template in self.items.values():
            yield from template.cells()


@dataclass(eq=False)
class Optional(Template):
    """A value on some paths, nothing on others; `checked` values carry a flag that tells which."""

    inner: Template
    checked: bool = True
    name: str = ""

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        bound: Value | bool = True
        if isinstance(value, Maybe):
            value, bound = value.value, value.bound.value
        if isinstance(value, Unbound):
            self.inner.dummy(ctx, out)
            bound = False
        else:
            self.inner.flatten(ctx, value, out)
        if self.checked:
            out.values.append(bound if isinstance(bound, Value) else ctx.builder.const(bound, BOOL))

    def dummy(self, ctx: Context, out: Flattener) -> None:
        self.flatten(ctx, UNBOUND, out)

    def types(self) -> list[tuple[Scalar, str]]:
        flag = f"{self.name}_bound" if self.name else ""
        return self.inner.types() + ([(BOOL, flag)] if self.checked else [])

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        value = self.inner.rebuild(ctx, values)
        if not self.checked:
            return value
        flag = next(values)
        return value if ctx.builder.known(flag) is True else Maybe(value, Number(flag))

    def cells(self) -> Iterator[Cell]:
        return self.inner.cells()


@dataclass(eq=False)
class Choices(Template):
    """One of several values that are unlike: a tag says which, and each has a place of its own."""

    options: list[Template]
    reason: Poison
    name: str = ""

    def flatten(self, ctx: Context, value: Any, out: Flattener) -> None:
        builder = ctx.builder
        tag, candidates = builder.index(0), {0: value}
        if isinstance(value, Choice):
            tag, candidates = value.tag, dict(value.candidates)
        places = {code: self.place(item, out.items) for code, item in candidates.items()}
        if any(code != place for code, place in places.items()):
            tag = _selected(ctx, tag, {code: builder.index(place) for code, place in places.items()})
        out.values.append(tag)
        for k, option in enumerate(self.options):
            held = {code: candidates[code] for code, place in places.items() if place == k}
            if len(held) < 2:
                option.flatten(ctx, held.popitem()[1], out) if held else option.dummy(ctx, out)
                continue
            sides = {code: Flattener(out.items) for code in held}
            for code, side in sides.items():
                option.flatten(ctx, held[code], side)
            if any(side.copies for side in sides.values()):
                ctx.fail(self.reason.code, self.reason.message, self.reason.help)
            assert isinstance(value, Choice)
            columns = zip(*(side.values for side in sides.values()))
            out.values.extend(_selected(ctx, value.tag, dict(zip(sides, column))) for column in columns)

    def place(self, value: Any, items: Items) -> int:
        """The number of the option that holds a value."""
        return next(k for k, option in enumerate(self.options) if holds(option, value, items))

    def dummy(self, ctx: Context, out: Flattener) -> None:
        out.values.append(ctx.builder.index(0))
        for option in self.options:
            option.dummy(ctx, out)

    def types(self) -> list[tuple[Scalar, str]]:
        inner = [pair for option in self.options for pair in option.types()]
        return [(I64, f"{self.name}_kind" if self.name and inner else self.name), *inner]

    def rebuild(self, ctx: Context, values: Iterator[Value]) -> Any:
        tag = next(values)
        candidates = {k: option.rebuild(ctx, values) for k, option in enumerate(self.options)}
        known = ctx.builder.known(tag)
        return Choice(tag, candidates, self.reason, ctx.builder.span) if known is None else candidates[known]

    def cells(self) -> Iterator[Cell]:
        for option in self.options:
            yield from option.cells()


def _selected(ctx: Context, tag: Value, values: dict[int, Value]) -> Value:
    """The value at the code that the tag has."""
    pairs = list(values.items())
    chosen = pairs[-1][1]
    for code, value in reversed(pairs[:-1]):
        here = ctx.builder.op(ops.EQ, tag, ctx.builder.index(code))
        chosen = ctx.builder.op(ops.SELECT, here, value, chosen)
    return chosen


def holds(template: Template, value: Any, items: Items) -> bool:
    """True when the template has a place for the value, which is one of those that it was made for."""
    if isinstance(template, Fixed) and same(template.value, value):
        return True
    if isinstance(value, Choice):
        return all(holds(template, candidate, items) for candidate in value.candidates.values())
    if isinstance(template, Choices):
        return any(holds(option, value, items) for option in template.options)
    if isinstance(template, Optional):
        value = value.value if isinstance(value, Maybe) else value
        return isinstance(value, Unbound) or holds(template.inner, value, items)
    if isinstance(template, Scalars):
        return is_number(value)
    if isinstance(template, Cell):
        return getattr(value, "ndim", getattr(value, "rank", None)) == template.rank
    if not isinstance(template, Struct) or type(value) is not type(template.model):
        return False
    content = items(value)
    return list(content) == list(template.items) and all(
        holds(inner, content[key], items) for key, inner in template.items.items()
    )


def make_like(model: Any, content: dict[Any, Any]) -> Any:
    """A structure of the model's type with these items."""
    if isinstance(model, tuple):
        make = getattr(type(model), "_make", type(model))
        return make(content.values())
    if isinstance(model, list):
        return list(content.values())
    if isinstance(model, dict):
        return dict(content)
    instance = object.__new__(type(model))
    for name, value in content.items():
        object.__setattr__(instance, name, value)
    return instance
