"""Walks the table: every row has a meaning, a derivative or a reason for none, and one home."""

from __future__ import annotations

import io
import math
import struct
import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import adgen
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F32, F64, I64, NARROW, SCALARS
from adgen.ops import ROWS as BY_NAME
from adgen.ops import TABLE, Elementwise, meaning
from adgen.ops.derive import meaning_of
from tests.ops.support import (
    DTYPES,
    REAL,
    ROWS,
    execute,
    kinds_of,
    partials_by_pullback,
    partials_by_pushforward,
    samples,
    straight,
    value_of,
)

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
every_real_row = pytest.mark.parametrize("row", REAL, ids=lambda row: row.name)


@every_row
def test_a_row_has_a_derivative_or_says_why_not(row: Elementwise) -> None:
    """Exactly one of: partials, piecewise constant, not differentiable."""
    assert (row in REAL) + row.piecewise_constant + (not row.differentiable) == 1
    if not row.differentiable:
        assert not any(kind.is_float for kind in row.kinds)
    assert (row.override is None) == (row.reason == "")


@every_row
def test_a_row_has_everything_else(row: Elementwise) -> None:
    """Meaning, C form, sampling domain, cost, type rule."""
    assert row.pure and row.cost > 0 and row.evaluate is not None
    assert len(row.domain) == row.arity
    for kind in row.kinds:
        types = tuple(kinds_of(row, kind))
        assert row.infer(types, {}) == (row.result or kind,)
        text, precedence = row.c.render([("a", 16)] * row.arity, types[0])
        assert text and 3 <= precedence <= 16
    with pytest.raises(TypeError, match=row.name):
        row.infer((*types, F64), {})
    for kind in set(SCALARS.values()) - set(row.kinds):
        with pytest.raises(TypeError, match=row.name):
            row.infer(tuple(kinds_of(row, kind)), {})


@every_row
def test_the_result_has_the_declared_type(row: Elementwise) -> None:
    """Scalars in, a scalar of the type rule out; arrays give the same."""
    for kind in row.kinds:
        drawn = samples(row, kind, 20)
        results = [value_of(row, numbers) for numbers in drawn]
        wanted = {F64: np.float64, F32: np.float32, BOOL: bool}.get(row.result or kind, int)
        assert {type(result) for result in results} == {wanted}


OTHERS = {
    "pymax": np.frompyfunc(max, 2, 1),
    "pymin": np.frompyfunc(min, 2, 1),
    "powi": lambda x, n: np.power(x, float(n)),
    "ipow": pow,
    "fma": lambda x, y, z: x * y + z,
    "select": np.where,
    "stop": np.positive,
    "tapped": np.add,
    "round": round,
    "gcd": math.gcd,
    "factorial": math.factorial,
    "float_bits": lambda x: struct.unpack("<q", struct.pack("<d", x))[0],
    "remainder": math.remainder,
    "sign": lambda x: (x > 0) * 1.0 - (x < 0),
    "to_f64": float,
    "to_f32": np.float32,
    "to_bool": bool,
    **{f"to_{kind}": lambda x, kind=kind: np.asarray(x).astype(DTYPES[kind])[()] for kind in (I64, *NARROW)},
}


OF_SCIPY = {
    "besselj": "jn",
    "bessely": "yn",
    "besseli": "iv",
    "besselk": "kn",
    "elliptic_k": "ellipk",
    "elliptic_e": "ellipe",
    "erfinv": "erfinv",
    "erfcinv": "erfcinv",
    "ndtri": "ndtri",
}


def independent(row: Elementwise) -> Any:
    """Another implementation than the row's: SciPy's, NumPy's or Python's."""
    if row.name in OTHERS:
        return OTHERS[row.name]
    special = pytest.importorskip("scipy.special")
    if row.name == "elliptic_d":
        return lambda m: (special.ellipk(m) - special.ellipe(m)) / m
    if row.name in OF_SCIPY:
        return getattr(special, OF_SCIPY[row.name])
    for name in (*row.scipy, {"lgamma": "gammaln"}.get(row.name, row.name)):
        if name in ("gammaln", "erf", "erfc", "gamma", "polygamma", "digamma", "expit", "logit", "ndtr", "xlogy"):
            return getattr(special, name)
    return next(function for function in row.python if isinstance(function, np.ufunc))


