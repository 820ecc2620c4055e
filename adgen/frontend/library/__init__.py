"""Algorithms that the front end lowers as it lowers a user's program: ordinary Python, with rules beside them.

Every function here runs in Python as it is.  Where a derivative of the algorithm itself would be dear or poor, the
function carries a rule (`adgen.frontend.rules`), so that its body could be replaced by a call of a library without
anything else changing.  Operations and errors that come from here belong to the line of the user's call.
"""

from __future__ import annotations

import os

FOLDER = os.path.join(os.path.dirname(__file__), "")


def holds(file: str) -> bool:
    """True for the files of the library."""
    return file.startswith(FOLDER)
