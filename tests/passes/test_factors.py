"""Sums with a common factor taken out: the same number, by no more operations."""

from __future__ import annotations

import numpy as np
import pytest

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Value
from adgen.ir.types import F64
from adgen.passes.dead_code import dead_code
from adgen.passes.factors import sum_of
from tests.passes.support import rows


def summed(terms: str, fixed: str = "ab") -> Function:
    """The sum of terms, each a product of letters with a sign, `2` for a constant; `fixed` does not change."""
    builder = Builder()
    letters = {name: Value(F64, name) for name in "abxyz"}
    with builder.block(tuple(letters.values())) as block:
        values = []
        for term in terms.split():
            factors = [letters[c] if c in letters else builder.const(float(c)) for c in term.lstrip("-")]
            value = factors[-1]
            for factor in factors[-2::-1]:
                value = builder.op(ops.MUL, factor, value)
            values.append(builder.op(ops.NEG, value) if term[0] == "-" else value)
        unchanging = {letters[c] for c in fixed}
        total = sum_of(builder, values, lambda v: v in unchanging or builder.known(v) is not None)
        block.results = (total,)
    return dead_code(builder.function("f", block, ("out",)))


@pytest.mark.parametrize(
    ("terms", "products"),
    [
        ("ax ay", 1),
        ("ax ay az", 1),
        ("ax -ay z", 1),
        ("ax y -4ay", 2),
        ("ax ay bx by", 2),
        ("abx aby bz", 2),
        ("-ax -ay", 1),
        ("ax by", 2),
        ("2x 2y", 2),
        ("a ax", 1),
        ("x y z", 0),
        ("aax ay", 2),
        ("xay -zax", 3),
        ("xya 2yaz", 4),
    ],
)
def test_sums(terms: str, products: int) -> None:
    """The value, and how many multiplications it takes."""
    function = summed(terms)
    numbers = dict(zip("abxyz", [1.5, -0.75, 2.25, 0.3, -1.2]))
    expected = 0.0
    for term in terms.split():
        expected += (-1.0 if term[0] == "-" else 1.0) * float(
            np.prod([numbers.get(c) or float(c) for c in term.lstrip("-")])
        )
    assert run(function, list(numbers.values())).results[0] == pytest.approx(expected, rel=1e-14)
    assert rows(function)["mul"] == products


def test_what_changes_is_no_factor() -> None:
    assert rows(summed("ax ay", fixed="b"))["mul"] == 2
