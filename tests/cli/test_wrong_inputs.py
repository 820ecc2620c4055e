"""Wrong inputs: each gives one clear message, a non-zero status, no traceback, and leaves nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

INNER_CLASS = "def f(x: float):\n    class A:\n        pass\n    return x\n"
GOOD = "def f(x: float) -> float:\n    return x * x\n"


@dataclass(frozen=True)
class Wrong:
    """A command line on a file, and what the message must hold; `{out}` and `{file}` are filled in."""

    name: str
    source: str
    message: str
    arguments: tuple[str, ...] = ("compile", "{file}", "--out", "{out}")
    status: int = 1
    line: int | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def compile_with(*more: str) -> tuple[str, ...]:
    return ("compile", "{file}", *more, "--out", "{out}")


CASES = (
    Wrong("unsupported_statement", INNER_CLASS, "class", line=2),
    Wrong("undefined_name", "def f(x: float):\n    y = x + 1.0\n    return y * zz\n", "`zz`", line=3),
    Wrong("misspelt_numpy", "import numpy as np\ndef f(x: float):\n    return np.snh(x)\n", "snh", line=3),
    Wrong("wrong_rank", "def f(x: float):\n    return x[0] * 2.0\n", "", line=2),
    Wrong("too_many_indices", 'def f(x: "f64[n]"):\n    return x[0, 1, 2]\n', "ind", line=2),
    Wrong("integer_wrt", "def f(x: float, k: int):\n    return x * k\n", "k", compile_with("--wrt", "k")),
    Wrong("unknown_wrt", GOOD, "`y`", compile_with("--wrt", "y")),
    Wrong("repeated_wrt", GOOD, "twice", compile_with("--wrt", "x,x")),
    Wrong("missing_file", GOOD, "no file", ("compile", "{file}.missing.py", "--out", "{out}")),
    Wrong("folder_for_file", GOOD, "is a folder", ("compile", "{folder}", "--out", "{out}")),
    Wrong("syntax_error", "def f(x):\n    return x +\n", "not valid Python", line=2),
    Wrong("not_text", "\x00\x01", "not valid Python"),
    Wrong("import_fails", "K = 1 / 0\ndef f(x: float):\n    return x\n", "ZeroDivisionError", line=1),
    Wrong("missing_module", "import no_such_module_at_all\n", "no_such_module_at_all", line=1),
    Wrong("no_such_function", GOOD, "`g`", ("compile", "{file}", "g", "--out", "{out}")),
    Wrong("no_function", "x = 1\n", "no public function"),
    Wrong("not_a_function", "K = 2.0\n" + GOOD, "not a function", ("compile", "{file}", "K", "--out", "{out}")),
    Wrong("malformed_arg", GOOD, "name: type", compile_with("--arg", "x=float")),
    Wrong("unknown_type", GOOD, "quaternion", compile_with("--arg", "x: quaternion")),
    Wrong("arg_for_nobody", GOOD, "`y`", compile_with("--arg", "y: f64")),
    Wrong("malformed_static", GOOD, "name=value", compile_with("--static", "x: 3")),
    Wrong("static_for_nobody", GOOD, "`y`", compile_with("--static", "y=3")),
    Wrong("undecided", "def f(x: float, k: int):\n    return x if k else (x, x)\n", "--static k=...", line=2),
    Wrong("unknown_product", GOOD, "gradient", compile_with("--emit", "gradient")),
    Wrong("endless_recursion", "def f(x: float):\n    return f(x - 1.0)\n", "recurs"),
    Wrong("no_compiler", GOOD, "compiler", environment={"PATH": "/nonexistent", "CC": ""}),
    Wrong("unwritable_out", GOOD, "cannot be written", ("compile", "{file}", "--out", "{file}/inside")),
    Wrong("no_file_given", GOOD, "file", ("compile",), status=2),
    Wrong("unknown_option", GOOD, "--fast", ("compile", "{file}", "--fast"), status=2),
    Wrong("unknown_command", GOOD, "differentiate", ("differentiate", "{file}"), status=2),
    Wrong("unknown_stage", GOOD, "assembly", ("show", "{file}", "f", "--stage", "assembly"), status=2),
    Wrong("show_nothing", GOOD, "`h`", ("show", "{file}", "h", "--stage", "c")),
    Wrong("check_missing", GOOD, "no file", ("check", "{file}.missing.py")),
    Wrong("integer_result", "def f(k: int) -> int:\n    return k + 1\n", "", compile_with("--wrt", "k")),
)  # fmt: skip


def run(arguments: list[str], cwd: Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The real command, with a cache of its own."""
    env = {**os.environ, "ADGEN_CACHE_DIR": str(cwd / "cache"), **(environment or {})}
    return subprocess.run(
        [sys.executable, "-m", "adgen", *arguments], capture_output=True, text=True, cwd=cwd, env=env, timeout=120
    )