@every_row
def test_the_value_is_that_of_another_implementation(row: Elementwise) -> None:
    """Within a few ulp of NumPy, SciPy or Python, on samples of the domain; exactly for integers."""
    other = independent(row)
    for kind in row.kinds:
        for numbers in samples(row, kind, 200):
            if row.name in ("shift_left", "shift_right", "factorial") and not 0 <= numbers[-1] <= 20:
                continue
            with np.errstate(all="ignore"):
                got, wanted = value_of(row, numbers), other(*numbers)
            if (row.result or kind).is_float:
                eps = np.finfo(DTYPES[row.result or kind]).eps
                np.testing.assert_allclose(got, wanted, rtol=16 * eps, atol=8 * eps)
            else:
                assert got == wanted


# -- derivatives -------------------------------------------------------------------------------------------------


def symbolic(row: Elementwise, order: int = 1) -> list[Any]:
    """Numeric functions of sympy's partials (or of their partials), by mpmath with 30 digits."""
    expression, symbols = meaning_of(row)
    found = []
    for k, symbol in enumerate(symbols):
        if row.partials[k] is None:
            found.append(None)
            continue
        found.append(sympy.lambdify(symbols, sympy.diff(expression, symbol, order), "mpmath"))
    return found


@every_real_row
def test_partials_agree_with_sympy(row: Elementwise) -> None:
    """The emitted pullback of every operand is the symbolic derivative: derived and overridden ones alike."""
    if not row.sympy:
        assert row.name == "select"
        return
    if "floor" in row.sympy:
        pytest.skip("sympy has no derivative of floor; differences check it")
    import mpmath

    exact = symbolic(row)
    for numbers in samples(row, F64, 25, seed=2):
        got = partials_by_pullback(row, numbers)
        for function, contribution in zip(exact, got, strict=True):
            if function is None:
                assert contribution == 0.0
                continue
            with mpmath.workdps(30):
                wanted = function(*(int(x) if isinstance(x, int) else mpmath.mpf(float(x)) for x in numbers))
            wanted = float(mpmath.re(wanted))
            assert contribution == pytest.approx(wanted, rel=2e-13, abs=1e-14), (numbers, wanted)


@every_real_row
def test_partials_agree_with_differences(row: Elementwise) -> None:
    """The emitted pushforward is the slope of `evaluate`, away from kinks and jumps."""
    step = 1e-2 if row.result == F32 else 1e-6
    for numbers in samples(row, F64, 25, seed=3):
        got = partials_by_pushforward(row, numbers)
        for k, number in enumerate(numbers):
            if k in row.fixed:
                continue
            low, high = list(numbers), list(numbers)
            low[k], high[k] = np.float64(number - step), np.float64(number + step)
            slope = (value_of(row, high) - value_of(row, low)) / (high[k] - low[k])
            if abs(slope) > 1e4:
                continue  # a jump or a pole lies between
            assert got[k] == pytest.approx(slope, rel=1e-5, abs=1e-6), numbers


@every_real_row
def test_both_modes_agree(row: Elementwise) -> None:
    """Pushing unit tangents forward and pulling one back give the same partials, in both float types."""
    for kind in set(row.kinds) & {F64, F32}:
        for numbers in samples(row, kind, 10, seed=4):
            back, forth = partials_by_pullback(row, numbers, kind), partials_by_pushforward(row, numbers, kind)
            np.testing.assert_allclose(back, forth, rtol=8 * np.finfo(DTYPES[kind]).eps)


@every_real_row
def test_second_derivatives_come_from_the_emitted_operations(row: Elementwise) -> None:
    """The pullback is itself made of rows: its tangent along one operand is the symbolic second derivative."""
    if not row.sympy or "floor" in row.sympy or "sign" in row.sympy or "Abs" in row.sympy or "M" in row.sympy:
        return
    import mpmath

    expression, symbols = meaning_of(row)
    for k, symbol in enumerate(symbols):
        if k in row.fixed:
            continue
        exact = sympy.lambdify(symbols, sympy.diff(expression, symbol, 2), "mpmath")
        for numbers in samples(row, F64, 8, seed=5):
            (got,) = execute(straight(kinds_of(row, F64), lambda b, *x, k=k: [second(row, b, x, k)]), numbers)
            with mpmath.workdps(30):
                wanted = exact(*(int(x) if isinstance(x, int) else mpmath.mpf(float(x)) for x in numbers))
            assert got == pytest.approx(float(mpmath.re(wanted)), rel=1e-11, abs=1e-12), numbers


