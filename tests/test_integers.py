"""Integers of all widths: random programs give NumPy's numbers, types and errors, in the interpreter and in C.

`ADGEN_INTEGER_PROGRAMS` sets how many programs are tried.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import adgen
from adgen.diagnostics import AdgenError
from adgen.frontend.specs import Lowered, OutputLeaf
from adgen.ir import interpret
from adgen.passes.pipeline import optimise, simplify
from tests.frontend import harness
from tests.integer_programs import TYPES, numbers, programs
from tests.native import Native
from tests.oracles import fresh
from tests.test_random_programs import imported

COUNT = int(os.environ.get("ADGEN_INTEGER_PROGRAMS", "30"))


def in_numpy(function: Any, arguments: dict[str, Any], divide: Any = "ignore") -> Any:
    """What Python gives, or the exception; `divide` says what NumPy does where integers are divided by zero."""
    try:
        with np.errstate(divide=divide, over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(**{name: np.copy(x) if np.ndim(x) else x for name, x in arguments.items()})
    except (ArithmeticError, ValueError, TypeError) as error:
        return error


def same(got: Any, want: Any) -> bool:
    """Equal numbers of equal types."""
    want = np.asarray(want)
    return bool(np.asarray(got).dtype == want.dtype and np.array_equal(got, want))


def check(function: Any, arguments: dict[str, Any]) -> Lowered | None:
    """Compare a function with NumPy; the lowered function where both give a value."""
    want = in_numpy(function, arguments)
    try:
        lowered = harness.lowered_for(function, arguments)
        results = interpret.run(lowered.function, harness.inputs_of(lowered, arguments)).results
    except (AdgenError, interpret.ProgramError) as error:
        if isinstance(want, Exception) or _may_raise(error, function, arguments):
            return None
        raise AssertionError(f"{error}, but NumPy gives {want!r}") from error
    assert isinstance(lowered.output, OutputLeaf)
    got = results[lowered.output.index]
    got = got if np.ndim(got) else harness.DTYPES[lowered.output.element](got)
    assert not isinstance(want, Exception), f"{got!r}, but NumPy raises {want!r}"
    assert same(got, want), f"{got!r}, but NumPy gives {want!r}"
    return lowered


def _may_raise(error: Exception, function: Any, arguments: dict[str, Any]) -> bool:
    """Where NumPy only warns of a division by zero; an int that NumPy makes fit, in `np.where` for one."""
    if "by zero" in str(error):
        return isinstance(in_numpy(function, arguments, "raise"), FloatingPointError)
    return "out of bounds" in str(error)


def test_random_programs(tmp_path: Path) -> None:
    """On numbers and on arrays; what is computed is computed by C too."""
    seen: list[tuple[Lowered, dict[str, Any]]] = []
    count = 0

    @settings(
        max_examples=COUNT,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    )
    @given(programs(), st.data())
    def one(body: str, data: st.DataObject) -> None:
        nonlocal count
        count += 1
        function = imported(f"import numpy as np\n\ndef f(a, b, c, n):\n    {body}\n", tmp_path, f"integers_{count}")
        kinds = {name: data.draw(st.sampled_from(TYPES)) for name in "abc"}
        drawn = {
            name: data.draw(st.lists(st.sampled_from(numbers(kind)), min_size=4, max_size=4))
            for name, kind in kinds.items()
        }
        arrays = {name: np.array(drawn[name], kind) for name, kind in kinds.items()}
        n = data.draw(st.sampled_from((0, 1, 5, -3, 130, 300)))
        for arguments in (arrays, {name: array[0] for name, array in arrays.items()}):
            if "r " in body and arguments is not arrays:
                continue
            lowered = check(function, {**arguments, "n": n})
            if lowered is not None:
                seen.append((lowered, {**arguments, "n": n}))

    one()
    assert len(seen) > COUNT // 2
    compare_with_c(seen)


def compare_with_c(programs: list[tuple[Lowered, dict[str, Any]]]) -> None:
    """Compiled code gives what the interpreter gives."""
    functions = [replace(optimise(simplify(lowered.function)), name=f"f{k}") for k, (lowered, _) in enumerate(programs)]
    native = Native(functions, "integers")
    for function, (lowered, arguments) in zip(functions, programs, strict=True):
        inputs = harness.inputs_of(lowered, arguments)
        ours, theirs = fresh(inputs), fresh(inputs)
        want = interpret.run(lowered.function, theirs).results
        status, got = native.call(function.name, ours)
        assert status == 0
        for mine, other in zip([*got, *ours], [*want, *theirs], strict=True):
            assert np.allclose(mine, other, rtol=1e-14 if np.asarray(other).dtype.kind == "f" else 0, atol=0)


def test_the_corpus_in_c() -> None:
    """Every function of the corpus of integers."""
    found = []
    for function in harness.corpus("integers"):
        arguments = harness.samples(function)
        found.append((harness.lowered_for(function, arguments), arguments))
    compare_with_c(found)


def wrapped(a, b, n):  # type: ignore[no-untyped-def]
    a[0] += b[0]
    return a + b, a[0] * b[1], n * 2, a.sum()


def test_numbers_and_types_of_a_call() -> None:
    """Arrays are passed as they are and written, results have NumPy's types, and each type compiles for itself."""
    compiled = adgen.jit(wrapped)
    for kind in (np.int8, np.uint16, np.int32):
        limits = np.iinfo(kind)
        given_ = [np.array([limits.max, 3], kind), np.array([limits.max, 7], kind), kind(5)]
        mine, theirs = fresh(given_), fresh(given_)
        with np.errstate(over="ignore"):
            want = wrapped(*theirs) if kind != np.uint16 else None
        if want is None:
            with pytest.raises(AdgenError, match="uint64"):
                compiled(*mine)
            continue
        got = compiled(*mine)
        assert [type(x) for x in got] == [type(x) for x in want]
        assert all(same(x, y) for x, y in zip((*got, *mine), (*want, *theirs)))


@pytest.mark.parametrize("value", [np.zeros(2, np.uint64), np.uint64(3)])
def test_uint64_is_refused(value: Any) -> None:
    """As an argument, and as a type."""
    with pytest.raises(AdgenError, match="uint64"):
        adgen.jit(wrapped)(value, value, 1)
