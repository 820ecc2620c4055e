"""The page `docs/numpy.md` lists what the code supports; `--bless` writes it anew."""

from __future__ import annotations

import cmath
import importlib
import inspect
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen import ops
from adgen.frontend import arrays, builtin, calls, composites, scalars
from adgen.frontend.arrays import registry

pytestmark = pytest.mark.quick

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "numpy.md"
MARK = "Written by `pytest tests/cli/test_numpy_page.py --bless`.\n"
MODULES: dict[str, Any] = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.lib.stride_tricks": np.lib.stride_tricks,
    "math": math,
    "cmath": cmath,
}
PACKAGES = ("special", "linalg", "optimize", "integrate", "interpolate", "stats")
STATIC = "numpy, where all arguments are known when compiling"
KINDS = inspect.Parameter
assert calls  # what it registers


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """The public functions of a module."""
    for name in sorted(getattr(module, "__all__", None) or dir(module)):
        found = getattr(module, name, None)
        if not name.startswith("_") and callable(found):
            yield name, found


def parameters(function: Any) -> str:
    """The names of the parameters of an expansion."""
    found = list(inspect.signature(function).parameters.values())[1:]
    return ", ".join(("*" if p.kind is KINDS.VAR_POSITIONAL else "") + p.name for p in found if p.name != "self")


def entry(function: Any) -> str | None:
    """The arguments that a function takes; empty where it acts on elements; None where it is not supported."""
    expansion = registry.FUNCTIONS.get(function)
    if expansion is not None and not scalars.supported(function):
        return parameters(expansion.expansion)  # type: ignore[attr-defined]
    if scalars.supported(function):
        return ""
    rule = builtin.TABLE.get(function)
    if rule is not None:
        return parameters(rule)
    return None


def section(title: str, found: dict[str, str]) -> str:
    """The text of a module."""
    elements = [f"`{name}`" for name, text in found.items() if text == ""]
    lines = [f"- `{name}({text})`" for name, text in found.items() if text]
    kind = "" if title == STATIC else "Element by element: "
    head = [f"{kind}{', '.join(elements)}.\n"] if elements else []
    return "\n".join([f"## {title}\n", *head, *lines, *([""] if lines else [])])


def of_scipy(package: str) -> dict[str, str]:
    """What is taken of a package of SciPy."""
    found = {}
    if package == "special":
        names = {name for row in ops.TABLE.values() for name in row.scipy} | set(composites.SCIPY)
        module = importlib.import_module("scipy.special")
        names |= {name for name, function in public(module) if entry(function) == ""}
        found = dict.fromkeys(sorted(names), "")
    for path, expansion in sorted(registry.SCIPY.items()):
        if path.startswith(f"{package}."):
            found[path.partition(".")[2].removesuffix("()")] = parameters(expansion)
    return found


def sections() -> dict[str, dict[str, str]]:
    """All modules with what is taken of them."""
    found = {}
    for title, module in MODULES.items():
        pairs = [(name, entry(function)) for name, function in public(module) if not isinstance(function, type)]
        found[title] = {name: text for name, text in pairs if text is not None}
    found[STATIC] = {name: "" for name in sorted(registry.STATIC_ONLY) if arrays.static_only(getattr(np, name, None))}
    return found | {f"scipy.{package}": of_scipy(package) for package in PACKAGES}


def test_page(bless: bool) -> None:
    """Every section says what the code says, and no more, for the functions that this NumPy and this SciPy have."""
    text = DOCUMENT.read_text(encoding="utf-8")
    head = text[: text.index(MARK) + len(MARK)]
    wanted = "\n".join(section(title, found) for title, found in sections().items())
    if bless:
        DOCUMENT.write_text(f"{head}\n{wanted.rstrip()}\n", encoding="utf-8")
        text = DOCUMENT.read_text(encoding="utf-8")
    for title, found in sections().items():
        start = text.index(f"## {title}\n")
        body = text[start : text.find("\n## ", start + 1) if "\n## " in text[start + 1 :] else len(text)]
        for name, arguments in found.items():
            said = f"`{name}({arguments})`" if arguments else f"`{name}`"
            assert said in body, f"{title}: {said} is missing: run pytest --bless on this file"
        for name in re.findall(r"`([\w.]+)[(`]", body):
            assert name in found or not hasattr(MODULES.get(title, np), name), f"{title}: {name} is not supported"
