"""The C forms of all rows: compiled together without a warning, they compute what the interpreter computes."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen.ir.types import BOOL, F32, F64, I64, Scalar
from adgen.ops import TABLE, Elementwise
from adgen.ops.spelling import C_TYPES, Cast, Conditional, Infix, NotZero, Prefix
from tests.ops.support import DTYPES, ROWS, kinds_of, samples, value_of

FLAGS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Werror",
    "-O1",
    "-fwrapv",
    "-ffp-contract=off",
    "-fPIC",
    "-shared",
]
HEADER = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
COMPILERS = [compiler for compiler in ("gcc", "clang") if shutil.which(compiler)]
INSTANCES = [(row, kind) for row in ROWS for kind in row.kinds]
EXTREME = [0, 1, -1, 2, -3, 63, 64, 2**31, 2**62, 2**63 - 1, -(2**63)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, -1e300, np.inf, -np.inf, np.nan]


def loop_over(name: str, expression: str, types: Sequence[Scalar], result: Scalar) -> str:
    """A C function that applies an expression of x0, x1, ... to arrays."""
    parameters = "".join(f"const {C_TYPES[kind]} *a{k}, " for k, kind in enumerate(types))
    loads = "".join(f"        const {C_TYPES[kind]} x{k} = a{k}[i];\n" for k, kind in enumerate(types))
    return (
        f"void {name}({parameters}{C_TYPES[result]} *out, int64_t n);\n"
        f"void {name}({parameters}{C_TYPES[result]} *out, int64_t n) {{\n"
        f"    for (int64_t i = 0; i < n; ++i) {{\n{loads}        out[i] = {expression};\n    }}\n}}\n"
    )


def source_of_all() -> str:
    """One translation unit with every row in every type, and its helpers."""
    helpers: dict[str, None] = {}
    functions = []
    for row, kind in INSTANCES:
        types = kinds_of(row, kind)
        helper = row.c.helper(types[0])
        if helper:
            helpers[helper] = None
        text, _ = row.c.render([(f"x{k}", 16) for k in range(row.arity)], types[0])
        functions.append(loop_over(f"{row.name}_{kind}_", text, types, row.result or kind))
    return HEADER + "\n".join([*helpers, *functions])


def compiled(folder: Path, source: str, compiler: str = COMPILERS[0]) -> ctypes.CDLL:
    (folder / "all.c").write_text(source)
    command = [compiler, *FLAGS, "all.c", "-o", f"{compiler}.so", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / f"{compiler}.so"))


@pytest.fixture(scope="session", params=COMPILERS)
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """All rows, compiled once by each compiler."""
    return compiled(tmp_path_factory.mktemp("rows"), source_of_all(), request.param)


def call(function: Any, columns: Sequence[np.ndarray], result: Scalar) -> np.ndarray:
    out = np.zeros(len(columns[0]), DTYPES[result])
    pointers = [ctypes.c_void_p(column.ctypes.data) for column in (*columns, out)]
    function(*pointers, ctypes.c_int64(len(out)))
    return out


def numbers_for(row: Elementwise, kind: Scalar) -> list[list[Any]]:
    """Samples of the domain, and for floats all combinations of special numbers."""
    drawn = samples(row, kind, 300, seed=7)
    if row.kinds == (I64,) or (kind == I64 and not row.fixed):
        drawn += [list(c) for c in itertools.product(*[EXTREME] * row.arity)]
    if kind.is_narrow and not row.fixed:
        extreme = [0, 1, 2, kind.numbers[0], kind.numbers[-1]]
        drawn += [list(c) for c in itertools.product(*[extreme] * row.arity)]
    if kind.is_float and row.name not in ("polygamma", "round") and row.arity < 3:
        choices = [SPECIAL if k not in row.fixed else [-3, 0, 1, 2, 70] for k in range(row.arity)]
        with np.errstate(over="ignore"):
            drawn += [[DTYPES[kind](x) if isinstance(x, float) else x for x in c] for c in itertools.product(*choices)]
    return drawn


@pytest.mark.parametrize("row, kind", INSTANCES, ids=lambda x: getattr(x, "name", None))
def test_c_computes_what_the_interpreter_computes(library: ctypes.CDLL, row: Elementwise, kind: Scalar) -> None:
    """To the last bit in f64; within two ulp in f32, where C may compute in single or double precision."""
    if row.name == "select" and kind.is_float:
        drawn = samples(row, kind, 300, seed=7)
    else:
        drawn = numbers_for(row, kind)
    columns = [np.array(column, DTYPES[k]) for column, k in zip(zip(*drawn), kinds_of(row, kind), strict=True)]
    result = row.result or kind
    with np.errstate(all="ignore"):
        wanted = np.array([value_of(row, numbers) for numbers in drawn], DTYPES[result])
    got = call(library[f"{row.name}_{kind}_"], columns, result)
    if result.is_float:
        ulps = 2 if kind == F32 or row.name in ("polygamma", "digamma") else 0
        np.testing.assert_allclose(got, wanted, rtol=ulps * np.finfo(DTYPES[result]).eps, atol=0)
        assert (np.signbit(got) == np.signbit(wanted))[~np.isnan(wanted)].all()
    else:
        np.testing.assert_array_equal(got, wanted)


# -- parentheses -------------------------------------------------------------------------------------------------

OPERATORS = [row for row in ROWS if isinstance(row.c, Infix | Prefix | Conditional | Cast | NotZero)]


def nestings() -> list[tuple[str, list[Scalar], Scalar, Callable[..., Any]]]:
    """Every operator with every operator as one of its operands: C text, types, result type, meaning."""
    found = []
    for (outer, kind), (inner, other) in itertools.product(operator_instances(), operator_instances()):
        for place in range(outer.arity):
            if kinds_of(outer, kind)[place] != (inner.result or other):
                continue
            inner_text = inner.c.render([(f"x{k}", 16) for k in range(inner.arity)], kinds_of(inner, other)[0])
            texts = [(f"x{inner.arity + k}", 16) for k in range(outer.arity)]
            texts[place] = inner_text
            types = [*kinds_of(inner, other), *kinds_of(outer, kind)]
            text, _ = outer.c.render(texts, kinds_of(outer, kind)[0])
            found.append((text, types, outer.result or kind, nested(outer, inner, place)))
    return found


def operator_instances() -> list[tuple[Elementwise, Scalar]]:
    return [(row, kind) for row in OPERATORS for kind in row.kinds if kind in (F64, I64, BOOL)]


def nested(outer: Elementwise, inner: Elementwise, place: int) -> Callable[..., Any]:
    def meaning(*numbers: Any) -> Any:
        operands = list(numbers[inner.arity :])
        operands[place] = inner.reference(*numbers[: inner.arity])
        return outer.reference(*operands)

    return meaning


def test_parentheses_are_right_and_warnings_absent(tmp_path: Path) -> None:
    """Each operator inside each other one means what the tree says, and no compiler asks for parentheses."""
    cases = nestings()
    assert len(cases) > 500
    functions = []
    for k, (text, types, result, _) in enumerate(cases):
        used = "".join(f"    (void)x{j};\n" for j in range(len(types)))
        parameters = ", ".join(f"{C_TYPES[kind]} x{j}" for j, kind in enumerate(types))
        head = f"{C_TYPES[result]} f{k}({parameters})"
        functions.append(f"{head};\n{head} {{\n{used}    return {text};\n}}\n")
    library = compiled(tmp_path, HEADER + "".join(functions))
    for compiler in COMPILERS[1:]:
        compiled(tmp_path, HEADER + "".join(functions), compiler)
    plain = {F64: ctypes.c_double, F32: ctypes.c_float, I64: ctypes.c_int64, BOOL: ctypes.c_bool}
    values = {F64: [2.5, -0.75, 7.0, 3.0, -1.5], I64: [5, -3, 12, 7, -2], BOOL: [True, False, True, False, False]}
    for k, (text, types, result, meaning) in enumerate(cases):
        function = library[f"f{k}"]
        function.argtypes, function.restype = [plain[kind] for kind in types], plain[result]
        for shift in range(3):
            numbers = [values[kind][(j + shift) % 5] for j, kind in enumerate(types)]
            with np.errstate(all="ignore"):
                wanted = meaning(*(np.float64(x) if kind == F64 else x for x, kind in zip(numbers, types)))
            assert function(*numbers) == wanted, (text, numbers)


def test_expressions_carry_no_needless_parentheses() -> None:
    """What a reader sees."""
    add, mul, sub, neg, select, gt, conjunction = (TABLE[n] for n in "add mul sub neg select gt and".split())

    def text(row: Elementwise, *arguments: tuple[str, int], kind: Scalar = F64) -> tuple[str, int]:
        return row.c.render(arguments, kind)

    a, b, c = ("a", 16), ("b", 16), ("c", 16)
    assert text(add, text(mul, a, b), c)[0] == "a * b + c"
    assert text(mul, text(add, a, b), c)[0] == "(a + b) * c"
    assert text(add, text(add, a, b), c)[0] == "a + b + c"
    assert text(add, a, text(add, b, c))[0] == "a + (b + c)"
    assert text(sub, a, text(neg, b))[0] == "a - -b"
    assert text(neg, text(neg, b))[0] == "-(-b)"
    condition = text(conjunction, text(gt, a, b), text(gt, b, c))
    assert text(select, text(gt, a, b), b, text(select, condition, a, c))[0] == "a > b ? b : (a > b && b > c) ? a : c"
    assert TABLE["sin"].c.render([a], F32) == ("sinf(a)", 16)
    assert TABLE["to_f64"].c.render([text(add, a, b)], I64) == ("(double)(a + b)", 15)
