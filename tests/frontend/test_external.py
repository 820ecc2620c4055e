"""`adgen.external`: C functions in compiled functions, with their derivatives; what is wrong with them is said."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import adgen
from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.ir.core import CORE_ROWS
from adgen.ir.interpret import InternalError, run
from adgen.ir.reader import parse_function
from adgen.ir.verify import verify
from adgen.passes.pipeline import optimise
from adgen.runtime.annotations import signature_specs

Vector = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parent / "external"
DRAG: dict[str, Any] = {
    "header": "external/drag.h",
    "sources": ["external/drag.c", "external/power.h"],
    "arguments": ("v: f64", "c: f64[n]"),
}
WAVE: dict[str, Any] = {
    "header": "external/wave.h",
    "sources": ["external/wave.c"],
    "arguments": ("a: f64", "x: f64[n]", "twice: bool"),
    "result": "f64[n]",
}
drag = adgen.external("drag", **DRAG, vjp="drag_vjp", jvp="drag_jvp")
drag_back = adgen.external("drag", **DRAG, vjp="drag_vjp")
drag_forth = adgen.external("drag", **DRAG, jvp="drag_jvp")
drag_alone = adgen.external("drag", **DRAG)
wave = adgen.external("wave", **WAVE, vjp="wave_vjp", jvp="wave_jvp")
wave_back = adgen.external("wave", **WAVE, vjp="wave_vjp")
wave_forth = adgen.external("wave", **WAVE, jvp="wave_jvp")
pairs = adgen.external(
    "pairs",
    header=WAVE["header"],
    sources=WAVE["sources"],
    arguments=("x: f64[n]", "w: i32[:]"),
    result=("i64", "f64[n,n]", "f64"),
    vjp="pairs_vjp",
)
moments = adgen.external(
    "moments",
    header=WAVE["header"],
    sources=WAVE["sources"],
    arguments=("m: f64[rows,columns]",),
    result="f64[2]",
    vjp="moments_vjp",
)
bend = adgen.external("bend", **DRAG)
slope = adgen.external("slope", **DRAG, vjp=lambda v, c, out, bar: (bar * bend(v, c), np.zeros_like(c)))
WEIGHTS = np.array([3, -1], np.int32)
C = np.array([0.3, -1.0, 0.5, 0.25])
X = np.array([0.3, -1.0, 0.5, 0.8])


def drag_vjp(v, c, out, cotangent):
    return cotangent * slope(v, c), cotangent * np.array([1.0, v, v * v, v**3])


drag_twice = adgen.external("drag", **DRAG, vjp=drag_vjp)


def powers(v: float, c: Vector) -> float:
    return drag_twice(np.sin(v), c)


def loop(v: float, c: Vector) -> float:
    total = 0.0
    for k in range(3):
        v = np.sin(v) + drag(v, c * k)
        total += v
    return total * drag(v, c)


def back(v: float, c: Vector) -> float:
    return drag_back(np.sin(v), c * c)


def forth(v: float, c: Vector) -> float:
    return drag_forth(np.sin(v), c * c)


def rows(a: float, x: Vector) -> float:
    u = np.zeros((3, len(x)))
    for k in range(3):
        u[k] = wave(a, x + k, False)
        x = wave(a + k, u[k] * x, True) + x
        x[0] = a
    return np.sum(u) + np.sum(x**2)


def rows_back(a: float, x: Vector) -> float:
    return np.sum(wave_back(a, x[::-1], a > 0.0) ** 2)


def rows_forth(a: float, x: Vector) -> float:
    return np.sum(wave_forth(a, x, True) ** 2)


def several(x: Vector) -> float:
    count, products, total = pairs(x[::-1], WEIGHTS)
    return count * np.sum(products * products[0]) + total


def views(m) -> float:
    first, second = moments(m.T[:, ::2])
    for k in range(3):
        out = moments(m[k:])
        m = m * out[1] / out[0]
    return first * second + np.sum(m)


def branch(v: float, c: Vector) -> float:
    if v > 0.0:
        return drag(v, [1.0, v, 2.0])
    return drag(2, c)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (loop, (0.4, C)),
    (back, (0.4, C)),
    (forth, (0.4, C)),
    (powers, (0.4, C)),
    (branch, (0.4, C)),
    (branch, (-0.4, C)),
    (rows, (0.7, X)),
    (rows_back, (0.7, X)),
    (rows_forth, (0.7, X)),
    (several, (X,)),
    (views, (np.arange(1.0, 13.0).reshape(4, 3) / 7.0,)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_value_and_derivatives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """The compiled value is Python's, both modes are the derivative, and the interpreter runs the C too."""
    expected = function(*arguments)
    assert adgen.jit(function)(*arguments) == pytest.approx(expected, rel=1e-14)
    assert adgen.gradcheck(function, arguments)
    lowered = lower_function(function, signature_specs(function)).function
    verify(lowered)
    for each in (lowered, optimise(lowered)):
        verify(each)
        (result,) = run(each, arguments).results
        assert result == pytest.approx(expected, rel=1e-14)