def leftovers(out: Path) -> list[str]:
    return sorted(str(path) for path in out.rglob("*")) if out.is_dir() else []


@pytest.mark.parametrize("case", CASES, ids=str)
def test_wrong_input(case: Wrong, tmp_path: Path) -> None:
    """One message that says what is wrong and where, a non-zero status, no traceback, nothing written."""
    file, out = tmp_path / "model.py", tmp_path / "out"
    file.write_text(case.source)
    done = run(
        [text.format(file=file, out=out, folder=tmp_path) for text in case.arguments], tmp_path, case.environment
    )
    assert done.returncode == case.status, done.stdout + done.stderr
    assert case.message in done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr
    if case.status == 1:
        assert done.stderr.startswith("error[AD") and done.stderr.count("error[") == 1
        assert done.stdout == ""
    if case.line is not None:
        assert f"model.py:{case.line}:" in done.stderr and f"\n{case.line} | " in done.stderr
    assert leftovers(out) == []


WAYS = [(signal.SIGTERM, 0.3), (signal.SIGKILL, 0.6), (signal.SIGINT, 1.0)]


@pytest.mark.parametrize(("way", "delay"), WAYS, ids=lambda way: getattr(way, "name", str(way)))
def test_killed_in_the_middle(way: signal.Signals, delay: float, tmp_path: Path) -> None:
    """A compile that is killed leaves no package or a whole one, and the next one succeeds and cleans up."""
    file, out = tmp_path / "model.py", tmp_path / "out"
    lines = "".join(f"    y = y * x + {k}.0\n" for k in range(150))
    file.write_text(f"def f(x: float):\n    y = x\n{lines}    return y\n")
    env = {**os.environ, "ADGEN_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "adgen", "compile", str(file), "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
    time.sleep(delay)
    process.send_signal(way)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    if (out / "model_ad").exists():
        assert (out / "model_ad" / "report.json").is_file() and (out / "model_ad" / "__init__.py").is_file()
    done = run(["compile", str(file), "--out", str(out)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in out.iterdir()] == ["model_ad"]


def test_old_package_survives_a_failure(tmp_path: Path) -> None:
    """When a compile fails, the package of the last one that succeeded is still there."""
    file, out = tmp_path / "model.py", tmp_path / "out"
    file.write_text(GOOD)
    assert run(["compile", str(file), "--out", str(out)], tmp_path).returncode == 0
    before = leftovers(out)
    file.write_text("def f(x: float):\n    return x * zz\n")
    assert run(["compile", str(file), "--out", str(out)], tmp_path).returncode == 1
    assert leftovers(out) == before


def test_foreign_folder(tmp_path: Path) -> None:
    """A folder of the package's name that adgen did not write is not touched."""
    file, out = tmp_path / "model.py", tmp_path / "out"
    file.write_text(GOOD)
    (out / "model_ad").mkdir(parents=True)
    (out / "model_ad" / "notes.txt").write_text("mine")
    done = run(["compile", str(file), "--out", str(out)], tmp_path)
    assert done.returncode == 1 and "was not written by adgen" in done.stderr
    assert (out / "model_ad" / "notes.txt").read_text() == "mine"
