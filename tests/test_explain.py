"""`adgen explain`: the line that cuts a derivative, what the reverse sweep keeps, and limits on what it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen import ops
from adgen.ahead.explain import Explanation

X = np.array([0.4, 1.3, 2.2])


def cast(x):
    n = int(x)  # here
    return 2.0 * n


def rounded(x):
    y = np.round(x * 3.0)  # here
    return np.sum(y * 2.0)


def bisection(a):
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        if middle * middle > a:  # here
            high = middle
        else:
            low = middle
    return middle


def stopped(x):
    scale = adgen.stop_gradient(x**2)  # here
    return np.sum(scale * 3.0)


def rebound(x):
    y = np.sum(x**2)  # here
    y = 3.0
    return y * 2.0


def overwritten(x):
    y = x * 2.0
    y[:] = 1.0  # here
    return np.sum(y)


def unused(x, b):
    y = x * b
    z = y + 1.0  # noqa: F841  # here
    return x * 2.0


def constant(x):  # here
    return 4.0


def detached(x):
    work = x.copy()
    work[0] = 5.0 * x[1]  # here
    return np.sum(np.ones(3))


def wrong_name(position, velocity):  # here
    return 0.5 * velocity**2


def convention(x):
    return np.sum(np.abs(x))  # here


def dead_unit(x, w):
    hidden = np.maximum(x * w, 0.0)  # here
    return np.sum(hidden)


def masked(x):
    weights = np.array([0.0, 0.0, 0.0])
    return np.sum(x * weights)  # here


def other_branch(x):
    if x > 0.0:
        y = x
    else:
        y = 0.0
    return np.minimum(y, 0.0) * 2.0  # here


def integer_array(x):
    counts = x.astype(int)  # here
    return np.mean(counts * 1.5)


def floor_in_helper(x):
    return helper(x) + 1.0


def helper(x):
    return np.floor(x)  # here


BROKEN: list[tuple[Callable[..., Any], tuple[Any, ...], str, str, str]] = [
    (cast, (2.5,), "x", "zero", "an integer has no derivative"),
    (rounded, (X,), "x", "zero", "constant between its steps"),
    (bisection, (2.0,), "a", "zero", "through comparisons alone"),
    (stopped, (X,), "x", "zero", "`stop_gradient` ends"),
    (rebound, (X,), "x", "zero", "`y`, which depends on `x`, is overwritten in line"),
    (overwritten, (X,), "x", "zero here", "is overwritten here"),
    (unused, (2.0, 3.0), "b", "zero", "`z`, which depends on `b`, is not used"),
    (constant, (2.0,), "x", "zero", "no result depends on `x`"),
    (detached, (X,), "x", "zero", "`work`, which depends on `x`, is not used"),
    (wrong_name, (1.0, 2.0), "position", "zero", "no result depends on `position`"),
    (convention, (np.zeros(3),), "x", "zero here", "the derivative of `abs` is zero"),
    (dead_unit, (X, -1.0), "w", "zero here", "the derivative of `maximum` is zero"),
    (masked, (X,), "x", "zero here", "the other factor is zero"),
    (other_branch, (2.0,), "x", "zero here", "the derivative of `minimum` is zero"),
    (integer_array, (X,), "x", "zero", "an integer has no derivative"),
    (floor_in_helper, (2.5,), "x", "zero", "constant between its steps"),
]


def marked(function: Callable[..., Any]) -> int:
    """The line of a function that says that it is the one."""
    lines, first = inspect.getsourcelines(function)
    return next(first + k for k, line in enumerate(lines) if "# here" in line)


@pytest.mark.parametrize(
    ("function", "arguments", "wrt", "state", "reason"), BROKEN, ids=lambda x: getattr(x, "__name__", "")
)
def test_the_line_that_cuts(
    function: Callable[..., Any], arguments: tuple[Any, ...], wrt: str, state: str, reason: str
) -> None:
    """Of each broken program it is named, with the reason, and the gradient is zero indeed."""
    (finding,) = adgen.explain(function, wrt=wrt)(*arguments).gradients
    assert (finding.name, finding.state) == (wrt, state)
    assert reason in finding.reason
    assert finding.line == marked(helper if function is floor_in_helper else function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert not np.any(adgen.grad(function, wrt=wrt)(*arguments))


def test_elements_without_a_derivative() -> None:
    """Some elements of an array only: how many, and the first of them."""
    (finding,) = adgen.explain(convention)(np.array([1.0, 0.0, 2.0, 0.0])).gradients
    assert finding.state == "partly zero here"
    assert finding.reason.startswith("2 of 4 elements, the first x[1]: the derivative of `abs`")


def sound(x, scale):
    total = 0.0
    for k in range(len(x)):
        total = np.sin(total * x[k]) + scale * x[k]
    return total


def test_what_is_kept() -> None:
    """A derivative that passes, and what the loop records for its reverse."""
    found = adgen.explain(sound)(X, 2.0)
    assert [finding.state for finding in found.gradients] == ["passes", "passes"]
    line = inspect.getsourcelines(sound)[1] + 3
    saved = [kept for kept in found.values if kept.how == "saved"]
    assert [(kept.text, kept.reader) for kept in saved] == [("total, from step to step", line)]
    assert any(kept.how == "reloaded" and kept.text == "x[k]" for kept in found.values)
    assert found.workspace == "8*x_n0" and found.workspace_bytes == 24
    assert "k" in found.inactive and "total" not in found.inactive
    value, gradient = found.operations
    assert value == 3 * (ops.SIN.cost + 3)
    assert found.ratio == gradient / value


def test_iterations_that_are_run_again_keep_nothing() -> None:
    """A sum whose terms stand alone: everything is computed or read again."""

    def energy(x):
        total = 0.0
        for k in range(len(x)):
            z = np.exp(x[k])
            total += z * z
        return total

    found = adgen.explain(energy)(X)
    assert found.values and all(kept.how != "saved" for kept in found.values)
    assert found.workspace_bytes == 0


def test_taps_and_structures() -> None:
    """A tap, and the parts of a dict, have findings of their own."""

    def f(p):
        y = adgen.tap(p["a"] * 2.0, "y")
        z = adgen.tap(np.floor(y), "z")
        return z * 1.0 + p["b"]

    found = adgen.explain(f, wrt=("p", "y", "z"))({"a": 1.5, "b": 2.0}).gradients
    assert [(finding.name, finding.state) for finding in found] == [
        ("p.a", "zero"), ("p.b", "passes"), ("y", "zero"), ("z", "passes"),
    ]  # fmt: skip


def test_no_wrong_alarm() -> None:
    """Decisions beside a derivative that passes, a tolerance that is none."""

    def clipped(x, limit):
        return x * x if x > limit else limit * limit

    assert [finding.state for finding in adgen.explain(clipped)(2.0, 1.0).gradients][0] == "passes"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adgen.grad(clipped)(2.0, 1.0) == (4.0, 0.0)


def test_searches_are_warned_about() -> None:
    """When the gradient of a bisection is compiled, in a program and by the command."""
    with pytest.warns(UserWarning, match="through comparisons alone") as caught:
        adgen.grad(lambda a: bisection(a))(2.0)
    assert caught[0].filename == __file__

    def flagged(x, flag):
        return x * x if flag > 0.0 else x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adgen.grad(flagged)(3.0, 1.0) == (6.0, 0.0)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "adgen", "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_command(tmp_path: Path) -> None:
    """What it says, and its exit status where a limit is given."""
    file = tmp_path / "func.py"
    file.write_text(inspect.getsource(sound).replace("x,", 'x: "f64[n]",').replace("def", "import numpy as np\ndef"))
    done = run(str(file), "sound", "--max-bytes", "1MB", "--max-ratio", "4")
    assert done.returncode == 0, done.stderr
    assert "gradient for x: a derivative passes" in done.stdout
    assert "workspace in bytes: 8*n" in done.stdout
    done = run(str(file), "--max-bytes", "10B")
    assert done.returncode == 1
    assert "sound: workspace in bytes:" in done.stderr and "at most 10 are allowed" in done.stderr
    done = run(str(file), "--max-ratio", "0.5")
    assert done.returncode == 1 and "operations of the gradient" in done.stderr


def test_exported() -> None:
    """The result is data as well as text."""
    found = adgen.explain(sound)(X, 2.0)
    assert isinstance(found, Explanation)
    assert "what the reverse sweep needs" in str(found)
