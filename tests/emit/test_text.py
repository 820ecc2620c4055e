"""The small parts of emitted text: numbers, comments, lines, names, templates."""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path

import jinja2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import nodes

from adgen import ops
from adgen.emit import emit
from adgen.emit.layout import WIDTH, wrapped
from adgen.emit.names import Names
from adgen.emit.render import template_folder
from adgen.emit.text import comment, literal
from adgen.ir.reader import parse_function
from adgen.ir.types import BOOL, F32, F64, I64
from tests.native import Native

pytestmark = pytest.mark.quick


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_round_trip(number: float) -> None:
    """The text of a double reads back to the same bits."""
    text, _ = literal(number, F64)
    assert struct.pack("d", float(text)) == struct.pack("d", number)
    assert re.search(r"[.e]", text)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_floats_round_trip(number: float) -> None:
    """The text of a float reads back to the same bits and is marked as a float."""
    text, _ = literal(number, F32)
    assert text.endswith("f") and np.float32(text[:-1]).tobytes() == np.float32(number).tobytes()


def test_numbers_mean_the_same_in_c() -> None:
    """Through the compiler: extremes, signed zero, infinities, nan."""
    reals = [0.1, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 1e22, 3.0]
    whole = [-(2**63), 2**63 - 1, -1, 2**31, 10**12]
    lines = [f'%r{k} = const {{type="f64", value={number!r}}} : f64' for k, number in enumerate(reals)]
    lines += [f'%w{k} = const {{type="i64", value={number}}} : i64' for k, number in enumerate(whole)]
    results = [f"r{k}" for k in range(len(reals))] + [f"w{k}" for k in range(len(whole))]
    values = ", ".join(f"%{name}" for name in results)
    text = f"function f() -> ({', '.join(results)}) {{\n" + "\n".join(lines) + f"\nreturn {values}\n}}"
    _, found = Native([parse_function(text, ops.ROWS)]).call("f", [])
    for one, other in zip(found, [*reals, *whole], strict=True):
        assert (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )


@pytest.mark.parametrize("kind", [F64, F32, I64, BOOL])
def test_every_type_has_literals(kind: object) -> None:
    """One is one in every type."""
    assert literal(1, kind)[0] == {"f64": "1.0", "f32": "1.0f", "i64": "1", "bool": "true"}[str(kind)]


@pytest.mark.parametrize("text", ["a /* b */ c", "*/", "/*/", "x \\", "\u202e evil \u2066", "tab\there", "??/"])
def test_comments_cannot_be_left(text: str) -> None:
    """Whatever the Python line holds, the comment begins once and ends at its end."""
    made = comment(text)
    assert made.startswith("/* ") and made.endswith(" */")
    inside = made[2:-2]
    assert "*/" not in inside and "/*" not in inside and "\u202e" not in inside and "\n" not in inside


@settings(max_examples=50)
@given(st.lists(st.sampled_from(["alpha", "f(x, y)", "(a + b)", "u[i * n + j]"]), min_size=1, max_size=40))
def test_long_statements_are_wrapped(words: list[str]) -> None:
    """Lines fit the page, and joining them gives the statement back."""
    text = "const double total = " + " + ".join(words) + ";"
    lines = list(wrapped(text, 2))
    assert " ".join(line.strip() for line in lines) == text
    assert all(len(line) <= WIDTH for line in lines)


def test_names_are_free_again_after_a_block() -> None:
    """Two loops may both have an `x_i`; an inner name never hides an outer one."""
    names = Names()
    names.claim("x")
    with names.block():
        assert names.claim("x") == "x_2"
        assert names.claim("y") == "y"
    with names.block():
        assert names.claim("y") == "y"
        assert names.claim("x") == "x_2"
    assert names.claim("y") == "y"


def test_names_like_helpers_and_files_are_not_taken() -> None:
    """Names of the emitted file's own functions, of libm and of C are left alone, whatever users call things."""
    words = ["memset", "sinf", "double", "ad_powi", "adgen_take", "f", "f_sizes", "_Bool", "detail", "status", "t1", ""]
    parameters = ", ".join(f"%p{k}: f64" for k in range(len(words)))
    total = "\n".join(f"%s{k + 1} = add %s{k}, %p{k} : f64" for k in range(len(words)))
    text = f'function f({parameters}) -> (done) {{\n%s0 = const {{type="f64", value=0.0}} : f64\n{total}\n'
    function = parse_function(text + f"return %s{len(words)}\n}}", ops.ROWS)
    for value, word in zip(function.parameters, words, strict=True):
        value.name = word
    assert Native([function]).call("f", [1.0] * len(words)) == (0, [float(len(words))])


def test_templates_hold_text_names_and_loops() -> None:
    """Decisions are taken in Python, before rendering."""
    files = sorted(Path(template_folder()).rglob("*.j2"))
    assert files
    allowed = {"Template", "Output", "TemplateData", "Name", "Getattr", "For"}
    for path in files:
        found = {type(node).__name__ for node in jinja2.Environment().parse(path.read_text()).find_all(nodes.Node)}
        assert found <= allowed, path


def test_the_same_table_is_written_once() -> None:
    """Equal constant arrays of several functions are one array; one that is not read is left out."""
    text = """function NAME(%i: i64) -> (out) {
      %weights = table {data=array("float64", [2], [0.5, 1.5]), element="f64"} : f64[:]
      %unused = table {data=array("float64", [2], [7.5, 8.5]), element="f64"} : f64[:]
      %out = load %weights, %i : f64
      return %out
    }"""
    functions = [parse_function(text.replace("NAME", name), ops.ROWS) for name in ("f", "g")]
    source = emit(functions, "m").c_source
    assert source.count("static const double") == 1 and "7.5" not in source
    assert Native(functions).call("g", [1])[1] == [1.5]
