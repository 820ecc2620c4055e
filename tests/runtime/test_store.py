"""What is compiled once is found again: in the process, and by another process that imports no compiler."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.operators import specialise, store

SCALE = 2.0
WEIGHTS = np.array([1.0, 2.0])

PROGRAM = """
import sys
import numpy as np
import adgen

SCALE = float(sys.argv[1])

def helper(x):
    return SCALE * x * x

def f(x, y):
    if x < 0.0:
        raise ValueError("negative")
    return helper(x) * y

print(*adgen.grad(f)(3.0, 1.0), adgen.hessian(f, wrt=0)(3.0, 1.0))
try:
    adgen.grad(f)(-3.0, 1.0)
except ValueError as error:
    print(error.lineno)
print(sorted({name.partition(".")[0] for name in sys.modules} & {"sympy", "jinja2", "cffi", "networkx", "rich"}))
print([name for name in sys.modules if name.startswith(("adgen.passes", "adgen.emit", "adgen.frontend.lower"))])
"""


def scaled(x):
    return SCALE * x * x + np.sum(WEIGHTS) * x


def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The products that are made from now on."""
    made: list[str] = []
    make = specialise.make

    def spy(function, specs, product, *rest):
        made.append(product)
        return make(function, specs, product, *rest)

    monkeypatch.setattr(specialise, "make", spy)
    return made


def test_changed_globals_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new operator sees the values that globals have now, whether they were rebound or written into."""
    assert adgen.grad(scaled)(1.0) == 7.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert adgen.grad(scaled)(1.0) == 13.0
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([1.0, 4.0]))
    assert adgen.grad(scaled)(1.0) == 15.0
    WEIGHTS[:] = [0.0, 1.0]
    assert adgen.grad(scaled)(1.0) == 11.0


def in_comprehension(x):
    return np.sum(np.array([SCALE * v for v in x]))


def in_generator(x):
    return sum(SCALE * v for v in x)


def in_lambda(x):
    return (lambda v: SCALE * v)(x[0])


def in_inner_function(x):
    def inner(v):
        return SCALE * v

    return inner(x[0])


class Scaling:
    """Reads a global in a method."""

    def apply(self, v):
        """The product with the global."""
        return SCALE * v


def in_method(x):
    return Scaling().apply(x[0])


@pytest.mark.parametrize("function", [in_comprehension, in_generator, in_lambda, in_inner_function, in_method])
def test_globals_are_noticed_wherever_they_are_read(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comprehensions, generators, lambdas, inner functions and methods read globals as the function itself does."""
    x = np.ones(1)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert adgen.jit(function)(x) == 3.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert adgen.jit(function)(x) == 5.0


def test_a_second_operator_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """`grad(f)(x)` in a loop compiles once for each type, and not for each shape."""

    def f(x):
        return np.sum(x * x)

    made = compiles(monkeypatch)
    for n in range(4):
        assert np.array_equal(adgen.grad(f)(np.ones(n)), np.full(n, 2.0))
    adgen.grad(f)(np.ones((2, 2)))
    assert made == ["grad", "grad"]


def test_closures_are_told_apart() -> None:
    """Functions from one factory have their own captured values."""

    def make(factor):
        def f(x):
            return factor * x * x

        return f

    assert [adgen.grad(make(k))(1.0) for k in (1.0, 2.0, 1.0)] == [2.0, 4.0, 2.0]


def test_options_are_told_apart() -> None:
    """Static arguments are part of the type."""

    def f(x, kind="square", g=None):
        if g is not None:
            return g(x)
        return x * x if kind == "square" else x * x * x

    gradient = adgen.grad(f)
    assert [gradient(2.0), gradient(2.0, "cube"), gradient(2.0, kind="square")] == [4.0, 12.0, 4.0]
    assert gradient(2.0, g=lambda x: 7.0 * x) == 7.0
    assert gradient(2.0, g=lambda x: 9.0 * x) == 9.0


def test_another_tuning_is_another_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library made for one processor is not found when another one is asked for."""
    known = store.place(scaled, "grad", {})
    monkeypatch.setenv("ADGEN_TUNE", "skylake")
    assert known is not None and store.place(scaled, "grad", {}) != known


def test_threads_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first calls of many threads wait for one compile, and all are right."""

    def f(x):
        return x * x * x

    made = compiles(monkeypatch)
    gradient, results = adgen.grad(f), []
    threads = [threading.Thread(target=lambda k=k: results.append(gradient(float(k)) == 3.0 * k * k)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 6 and made == ["grad"]


def run(path: Path, *arguments: str) -> list[str]:
    done = subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_another_process(fresh_cache: Path, tmp_path: Path) -> None:
    """A warm call imports neither sympy nor jinja2 nor cffi nor any pass; values and errors are the same."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    cold, warm, other = run(path, "2"), run(path, "2"), run(path, "3")
    assert cold[0] == warm[0] == "12.0 18.0 4.0" and other[0] == "18.0 27.0 6.0"
    assert cold[1] == warm[1] == "13"
    assert warm[2:] == ["[]", "[]"]
    path.write_text("\n" + PROGRAM)
    assert run(path, "2")[1] == "14"


@pytest.mark.parametrize("damage", ["", "not a pickle"])
def test_damaged_entries(fresh_cache: Path, tmp_path: Path, damage: str) -> None:
    """A store that cannot be read is as good as an empty one."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    cold = run(path, "2")
    for entry in fresh_cache.rglob("*.entry"):
        entry.write_text(damage)
    assert run(path, "2")[:2] == cold[:2]
