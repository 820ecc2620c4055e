"""Operations with derivative rules of their own: both modes, any nesting, memory that is overwritten, second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adgen import ops
from adgen.ir.interpret import run
from adgen.ir.nodes import Function
from adgen.ir.reader import parse_function
from adgen.ir.verify import VerifyError
from adgen.passes.adjoint import adjoint
from adgen.passes.custom import inline_custom
from adgen.passes.forward import forward
from adgen.passes.pipeline import optimise, simplify
from tests.oracles import check_derivatives, floats
from tests.passes.support import parse, rows

# y = exp(x): the rule reads the result
EXP = '%y = custom %x {jvp="", outputs=0, types=["f64"], vjp="exp_vjp"} () {\n%e = exp %x : f64\nyield %e\n} : f64\n'
EXP_VJP = """function exp_vjp(%x: f64, %y: f64, %y_bar: f64) -> (x_bar) {
  %x_bar = mul %y, %y_bar : f64
  return %x_bar
}
"""
# Y[i] = a * X[i]**2: the rules read the inputs
SQUARES = """custom %a, %X, %Y {jvp="JVP", outputs=1, types=[], vjp="VJP"} () {
  %m = dim %X {axis=0} : i64
  for %0, %m {exit=false, step=1} (%k: i64) {
    %u = load %X, %k : f64
    %v = mul %u, %u : f64
    %w = mul %v, %a : f64
    store %Y, %w, %k
    yield
  }
  yield
}
"""
SQUARES_VJP = """function squares_vjp(%a: f64, %X: f64[:], %Y: f64[:], %Y_bar: f64[:]) -> (a_bar, X_bar) {
  %0 = const {type="i64", value=0} : i64
  %two = const {type="f64", value=2.0} : f64
  %zero = const {type="f64", value=0.0} : f64
  %n = dim %X {axis=0} : i64
  %X_bar = alloc %n {element="f64", zero=false} : f64[:]
  %a_bar = for %0, %n, %zero {exit=false, step=1} (%k: i64, %s: f64) {
    %u = load %X, %k : f64
    %c = load %Y_bar, %k : f64
    %v = mul %u, %u : f64
    %p = mul %v, %c : f64
    %s_1 = add %s, %p : f64
    %d = mul %two, %a : f64
    %e = mul %d, %u : f64
    %f = mul %e, %c : f64
    store %X_bar, %f, %k
    yield %s_1
  } : f64
  return %a_bar, %X_bar
}
"""
SQUARES_JVP = """function squares_jvp(%a: f64, %X: f64[:], %Y: f64[:], %a_dot: f64, %X_dot: f64[:]) -> (Y_dot) {
  %0 = const {type="i64", value=0} : i64
  %two = const {type="f64", value=2.0} : f64
  %n = dim %X {axis=0} : i64
  %Y_dot = alloc %n {element="f64", zero=false} : f64[:]
  for %0, %n {exit=false, step=1} (%k: i64) {
    %u = load %X, %k : f64
    %t = load %X_dot, %k : f64
    %v = mul %u, %u : f64
    %p = mul %v, %a_dot : f64
    %d = mul %two, %a : f64
    %e = mul %d, %u : f64
    %f = mul %e, %t : f64
    %g = add %p, %f : f64
    store %Y_dot, %g, %k
    yield
  }
  return %Y_dot
}
"""
SCALAR = {
    "straight": "%z = sin %x : f64\n" + EXP + "%out = mul %y, %z : f64\n",
    "branch": '%c = gt %x, %half : bool\n%out = if %c {types=["f64"]} () {\n'
    + EXP
    + "yield %y\n} () {\n%q = sin %x : f64\nyield %q\n} : f64\n",
    "loop": "%out = for %0, %3, %w {exit=false, step=1} (%i: i64, %x: f64) {\n"
    + EXP
    + "%h = mul %half, %y : f64\nyield %h\n} : f64\n",
    "while": "%out = while %w (%s: f64) {\n%c = lt %s, %nine : bool\nyield %c\n} (%x: f64) {\n"
    + EXP
    + "yield %y\n} : f64\n",
}
ARRAY = {
    "straight": "{squares}",
    "inputs overwritten": "{squares}store %A, %half, %0\n",
    "outputs overwritten": "{squares}%l = load %Y, %1 : f64\nstore %Y, %half, %1\nstore %Y, %l, %0\n",
    "loop": 'for %0, %3 {{exit=false, step=1}} (%t: i64) {{\n%Y = alloc %n {{element="f64", zero=true}} : f64[:]\n'
    + "{squares}for %0, %n {{exit=false, step=1}} (%j: i64) {{\n%q = load %Y, %j : f64\n%r = sin %q : f64\n"
    + "store %A, %r, %j\nyield\n}}\nyield\n}}\n",
    "independent iterations": "for %0, %3 {{exit=false, step=1}} (%t: i64) {{\n"
    + '%Y = alloc %n {{element="f64", zero=true}} : f64[:]\n'
    + "{squares}%q = load %Y, %t : f64\naccumulate %B, %q, %0\nyield\n}}\n",
    "in a branch of a loop": "for %0, %3 {{exit=false, step=1}} (%t: i64) {{\n%c = lt %t, %1 : bool\n"
    + 'if %c {{types=[]}} () {{\n%Y = alloc %n {{element="f64", zero=true}} : f64[:]\n'
    + "{squares}%q = load %Y, %t : f64\nstore %A, %q, %1\nyield\n}} () {{\nyield\n}}\nyield\n}}\n",
}
RULES = {"both": ("squares_vjp", "squares_jvp"), "vjp": ("squares_vjp", ""), "jvp": ("", "squares_jvp")}


def scalar(name: str) -> Function:
    """A function of one number `w`."""
    body = SCALAR[name]
    parameter = "%w" if "%w" in body else "%x"
    return parse(
        f"""function f({parameter}: f64) -> (out) {{
          %0 = const {{type="i64", value=0}} : i64
          %3 = const {{type="i64", value=3}} : i64
          %half = const {{type="f64", value=0.5}} : f64
          %nine = const {{type="f64", value=9.0}} : f64
          {body}
          return %out
        }}
        {EXP_VJP}"""
    )


def array(name: str, rules: str) -> Function:
    """A function of a number and an array; what it gives depends on all that the body changes."""
    vjp, jvp = RULES[rules]
    squares = SQUARES.replace("VJP", vjp).replace("JVP", jvp).replace('jvp="squares_vjp"', f'jvp="{jvp}"')
    squares = squares.replace("%X", "%A")
    body = ARRAY[name].format(squares=squares)
    return parse(
        f"""function f(%a: f64, %P: f64[:]) -> (out, B) {{
          %0 = const {{type="i64", value=0}} : i64
          %1 = const {{type="i64", value=1}} : i64
          %3 = const {{type="i64", value=3}} : i64
          %half = const {{type="f64", value=0.5}} : f64
          %none = const {{type="f64", value=0.0}} : f64
          %n = dim %P {{axis=0}} : i64
          %A = alloc %n {{element="f64", zero=true}} : f64[:]
          %B = alloc %n {{element="f64", zero=true}} : f64[:]
          {'%Y = alloc %n {element="f64", zero=true} : f64[:]' if "%Y = alloc" not in body else ""}
          for %0, %n {{exit=false, step=1}} (%i: i64) {{
            %p = load %P, %i : f64
            store %A, %p, %i
            yield
          }}
          {body}
          %out = for %0, %n, %none {{exit=false, step=1}} (%i: i64, %s: f64) {{
            %b = load %A, %i : f64
            {"%g = load %Y, %i : f64" if "%Y = alloc" not in body else "%g = mul %b, %b : f64"}
            %h = mul %b, %g : f64
            %k = add %s, %h : f64
            yield %k
          }} : f64
          return %out, %B
        }}
        {SQUARES_VJP if vjp else ""}{SQUARES_JVP if jvp else ""}"""
    )


CASES = [pytest.param(scalar(name), [0.6], id=name) for name in SCALAR] + [
    pytest.param(array(name, rules), [1.3, np.array([0.3, -0.7, 1.1])], id=f"{name}-{rules}")
    for name in ARRAY
    for rules in RULES
]
each = pytest.mark.parametrize(("function", "arguments"), CASES)


@each
def test_text(function: Function, arguments: list[Any]) -> None:
    """Operations and rules are in the text form."""
    assert parse_function(str(function), ops.ROWS) == function


@each
def test_both_modes(function: Function, arguments: list[Any]) -> None:
    """Each mode from either rule agrees with the other and with differences."""
    check_derivatives(function, arguments)
    check_derivatives(simplify(function), arguments, optimise)


@each
def test_second_order(function: Function, arguments: list[Any]) -> None:
    """The rules are differentiated as any other code."""
    gradient = simplify(adjoint(simplify(function), floats(function), "one"))
    check_derivatives(gradient, arguments, optimise)


@each
def test_inlined(function: Function, arguments: list[Any]) -> None:
    """Nothing special is left for emission, and the meaning is the same."""
    plain = inline_custom(function)
    assert not rows(plain)["custom"] and not plain.callees
    copies = [np.copy(x) if isinstance(x, np.ndarray) else x for x in arguments]
    for left, right in zip(run(function, copies).results, run(plain, copies).results):
        assert np.array_equal(left, right)


def test_the_rule_is_what_counts() -> None:
    """A rule that gives another derivative is taken at its word, in both modes and through a constant region."""
    text = str(scalar("straight")).replace("mul %y, %y_bar", "add %y_bar, %y_bar").replace("exp %x", "floor %x")
    function = parse(text)
    floor = np.floor(2.3)
    (_, gradient) = run(adjoint(function, (0,), "one"), [2.3]).results
    (_, tangent) = run(forward(function, (0,)), [2.3, 1.0]).results
    expected = 2.0 * np.sin(2.3) + floor * np.cos(2.3)
    assert gradient == pytest.approx(expected, rel=1e-14) and tangent == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('vjp="exp_vjp"', 'vjp=""'),
        ('vjp="exp_vjp"', 'vjp="missing"'),
        ("%y_bar: f64", "%y_bar: i64"),
        ("outputs=0", "outputs=1"),
    ],
)
def test_malformed(old: str, new: str) -> None:
    """The verifier wants rules that are there and fit."""
    text = str(scalar("straight"))
    assert old in text
    with pytest.raises(Exception) as caught:  # noqa: PT011
        parse(text.replace(old, new).replace("mul %y, %y_bar : f64", "mul %y, %y : f64"))
    assert isinstance(caught.value, VerifyError | ValueError | TypeError)
