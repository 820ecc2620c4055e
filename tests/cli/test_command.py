"""The command on good inputs: what it writes, what it says, how long it takes."""

from __future__ import annotations

import ast
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

FILE = """
import math

def wave(x: float, k: "f64[n]") -> float:
    total = 0.0
    for i in range(len(k)):
        total += math.sin(k[i] * x)
    return total

def _private(x):
    return x
"""


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command."""
    return subprocess.run(
        [sys.executable, "-m", "adgen", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        timeout=120,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with `wave.py` compiled into `build`, and what the command said."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "wave.py").write_text(FILE)
    done = run("compile", "wave.py", "--emit", "value,grad,jvp,vjp,hvp", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_files(built: tuple[Path, str]) -> None:
    """The package holds module, stubs, C, header, library, the IR of every stage, and a report."""
    names = {str(path.relative_to(built[0] / "build" / "wave_ad")) for path in (built[0] / "build").rglob("*.*")}
    assert {"__init__.py", "__init__.pyi", "wave.c", "wave.h", "report.json", "ir/wave.lowered.ir"} <= names
    assert {"ir/wave.grad.ir", "ir/wave.grad.optimised.ir", "ir/wave.jvp.ir"} <= names
    assert any(name.endswith(".so") for name in names)


def test_stubs_parse(built: tuple[Path, str]) -> None:
    """The stubs are Python, and name every entry point."""
    tree = ast.parse((built[0] / "build" / "wave_ad" / "__init__.pyi").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert functions == {"wave", "wave_grad", "wave_value_and_grad", "wave_jvp", "wave_vjp", "wave_hvp"}


def test_report(built: tuple[Path, str]) -> None:
    """The report holds operation counts, and checks that passed."""
    (function,) = json.loads((built[0] / "build" / "wave_ad" / "report.json").read_text())["functions"]
    counts = {entry["product"]: entry["operations"] for entry in function["entries"]}
    assert 0 < counts["value"] < counts["grad"] <= 5 * counts["value"]
    assert {check["product"] for check in function["checks"]} >= {"value", "jvp, vjp", "grad", "hvp"}
    assert all(check["passed"] for check in function["checks"])


def test_said(built: tuple[Path, str]) -> None:
    """The command says what it made, of which types, at what cost, and how well it checked."""
    for words in ("wave(x: f64, k: f64[n])", "wave_grad", "operations", "check", "time"):
        assert words in built[1]


def test_package_works_anywhere(built: tuple[Path, str], tmp_path: Path) -> None:
    """The package is imported from its folder alone, and loads nothing that compiles."""
    code = (
        "import sys, numpy as np, wave_ad\n"
        "k = np.array([1.0, 2.0])\n"
        "g = wave_ad.wave_grad(0.5, k)\n"
        "assert abs(g.x - (np.cos(0.5) + 2 * np.cos(1.0))) < 1e-14\n"
        "heavy = {'sympy', 'jinja2', 'typer', 'rich', 'adgen.frontend.lower', 'adgen.passes', 'adgen.emit'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    env = {**os.environ, "PYTHONPATH": f"{built[0] / 'build'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def processor_seconds(*arguments: str, cwd: Path) -> tuple[float, str]:
    """The processor time of the command with its children, which other processes do not disturb, and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(*arguments, cwd=cwd)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def test_nothing_is_compiled_twice(built: tuple[Path, str], tmp_path: Path) -> None:
    """The same request again is answered from the cache, and like `--help` in a part of the time of a compile."""
    (tmp_path / "wave.py").write_text(FILE + "\n# not compiled before\n")
    cold, _ = processor_seconds("compile", "wave.py", cwd=tmp_path)
    warm, said = processor_seconds("compile", "wave.py", "--emit", "value,grad,jvp,vjp,hvp", cwd=built[0])
    assert "(cached)" in said and warm < 0.5 * cold
    helped, said = processor_seconds("--help", cwd=tmp_path)
    assert "compile" in said and helped < 0.5 * cold


def test_cache_sees_helpers_change(tmp_path: Path) -> None:
    """A change in another file that the function reads is not answered from the cache."""
    (tmp_path / "helper.py").write_text("def g(x):\n    return 2.0 * x\n")
    (tmp_path / "model.py").write_text("from helper import g\ndef f(x: float):\n    return g(x)\n")
    assert run("compile", "model.py", cwd=tmp_path).returncode == 0
    (tmp_path / "helper.py").write_text("def g(x):\n    return 5.0 * x\n")
    done = run("compile", "model.py", cwd=tmp_path)
    assert done.returncode == 0 and "(cached)" not in done.stdout
    code = "import model_ad; assert model_ad.f(1.0) == 5.0"
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "build", env={**os.environ}).returncode == 0


