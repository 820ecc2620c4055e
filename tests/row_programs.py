"""Random Python programs over the rows of a matrix, with all that a row may do: sums, maxima, memory of its own, what
it adds to memory that rows share, running sums on the way.

A program is text, so that it can be shown; `program(seed)` is the function.  Values stay bounded.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

HEAD = """\
def rows(A, B, x, y, h):
    n, m = A.shape
    total, count = 0.5, 0
    w = np.zeros(m)
    for i in range({ends}):
"""


def text(seed: int) -> str:
    """The source of a program."""
    r = random.Random(seed)
    ends = r.choice(["n", "n", "n - 1, -1, -1", "1, n", "0, n, 2"])
    scalars, lines = ["h[i]"], []
    arrays = ["A[i, j]", "B[i, j]", "x[j]"]
    private = r.random() < 0.6
    if private:
        lines.append("w = np.zeros(m)")
        arrays.append("w[j]")
    for k in range(r.randint(2, 6)):
        lines += _statement(r, k, scalars, arrays, private)
    tail = ["w", "total", "count", "y", "B", "h"]
    body = "".join(f"        {line}\n" for line in lines)
    return HEAD.format(ends=ends) + body + f"    return {', '.join(tail[1:])}\n"


def _statement(r: random.Random, k: int, scalars: list[str], arrays: list[str], private: bool) -> list[str]:
    def number() -> str:
        return r.choice(scalars)

    def element() -> str:
        one, other = r.choice(arrays), r.choice([*arrays, number()])
        return r.choice([f"np.sin({one}) * {other}", f"{one} + 0.5 * {other}", f"np.tanh({one} - {other})", one])

    js = r.choice(["m", "m", "m", "i, m", "m - 1, -1, -1", "1, m, 2"])
    kind = r.choice(["sum", "sum", "largest", "spread", "store", "shared", "total", "private", "scalar", "branch"])
    name = f"s{k}"
    if kind == "sum":
        lines = [f"{name} = {r.choice(['0.0', number()])}", f"for j in range({js}):", f"    {name} += {element()}"]
        scalars.append(f"np.tanh({name})")
        return lines
    if kind == "largest":
        scalars.append(name)
        call = r.choice(["np.max", "np.min", "np.sum", "np.mean"])
        return [f"{name} = {call}({r.choice(['A[i]', 'B[i]', 'A[i] * x'])})"]
    if kind == "spread":
        return [f"for j in range({js}):", f"    B[i, j] {r.choice(['=', '+='])} {element()}"]
    if kind == "store":
        return [f"h[i] {r.choice(['=', '+='])} np.cos({number()})"]
    if kind == "shared":
        target = r.choice(["y[j]", "y[j]", "y[0]"])
        return [f"for j in range({js}):", f"    {target} += {element()}"]
    if kind == "total":
        return [f"total += {number()}", "count += i"]
    if kind == "private" and private:
        return [f"for j in range({js}):", f"    w[j] {r.choice(['=', '+='])} {element()}"]
    if kind == "branch":
        lines = [f"{name} = 0.1", f"if {number()} > 0.3:", f"    {name} = np.exp(-({number()} ** 2))"]
    else:
        lines = [f"{name} = np.sin({number()}) + {number()} * 0.25"]
    scalars.append(name)
    return lines


def program(seed: int) -> Callable[..., Any]:
    """A program as a function, whose source can be read."""
    source, file = text(seed), f"<rows {seed}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope: dict[str, Any] = {"np": np, "__name__": f"rows_{seed}"}
    exec(compile(source, file, "exec"), scope)
    function: Callable[..., Any] = scope["rows"]
    return function


def arguments(seed: int, n: int, m: int) -> dict[str, Any]:
    """Arguments of a program for so many rows."""
    r = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {"A": (n, m), "B": (n, m), "x": (m,), "y": (m,), "h": (n,)}
    return {name: r.normal(size=shape) for name, shape in shapes.items()}
