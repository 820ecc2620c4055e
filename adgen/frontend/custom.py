"""Calls of functions with derivative rules of their own.

Comes in: the arguments of a call.  Goes out: a `custom` operation whose region is the function, and callees that are
its rules, each made once for arguments of the same types.  Guaranteed: neither the function nor its rules read or write
anything of the caller's but the arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from adgen.diagnostics import AdgenError
from adgen.frontend import calls, library, memory, nested, scalars
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.making import Made, make_function
from adgen.frontend.rules import Rules
from adgen.frontend.specs import (
    ArraySpec,
    Leaf,
    OutputConstant,
    OutputLeaf,
    OutputTree,
    Path,
    ScalarSpec,
    Spec,
    StructSpec,
    has_complex,
    has_complex_output,
    output_leaves,
    rebuild,
    spec_leaves,
    value_of,
)
from adgen.frontend.values import Number, describe, is_number
from adgen.ir import core
from adgen.ir.nodes import Function, Operation, Value
from adgen.ir.types import Scalar

if TYPE_CHECKING:
    from adgen.frontend.context import Context

Values = Mapping[Path, Any]
REAL = "take and give real and imaginary parts"
RESULT, SAVED = "its result", "what is saved"  # arguments that a function with a saving rule has besides


@dataclass(eq=False)
class Custom:
    """A function with rules, for arguments of certain types."""

    rules: Rules
    specs: dict[str, Spec]
    callee: Callable[..., Any]
    made: Made | None = None  # None while it is being lowered
    vjp: str = ""
    jvp: str = ""

    @property
    def given(self) -> dict[str, Spec]:
        """The types of the user's arguments."""
        return {name: spec for name, spec in self.specs.items() if name not in (RESULT, SAVED)}

    @property
    def leaves(self) -> list[Leaf]:
        """The arguments that are numbers and arrays."""
        return [Leaf(path, spec) for path, spec in spec_leaves(self.specs)]

    @property
    def outputs(self) -> list[OutputLeaf]:
        """The results in the order of the operation: scalars, then arrays."""
        assert self.made is not None
        return sorted(output_leaves(self.made.output), key=lambda leaf: (leaf.rank is not None, leaf.index))


