"""The partials that are written down are those that sympy gives, and no process needs sympy to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adgen import ops
from adgen.ops import derived
from adgen.ops.derive import derive
from adgen.ops.written import known, module_text, read, write

ROWS = [row for row in ops.ROWS.values() if getattr(row, "sympy", "") and row.override is None]


def test_the_file_is_what_sympy_gives(bless: bool) -> None:
    """Byte for byte; `--bless` writes it anew."""
    path, text = Path(derived.__file__), module_text()
    if bless:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run pytest tests/ops/test_written.py --bless"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row(row) -> None:
    """It is read as what is derived, and a text reads back."""
    wanted = derive(row)
    assert known(row) == wanted == row.partials
    for part in wanted:
        assert part is None or read(write(part)) == part


def test_a_changed_meaning_is_derived_again() -> None:
    """What is written down for another meaning does not count."""
    from dataclasses import replace

    changed = replace(ops.SIN, sympy="sin(2*x)")
    assert known(changed) is None
    assert changed.partials == derive(changed) != ops.SIN.partials


def test_a_compile_imports_no_sympy(tmp_path: Path) -> None:
    """Nor does a gradient in a program."""
    program = "import adgen, numpy as np, sys\nadgen.grad(lambda x: np.sum(np.sin(x) ** 2 / x))(np.ones(3))\n"
    (tmp_path / "p.py").write_text(program + "assert 'sympy' not in sys.modules\n")
    done = subprocess.run([sys.executable, "p.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
