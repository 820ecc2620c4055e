"""What emitted C looks like: hand-written IR in `golden/`, executed before its text is compared.

`NAME.ir` is a function whose operations end with the line of `NAME.py` that they come from; `NAME.c` is what it
becomes.  `pytest --bless` writes `NAME.c` anew.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adgen import ops
from adgen.diagnostics import Span
from adgen.emit import emit
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Operation, Region, Value, walk
from adgen.ir.reader import parse_function
from tests.native import Native
from tests.oracles import fresh

pytestmark = pytest.mark.quick

GOLDEN = Path(__file__).parent / "golden"
ARRAY = np.linspace(-1.0, 2.0, 12)
ARGUMENTS: dict[str, list[list[Any]]] = {
    "dot": [[ARRAY, ARRAY[::-1].copy()], [ARRAY[:0].copy(), ARRAY]],
    "fibonacci": [[1.0, 1.0, 5, 1e9], [1.0, 2.0, 50, 100.0], [3.0, 4.0, 0, 1.0]],
    "grades": [[x, flag] for x in (4.0, 2.5, 1.0, -1.0) for flag in (True, False)],
    "smooth": [[ARRAY.reshape(3, 4), 3], [ARRAY.reshape(4, 3), 0]],
    "collatz": [[7, ARRAY], [1, ARRAY]],
    "names": [[0.3, k, np.float32(0.1), 2.0, 3.0, 4.0] for k in (0, 1, 2)],
    "walk": [[1.0, 3.0], [200.0, 0.0]],
}


def golden(name: str) -> Function:
    """The function of a file, its operations with their places in the Python file beside it."""
    text = (GOLDEN / f"{name}.ir").read_text(encoding="utf-8")
    function = parse_function(text, ops.ROWS)
    lines = [
        line for line in text.splitlines()[1:] if re.match(r"\s*(%|store|accumulate|check|push|for|while|if)", line)
    ]
    operations = list(walk(function.body))
    values = [*function.parameters, *(value for o in operations for value in _made(o))]
    for value in values:
        value.name = re.sub(r"_\d+$", "", value.name)  # the number tells values of one name apart in the text only
    assert len(lines) == len(operations)
    places = dict(zip(operations, lines, strict=True))

    def region(old: Region) -> Region:
        return replace(old, operations=tuple(placed(each) for each in old.operations))

    def placed(old: Operation) -> Operation:
        found = re.search(r"@(\d+)", places[old])
        span = Span(str(GOLDEN / f"{name}.py"), int(found[1])) if found else None
        return replace(old, span=span, regions=tuple(region(each) for each in old.regions))

    return replace(function, body=region(function.body), span=Span(str(GOLDEN / f"{name}.py"), 1))


def _made(operation: Operation) -> list[Value]:
    return [*operation.results, *(value for region in operation.regions for value in region.arguments)]


@pytest.mark.parametrize("name", ARGUMENTS)
def test_golden(name: str, bless: bool) -> None:
    """The C does what the interpreter does, and its text is the one on file."""
    function = golden(name)
    native = Native([function], name)
    for given in ARGUMENTS[name]:
        ours, theirs = fresh(given), fresh(given)
        expected = run(function, theirs).results
        status, found = native.call(function.name, ours)
        assert status == 0
        for one, other in zip([*found, *ours], [*expected, *theirs], strict=True):
            assert np.array_equal(one, other, equal_nan=True)
    text = emit([function], name).c_source
    text = text[text.index(f"/* {name}") :]
    file = GOLDEN / f"{name}.c"
    if bless:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_every_golden_file_is_executed() -> None:
    """No file is left out."""
    assert {path.stem for path in GOLDEN.glob("*.ir")} == set(ARGUMENTS)
