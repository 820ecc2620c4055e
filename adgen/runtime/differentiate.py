"""From a lowered function to the lowered function of a product: gradient, tangent, cotangent ...

Comes in: a `Lowered` primal, the product's name, which parameters.  Goes out: another `Lowered`, so products nest.
Guaranteed: a function whose result has no such derivative is an `AdgenError` that says what to use instead; derived
functions never store into their parameters.

| product | parameters besides the primal's | results |
|---|---|---|
| `value` | | the function's own, arguments written in place |
| `traced` | | the same, its products with checks that what they compute is finite |
| `pure` | | the function's own, arguments left alone |
| `grad` | | a gradient for each parameter |
| `value_and_grad` | | the value, the gradients |
| `jvp` | a tangent for each parameter | the value, its tangent |
| `vjp` | a cotangent for each floating-point result | the gradients of the weighted sum |
| `hvp` | a tangent for each parameter | the tangents of the gradients |
| `kinks` | a tolerance | how near the function comes to its kinks, see `passes.kinks` |
| `jacobian`, `jacfwd`, `jacrev` | | for each part of the value a block for each parameter |
| `hessian` | | for each gradient the same |
| `jvp_entries4`, `hvp_entries4`, ... | which directions, which elements | entries, see `passes.compressed` |
| `jvp_pattern`, `hvp_pattern` | room for edges | what the tangents of the results depend on, see `passes.pattern` |
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from adgen.diagnostics import AdgenError, Span
from adgen.frontend.specs import (
    ArraySpec,
    Leaf,
    Lowered,
    OutputConstant,
    OutputLeaf,
    OutputStruct,
    OutputTree,
    ScalarSpec,
    Spec,
    StructSpec,
    array_output,
    has_complex_output,
    output_leaves,
)
from adgen.ir import core
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.types import I64, Buffer, Scalar, Type
from adgen.passes.adjoint import adjoint
from adgen.passes.checkpoint import checkpointed
from adgen.passes.compressed import compressed
from adgen.passes.custom import inline_custom
from adgen.passes.forward import forward
from adgen.passes.kinks import kinks
from adgen.passes.localise import localise, written_parameters
from adgen.passes.matrices import cheaper, columns, rows
from adgen.passes.pattern import pattern
from adgen.passes.pipeline import simplify
from adgen.passes.residuals import Fate
from adgen.runtime.faults import NotScalar
from adgen.runtime.programs import COTANGENT, EDGES, LISTS, MATRICES, TANGENT, TOLERANCE
from adgen.runtime.tracing import traced, traced_product
from adgen.runtime.trees import container, mapped, named_tuple, spec_tree
from adgen.runtime.wrt import Wrt, check_taps

PRODUCTS = ("value", "pure", "grad", "value_and_grad", "jvp", "vjp", "hvp")
REVERSED = ("grad", "value_and_grad", "vjp", "hvp")
ONCE = ("grad", "value_and_grad", "vjp")  # those that are not differentiated again
WIDTHS = (4, 8)  # directions of a sparse matrix side by side


def differentiate(primal: Lowered, product: str, wrt: Wrt | None, states: bool = False) -> Lowered:
    """The product of a function; `wrt` is None for `value` and `pure`.

    `states`: of long loops that replace a state by a new one not every state is kept, see `passes.checkpoint`.

    Raises AdgenError when the function's result has no such derivative.
    """
    if product == "kinks":
        assert wrt is not None
        return _renamed(_kinks(primal, wrt), "_kinks")
    primal = traced(replace(primal, function=simplify(primal.function)))
    function = primal.function
    if product in ("value", "traced"):
        return _renamed(primal, "_value" if product == "value" else "")
    pure = purified(primal)
    if product == "pure":
        return _renamed(_trimmed(pure), "_pure")
    assert wrt is not None
    if has_complex_output(pure.output):
        raise NotScalar(
            "AD143",
            f"`{function.name}` gives complex numbers, and derivatives are taken of real results",
            function.span,
            "return a real number such as `abs(z)`, or real and imaginary parts",
        )
    taps = taps_of(pure.function)
    check_taps(wrt, tuple(pure.specs), tuple(taps), function.name)
    if product in ("jvp", "hvp", *MATRICES) and (tapped := [name for name in wrt.names if name in taps]):
        what = "Jacobian" if product in MATRICES else "tangent"
        raise AdgenError(
            "AD144",
            f"wrt names `{tapped[0]}`, which is a tap: it has a gradient, and no {what}",
            function.span,
            "use grad, value_and_grad or vjp",
        )
    if product in REVERSED:
        pure = replace(pure, function=_chunked(pure.function, wrt.memory, states and product in ONCE))
    return _renamed(traced_product(_BUILDERS[product](pure, wrt), product, pure), f"_{product}")


def plans(primal: Lowered, wrt: Wrt) -> list[str]:
    """What is done about the memory of each loop that is not simply recorded, in words."""
    chunked: list[tuple[Span | None, int]] = []
    if wrt.memory is None and not any("memory" in op.attributes for op in walk(primal.function.body)):
        return []
    checkpointed(purified(replace(primal, function=simplify(primal.function))).function, wrt.memory, chunked)
    found = []
    for span, limit in dict.fromkeys(chunked):
        place = f" in line {span.line}" if span else ""
        found.append(f"loop{place}: {f'where its steps leave more than {limit} bytes, ' if limit else ''}{PLAN}")
    return found


PLAN = (
    "the state is kept at the start of each of `chunks` chunks of `chunk` steps, and a chunk is run again and recorded "
    "when the reverse sweep gets to it: no step is taken more than twice"
)


def _chunked(function: Function, memory: int | None, states: bool) -> Function:
    made = checkpointed(function, memory, states=states)
    return function if made is function else simplify(made)


def purified(primal: Lowered) -> Lowered:
    """The function on copies of what it writes; when it returns nothing, what it wrote is its result."""
    function = localise(primal.function)
    first = len(primal.function.results)
    written = written_parameters(primal.function)
    if not written or not _is_none(primal.output):
        return replace(primal, function=function)
    trees: list[OutputTree] = []
    for position, parameter in enumerate(written):
        spec = primal.leaves[parameter].spec
        assert isinstance(spec, ArraySpec)
        trees.append(array_output(first + position, spec.element, spec.rank))
    names = tuple(primal.leaves[parameter].name for parameter in written)
    output = trees[0] if len(trees) == 1 else container(named_tuple(names), trees)
    return replace(primal, function=function, output=output)


def _is_none(tree: OutputTree) -> bool:
    return isinstance(tree, OutputConstant) and tree.value is None


def fates(primal: Lowered, wrt: Wrt) -> tuple[Function, list[Fate]]:
    """The function that is reversed, and how the values that its reverse sweep reads get there."""
    pure = purified(replace(primal, function=simplify(primal.function)))
    noted: list[Fate] = []
    scalar = isinstance(pure.output, OutputLeaf) and pure.output.rank is None and pure.output.element.is_float
    adjoint(pure.function, _targets(pure, wrt), "one" if scalar else "parameters", noted)
    return pure.function, noted


# -- the products ------------------------------------------------------------------------------------------------


def _grad(primal: Lowered, wrt: Wrt) -> Lowered:
    function, first = _one_seeded(primal, wrt)
    output = gradient_tree(primal, wrt, 0)
    return replace(primal, function=keep(function, range(first, len(function.results))), output=output)


def _value_and_grad(primal: Lowered, wrt: Wrt) -> Lowered:
    function, first = _one_seeded(primal, wrt)
    output = container(tuple, [primal.output, gradient_tree(primal, wrt, first)])
    return _trimmed(replace(primal, function=function, output=output))


def _jvp(primal: Lowered, wrt: Wrt) -> Lowered:
    function = forward(primal.function, differentiated(primal.leaves, wrt))
    first = len(primal.function.results)
    dots = {position: first + k for k, position in enumerate(_float_results(primal.function))}
    tangent = mapped(
        _numbers_to_zero(primal.output),
        lambda leaf: replace(leaf, index=dots[leaf.index]) if leaf.index in dots else OutputConstant(0.0),
    )
    output = container(tuple, [primal.output, tangent])
    return _trimmed(replace(_with_tangents(primal, wrt), function=function, output=output))


def _vjp(primal: Lowered, wrt: Wrt) -> Lowered:
    function = adjoint(primal.function, _targets(primal, wrt), "parameters")
    first = len(primal.function.results)
    leaves = list(primal.leaves)
    for position in _float_results(primal.function):
        leaves.append(Leaf((COTANGENT, position), spec_of(primal.function.results[position].type)))
    return replace(
        primal,
        function=keep(function, range(first, len(function.results))),
        leaves=tuple(leaves),
        output=gradient_tree(primal, wrt, 0),
    )


def _hvp(primal: Lowered, wrt: Wrt) -> Lowered:
    gradient = traced_product(_grad(primal, wrt), "grad", primal)
    gradient = replace(gradient, function=simplify(gradient.function))
    count = len(gradient.function.results)
    function = forward(gradient.function, differentiated(primal.leaves, wrt))
    return replace(_with_tangents(gradient, wrt), function=keep(function, range(count, 2 * count)))


def _jacobian(primal: Lowered, wrt: Wrt, make: Callable[[Function, Sequence[int]], Function]) -> Lowered:
    """The derivatives of the value, an array or number for each part of it and each parameter."""
    found = dict.fromkeys(leaf.index for leaf in output_leaves(primal.output) if leaf.element.is_float)
    rows = {index: row for row, index in enumerate(found)}
    places = differentiated(primal.leaves, wrt)
    function = make(keep(primal.function, list(rows)), places)
    output = mapped(
        _numbers_to_zero(primal.output),
        lambda leaf: _row(primal, wrt, leaf, rows[leaf.index]) if leaf.index in rows else OutputConstant(0.0),
    )
    return replace(primal, function=function, output=output)


def _row(primal: Lowered, wrt: Wrt, leaf: OutputLeaf, row: int) -> OutputTree:
    """The structure of the parameters with a block at each leaf."""
    first = row * len(differentiated(primal.leaves, wrt))

    def block(own: OutputLeaf) -> OutputTree:
        rank = None if own.rank is None and leaf.rank is None else (own.rank or 0) + (leaf.rank or 0)
        return OutputLeaf(own.index, leaf.element, rank)

    return mapped(gradient_tree(primal, wrt, first), block)


def _hessian(primal: Lowered, wrt: Wrt) -> Lowered:
    gradient = traced_product(_grad(primal, wrt), "grad", primal)
    return _jacobian(replace(gradient, function=simplify(gradient.function)), wrt, columns)


def _tangents(primal: Lowered, wrt: Wrt) -> Lowered:
    """The `jvp` without the value."""
    product = _jvp(primal, wrt)
    assert isinstance(product.output, OutputStruct)
    return _trimmed(replace(product, output=product.output.items[1][1]))


def _entries(derive: Callable[[Lowered, Wrt], Lowered], width: int, primal: Lowered, wrt: Wrt) -> Lowered:
    """The entries of a matrix from products with tangents, so many at once; the product itself when it decides anything
    by a tangent."""
    product = derive(primal, wrt)
    function = simplify(inline_custom(product.function))
    made = compressed(function, differentiated(primal.leaves, wrt), width)
    if made is None:
        return product
    lists = made.parameters[len(primal.leaves) :]
    leaves = [Leaf((LISTS, k), spec_of(value.type)) for k, value in enumerate(lists)]
    (kind,) = (value.type for value in made.results)
    assert isinstance(kind, Buffer)
    output = OutputLeaf(0, kind.element, kind.rank)
    return replace(product, function=made, leaves=(*primal.leaves, *leaves), output=output)


def _pattern(primal: Lowered, product: Lowered, wrt: Wrt) -> Lowered:
    """The pattern of a product with tangents, whose results are all tangents; last of all their structure."""
    function = simplify(inline_custom(product.function))
    own, given = function.parameters[: len(primal.leaves)], function.parameters[len(primal.leaves) :]
    of = [own[position] for position in differentiated(primal.leaves, wrt)]
    function = pattern(function, dict(zip(given, of, strict=True)))
    leaves = (*primal.leaves, Leaf((EDGES,), ArraySpec(I64, 1)))
    results = [
        OutputLeaf(k, I64, value.type.rank if isinstance(value.type, Buffer) else None)
        for k, value in enumerate(function.results)
    ]
    output = container(tuple, [*results, OutputConstant(product.output)])
    return replace(primal, function=function, leaves=leaves, output=output)


def _kinks(primal: Lowered, wrt: Wrt) -> Lowered:
    """How near to its kinks the function comes: for each site what `passes.kinks` tells, then the sites."""
    check_taps(wrt, tuple(primal.specs), (), primal.function.name)
    own = [primal.function.parameters[position] for position in differentiated(primal.leaves, wrt)]
    function, sites = kinks(primal.function, own)
    kinds = [value.type for value in function.results]
    results = [OutputLeaf(k, kind.element, kind.rank) for k, kind in enumerate(kinds) if isinstance(kind, Buffer)]
    leaves = (*primal.leaves, Leaf((TOLERANCE,), ScalarSpec()))
    output = container(tuple, [*results, OutputConstant(sites)])
    return replace(primal, function=keep(localise(function), range(len(results))), leaves=leaves, output=output)


def _one_seeded(primal: Lowered, wrt: Wrt) -> tuple[Function, int]:
    """The adjoint of a function of one number, and where its gradients begin."""
    function = scalar_result(primal)
    return adjoint(function, _targets(primal, wrt), "one"), len(function.results)


def scalar_result(primal: Lowered) -> Function:
    """The function, whose first result is its one floating-point number.

    Raises AdgenError when it does not return one number.
    """
    output, name, span = primal.output, primal.function.name, primal.function.span
    needs = "a gradient needs a scalar result"
    if isinstance(output, OutputConstant) and isinstance(output.value, float | int):
        return primal.function  # a constant: nothing reaches it, and every gradient is zero
    if _is_none(output):
        raise NotScalar("AD140", f"{needs}, and `{name}` has no `return` with a value: it gives None", span)
    if not isinstance(output, OutputLeaf):
        kind = output.kind if isinstance(output, OutputStruct) else type(output.value)
        raise NotScalar("AD140", f"{needs}, and `{name}` returns a {kind.__name__}", span)
    if output.rank is not None:
        raise NotScalar("AD140", f"{needs}, and `{name}` returns an array of rank {output.rank}", span)
    if not output.element.is_float:
        raise AdgenError(
            "AD141", f"`{name}` returns an integer or a bool, which has no derivative", span, "return a float"
        )
    return primal.function


# -- parameters and results --------------------------------------------------------------------------------------


def differentiated(leaves: Sequence[Leaf], wrt: Wrt) -> list[int]:
    """The positions of the IR parameters that derivatives are taken for, in the order of `wrt`."""
    return [
        position
        for name in wrt.names
        for position, leaf in enumerate(leaves)
        if leaf.path[0] == name and leaf.spec.element.is_float
    ]


def taps_of(function: Function) -> dict[str, Value]:
    """What is tapped in a function, by name."""
    return {op.attributes["name"]: op.result for op in function.body.operations if op.row is core.TAP}


def _targets(primal: Lowered, wrt: Wrt) -> list[int | Value]:
    """What `wrt` names, as the reverse sweep takes it: parameters, then taps."""
    taps = taps_of(primal.function)
    return [*differentiated(primal.leaves, wrt), *(taps[name] for name in wrt.names if name in taps)]


def _float_results(function: Function) -> list[int]:
    """The positions of the results that carry derivatives."""
    return [k for k, value in enumerate(function.results) if spec_of(value.type).element.is_float]


def spec_of(kind: Type) -> ScalarSpec | ArraySpec:
    """The spec of a number or an array of this type."""
    assert isinstance(kind, Scalar | Buffer)
    return ArraySpec(kind.element, kind.rank) if isinstance(kind, Buffer) else ScalarSpec(kind)


def gradient_tree(primal: Lowered, wrt: Wrt, first: int) -> OutputTree:
    """The tree of the gradients, whose results are numbered from `first`: those of parameters, then those of taps."""
    taps = {name: spec_of(tap.type) for name, tap in taps_of(primal.function).items()}
    parameters = itertools.count(first)
    shifts = itertools.count(first + len(differentiated(primal.leaves, wrt)))
    trees = []
    for name in wrt.names:
        own = iter([taps[name]] if name in taps else [leaf.spec for leaf in primal.leaves if leaf.path[0] == name])
        numbers = shifts if name in taps else parameters

        def leaf(own: Iterator[ScalarSpec | ArraySpec] = own, numbers: Iterator[int] = numbers) -> OutputTree | None:
            spec = next(own)
            if not spec.element.is_float:
                return None
            if isinstance(spec, ArraySpec):
                return OutputLeaf(next(numbers), spec.element, spec.rank)
            return OutputLeaf(next(numbers), spec.element, weak=spec.weak)

        tree = spec_tree(taps[name] if name in taps else primal.specs[name], leaf)
        trees.append(OutputConstant(None) if tree is None else tree)
    return packed(wrt, trees)


def packed(wrt: Wrt, trees: Sequence[OutputTree]) -> OutputTree:
    """One tree for each parameter, put together as `wrt` asks for."""
    if wrt.packing == "bare":
        return trees[0]
    return container(tuple if wrt.packing == "tuple" else named_tuple(wrt.names), trees)


def _with_tangents(primal: Lowered, wrt: Wrt) -> Lowered:
    """The function's leaves and specs with those of the tangents behind them."""
    leaves = [
        Leaf((TANGENT, *leaf.path), leaf.spec)
        for leaf in (primal.leaves[p] for p in differentiated(primal.leaves, wrt))
    ]
    specs: dict[str, Spec] = {name: primal.specs[name] for name in wrt.names}
    tangent = StructSpec(dict, tuple(specs.items()))
    return replace(primal, leaves=(*primal.leaves, *leaves), specs={**primal.specs, TANGENT: tangent})