def test_python_calls_run_the_c() -> None:
    """Outside of compiled functions too."""
    assert drag(2.0, C) == drag(v=2, c=[0.3, -1.0, 0.5, 0.25]) == pytest.approx(np.polyval(C[::-1], 2.0))
    assert np.array_equal(wave(2.0, X, True), 2.0 * np.sin(2.0 * X))
    count, products, total = pairs(X, WEIGHTS)
    assert (count, total) == (3, pytest.approx(3 * 0.3 + 1.0 + 1.5 - 0.8))
    assert np.array_equal(products, np.outer(X, X))
    assert "double drag(double v, const double *c, int64_t c_n0)" in repr(drag)


def test_operators_take_it() -> None:
    """It is a function as any other, even where entry points would have the names of its own derivative functions."""
    assert adgen.grad(drag, wrt="v")(2.0, C) == adgen.grad(drag_forth, wrt="v")(2.0, C) == slope(2.0, C)
    assert adgen.jvp(drag, wrt="v")(2.0, C, tangent=2.0) == (drag(2.0, C), 2.0 * slope(2.0, C))
    value, pullback = adgen.vjp(drag)(2.0, C)
    assert value == drag(2.0, C) and np.array_equal(pullback(1.0).c, [1.0, 2.0, 4.0, 8.0])
    assert np.allclose(adgen.vmap(drag, in_axes=(0, None))(X, C), [drag(x, C) for x in X], rtol=1e-15)


def test_second_derivatives() -> None:
    """They need rules in Python, whose C functions have derivatives themselves."""
    function = adgen.grad(powers, wrt="v")
    plain = adgen.hessian(lambda v: np.sin(v) * (0.25 * np.sin(v) ** 2 + 0.5 * np.sin(v) - 1.0) + 0.3)
    assert adgen.grad(function, wrt="v")(0.4, C) == pytest.approx(plain(0.4))
    assert adgen.jvp(function, wrt="v")(0.4, C, tangent=1.0)[1] == pytest.approx(plain(0.4))


@pytest.mark.parametrize("operator", [adgen.hessian, lambda f, wrt: adgen.grad(adgen.grad(f, wrt=wrt), wrt=wrt)])
def test_no_second_derivative(operator: Callable[..., Any]) -> None:
    """A derivative function in C is not differentiated, whichever way is taken."""
    for function, name in ((loop, "drag_vjp"), (back, "drag_vjp"), (forth, "drag_jvp")):
        with pytest.raises(AdgenError, match=f"the C function `{name}` has no derivative") as caught:
            operator(function, wrt="v")(0.4, C)
        assert caught.value.code == "AD156"


def alone(v, c):
    return drag_alone(v, c) * v


def constant(v, c):
    return drag_alone(2.0, c) * v


def test_no_derivative() -> None:
    """Without rules there is none, and none is needed for what does not vary."""
    for operator in (adgen.grad, lambda f: lambda v, c: adgen.jvp(f)(v, c, tangent=(1.0, C))):
        with pytest.raises(AdgenError, match="the C function `drag` has no derivative"):
            operator(alone)(0.4, C)
    assert adgen.grad(constant, wrt="v")(0.4, C) == drag(2.0, C)
    assert adgen.jvp(constant, wrt="v")(0.4, C, tangent=1.0)[1] == drag(2.0, C)


