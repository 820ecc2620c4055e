"""The docstring of every pass shows what it does; here the examples are run."""

import pytest

from tests.passes.examples import Example, examples
from tests.passes.support import assert_same, parse

EXAMPLES = list(examples())
PASSES = {
    "contractions",
    "copies",
    "dead_code",
    "equal_extents",
    "fold",
    "forward_stores",
    "fuse",
    "grids",
    "hoist",
    "hoist_checks",
    "induction",
    "known_extents",
    "rebuild",
    "registers",
    "sink_buffers",
    "unroll",
    "vanishing",
    "write_back",
}


@pytest.mark.quick
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_docstring_example(example: Example) -> None:
    """The pass turns `Before` into `After`, and where parameters and results are alike the results are the same."""
    before, expected = parse(example.before), parse(example.after)
    after = example.apply(before)
    assert str(after) == str(expected)
    alike = [value.type for value in after.parameters] == [value.type for value in before.parameters]
    if after.result_names == before.result_names and alike:
        assert_same(before, after)


def test_every_pass_has_an_example() -> None:
    """A pass without a worked example would go unnoticed otherwise."""
    assert {example.name.partition(".")[0] for example in EXAMPLES} >= PASSES
