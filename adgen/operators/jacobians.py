"""Whole matrices of derivatives: one compiled product for each column or row.

Comes in: a function and its arguments.  Goes out: for each result and each parameter an array of shape
`result.shape + parameter.shape`.  Guaranteed: both modes give the same layout; a Hessian is the Jacobian of a gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import OutputConstant, OutputLeaf, OutputStruct, OutputTree, output_leaves
from adgen.operators.core import Operator, dressed
from adgen.operators.products import pulled
from adgen.runtime.directions import units
from adgen.runtime.programs import COTANGENT
from adgen.runtime.pullback import leaves_of
from adgen.runtime.trees import assembled, flatten, mapped

Function = Callable[..., Any]
Mode = Literal["forward", "reverse", "best"]
Blocks = list[list[np.ndarray[Any, Any]]]
FEW = 4  # so few inputs that columns are cheaper than finding out how many results there are
ROW_COST = 2  # a reverse sweep costs about this many forward ones


def jacobian_operator(function: Function, mode: Mode, wrt: Any = None) -> Function:
    """`jacfwd`, `jacrev` or `jacobian` of a function."""
    operator = Operator(function, "jvp", wrt)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = operator.arguments(args, kwargs)
            forward = mode == "forward" or (mode == "best" and prefers_columns(operator, arguments))
            return by_columns(operator, arguments, "jvp") if forward else by_rows(operator, arguments)
        except AdgenError as error:
            raise error.with_traceback(None) from None

    return dressed(wrapper, operator)


def hessian_operator(function: Function, wrt: Any = None) -> Function:
    """`hessian` of a function of one number: the columns are Hessian-vector products."""
    operator = Operator(function, "hvp", wrt)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return by_columns(operator, operator.arguments(args, kwargs), "hvp")
        except AdgenError as error:
            raise error.with_traceback(None) from None

    return dressed(wrapper, operator)


def prefers_columns(operator: Operator, arguments: Mapping[str, Any]) -> bool:
    """True when forward mode is the cheaper way to the whole Jacobian."""
    entry = operator.entry_at(arguments, "jvp")
    primals = leaves_of(entry, arguments)
    inputs = sum(np.size(primals[position]) for position in entry.program.differentiated)
    if inputs <= FEW:
        return True
    pure = operator.entry_at(arguments, "pure")
    value = pure.raw(*leaves_of(pure, arguments))
    outputs = sum(np.size(part) for _, part, _ in flatten(pure.program.output, value, "value"))
    return inputs <= ROW_COST * outputs


def by_columns(operator: Operator, arguments: Mapping[str, Any], product: str) -> Any:
    """The Jacobian by one product with a tangent for each input."""
    entry = operator.entry_for(arguments, product)
    program = entry.program
    assert program.directions is not None
    primals = leaves_of(entry, arguments)
    output = program.output
    if product == "jvp":
        assert isinstance(output, OutputStruct)
        output = output.items[1][1]

    def column(tangents: Sequence[Any]) -> list[Any]:
        result = entry.raw(*primals, *tangents)
        return [part for _, part, _ in flatten(output, result[1] if product == "jvp" else result, "result")]

    zeros = [np.zeros_like(primals[p]) if np.ndim(primals[p]) else 0.0 for p in program.differentiated]
    blocks: Blocks = [
        [np.empty(np.shape(part) + np.shape(zero), np.result_type(part)) for zero in zeros] for part in column(zeros)
    ]
    for k, position in enumerate(program.differentiated):
        for index, seed in units(np.shape(primals[position]), program.leaves[position].spec.element):
            for row, part in zip(blocks, column([*zeros[:k], seed, *zeros[k + 1 :]]), strict=True):
                row[k][(...,) + index] = part  # noqa: RUF005
    return _arranged(output, program.directions, blocks)


def by_rows(operator: Operator, arguments: Mapping[str, Any]) -> Any:
    """The Jacobian by one product with a cotangent for each result."""
    pullback = pulled(operator, arguments)
    program = pullback.entry.program
    output = mapped(pullback.primal.program.output, lambda leaf: leaf if leaf.element.is_float else OutputConstant(0.0))
    assert program.directions is not None
    if len(list(output_leaves(program.directions))) != len(program.differentiated):
        raise AdgenError("AD144", "wrt names a tap: it has no Jacobian", help="use grad, value_and_grad or vjp")
    values = [(leaf, np.asarray(part)) for leaf, part, _ in flatten(output, pullback.value, "value")]
    inputs = [np.shape(pullback.primals[position]) for position in program.differentiated]
    blocks: Blocks = [[np.empty(value.shape + shape, value.dtype) for shape in inputs] for _, value in values]
    seeds = pullback.zeros()
    places = [leaf.path[1] for leaf in program.leaves if leaf.path[0] == COTANGENT]
    for (leaf, value), row in zip(values, blocks, strict=True):
        slot = places.index(leaf.index)
        for index, seed in units(value.shape, leaf.element):
            result = pullback.pull([*seeds[:slot], seed, *seeds[slot + 1 :]])
            for block, (_, part, _) in zip(row, flatten(program.directions, result, "gradient"), strict=True):
                block[index] = part
    return _arranged(output, program.directions, blocks)


def _arranged(output: OutputTree, inputs: OutputTree, blocks: Blocks) -> Any:
    """For each result the structure of the parameters, with a block at each leaf."""
    rows = iter(blocks)

    def row(leaf: OutputLeaf) -> Any:
        row = iter(next(rows))
        return assembled(inputs, lambda leaf: _plain(next(row)))

    return assembled(output, row)


def _plain(block: np.ndarray[Any, Any]) -> Any:
    return block if block.ndim else block[()].item() if block.dtype == np.float64 else block[()]