def test_no_pattern() -> None:
    """Nothing is known of what an element depends on, and nothing is guessed."""
    with pytest.raises(AdgenError) as caught:
        adgen.jacobian(lambda x: wave(2.0, x, False), sparse=True)(X)
    assert caught.value.code == "AD165"
    dense = adgen.jacobian(lambda x: wave(2.0, x, False))(X)
    assert np.allclose(dense, np.diag(2.0 * np.cos(2.0 * X)), rtol=1e-14)


def test_text_of_the_ir() -> None:
    """It reads back, and cannot be run then."""
    lowered = lower_function(loop, signature_specs(loop)).function
    read = parse_function(str(lowered), {**ops.TABLE, **{row.name: row for row in CORE_ROWS}})
    assert read == lowered
    verify(read)
    with pytest.raises(InternalError, match="read from text"):
        run(read, (0.4, C))


HERE: dict[str, Any] = {"header": "external/drag.h"}


@pytest.mark.parametrize(
    ("given", "code", "text"),
    [
        ({"header": "external/nowhere.h", "arguments": ()}, "AD157", "nowhere.h` cannot be read: No such file"),
        ({**HERE, "sources": ["drag.c"], "arguments": ()}, "AD157", "drag.c` cannot be read"),
        ({**HERE, "sources": [__file__, FOLDER.parent / "../test_corpus.py"], "arguments": ()}, "AD157", "cannot be"),
        ({**HERE, "arguments": ("v: q64",)}, "AD157", "`v: q64` is not the type of an argument or result"),
        ({**HERE, "arguments": ("v: c128",)}, "AD157", "`v: c128` is not the type"),
        ({**HERE, "arguments": ("v: f64", "v: f64")}, "AD157", "two arguments of `drag` have the same name"),
        ({**HERE, "arguments": ("f64[n]",), "result": "f64[m]"}, "AD157", "the extent `m` of a result of `drag`"),
        ({**HERE, "arguments": ("f64",), "result": ()}, "AD157", "`drag` has no result"),
        ({**HERE, "arguments": ("f64",), "vjp": lambda x: x}, "AD147", "the vjp rule of `drag` must take 3 arguments"),
    ],
)
def test_wrong_definitions(given: dict[str, Any], code: str, text: str) -> None:
    """They are refused where they stand."""
    with pytest.raises(AdgenError) as caught:
        adgen.external("drag", **given)
    assert caught.value.code == code and text in str(caught.value)


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("drag", {"sources": []}, "`drag` cannot be loaded: undefined symbol: drag"),
        ("lost", {"arguments": ("v: f64",)}, "`lost` cannot be loaded: undefined symbol: lost"),
        ("none", {}, "does not declare `double none(double v, const double *c, int64_t c_n0)`"),
        ("drag", {"arguments": ("v: f32", "c: f64[n]")}, "does not declare `double drag(float v, const double *c"),
        ("drag", {"result": "f64[n]"}, "does not declare `void drag(double v, const double *c, int64_t c_n0, double *"),
        ("drag", {"sources": ["external/drag.c"]}, "`drag.c` does not compile:\n"),
        ("drag", {"vjp": "drag_jvp"}, "does not declare `void drag_jvp(double v, "),
    ],
)
def test_wrong_files(name: str, given: dict[str, Any], text: str) -> None:
    """What the compiler says is an error at the user's line, of the first use."""
    found = adgen.external(name, **{**DRAG, **given})

    def use(v, c):
        return found(v, c) if len(found.__signature__.parameters) == 2 else found(v)

    with pytest.raises(AdgenError) as caught:
        adgen.jit(use)(np.float32(0.5) if "f32" in str(given) else 0.5, C)
    assert caught.value.code == "AD506" and text in str(caught.value)
    assert caught.value.span is not None and caught.value.span.file == __file__


