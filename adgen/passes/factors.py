"""Sums with a common factor taken out.

Comes in: the terms of a sum whose order and rounding nobody chose, in a loop.  Goes out: their sum, where a factor that
is the same in all iterations is multiplied once.  Guaranteed: the same real number, by at most as many operations as
adding the terms takes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value


@dataclass(frozen=True)
class Product:
    """A signed product: what is the same in all iterations, and what is not."""

    negative: bool
    factors: tuple[Value, ...]
    rest: tuple[Value, ...]


def sum_of(builder: Builder, terms: Sequence[Value], is_fixed: Callable[[Value], bool]) -> Value:
    """Emit a sum; `is_fixed` are the values that no iteration changes.

    Of `a * x + a * y` it makes `a * (x + y)`, and of `a * x + (y - 4.0 * (a * y))` it makes `a * (x - 4.0 * y) + y`.
    """
    plain = reduce(partial(builder.op, ops.ADD), terms)
    if len(terms) < 2:
        return plain
    products = [product for term in terms for product in _products(builder, term, False, is_fixed)]
    factored = _sum(builder, products)
    return min((plain, factored), key=lambda total: _size(builder, total, is_fixed))


def _products(builder: Builder, value: Value, negative: bool, is_fixed: Callable[[Value], bool]) -> list[Product]:
    """The products that a value is the sum of."""
    made = None if is_fixed(value) else builder.definitions.get(value)
    if made is not None and made.row in (ops.ADD, ops.SUB):
        first, second = made.operands
        other = negative != (made.row is ops.SUB)
        return [
            *_products(builder, first, negative, is_fixed),
            *_products(builder, second, other, is_fixed),
        ]
    if made is not None and made.row is ops.NEG:
        return _products(builder, made.operands[0], not negative, is_fixed)
    leaves: list[Value] = []
    waiting = [value]
    while waiting:
        current = waiting.pop()
        made = None if is_fixed(current) else builder.definitions.get(current)
        if made is not None and made.row is ops.MUL:
            waiting += made.operands[::-1]
        elif made is not None and made.row is ops.NEG:
            negative = not negative
            waiting += made.operands
        else:
            leaves.append(current)
    fixed = [is_fixed(leaf) for leaf in leaves]
    factors = tuple(leaf for leaf, same in zip(leaves, fixed) if same)
    return [Product(negative, factors, tuple(leaf for leaf, same in zip(leaves, fixed) if not same))]


def _sum(builder: Builder, products: Sequence[Product]) -> Value:
    """The sum, with the factor taken out that most of the products have, then with the next one."""
    found = Counter(x for product in products for x in dict.fromkeys(product.factors) if builder.known(x) is None)
    common, count = found.most_common(1)[0] if found else (None, 0)
    if common is None or count < 2:
        return _added(builder, [(product.negative, _product(builder, product)) for product in products])
    inner = [_without(product, common) for product in products if common in product.factors]
    others = [product for product in products if common not in product.factors]
    together = builder.op(ops.MUL, common, _sum(builder, inner))
    if not others:
        return together
    return builder.op(ops.ADD, together, _sum(builder, others))


def _without(product: Product, factor: Value) -> Product:
    factors = list(product.factors)
    factors.remove(factor)
    return Product(product.negative, tuple(factors), product.rest)


def _product(builder: Builder, product: Product) -> Value:
    """What a product is, but for its sign."""
    values = (*product.factors, *product.rest)
    return reduce(partial(builder.op, ops.MUL), values) if values else builder.const(1.0)


def _added(builder: Builder, terms: Sequence[tuple[bool, Value]]) -> Value:
    """The sum of signed terms; the first one that is not negative stands first."""
    first, *rest = sorted(terms, key=lambda term: term[0])
    total = builder.op(ops.NEG, first[1]) if first[0] else first[1]
    for negative, value in rest:
        total = builder.op(ops.SUB if negative else ops.ADD, total, value)
    return total


def _size(builder: Builder, value: Value, is_fixed: Callable[[Value], bool]) -> int:
    """How many operations a value takes in an iteration."""
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        current = waiting.pop()
        made = None if is_fixed(current) else builder.definitions.get(current)
        if made is not None and made.row.pure and current not in seen:
            seen.add(current)
            waiting += made.operands
    return len(seen)
