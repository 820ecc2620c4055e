"""`adgen compile --profile embedded`: C99 that takes no memory, has the numbers of the usual package, and says all."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from tests.embedded import harness

RNG = np.random.default_rng(7)


@dataclass(frozen=True)
class Case:
    """A function of an example, argument types with extents, and values; `fixed`: all sizes are numbers."""

    file: str
    function: str
    types: tuple[str, ...]
    values: dict[str, Any]
    fixed: bool = True

    def __str__(self) -> str:
        return f"{self.file}-{self.function}"


CASES = [
    Case("rosenbrock", "rosenbrock", ("x: f64[10]",), {"x": RNG.normal(size=10)}),
    Case(
        "robot_arm",
        "miss",
        ("angles: f64[5]", "lengths: f64[5]"),
        {"angles": RNG.normal(size=5), "lengths": RNG.uniform(0.5, 1.0, 5), "target": RNG.normal(size=3)},
    ),
    Case(
        "gaussian_mixture",
        "mixture",
        ("logits: f64[3]", "means: f64[3,2]", "log_scales: f64[3,2]", "points: f64[9,2]"),
        {
            "logits": RNG.normal(size=3),
            "means": RNG.normal(size=(3, 2)),
            "log_scales": RNG.normal(size=(3, 2)),
            "points": RNG.normal(size=(9, 2)),
        },
    ),
    Case(
        "kalman",
        "log_likelihood",
        ("measurements: f64[12]",),
        {"log_process": -0.3, "log_measurement": 0.2, "interval": 0.7, "measurements": RNG.normal(size=12)},
    ),
    Case(
        "lennard_jones",
        "energy",
        ("positions: f64[6,3]",),
        {"positions": RNG.normal(size=(6, 3)) * 1.5, "epsilon": 1.1, "sigma": 0.9, "cutoff": 3.0},
    ),
    Case(
        "heat",
        "misfit",
        (),
        {
            "temperature": RNG.normal(size=7),
            "conductivity": RNG.uniform(0.5, 1.0, 7),
            "target": RNG.normal(size=7),
            "steps": 4,
            "dt": 0.2,
        },
        fixed=False,
    ),
]


def gradient(values: Any) -> np.ndarray[Any, Any]:
    parts = values if isinstance(values, tuple) else (values,)
    return np.concatenate([np.ravel(part) for part in parts])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_numbers_of_the_usual_package(case: Case, tmp_path: Path) -> None:
    """Value and gradient, with static memory, from C99 without warnings; nothing is called that is not listed."""
    file = harness.EXAMPLES / f"{case.file}.py"
    usual = adgen.load(harness.package(file, case.function, tmp_path / "usual", "hosted", case.types, check=False))
    folder = harness.package(file, case.function, tmp_path / "embedded", arguments=case.types)
    entry = harness.entry_of(folder, "value_and_grad")
    found = harness.run(folder, entry, case.values)
    value, wanted = getattr(usual, f"{case.function}_value_and_grad")(**case.values)
    assert found.pop("status") == [0]
    names = [argument["name"] for argument in entry["arguments"] if argument["direction"] == "out"]
    assert found[names[0]] == pytest.approx(value, rel=1e-12)
    got = np.concatenate([found[name] for name in names[1:]])
    assert got == pytest.approx(gradient(wanted), rel=1e-10, abs=1e-12)

    manifest = harness.manifest_of(folder)
    allowed = {*manifest["libm"], *manifest["libc"], "memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"}
    for options in (["-O0"], ["-O2"]):
        assert harness.undefined(harness.object_file(folder, options=options)) <= allowed
    text = (folder / f"{case.file}.c").read_text()
    assert not re.search(r"\b(malloc|calloc|realloc|free|alloca|omp|simd|ADGEN_BLAS)\b", re.sub(r"/\*.*?\*/", "", text))
    rooms = [each["workspace"]["bytes"] for each in manifest["entry_points"]]
    assert (None not in rooms) == case.fixed


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.skipif(shutil.which(harness.ARM) is None, reason="needs arm-none-eabi-gcc")
def test_arm(case: Case, tmp_path: Path) -> None:
    """The compiler for microcontrollers takes it too, and needs what is listed besides its own arithmetic."""
    file = harness.EXAMPLES / f"{case.file}.py"
    folder = harness.package(file, case.function, tmp_path, arguments=case.types, check=False)
    built = harness.object_file(folder, (harness.ARM, "-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft"))
    manifest = harness.manifest_of(folder)
    needed = {name for name in harness.undefined(built, "arm-none-eabi-nm") if not name.startswith("__")}
    assert needed <= {*manifest["libm"], *manifest["libc"], "memcpy", "memset", "memmove"}


def test_workspace_is_exact(tmp_path: Path) -> None:
    """The macro is what the function tells, and a workspace of that size is enough."""
    case = CASES[-1]
    types = ("temperature: f64[40]", "conductivity: f64[40]", "target: f64[40]")
    file = harness.EXAMPLES / "heat.py"
    folder = harness.package(file, "misfit", tmp_path, arguments=types, statics=("steps=6",), check=False)
    module = adgen.load(folder)
    values = {**case.values, **{name: RNG.normal(size=40) for name in ("temperature", "conductivity", "target")}}
    del values["steps"]
    entry = harness.entry_of(folder, "value_and_grad")
    assert entry["workspace"]["bytes"] > 0 and entry["workspace"]["bytes"] % 64 == 0
    found = harness.run(folder, entry, values)
    value, wanted = module.misfit_value_and_grad(**values, steps=6)
    assert found["out"] == pytest.approx(value, rel=1e-12)
    got = np.concatenate([numbers for name, numbers in found.items() if name.endswith("_bar") or name == "dt_bar_out"])
    assert got == pytest.approx(gradient(wanted), rel=1e-10)
    header = (folder / "heat.h").read_text()
    assert f"#define MISFIT_VALUE_AND_GRAD_WORK_BYTES {entry['workspace']['bytes']}\n" in header


def test_status_codes(tmp_path: Path) -> None:
    """A check that fails gives the number that the manifest explains."""
    source = tmp_path / "table.py"
    source.write_text('def at(x: "f64[4]", k: int) -> float:\n    assert k != 2, "not two"\n    return x[k] ** 2\n')
    folder = harness.package(source, "at", tmp_path / "out")
    entry = harness.entry_of(folder, "value")
    for k, exception, line in ((9, "IndexError", 3), (2, "AssertionError", 2)):
        status = int(harness.run(folder, entry, {"x": np.arange(4.0), "k": k})["status"][0])
        (meaning,) = [each for each in entry["status"] if each["code"] == status]
        assert (meaning["exception"], meaning["line"], meaning["file"]) == (exception, line, "table.py")
    assert harness.run(folder, entry, {"x": np.arange(4.0), "k": -1})["out"] == [9.0]


def test_manifest(tmp_path: Path) -> None:
    """It is what the header says, and counts stack and workspace."""
    folder = harness.package(harness.EXAMPLES / "robot_arm.py", "miss", tmp_path, arguments=CASES[1].types)
    manifest = harness.manifest_of(folder)
    header = " ".join((folder / "robot_arm.h").read_text().split())
    assert manifest["standard"] == "C99" and manifest["real"] == "double" and manifest["libm"] == ["cos", "sin"]
    assert [entry["product"] for entry in manifest["entry_points"]] == ["value", "grad", "value_and_grad"]
    for entry in manifest["entry_points"]:
        assert f"{entry['signature']};" in header
        assert entry["stack"]["bytes"] > 0 and "-fstack-usage" in entry["stack"]["by"]
        assert f"stack: {entry['stack']['bytes']} bytes at most" in header
        assert entry["workspace"]["formula"] == "0" and entry["workspace"]["bytes"] == 0
        shapes = {argument["name"]: argument.get("extents") for argument in entry["arguments"]}
        assert shapes["angles"] == [5] and shapes["target"] == [3]
        if entry["product"] != "value":
            assert shapes["angles_bar"] == [5] and shapes["target_bar"] == [3]


REFUSED = [
    (
        "def f(x: float) -> float:\n    while x > 1.0:\n        x = x * 0.5 * x\n    return x\n",
        "AD343",
        "`f_grad` records a `while` whose iterations cannot be counted",
        2,
    ),
    (
        "def f(x: float, n: int) -> float:\n    return g(x, n)\n\n\n"
        "def g(x, n):\n    return x if n <= 0 else x * g(x, n - 1)\n",
        "AD344",
        "calls itself, and C of the profile `embedded` has no recursion",
        6,
    ),
]


@pytest.mark.parametrize(("text", "code", "message", "line"), REFUSED)
def test_refused(text: str, code: str, message: str, line: int, tmp_path: Path) -> None:
    """What needs memory that grows or a stack without a bound is refused at its line, and nothing is written."""
    source = tmp_path / "refused.py"
    source.write_text(text)
    with pytest.raises(AdgenError) as caught:
        harness.package(source, "f", tmp_path / "out")
    assert caught.value.code == code and message in str(caught.value)
    assert caught.value.span is not None and caught.value.span.line == line
    assert not (tmp_path / "out").exists()


def test_a_while_in_forward_mode(tmp_path: Path) -> None:
    """Forward mode records nothing."""
    folder = harness.package(harness.EXAMPLES / "newton.py", "voltage", tmp_path, emit="value,jvp")
    entry = harness.entry_of(folder, "jvp")
    found = harness.run(folder, entry, {"source": 2.0, "resistance": 0.5, "source_dot": 1.0, "resistance_dot": 0.0})
    (v,) = found["out"]
    assert found["out_dot_out"] == pytest.approx(1.0 / (1.0 + 0.5 * np.exp(v)))


def test_unknown_profile() -> None:
    """The name is checked before anything is read."""
    with pytest.raises(AdgenError, match="there is no profile `embeded`") as caught:
        harness.package(Path("nowhere.py"), None, Path("nowhere"), "embeded")
    assert caught.value.code == "AD197" and "did you mean `embedded`?" in str(caught.value)


# -- single precision --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[:6], ids=str)
def test_single_precision(case: Case, tmp_path: Path) -> None:
    """Everything is `float`: types, literals, functions; the numbers are right as far as that goes."""
    file = harness.EXAMPLES / f"{case.file}.py"
    usual = adgen.load(harness.package(file, case.function, tmp_path / "usual", "hosted", case.types, check=False))
    folder = harness.package(file, case.function, tmp_path / "single", arguments=case.types, float32=True)
    text = re.sub(r"/\*.*?\*/", "", (folder / f"{case.file}.c").read_text(), flags=re.DOTALL)
    assert not re.search(r"\bdouble\b|[^\w.]\d+\.\d+(e-?\d+)?(?![\w.])", text)
    manifest = harness.manifest_of(folder)
    assert manifest["real"] == "float" and all(name.endswith("f") for name in manifest["libm"])
    entry = harness.entry_of(folder, "value_and_grad")
    found = harness.run(folder, entry, case.values)
    value, wanted = getattr(usual, f"{case.function}_value_and_grad")(**case.values)
    names = [argument["name"] for argument in entry["arguments"] if argument["direction"] == "out"]
    scale = np.max(np.abs(gradient(wanted)))
    assert found[names[0]] == pytest.approx(value, rel=1e-3)
    assert np.concatenate([found[name] for name in names[1:]]) == pytest.approx(gradient(wanted), abs=1e-3 * scale)


def test_single_precision_from_python(tmp_path: Path) -> None:
    """The package takes float32, in the usual profile too."""
    file = harness.EXAMPLES / "rosenbrock.py"
    module = adgen.load(harness.package(file, None, tmp_path, "hosted", float32=True))
    x = CASES[0].values["x"].astype(np.float32)
    found = module.rosenbrock_grad(x)
    assert found.dtype == np.float32
    with pytest.raises(AdgenError, match="must be an array f32"):
        module.rosenbrock_grad(CASES[0].values["x"])
    options = harness.package(harness.EXAMPLES / "black_scholes.py", "call", tmp_path, "hosted", float32=True)
    call = adgen.load(options).call
    spread = 0.2 * math.sqrt(0.5)
    d1 = (math.log(100.0 / 95.0) + (0.03 + 0.02) * 0.5) / spread
    normal = [0.5 * math.erfc(-d / math.sqrt(2.0)) for d in (d1, d1 - spread)]
    wanted = 100.0 * normal[0] - 95.0 * math.exp(-0.03 * 0.5) * normal[1]
    assert call(100.0, 95.0, 0.5, 0.03, 0.2) == pytest.approx(wanted, rel=1e-5)  # numbers of Python become floats
