"""What cannot be lowered is refused with a code, a message and a line; what raises in Python raises in the IR."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from adgen.diagnostics import AdgenError
from adgen.ir.interpret import ProgramError
from tests.frontend import harness


def expected(function: Any, pattern: str) -> tuple[int, str, str]:
    """The line, the code (or exception) and the words that a comment in the function's source asks for."""
    lines, first = inspect.getsourcelines(function)
    for offset, line in enumerate(lines):
        found = re.search(pattern, line)
        if found:
            return first + offset, found.group(1), found.group(2).strip()
    raise AssertionError("the function has no comment that says what is expected")


def named(functions: list[Any]) -> Any:
    return pytest.mark.parametrize("function", functions, ids=[f.__name__ for f in functions])


@named(harness.corpus("refused"))
def test_refused(function: Any) -> None:
    """The diagnostic has the code, the words and the line of the comment."""
    line, code, words = expected(function, r"# (AD\d+) (.*)")
    with pytest.raises(AdgenError) as caught:
        harness.lowered_for(function, harness.samples(function))
    error = caught.value
    assert (error.code, error.lineno) == (code, line), str(error)
    assert words.lower() in str(error).lower()
    assert error.message == error.message.strip() and not error.message.endswith(".")


@named(harness.corpus("raising"))
def test_raises(function: Any) -> None:
    """The IR raises what Python raises, at the same line, with the words of the comment."""
    line, exception, words = expected(function, r"# (\w+Error): (.*)")
    with pytest.raises(ProgramError) as caught:
        harness.run(function, harness.samples(function), stretching=True)
    error = caught.value
    assert error.exception == exception
    assert error.span is not None and error.span.line == line
    assert words in error.message
    if function.__name__ not in ("array_grows", "negative_shift"):
        with pytest.raises(Exception) as plain:
            function(**harness.samples(function))
        assert type(plain.value).__name__ == exception