def second(row: Elementwise, builder: Builder, operands: tuple[Value, ...], k: int) -> Value | None:
    """The second derivative by operand k: a pullback, and a forward sweep over what it emitted."""
    one = builder.const(1.0)
    result = builder.op(row, *operands)
    needed = [j == k for j in range(len(operands))]
    gradient = row.pullback(builder, operands, result, one, needed)[k]
    tangents: dict[Value, Value | None] = {operands[k]: one}
    for operation in tuple(builder.blocks[-1].operations):
        if isinstance(operation.row, Elementwise):
            dots = [tangents.get(value) for value in operation.operands]
            tangents[operation.result] = operation.row.pushforward(builder, operation.operands, operation.result, dots)
    return None if gradient is None else tangents.get(gradient)


@every_row
def test_zero_tangents_cost_nothing(row: Elementwise) -> None:
    """Nothing is emitted for absent tangents and for operands whose cotangent nobody needs."""
    for kind in row.kinds:
        builder = Builder()
        operands = [Value(k) for k in kinds_of(row, kind)]
        with builder.block(operands) as block:
            result = builder.op(row, *operands)
            seed = Value(result.type)
            before = len(block.operations)
            assert row.pushforward(builder, operands, result, [None] * row.arity) is None
            assert row.pullback(builder, operands, result, seed, [False] * row.arity) == (None,) * row.arity
            assert len(block.operations) == before


def test_rows_are_found_by_their_callables() -> None:
    """Function objects mean rows, whatever they are called; no object means two."""
    import operator

    known = {
        operator.add: "add",
        math.sin: "sin",
        np.arcsin: "asin",
        np.absolute: "abs",
        np.power: "pow",
        np.true_divide: "div",
        np.mod: "mod",
        np.remainder: "mod",
        math.remainder: "remainder",
        math.fabs: "abs",
        np.fabs: "abs",
        math.gamma: "gamma",
        abs: "abs",
        float: "to_f64",
        np.logaddexp: "logaddexp",
    }
    for function, name in known.items():
        row = meaning(function)
        assert row is not None and row.name == name
    assert meaning(print) is None
    owners = [(id(function), row.name) for row in ROWS for function in row.python]
    assert len({owner for owner, _ in owners}) == len(owners)
    from scipy import special

    assert meaning(special.digamma) is BY_NAME["digamma"]
    assert meaning(special.erf) is BY_NAME["erf"]


def test_the_table_is_complete() -> None:
    """What the design names is there, and the reader knows the rows of the IR as well."""
    names = """add sub mul div neg abs pow powi ipow floordiv mod fmod minimum maximum lt le gt ge eq ne and or xor not
    bit_and bit_or bit_xor bit_not shift_left shift_right select to_f64 to_f32 to_i64 to_bool sqrt cbrt exp exp2 expm1
    log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh hypot erf erfc gamma lgamma
    polygamma floor ceil trunc rint sign copysign logaddexp isnan isinf isfinite""".split()
    assert set(names) <= set(TABLE)
    assert {"const", "load", "for"} <= set(BY_NAME)


LEAVES = """exp2 expm1 log2 log10 log1p tan asin acos atan atan2 arcsin arccos arctan arctan2 sinh cosh tanh asinh acosh
atanh arcsinh arccosh arctanh erf erfc tgamma lgamma polygamma cbrt logaddexp""".split()


def test_a_leaf_has_one_home() -> None:
    """The name of a leaf operation occurs in one file of the package, as a name or as a string, and in no template.

    The library does not count: it is programs that adgen lowers, and calls NumPy as its users' programs do.  Nor does
    the file that a test writes from the table.
    """
    root = Path(adgen.ops.__file__).parents[1]
    homes: dict[str, set[str]] = {name: set() for name in LEAVES}
    library = root / "frontend" / "library"
    written = root / "ops" / "derived.py"
    for path in sorted(path for path in root.rglob("*.py") if library not in path.parents and path != written):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
            text = token.string.strip("\"'") if token.type == tokenize.STRING else token.string
            if token.type in (tokenize.NAME, tokenize.STRING) and text in homes:
                homes[text].add(path.name)
    shared = {name: found for name, found in homes.items() if len(found) > 1}
    assert not shared
    for path in (root.parent / "templates").rglob("*"):
        if path.is_file():
            assert not set(LEAVES) & set(path.read_text().replace("(", " ").split()), path
