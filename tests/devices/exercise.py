"""The program that runs functions on a target: `python -m tests.devices.exercise TARGET PRODUCTS FILE ...`.

It prints a line of JSON for each product of each function, which says whether kernels give what C gives.  For
`cuda-emulated`: in three orders of threads, on a device so small that every thread has several iterations, without a
race, or without a fault that sanitizers find where ADGEN_EMULATOR says so.  For `cuda` without a device: whether nvcc
takes what is emitted.  PRODUCTS is a list with commas, or `all`.  With ADGEN_DETERMINISTIC set all orders must give the
same bits too.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.operators import specialise
from tests.emulated import ORDERS, few_threads
from tests.sanitize.exercise import each
from tests.sanitize.products import ALWAYS, BROKEN, REFUSED, called, ended, operator
from tests.sanitize.subjects import Subject

WRONG, RACE = "wrong", "race"
NOT_ON_A_DEVICE, COMPILED = "not on a device", "compiled"
LIBRARIES: list[Any] = []  # the compiled modules that were loaded
Outcome = tuple[str, Any]  # how a call ended, and its results or what it said


def main(target: str, wanted: str, files: list[str]) -> None:
    """Work off the functions of some files."""
    warnings.simplefilter("ignore")
    os.environ.pop("LD_PRELOAD", None)  # not for the compiler
    if target == "cuda-emulated":
        os.environ.setdefault("ADGEN_EMULATOR", "races")
        patch = pytest.MonkeyPatch()
        few_threads(patch)
        notice_libraries(patch)
    for module in ("cffi", "filelock", "jinja2", "sympy"):
        import_module(module)  # once here, rather than in every process
    chosen = None if wanted == "all" else tuple(wanted.split(","))
    each(files, lambda subject: outcomes(subject, target, chosen or (*ALWAYS, *subject.products)))


def notice_libraries(patch: pytest.MonkeyPatch) -> None:
    """Keep what is loaded from now on, for its races to be asked for."""
    load = specialise.load

    def noticed(path: Path) -> ModuleType:
        module = load(path)
        LIBRARIES.append(module.lib)
        return module

    patch.setattr(specialise, "load", noticed)


def outcomes(subject: Subject, target: str, products: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """The product, what became of it, and what there is to say."""
    for product in dict.fromkeys(products):
        wanted = call_of(subject, product, prepared(subject, product))
        if wanted[0] in (REFUSED, BROKEN):
            yield product, *wanted
        else:
            yield product, *in_every_order(subject, product, target, wanted)


def in_every_order(subject: Subject, product: str, target: str, wanted: Outcome) -> tuple[str, str]:
    """What becomes of a product on a target."""
    deterministic = "ADGEN_DETERMINISTIC" in os.environ
    with adgen.target(target, deterministic=deterministic):
        made = prepared(subject, product)
    seen: list[Any] = []
    for order in ORDERS if target == "cuda-emulated" else ("",):
        os.environ["ADGEN_EMULATED_ORDER"] = order
        how, found = call_of(subject, product, made)
        if how == REFUSED and "[AD512]" in found:
            return COMPILED, ""
        if how == REFUSED:
            return (NOT_ON_A_DEVICE if "[AD345]" in found else WRONG), found
        if how != wanted[0] or not equal(found, wanted[1]):
            return WRONG, f"{order}: {how} {found!r}, but C: {wanted[0]} {wanted[1]!r}"[:2000]
        if races():
            return RACE, order
        seen.append(found)
    if deterministic and not all(same(found, seen[0]) for found in seen):
        return WRONG, "other bits in another order"
    return wanted[0], ""


def prepared(subject: Subject, product: str) -> Callable[..., Any]:
    """A product, which says when it is called what it said when it was made."""
    try:
        return operator(subject, product)
    except adgen.AdgenError as error:
        refusal = error

        def refused(*arguments: Any, **keywords: Any) -> Any:
            raise refusal

        return refused


def call_of(subject: Subject, product: str, made: Callable[..., Any]) -> Outcome:
    """How a call ends: with its results and what it leaves in its arguments, or with a message."""
    arguments, keywords = subject.arguments()
    again = replace(subject, arguments=lambda: (arguments, keywords))
    return ended(lambda: [called(again, product, made), arguments, keywords])


def races() -> int:
    """How many races there were since the last time that this was asked."""
    total = 0
    for library in LIBRARIES:
        if hasattr(library, "adgen_emulated_races"):
            total += library.adgen_emulated_races()
            library.adgen_emulated_races_reset()
    return total


def leaves(value: Any) -> Iterator[Any]:
    """The numbers, arrays and whatever else a value has in it."""
    if isinstance(value, dict):
        value = [item for pair in value.items() for item in pair]
    elif is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, tuple | list):
        yield len(value)
        for item in value:
            yield from leaves(item)
    else:
        yield value


def equal(found: Any, wanted: Any) -> bool:
    """The same up to the order of sums."""
    pairs = list(zip(leaves(found), leaves(wanted), strict=False))
    return len(list(leaves(found))) == len(list(leaves(wanted))) and all(close(*pair) for pair in pairs)


def close(found: Any, wanted: Any) -> bool:
    """Numbers that are near each other, and anything else that is equal."""
    if not isinstance(wanted, np.ndarray | np.generic | int | float | complex):
        return type(found) is type(wanted) and (found == wanted or not isinstance(wanted, str | type(None)))
    one, other = np.asarray(found), np.asarray(wanted)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if other.dtype.kind not in "fc":
        return bool(np.all(one == other))
    tolerance = 1e-4 if other.dtype in (np.float32, np.complex64) else 1e-9
    finite = np.abs(other[np.isfinite(other)])
    return bool(np.allclose(one, other, tolerance, tolerance * max(1.0, finite.max(initial=0.0)), equal_nan=True))


def same(found: Any, first: Any) -> bool:
    """The same bits."""
    return all(
        np.asarray(one).tobytes() == np.asarray(other).tobytes()
        for one, other in zip(leaves(found), leaves(first), strict=True)
        if isinstance(other, np.ndarray | np.generic | int | float | complex)
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
