"""Random functions of the IR: emitted C does exactly what the interpreter does, and compiles without warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adgen.diagnostics import AdgenError
from adgen.emit.memory import plan_memory
from adgen.ir import core
from adgen.ir.interpret import ProgramError, run
from adgen.ir.nodes import Function, Operation, Region
from tests.native import Native
from tests.oracles import fresh
from tests.strategies import arguments, functions

COUNT = 120


def programs(count: int, budget: int = 20) -> list[tuple[Function, list[Any]]]:
    """Random functions that have a C form, each with arguments."""
    found: list[tuple[Function, list[Any]]] = []

    @settings(
        max_examples=count, phases=[Phase.generate], deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        function = replace(cleared(data.draw(functions(budget))), name=f"f{len(found)}")
        try:
            plan_memory(function)
        except AdgenError as error:
            assert error.code == "AD320"
            return
        found.append((function, data.draw(arguments(function))))

    collect()
    return found


def cleared(function: Function) -> Function:
    """The function with all memory filled with zeros when it is made: what nobody wrote has no meaning to compare."""

    def region(old: Region) -> Region:
        return replace(old, operations=tuple(operation(each) for each in old.operations))

    def operation(old: Operation) -> Operation:
        attributes = {**old.attributes, "zero": True} if old.row is core.ALLOC else old.attributes
        return replace(old, attributes=attributes, regions=tuple(region(each) for each in old.regions))

    return replace(function, body=region(function.body))


def same(ours: Any, theirs: Any) -> bool:
    """Equal to the last bit, but for the sign and payload of a nan."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype.kind != "f":
        return np.array_equal(ours, theirs)
    equal = np.array_equal(ours, theirs, equal_nan=True)
    zeros = (ours == 0) & (theirs == 0)
    return equal and np.array_equal(np.signbit(ours[zeros]), np.signbit(theirs[zeros]))


def outcome(function: Function, given: list[Any]) -> tuple[str, list[Any]]:
    """The message of the check that fails, or nothing, and what the interpreter computes."""
    try:
        return "", list(run(function, given).results)
    except ProgramError as error:
        return f"{error.exception}: {error.message}", []


@pytest.mark.filterwarnings("ignore")
def test_interpreter_and_c_agree_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results, writes into arguments, and which check fails with which numbers."""
    # the interpreter's integers wrap around; a compiler may round a constant call of libm better than libm does
    monkeypatch.setenv("CC", "cc -fwrapv -fno-builtin")
    made = programs(COUNT)
    native = Native([function for function, _ in made], "random")
    for function, values in made:
        expected_given, found_given = fresh(values), fresh(values)
        message, expected = outcome(function, expected_given)
        status, found = native.call(function.name, found_given)
        if message:
            site = native.emitted.sites[status - 1]
            said = site.message
            for k, detail in enumerate(native.detail):
                said = said.replace(f"{{{k}}}", str(detail))
            assert f"{site.exception}: {said}" == message, function
            continue
        assert status == 0, function
        for ours, theirs in zip([*found, *found_given], [*expected, *expected_given], strict=True):
            assert same(ours, theirs), (function, values, found, expected)
