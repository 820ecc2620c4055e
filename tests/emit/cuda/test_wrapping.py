"""Integers in kernels wrap around as in C, and what only tells where an element is stays readable."""

from __future__ import annotations

import re

from adgen.emit.cuda import emit_cuda
from adgen.passes.pipeline import for_device
from tests.passes.support import parse

PROGRAM = """function f(%k: i64[:], %x: f64[:], %y: i64[:], %z: f64[:], %n: i64) -> (total) {
  %0 = const {type="i64", value=0} : i64
  %1 = const {type="i64", value=1} : i64
  %none = const {type="i64", value=0} : i64
  %length = dim %k {axis=0} : i64
  %total = for %0, %length, %none {exit=false, step=1} (%i: i64, %s: i64) {
    %a = load %k, %i : i64
    %place = add %a, %1 : i64
    %b = load %x, %place : f64
    %next = add %i, %1 : i64
    %weight = to_f64 %next : f64
    %c = mul %b, %weight : f64
    store %z, %c, %i
    %square = mul %a, %a : i64
    %moved = sub %square, %n : i64
    accumulate %y, %moved, %i
    %more = add %s, %a : i64
    yield %more
  } : i64
  return %total
}
"""


def test_data_wraps_and_places_do_not() -> None:
    """What is stored and summed is computed without overflow; `k[i] + 1` as a place and `i + 1` are as they were."""
    text = emit_cuda([for_device(parse(PROGRAM))], "module").c_source
    assert "y[i] = ad_add_i64(y[i], ad_sub_i64(ad_mul_i64(a, a), n));" in text
    assert "s = ad_add_i64(s, a);" in text
    assert "x[a + 1] * (double)(i + 1)" in text
    assert "(int64_t)((uint64_t)a * (uint64_t)b)" in text
    assert re.search(r"adgen_add_up_int64_t\(.*?uint64_t sum = 0;", text, re.DOTALL)