@pytest.mark.parametrize("stage", ["python", "ir", "tangent", "adjoint", "c"])
def test_show(stage: str, built: tuple[Path, str]) -> None:
    """Every stage of a function can be looked at."""
    done = run("show", "wave.py", "wave", "--stage", stage, cwd=built[0])
    assert done.returncode == 0 and "wave" in done.stdout, done.stderr


def test_show_side_by_side(built: tuple[Path, str]) -> None:
    """Python left, the adjoint's C right."""
    done = run("show", "wave.py", "wave", "--side-by-side", cwd=built[0])
    assert "total += math.sin(k[i] * x)" in done.stdout and "x_bar" in done.stdout


def test_check(built: tuple[Path, str]) -> None:
    """`adgen check` reports every layer."""
    done = run("check", "wave.py", cwd=built[0])
    assert done.returncode == 0, done.stderr
    assert "dot product" in done.stdout and "differences" in done.stdout


def test_check_at_a_kink(tmp_path: Path) -> None:
    """It is said, with the line."""
    (tmp_path / "step.py").write_text(
        "def f(x: float) -> float:\n    y = (x + 1.0) - 1.0\n    return x if y > x + 1e-9 else 2.0 * x\n"
    )
    done = run("check", "step.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "at a kink, line 3: greater(" in done.stdout


def test_doctor(tmp_path: Path) -> None:
    """`adgen doctor` finds the compiler, and says what is missing when there is none."""
    assert run("doctor", cwd=tmp_path).returncode == 0
    done = run("doctor", cwd=tmp_path, PATH="/nonexistent", CC="")
    assert done.returncode == 1 and "MISSING" in done.stdout and "install" in done.stdout


def test_doctor_without_cuda(tmp_path: Path) -> None:
    """All is well without nvcc and without a device; what to do is said."""
    done = run("doctor", cwd=tmp_path, NVCC="/nonexistent/nvcc")
    assert done.returncode == 0 and "without  nvcc" in done.stdout and "set NVCC to one" in done.stdout
    assert "CUDA device" in done.stdout and "cuBLAS" in done.stdout


def test_unchecked(tmp_path: Path) -> None:
    """`--unchecked` drops the index checks from the C code."""
    (tmp_path / "pick.py").write_text('def f(x: "f64[n]", i: int) -> float:\n    return x[i] ** 2\n')
    assert run("compile", "pick.py", "--out", "safe", cwd=tmp_path).returncode == 0
    assert run("compile", "pick.py", "--out", "fast", "--unchecked", cwd=tmp_path).returncode == 0
    safe, fast = ((tmp_path / out / "pick_ad" / "pick.c").read_text() for out in ("safe", "fast"))
    assert len(fast) < len(safe)


def test_wrt_and_arg(tmp_path: Path) -> None:
    """`--wrt` and `--arg` choose the gradients and the types."""
    (tmp_path / "dot.py").write_text("import numpy as np\ndef f(a, b, c):\n    return c * np.dot(a, b)\n")
    types = ("--arg", "a: f64[n]", "--arg", "b: f64[n]", "--arg", "c: float")
    assert run("compile", "dot.py", "f", "--wrt", "b,a", *types, cwd=tmp_path).returncode == 0
    code = (
        "import numpy as np, dot_ad; g = dot_ad.f_grad(np.ones(3), np.arange(3.0), 2.0); assert g._fields == ('b', 'a')"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "build", env={**os.environ}).returncode == 0


def test_static(tmp_path: Path) -> None:
    """What decides the structure is compiled for its default, or for the value that `--static` gives."""
    source = "def f(x: float, full: bool = False):\n    return (x, x * x) if full else x\n"
    (tmp_path / "option.py").write_text(source)
    done = run("compile", "option.py", "--out", "plain", cwd=tmp_path)
    assert done.returncode == 0 and "full=False" in done.stdout
    assert run("compile", "option.py", "--static", "full=True", "--out", "full", cwd=tmp_path).returncode == 0
    for out, call in (("plain", "f(3.0) == 3.0"), ("full", "f(3.0, True) == (3.0, 9.0)")):
        code = f"import option_ad; assert option_ad.{call}"
        assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path / out, env={**os.environ}).returncode == 0


def test_skipped_functions_are_named(tmp_path: Path) -> None:
    """In a whole file, a function that cannot be compiled is left out and the reason is shown."""
    (tmp_path / "mixed.py").write_text(
        "def f(x: float):\n    return x * x\ndef g(x: float):\n    print(x)\n    return x\n"
    )
    done = run("compile", "mixed.py", cwd=tmp_path)
    assert done.returncode == 0 and "g: skipped" in done.stdout and "`print`" in done.stdout
