"""A function whose file was edited after the import is refused: its derivative would be of other code."""

from __future__ import annotations

import importlib.util
import linecache
from pathlib import Path

import pytest

from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.frontend.specs import ScalarSpec


def test_an_edited_file_is_noticed(tmp_path: Path) -> None:
    """The text on disk says `x * 2`, the function in memory computes `x * 3`."""
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x * 3.0\n")
    spec = importlib.util.spec_from_file_location("edited", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lower(module.f, {"x": ScalarSpec()})
    path.write_text("def f(x):\n    return x * 2.0\n")
    linecache.checkcache(str(path))
    from adgen.frontend import source

    source._code.cache_clear()
    with pytest.raises(AdgenError, match="has changed since it was imported"):
        lower(module.f, {"x": ScalarSpec()})
