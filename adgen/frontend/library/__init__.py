"""Algorithms that the front end lowers as it lowers a user's program: ordinary Python, with derivative rules.

Every function here runs in Python as it is.  Where a derivative of the algorithm itself would be dear or poor, the
function carries a rule (`adgen.frontend.rules`), so that its body could be replaced by a call of a library without
anything else changing.  Operations and errors that come from here belong to the line of the user's call.  Subscripts
of linear algebra are not checked: what is called from outside checks its shapes first.
"""

from __future__ import annotations

import os

CHECKED = (
    "arrays.py",
    "integrals.py",
    "iterators.py",
    "polynomials.py",
    "searches.py",
    "splines.py",
    "statistics.py",
)  # whose subscripts depend on the data
PIECEWISE = ("arrays.py", "distributions.py", "iterators.py", "searches.py", "splines.py", "statistics.py")
FOLDER = os.path.join(os.path.dirname(__file__), "")


def holds(file: str) -> bool:
    """True for the files of the library."""
    return file.startswith(FOLDER)


def smooth(file: str) -> bool:
    """True for the files of the library whose functions have no kinks, though their algorithms compare."""
    return holds(file) and os.path.basename(file) not in PIECEWISE


def trusted(file: str) -> bool:
    """True for the files of the library whose subscripts are known to be right."""
    return holds(file) and os.path.basename(file) not in CHECKED
