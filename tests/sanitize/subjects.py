"""The functions that are compiled and run: the corpus, the examples, and case files from elsewhere.

A case file is a Python module with `inputs()`, which gives the positional arguments, and a dict `CASE`: `fn` names
the function, `wrt` what to differentiate for, `product` (or `call`, where an error is expected) what is wanted;
`kwargs`, `tangent`, `cotangent`, `warmup`, `setup_after` and `custom_rules` are optional.  The environment variable
ADGEN_CASES names a folder of them.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tests.frontend import harness

TESTS = Path(__file__).resolve().parents[1]
VARIABLE = "ADGEN_CASES"
TOGETHER = 20  # case files in one test


@dataclass(frozen=True)
class Subject:
    """A function with arguments, and the products that it was written for."""

    name: str
    function: Callable[..., Any]
    arguments: Callable[[], tuple[list[Any], dict[str, Any]]]
    wrt: Any = None
    products: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    """`tangent` and `cotangent`, where they matter."""
    between: Callable[[], Any] | None = None
    """What changes the world after the first round; then comes another."""


def groups() -> dict[str, list[Path]]:
    """The files, in portions that one process works off."""
    corpus = sorted((TESTS / "corpus").glob("*.py"))
    found = {f"corpus-{path.stem}": [path] for path in corpus}
    found["examples"] = sorted(path for path in (TESTS.parent / "examples").glob("*.py") if path.stem != "demo")
    cases = sorted(case_files())
    for start in range(0, len(cases), TOGETHER):
        portion = cases[start : start + TOGETHER]
        found[f"cases-{portion[0].stem}"] = portion
    return found


def case_files() -> Iterator[Path]:
    """The case files of the folder that the environment names."""
    folder = os.environ.get(VARIABLE)
    for path in Path(folder).glob("*.py") if folder else ():
        if "CASE" in path.read_text(encoding="utf-8"):
            yield path


def subjects(path: Path) -> Iterator[Subject]:
    """The functions of a file."""
    if path.parent == TESTS / "corpus":
        yield from _corpus(path)
    elif path.parent == TESTS.parent / "examples":
        yield from _examples(path)
    else:
        yield from _case(path)


def _corpus(path: Path) -> Iterator[Subject]:
    for function in harness.corpus(path.stem):
        yield Subject(f"{path.stem}.{function.__name__}", function, lambda f=function: ([], harness.samples(f)))


def _examples(path: Path) -> Iterator[Subject]:
    from tests.examples.test_examples import CASES

    for case in CASES:
        if case.file == path.stem:
            drawn = case.inputs(np.random.default_rng(0))
            wrt = list(case.wrt)
            yield Subject(str(case), case.python(), lambda d=drawn: (copy.deepcopy(list(d)), {}), wrt)


def _case(path: Path) -> Iterator[Subject]:
    module = _module(path)
    case = module.CASE
    own = case["call"] if case["product"] == "error" else case["product"]
    given = {key: case[key] for key in ("tangent", "cotangent") if case.get(key) is not None}
    _register_rules(module, case.get("custom_rules") or ())
    for name in dict.fromkeys((case.get("warmup"), case["fn"])):
        if name:
            yield Subject(
                path.stem if name == case["fn"] else f"{path.stem}.{name}",
                getattr(module, name),
                lambda: (list(module.inputs()), dict(case.get("kwargs") or {})),
                case.get("wrt", 0),
                (own,),
                given,
                getattr(module, case["setup_after"]) if case.get("setup_after") else None,
            )


def _register_rules(module: ModuleType, rules: Any) -> None:
    import adgen

    for rule in rules:
        function = getattr(module, rule["fn"])
        wrapped = adgen.custom_vjp(function, getattr(module, rule["vjp"]))
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value is function:
                setattr(module, name, wrapped)


def _module(path: Path) -> ModuleType:
    title = f"adgen_case_{path.stem}"
    spec = importlib.util.spec_from_file_location(title, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module
    spec.loader.exec_module(module)
    return module
