"""Joining values where control flow meets: the template that holds what either path gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adgen.frontend import memory, scalars
from adgen.frontend.kinds import NUMPY
from adgen.frontend.same import same
from adgen.frontend.state import Items, is_instance, items_of, occurrences, references
from adgen.frontend.templates import Cell, Choices, Fixed, Never, Optional, Scalars, Struct, Template
from adgen.frontend.values import (
    KINDS,
    UNBOUND,
    Choice,
    Maybe,
    Number,
    Poison,
    Unbound,
    describe,
    is_number,
    is_static,
)
from adgen.ir.types import BOOL, F64, I64, Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context
    from adgen.ir.builder import Block


def meet(
    ctx: Context,
    a: Any,
    b: Any,
    name: str = "",
    checked: bool = True,
    in_a: Items = items_of,
    in_b: Items = items_of,
) -> Template:
    """The template that holds both values.  Either may be UNBOUND or a `Maybe`.

    `in_a` and `in_b` give what structures hold on the path of `a` and on that of `b`.
    """
    template = _meet(ctx, a, b, name, checked, in_a, in_b)
    return _unlike(ctx, template, [], [(a, in_a), (b, in_b)], name)


def _meet(ctx: Context, a: Any, b: Any, name: str, checked: bool, in_a: Items, in_b: Items) -> Template:
    """The template of what is alike on both paths."""
    if any(isinstance(x, Unbound | Maybe) for x in (a, b)):
        left, right = (x.value if isinstance(x, Maybe) else x for x in (a, b))
        if isinstance(left, Unbound) and isinstance(right, Unbound):
            return Fixed(UNBOUND)
        if isinstance(left, Unbound) or isinstance(right, Unbound):
            value, items = (right, in_b) if isinstance(left, Unbound) else (left, in_a)
            return Optional(held(ctx, value, name, items), checked, name)
        return Optional(meet(ctx, left, right, name, True, in_a, in_b), checked, name)
    if isinstance(a, Poison) or isinstance(b, Poison):
        return Never(a if isinstance(a, Poison) else b)
    if same(a, b):
        return Fixed(a)
    if is_number(a) and is_number(b):
        return number_template(ctx, [a, b], name)
    a_array, b_array = memory.is_array(a), memory.is_array(b)
    if a_array and b_array:
        first, second = memory.wrap(ctx, a), memory.wrap(ctx, b)
        if first.rank == second.rank and first.element != second.element and _narrow((first.element, second.element)):
            return _different(name, f"an array of {first.element}", f"of {second.element}")
        if first.rank == second.rank:
            element = scalars.promote([(first.element, False), (second.element, False)])
            return Cell(element, first.rank, name)
        return _different(name, f"an array of rank {first.rank}", f"of rank {second.rank}")
    return _meet_structures(ctx, a, b, name, in_a, in_b)


def _meet_structures(ctx: Context, a: Any, b: Any, name: str, in_a: Items, in_b: Items) -> Template:
    if type(a) is type(b) and is_structure(ctx, a):
        left, right = in_a(a), in_b(b)
        if list(left) == list(right):
            items = {key: meet(ctx, left[key], right[key], f"{name}_{key}", True, in_a, in_b) for key in left}
            return Struct(a, items)
    return _different(name, describe(a), describe(b))


def _unlike(
    ctx: Context, template: Template, options: list[Template], values: list[tuple[Any, Items]], name: str
) -> Template:
    """The template itself, unless values are unlike: then one that has a place for each, besides the `options`."""
    if not isinstance(template, Never) or any(isinstance(value, Poison | Unbound | Maybe) for value, _ in values):
        return template
    options = list(options)
    for value, items in values:
        for candidate in value.candidates.values() if isinstance(value, Choice) else (value,):
            if not _placed(ctx, options, candidate, name, items):
                return template
    numeric = [option for option in options if _is_numeric(option)]  # what the types of arguments may decide
    if len(numeric) > 1 or len(options) > MOST_OPTIONS:
        return template
    assert isinstance(template.value, Poison)
    return Choices(options, template.value, name)


def _identical(a: list[Template], b: list[Template]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b))


def _is_numeric(option: Template) -> bool:
    return isinstance(option, Scalars | Cell) or (isinstance(option, Fixed) and memory.is_array(option.value))


def _placed(ctx: Context, options: list[Template], value: Any, name: str, items: Items) -> bool:
    """Find or make a place for a value; False when there cannot be one."""
    for k, option in enumerate(options):
        wider = _widen(ctx, option, value, name, items)
        if not isinstance(wider, Choices) and never(wider) is None:
            options[k] = wider
            return True
    option = number_template(ctx, [value], name) if is_number(value) else held(ctx, value, name, items)
    fits = never(option) is None and (not list(option.cells()) or memory.liftable(ctx, value, items))
    if fits:
        options.append(option)
    return fits


def _different(name: str, a: str, b: str) -> Never:
    what = f"`{name}`" if name and not name.startswith(".") else "the return value"
    message = f"{what} is {a} on one path and {b} on another: the types differ"
    return Never(Poison("AD310", message, "make it the same kind of value on all paths"))


def number_template(ctx: Context, numbers: Sequence[Any], name: str) -> Template:
    """The template of a number that is one of these."""
    kinds = [scalars.kind(ctx, x) for x in numbers]
    ctx.exposed.update((id(x), x) for x in numbers if isinstance(x, Number) and x.array)
    return _number(kinds, name)


def _number(kinds: Sequence[scalars.Kind], name: str) -> Template:
    """The template of a number of one of these types.

    Arithmetic wraps at the width of the type, so that a narrow integer must be of one type; a Python int must fit.
    """
    elements = [element for element, weak in kinds if not (weak and element in (I64, BOOL))]
    if not _narrow(elements):
        return Scalars(scalars.promote(kinds), all(weak for _, weak in kinds), name)
    for element in elements[1:]:
        if element != elements[0]:
            return _different(name, f"a number of type {NUMPY[elements[0]]}", f"one of type {NUMPY[element]}")
    return Scalars(elements[0], any(weak for _, weak in kinds), name)


def _narrow(elements: Iterable[Scalar]) -> bool:
    return any(element.is_narrow for element in elements)


def widen(ctx: Context, template: Template, value: Any, name: str = "", items: Items = items_of) -> Template:
    """A template that holds what `template` holds and `value`; `template` itself when it does already.

    `items` gives what structures in `value` hold.
    """
    if isinstance(template, Choices):
        more = _unlike(ctx, Never(template.reason), template.options, [(value, items)], name)
        return template if isinstance(more, Choices) and _identical(more.options, template.options) else more
    wider = _widen(ctx, template, value, name, items)
    if isinstance(template, Never):
        return wider
    if isinstance(template, Fixed):
        return _unlike(ctx, wider, [], [(template.value, items_of), (value, items)], name)
    return _unlike(ctx, wider, [template], [(value, items)], name)


def _widen(ctx: Context, template: Template, value: Any, name: str, items: Items) -> Template:
    """The same for what is alike."""
    if isinstance(template, Optional):
        if isinstance(value, Maybe):
            value = value.value
        if isinstance(value, Unbound):
            return template
        inner = widen(ctx, template.inner, value, name, items)
        return template if inner is template.inner else Optional(inner, template.checked, template.name)
    if isinstance(value, Unbound | Maybe):
        held = UNBOUND if isinstance(value, Unbound) else value.value
        inner = template if isinstance(held, Unbound) else widen(ctx, template, held, name, items)
        return Optional(inner, True, name)
    if isinstance(template, Fixed):
        if isinstance(template, Never) or same(template.value, value):
            return template
        return _meet(ctx, template.value, value, name, True, items_of, items)
    if isinstance(value, Poison):
        wrong = isinstance(template, Scalars) and template.guess and template.element == F64
        return Scalars(I64, True, name, guess=True) if wrong else Never(value)
    if isinstance(template, Scalars):
        return _widen_number(ctx, template, value, name)
    if isinstance(template, Cell):
        if memory.is_array(value):
            array = memory.wrap(ctx, value)
            if array.rank == template.rank and array.element == template.element:
                return template
            if array.rank == template.rank:
                return _different(name, f"an array of {template.element}", f"of {array.element}")
        return _different(name, f"an array of rank {template.rank}", describe(value))
    assert isinstance(template, Struct)
    if type(value) is not type(template.model) or list(items(value)) != list(template.items):
        return _different(name, describe(template.model), describe(value))
    content = items(value)
    wider = {key: widen(ctx, inner, content[key], f"{name}_{key}", items) for key, inner in template.items.items()}
    if all(wider[key] is template.items[key] for key in wider):
        return template
    return Struct(template.model, wider, template.sources)


def _widen_number(ctx: Context, template: Scalars, value: Any, name: str) -> Template:
    if template.guess:
        found = meet_one(ctx, value, name)
        agrees = isinstance(found, Scalars) and (found.element, found.weak) == (template.element, template.weak)
        template.guess = template.guess and not agrees
        return template if agrees else found
    if not is_number(value):
        return _different(name, "a number", describe(value))
    if isinstance(value, Number) and value.array:
        ctx.exposed[id(value)] = value
    kinds = [(template.element, template.weak), scalars.kind(ctx, value)]
    found = _number(kinds, name)
    agrees = isinstance(found, Scalars) and (found.element, found.weak) == (template.element, template.weak)
    return template if agrees else found


def meet_one(ctx: Context, value: Any, name: str, items: Items = items_of) -> Template:
    """The template of a value that changes from iteration to iteration, known from one of them."""
    if is_number(value):
        return number_template(ctx, [value], name)
    if memory.is_array(value):
        array = memory.wrap(ctx, value)
        return Cell(array.element, array.rank, name)
    if isinstance(value, Choice):
        return _unlike(ctx, Never(value.reason), [], [(value, items)], name)
    if is_structure(ctx, value):
        content = items(value)
        return Struct(value, {key: meet_one(ctx, item, f"{name}_{key}", items) for key, item in content.items()})
    return _fixed(ctx, value, name)


def _fixed(ctx: Context, value: Any, name: str) -> Template:
    """The same value on all paths, if it holds nothing that belongs to one of them."""
    if memory.settled(ctx, value):
        return Fixed(value)
    what = f"`{name}`" if name and not name.startswith(".") else "the return value"
    message = f"{what} is {describe(value)} that holds values of one path of several"
    return Never(Poison("AD310", message, "make it before the paths part"))


MOST_OPTIONS = 24


def containers(value: Any) -> bool:
    """True for a value that is or holds a mutable container."""
    if isinstance(value, tuple):
        return any(containers(item) for item in value)
    return isinstance(value, list | dict | set) or is_instance(value)


def held(ctx: Context, value: Any, name: str, items: Items) -> Template:
    """The template of a value that is there on one path only."""
    if (is_static(value) and not containers(value)) or memory.outlives(ctx, value):
        return Fixed(value)
    if isinstance(value, list | dict | set) and (id(value) not in ctx.owned or references(ctx, value) > 0):
        return Fixed(value)  # made before: the same container outside
    if id(value) in ctx.owned and references(ctx, value) > 0:
        return Fixed(value)
    if is_structure(ctx, value):
        return Struct(value, {key: held(ctx, item, f"{name}_{key}", items) for key, item in items(value).items()})
    return meet_one(ctx, value, name, items)


def is_structure(ctx: Context, value: Any) -> bool:
    """True for containers and instances that the program has made."""
    if isinstance(value, tuple | list | dict):
        return True
    return id(value) in ctx.owned and is_instance(value) and not isinstance(value, KINDS)


def structs_in(template: Template) -> Iterator[Struct]:
    """The structures of a template."""
    if isinstance(template, Optional | Choices):
        for inner in [template.inner] if isinstance(template, Optional) else template.options:
            yield from structs_in(inner)
    elif isinstance(template, Struct):
        yield template
        for item in template.items.values():
            yield from structs_in(item)


def choices_in(template: Template) -> Iterator[Choices]:
    """The choices of a template."""
    if isinstance(template, Choices):
        yield template
    elif isinstance(template, Optional):
        yield from choices_in(template.inner)
    elif isinstance(template, Struct):
        for item in template.items.values():
            yield from choices_in(item)


def containers_in(template: Template, value: Any, items: Items) -> Iterator[Any]:
    """The mutable containers that a template would replace by new ones."""
    if isinstance(value, Maybe):
        value = value.value
    if isinstance(template, Optional):
        yield from containers_in(template.inner, value, items)
    elif isinstance(template, Choices) and not isinstance(value, Unbound):
        for candidate in value.candidates.values() if isinstance(value, Choice) else (value,):
            yield from containers_in(template.options[template.place(candidate, items)], candidate, items)
    elif isinstance(template, Struct) and not isinstance(value, Unbound):
        if not isinstance(value, tuple):
            yield value
        for key, item in items(value).items():
            yield from containers_in(template.items[key], item, items)


def separate(ctx: Context, joins: Iterable[tuple[Template, Sequence[tuple[Any, Items]], Any]]) -> bool:
    """Note in the templates which containers they replace by new ones though something else holds them too.

    A join is a template, the values that meet, each with what gives its items, and what the slot held before.  True:
    something new was noted.
    """
    pairs = list(joins)
    holders: dict[int, set[int]] = {}
    for k, (template, values, _) in enumerate(pairs):
        for value, items in values:
            for container in containers_in(template, value, items):
                holders.setdefault(id(container), set()).add(k)
    changed = False
    for template, values, before in pairs:
        sources: dict[int, Any] = {}
        for value, items in values:
            for container in containers_in(template, value, items):
                others = references(ctx, container) - occurrences(ctx, container, before)
                if id(container) not in ctx.owned or others > 0 or len(holders[id(container)]) > 1:
                    sources[id(container)] = container
                sources.update((id(x), x) for made, origin in ctx.merged if made is container for x in origin)
        for struct in structs_in(template):
            known = {id(x) for x in struct.sources}
            new = [x for key, x in sources.items() if key not in known]
            struct.sources = (*struct.sources, *new)
            changed |= bool(new)
    return changed


def entangled(ctx: Context, container: Any) -> bool:
    """True when Python might have one container where there are two here, of which this is one."""
    own = [x for made, sources in ctx.merged if made is container for x in sources]
    if any(id(source) not in ctx.owned or references(ctx, source) > 0 for source in own):
        return True
    return any(
        references(ctx, made) > 0 and any(x is container or any(x is y for y in own) for x in sources)
        for made, sources in ctx.merged
        if made is not container
    )


def narrowed(ctx: Context, value: Any, *closed: Block) -> Any:
    """A choice without the candidates that cannot be here, or at the end of blocks that have been closed."""
    if not isinstance(value, Choice):
        return value
    codes = ctx.ranges.possible(value.tag, value.candidates, *closed)
    left = {code: item for code, item in value.candidates.items() if code in codes}
    if len(left) < 2:
        return next(iter(left.values()), value)
    return replace(value, candidates=left) if len(left) < len(value.candidates) else value


def never(template: Template) -> Poison | None:
    """The reason why some part of the template cannot be expressed."""
    if isinstance(template, Never):
        poison = template.value
        assert isinstance(poison, Poison)
        return poison
    if isinstance(template, Optional):
        return never(template.inner)
    if isinstance(template, Choices):
        return next((reason for option in template.options if (reason := never(option))), None)
    if isinstance(template, Struct):
        return next((reason for item in template.items.values() if (reason := never(item))), None)
    return None
