"""Where every row of the table is found by its name.

Comes in: rows, as the files of the table define them.  Goes out: `TABLE`, in the order of definition.
Guaranteed: names are unique.  It is a module of its own so that terms and identities can name rows that are defined
after them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adgen.ops.elementwise import Elementwise

TABLE: dict[str, Elementwise] = {}


def register(row: Elementwise) -> Elementwise:
    """Enter a row into the table and give it back."""
    assert row.name not in TABLE, f"two rows are named {row.name}"
    TABLE[row.name] = row
    return row