def _numbers_to_zero(tree: OutputTree) -> OutputTree:
    """The tree with constant numbers, whose derivative is zero, replaced."""
    if isinstance(tree, OutputConstant):
        return OutputConstant(0.0) if isinstance(tree.value, int | float) else tree
    if isinstance(tree, OutputLeaf):
        return tree
    return replace(tree, items=tuple((key, _numbers_to_zero(item)) for key, item in tree.items))


def keep(function: Function, positions: Sequence[int]) -> Function:
    """The function with some of its results."""
    results = tuple(function.results[position] for position in positions)
    names = tuple(function.result_names[position] for position in positions)
    return replace(function, body=replace(function.body, results=results), result_names=names)


def _trimmed(lowered: Lowered) -> Lowered:
    """Without the results that the output does not mention."""
    used = sorted({leaf.index for leaf in output_leaves(lowered.output)})
    renumbered = {old: new for new, old in enumerate(used)}
    output = mapped(lowered.output, lambda leaf: replace(leaf, index=renumbered[leaf.index]))
    return replace(lowered, function=keep(lowered.function, used), output=output)


def _renamed(lowered: Lowered, suffix: str) -> Lowered:
    """With the product's name, and result names that are all different."""
    function = lowered.function
    names: list[str] = []
    for name in function.result_names:
        count, unique = 1, name
        while unique in names:
            unique, count = f"{name}_{count}", count + 1
        names.append(unique)
    base = function.name
    for known in ("_jvp", "_vjp"):  # the passes name what they make after what it is made of
        base = base.removesuffix(known) if suffix else base
    return replace(lowered, function=replace(function, name=f"{base}{suffix}", result_names=tuple(names)))


_BUILDERS: dict[str, Callable[[Lowered, Wrt], Lowered]] = {
    "grad": _grad,
    "value_and_grad": _value_and_grad,
    "jvp": _jvp,
    "vjp": _vjp,
    "hvp": _hvp,
    "jacobian": lambda primal, wrt: _jacobian(primal, wrt, cheaper),
    "jacfwd": lambda primal, wrt: _jacobian(primal, wrt, columns),
    "jacrev": lambda primal, wrt: _jacobian(primal, wrt, rows),
    "hessian": _hessian,
    "jvp_pattern": lambda primal, wrt: _pattern(primal, _tangents(primal, wrt), wrt),
    "hvp_pattern": lambda primal, wrt: _pattern(primal, _hvp(primal, wrt), wrt),
    **{f"jvp_entries{width}": partial(_entries, _tangents, width) for width in WIDTHS},
    **{f"hvp_entries{width}": partial(_entries, _hvp, width) for width in WIDTHS},
}