@pytest.mark.parametrize(
    ("call", "arguments", "code", "text"),
    [
        (lambda v, c: drag(v), (0.5, C), "AD403", "missing a required argument: 'c'"),
        (lambda v, c: drag(v, c, c), (0.5, C), "AD403", "too many positional arguments"),
        (lambda v, c: drag(v, c), (0.5, C.astype(np.float32)), "AD158", "must be an array f64[n], not an array f32[:]"),
        (lambda v, c: drag(v, c), (0.5, np.array([1, 2])), "AD158", "must be an array f64[n], not an array i64[:]"),
        (lambda v, c: drag(v, c), (0.5, np.ones((2, 2))), "AD158", "must be an array f64[n], not an array f64[:,:]"),
        (lambda v, c: drag(v, c), (0.5, 0.5), "AD158", "must be an array f64[n], not a float"),
        (lambda v, c: drag(c, c), (0.5, C), "AD158", "argument `v` of the C function `drag` must be a number of type"),
        (lambda v, c: drag(1j * v, c), (0.5, C), "AD158", "must be a number of type f64, not a complex"),
        (lambda v, c: drag(v, None), (0.5, C), "AD158", "must be an array f64[n], not None"),
        (
            lambda v, c: wave(v, c, v),
            (0.5, C),
            "AD158",
            "`twice` of the C function `wave` must be a number of type bool",
        ),
    ],
)
def test_wrong_calls(call: Callable[..., Any], arguments: tuple[Any, ...], code: str, text: str) -> None:
    """The arguments must be what was declared; in Python they are refused too."""
    with pytest.raises(AdgenError) as caught:
        adgen.jit(call)(*arguments)
    assert caught.value.code == code and text in str(caught.value)
    with pytest.raises(TypeError):
        call(*arguments)


def test_extents_are_checked() -> None:
    """Extents of one name are equal, those with a number have that."""
    fixed = adgen.external("drag", **{**DRAG, "arguments": ("v: f64", "c: f64[4]")}, vjp="drag_vjp")
    for function in (fixed, adgen.grad(lambda v, c: fixed(v, c))):
        with pytest.raises(ValueError, match="`drag`: `c` has extent 3 along axis 0, not 4"):
            function(0.5, C[:3])
    assert adgen.grad(lambda v, c: fixed(v, c), wrt="v")(0.5, C) == slope(0.5, C)


# -- the command -------------------------------------------------------------------------------------------------------

MODEL = """\
import numpy as np
import adgen

drag = adgen.external(
    "drag", header="drag.h", sources=["drag.c", "power.h"], arguments=("v: f64", "c: f64[n]"), vjp={rule!r}
)


def model(v: float, c: "f64[n]"):
    return drag(np.sin(v), c) ** 2
"""


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "adgen", *arguments]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, env=dict(os.environ))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a model and its C."""
    for file in ("drag.h", "drag.c", "power.h"):
        shutil.copy(FOLDER / file, tmp_path)
    (tmp_path / "model.py").write_text(MODEL.format(rule="drag_vjp"))
    return tmp_path


def test_a_wrong_rule_is_caught(project: Path) -> None:
    """`adgen check` and `adgen compile` compare the rule with differences."""
    assert command(project, "check", "model.py").returncode == 0
    assert command(project, "fuzz", "model.py", "--variants", "1").returncode == 0
    (project / "model.py").write_text(MODEL.format(rule="wrong_vjp"))
    for arguments in (["check", "model.py"], ["compile", "model.py"]):
        done = command(project, *arguments)
        assert done.returncode == 1 and "AD189" in done.stderr and "differences is off by" in done.stderr
    assert not (project / "build").exists()


def test_a_package_builds_without_python(project: Path) -> None:
    """It holds the files, includes the header, and follows every change of them."""
    assert command(project, "compile", "model.py", "--example-main").returncode == 0
    package = project / "build/model_ad"
    assert (package / "external/drag.c").read_bytes() == (FOLDER / "drag.c").read_bytes()
    assert '#include "external/drag.h"' in (package / "model.c").read_text()
    build = ["cc", "main.c", "model.c", "external/drag.c", "-lm", "-o", "main"]
    subprocess.run(build, cwd=package, check=True, capture_output=True)
    printed = subprocess.run([package / "main"], check=True, capture_output=True, text=True).stdout
    report = json.loads((package / "report.json").read_text())
    assert "v_bar_out = " in printed and report["functions"][0]["checks"]
    assert "cached" in command(project, "compile", "model.py", "--example-main").stdout
    before = adgen.load(package).model(0.4, C)
    (project / "power.h").write_text((FOLDER / "power.h").read_text().replace("result = 1.0", "result = 2.0"))
    again = command(project, "compile", "model.py", "--example-main")
    assert again.returncode == 0 and "cached" not in again.stdout
    assert adgen.load(package).model(0.4, C) == pytest.approx(4.0 * before)