def call(ctx: Context, callee: Any, rules: Rules, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call as a `custom` operation."""
    name = getattr(callee, "__name__", "function")
    try:
        bound = inspect.signature(callee).bind(*args, **kwargs)
    except TypeError as error:
        ctx.fail("AD403", f"`{name}`: {error}")
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    specs = {key: nested.spec_of(ctx, value) for key, value in arguments.items()}
    if any(has_complex(spec) for spec in specs.values()):
        ctx.fail("AD142", f"`{name}` has a derivative rule and is given complex numbers", REAL)
    if rules.saves:
        forward = _known(ctx, callee, rules, specs, name, _make_forward)
        result, saved = _spliced(ctx, forward, arguments)
        arguments = {**arguments, RESULT: result, SAVED: saved}
        specs = {key: nested.spec_of(ctx, value) for key, value in arguments.items()}
    custom = _known(ctx, callee, rules, specs, name, _make)
    operands = [nested.operand(ctx, nested.at(arguments, leaf.path)) for leaf in custom.leaves]
    results = _emit(ctx, custom, operands)
    assert custom.made is not None
    return ctx.own(nested.tree(ctx, custom.made.output, results))


def _spliced(ctx: Context, forward: Custom, arguments: dict[str, Any]) -> Any:
    """What the forward function of a saving rule gives, made by ordinary operations.

    So what is saved has its ordinary derivative, which those of the rule need.
    """
    assert forward.made is not None
    operands = [nested.operand(ctx, nested.at(arguments, leaf.path)) for leaf in forward.leaves]
    return nested.tree(ctx, forward.made.output, nested.splice(ctx, forward.made.function.body, operands))


def _known(
    ctx: Context, callee: Any, rules: Rules, specs: dict[str, Spec], name: str, make: Callable[..., None]
) -> Custom:
    known: list[Custom] = ctx.customs
    for custom in known:
        if custom.rules is rules and _same(custom.specs, specs):
            if custom.made is None:
                ctx.fail("AD218", f"recursion of `{name}`, which has a derivative rule", "write it as a loop")
            return custom
    custom = Custom(rules, specs, callee)
    ctx.customs.append(custom)
    span = ctx.builder.span
    if library.holds(file_of(rules.function)):
        ctx.builder.span = None  # every call has a place of its own
    try:
        make(ctx, custom, callee, name)
    except AdgenError as error:
        ctx.customs.remove(custom)
        if error.span is not None:
            raise
        raise type(error)(error.code, error.message, span, error.help) from None
    finally:
        ctx.builder.span = span
    return custom


def _make_forward(ctx: Context, custom: Custom, callee: Any, name: str) -> None:
    """Lower the forward function of a saving rule."""
    _make_function(ctx, custom, callee, name)
    assert custom.made is not None
    if not _is_pair(custom.made.output):
        ctx.fail("AD147", f"the forward function of `{name}` must give a pair: the result and what is saved")


def _make_function(ctx: Context, custom: Custom, callee: Any, name: str) -> None:
    """Lower a function apart from what is around it."""
    rules, specs = custom.rules, custom.specs

    def run(inner: Context, found: Values) -> Any:
        if RESULT in specs:
            return value_of(found, (RESULT,), specs[RESULT])
        return calls.call(inner, rules.function, _given(specs, found), {})

    _through(ctx, callee, "function", rules.function)
    custom.made = make_function(ctx, name, custom.leaves, run)
    if custom.made.mutated:
        help = "work on a copy inside it"
        ctx.fail("AD148", f"`{name}` has a derivative rule and writes its argument", help)
    if has_complex_output(custom.made.output):
        ctx.fail("AD143", f"`{name}` has a derivative rule and gives complex numbers", REAL)


def _make(ctx: Context, custom: Custom, callee: Any, name: str) -> None:
    """Lower a function and its rules."""
    rules = custom.rules
    _make_function(ctx, custom, callee, name)
    for kind, rule in (("vjp", rules.vjp), ("jvp", rules.jvp)):
        if rule is not None:
            setattr(custom, kind, ctx.reserve(f"{name}_{kind}"))
    for kind, rule in (("vjp", rules.vjp), ("jvp", rules.jvp)):
        if rule is not None:
            _through(ctx, callee, kind, rule)
            _lower_rule(ctx, custom, kind, rule, name)


def file_of(function: Any) -> str:
    """The file that a function was read from; empty for what is not one."""
    return str(getattr(getattr(function, "__code__", None), "co_filename", ""))


def _through(ctx: Context, callee: Any, kind: str, rule: Any) -> None:
    """What a rule reads, the program depends on."""
    note = getattr(ctx.record, "reached", None)
    if note is not None:
        note(callee, (("attribute", "__adgen_rules__"), ("attribute", kind)), rule)


def _same(first: Mapping[str, Spec], second: Mapping[str, Spec]) -> bool:
    return str(first) == str(second) and [p for p, _ in spec_leaves(first)] == [p for p, _ in spec_leaves(second)]


def _is_pair(tree: OutputTree) -> bool:
    return getattr(tree, "kind", None) is tuple and len(getattr(tree, "items", ())) == 2


def _given(specs: Mapping[str, Spec], found: Values) -> list[Any]:
    """The arguments of a call, in order."""
    return [value_of(found, (name,), spec) for name, spec in specs.items()]


# -- the operation -----------------------------------------------------------------------------------------------------


def _emit(ctx: Context, custom: Custom, operands: Sequence[Value]) -> list[Value]:
    """Emit the operation; gives the values of the function's results."""
    assert custom.made is not None
    function = custom.made.function
    values = dict(zip(function.parameters, operands))
    scalars_ = [value for value in function.results if isinstance(value.type, Scalar)]
    buffers = [value for value in function.results if not isinstance(value.type, Scalar)]
    before = _before(ctx, function, buffers)
    for operation in function.body.operations:
        if operation in before:
            ctx.builder.append(nested.copied(ctx, operation, values))
    with ctx.builder.block() as block:
        for operation in function.body.operations:
            if operation not in before:
                ctx.builder.append(nested.copied(ctx, operation, values))
        block.results = tuple(values[value] for value in scalars_)
    outs = [values[value] for value in buffers]
    attributes: dict[str, Any] = {
        "outputs": len(outs),
        "types": tuple(str(value.type) for value in scalars_),
        "vjp": custom.vjp,
        "jvp": custom.jvp,
    }
    if kept := sum(leaf.path[0] in (RESULT, SAVED) for leaf in custom.leaves):
        attributes["kept"] = kept
    names = [value.name for value in scalars_]
    made = iter(ctx.builder.emit(core.CUSTOM, (*operands, *outs), attributes, (block.region(),), names))
    return [next(made) if isinstance(value.type, Scalar) else values[value] for value in function.results]


def _before(ctx: Context, function: Function, buffers: Sequence[Value]) -> set[Operation]:
    """What makes the buffers of the results, whose extents follow from those of the arguments."""
    makers = {value: operation for operation in function.body.operations for value in operation.results}
    found: set[Operation] = set()
    pending = [makers[value] for value in buffers]
    while pending:
        operation = pending.pop()
        if not operation.row.pure and operation.row is not core.ALLOC:
            ctx.fail("AD320", "the shape of a result of a function with a derivative rule depends on computed values")
        found.add(operation)
        pending.extend(makers[value] for value in operation.operands if value in makers)
    return found


# -- rules -------------------------------------------------------------------------------------------------------------


def _lower_rule(ctx: Context, custom: Custom, kind: str, rule: Callable[..., Any], name: str) -> None:
    """Make the callee of a rule, as `ir.core` describes it."""
    inputs, outputs = custom.leaves, custom.outputs
    known = [*inputs, *(_leaf(("out", k), leaf) for k, leaf in enumerate(outputs))]
    if kind == "vjp":
        moving = [_leaf(("bar", k), leaf) for k, leaf in enumerate(outputs) if leaf.element.is_float]
    else:
        moving = [Leaf(("dot", *leaf.path), leaf.spec) for leaf in inputs if leaf.spec.element.is_float]

    def run(inner: Context, found: Values) -> Any:
        return _apply(inner, custom, kind, rule, name, found)

    made = make_function(ctx, getattr(custom, kind), [*known, *moving], run)
    if made.mutated:
        ctx.fail("AD148", f"the {kind} rule of `{name}` writes its argument", "work on a copy inside it")
    own = library.holds(file_of(rule))  # then it is known to be linear
    notes = {**made.function.notes, "linear": True} if own else made.function.notes
    ctx.callees[getattr(custom, kind)] = replace(made.function, notes=notes)


def _leaf(path: Path, leaf: OutputLeaf) -> Leaf:
    return Leaf(path, ScalarSpec(leaf.element, leaf.weak) if leaf.rank is None else ArraySpec(leaf.element, leaf.rank))


def _apply(ctx: Context, custom: Custom, kind: str, rule: Callable[..., Any], name: str, found: Values) -> Any:
    """Call a rule on the parameters of its callee; gives what the callee gives."""
    assert custom.made is not None
    places = {leaf.index: k for k, leaf in enumerate(custom.outputs)}
    output = custom.made.output
    result = _filled(output, lambda leaf: found[("out", places[leaf.index])])
    cotangent = _filled(output, lambda leaf: found.get(("bar", places[leaf.index])), None)
    given = _given(custom.specs, found)
    tangents = tuple(
        value_of(found, ("dot", key), spec, missing=None) if _moves(spec) else None
        for key, spec in custom.specs.items()
    )
    if kind == "jvp":
        answer = calls.call(ctx, rule, [*given, result, tangents[0] if len(tangents) == 1 else tangents], {})
    elif custom.rules.saves:
        saved = value_of(found, (SAVED,), custom.specs[SAVED])
        answer = calls.call(ctx, rule, [saved, cotangent], {})
    else:
        answer = calls.call(ctx, rule, [*given, result, cotangent], {})
    if kind == "jvp":
        return tuple(
            part(ctx, _below(output, answer, leaf), found[("out", k)], name, kind)
            for k, leaf in enumerate(custom.outputs)
            if leaf.element.is_float
        )
    answers = _per_argument(ctx, custom, answer, name)
    return tuple(
        part(ctx, _within(answers, leaf.path), found[leaf.path], name, kind)
        for leaf in custom.leaves
        if leaf.spec.element.is_float
    )


def _within(value: Any, path: Path) -> Any:
    """The part of a structure at a path; None has no parts, and stands for all of them."""
    for key in path:
        value = None if value is None else nested.at(value, (key,))
    return value


def _moves(spec: Spec) -> bool:
    return any(leaf.element.is_float for _, leaf in spec_leaves({"": spec}))


def _per_argument(ctx: Context, custom: Custom, answer: Any, name: str) -> dict[str, Any]:
    """The cotangents that a vjp rule gave, by parameter; what is saved is no parameter of the rule's."""
    parameters = list(custom.given)
    several = isinstance(answer, tuple | list) and not isinstance(custom.specs[parameters[0]], StructSpec)
    if len(parameters) == 1 and not several:
        answer = (answer,)
    if not isinstance(answer, tuple | list) or len(answer) != len(parameters):
        count = len(answer) if isinstance(answer, tuple | list) else 1
        ctx.fail(
            "AD147",
            f"the vjp rule of `{name}` gives {count} cotangent{'s' * (count != 1)} for {len(parameters)} arguments",
            "give one for every argument, and None for those that have no derivative",
        )
    return {**dict.fromkeys(custom.specs), **dict(zip(parameters, answer))}


def part(ctx: Context, value: Any, like: Any, name: str, kind: str) -> Any:
    """One answer of a rule as a number or array of the type and shape of what it belongs to; None is zero."""
    what = "cotangent" if kind == "vjp" else "tangent"
    if isinstance(like, Number):
        if value is not None and not is_number(value):
            ctx.fail("AD147", f"the {kind} rule of `{name}` gives {describe(value)} as the {what} of a number")
        return Number(scalars.to(ctx, 0.0 if value is None else value, like.element))
    if value is None:
        return memory.allocate(ctx, like.element, like.extents, "")
    if not memory.is_array(value) or memory.wrap(ctx, value).rank != like.rank:
        ctx.fail(
            "AD147",
            f"the {kind} rule of `{name}` gives {describe(value)} as the {what} of an array of rank {like.rank}",
        )
    array = memory.wrap(ctx, value)
    for axis, (mine, other) in enumerate(zip(like.extents, array.extents)):
        message = f"the {kind} rule of `{name}` gives a {what} of extent {{1}} along axis {axis}, not {{0}}"
        memory.agree(ctx, mine, other, message)
    return astype(ctx, array, like.element) if array.element != like.element else array


def _filled(tree: OutputTree, leaf: Callable[[OutputLeaf], Any], constant: Any = ...) -> Any:
    """The structure of a result with other leaves; `constant` stands for parts known when compiling."""
    if isinstance(tree, OutputConstant):
        return tree.value if constant is ... else constant
    if isinstance(tree, OutputLeaf):
        return leaf(tree)
    return rebuild(tree.kind, [(key, _filled(inner, leaf, constant)) for key, inner in tree.items])


def _below(tree: OutputTree, value: Any, leaf: OutputLeaf) -> Any:
    """The part of a value, structured as the result, that belongs to a leaf."""
    for found, part in _pairs(tree, value):
        if found is leaf:
            return part
    return None


def _pairs(tree: OutputTree, value: Any) -> Iterator[tuple[OutputLeaf, Any]]:
    if isinstance(tree, OutputLeaf):
        yield tree, value
    elif not isinstance(tree, OutputConstant) and value is not None:
        for key, inner in tree.items:
            yield from _pairs(inner, nested.at(value, (key,)))
