"""The sessions on the pages of the documentation give what they show."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["cuda", "diagnosis", "explain", "formulas", "optimisers"])
def test_page(page: str) -> None:
    """Every session of the page runs as shown."""
    failed, run = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False)
    assert run > 0
    assert failed == 0
