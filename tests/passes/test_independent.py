"""Which innermost sums a vector unit may take side by side, when their iterations also write memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
from adgen import ops
from adgen.ir.printer import print_function
from adgen.ir.reader import parse_function
from adgen.passes.independent import independent

LOOP = """function f(%a: f64[:], %b: f64[:], %n: i64, %k: i64) -> (out) {{
  %zero = const {{type="i64", value=0}} : i64
  %start = const {{type="f64", value=0.0}} : f64
  %s = for %zero, %n, %start {{exit=false, step=1, unordered=true}} (%i: i64, %t: f64) {{
    {index}
    %x = load %b, {read} : f64
    accumulate %a, %x, {written}
    %u = add %t, %x : f64
    yield %u
  }} : f64
  return %s
}}
"""


@pytest.mark.parametrize(
    ("index", "read", "written", "buffer", "marked"),
    [
        ("%j = add %i, %k : i64", "%i", "%j", "%b", True),  # moved along
        ("%j = sub %k, %i : i64", "%i", "%j", "%b", True),  # from the other end
        ("%j = add %i, %k : i64", "%j", "%j", "%a", True),  # the same element is read
        ("%j = add %i, %k : i64", "%i", "%j", "%a", False),  # another iteration's element is read
        ("%j = mul %i, %k : i64", "%i", "%j", "%b", False),  # which may be the same for all
        ("%j = add %i, %i : i64", "%i", "%j", "%b", False),  # not understood
        ("%j = sub %k, %k : i64", "%i", "%j", "%b", False),  # one element for all
    ],
)
def test_iterations_that_write_at_a_distance(index: str, read: str, written: str, buffer: str, marked: bool) -> None:
    """Elements at one distance from the index are an iteration's own, unless others look at them."""
    text = LOOP.format(index=index, read=read, written=written).replace("load %b", f"load {buffer}")
    assert ("simd=true" in print_function(independent(parse_function(text, ops.ROWS)))) is marked


def products_of_columns(x: Any) -> Any:
    """Each column with those after it."""
    total = 0.0
    for i in range(x.shape[1]):
        row = x[:, i] @ x[:, i:]
        total += np.sum(row * row)
    return total


def test_products_of_columns_have_a_gradient() -> None:
    """The reverse of a product with a part of a matrix adds and writes in one loop."""
    x = np.random.default_rng(0).normal(size=(5, 4))
    assert adgen.gradcheck(products_of_columns, (x,))
