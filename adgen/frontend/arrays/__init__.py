"""NumPy arrays for the partial evaluator: views, fused expressions, and the functions that take and make them.

Comes in: what the program does with arrays.  Goes out: index arithmetic, loops, loads and stores on IR buffers (the IR
has no views).  Guaranteed: NumPy's meaning, aliasing and evaluation order included; what cannot be kept is refused.
"""

from __future__ import annotations

from adgen.frontend.arrays import (
    diagonals,
    extremes,
    joining,
    making,
    norms,
    ordering,
    polynomials,
    probabilities,
    products,
    rearrange,
    reduce,
    reshaping,
    scans,
    shaping,
)
from adgen.frontend.arrays.attributes import attribute, iterate
from adgen.frontend.arrays.broadcasting import copy_into
from adgen.frontend.arrays.build import as_array, from_nested, refuse_complex
from adgen.frontend.arrays.elementwise import elementwise
from adgen.frontend.arrays.indexing import augment, getitem, inplace, setitem
from adgen.frontend.arrays.making import grid, ndarray
from adgen.frontend.arrays.model import Array, Lazy, View
from adgen.frontend.arrays.products import matmul
from adgen.frontend.arrays.registry import function, method, static_only
from adgen.frontend.arrays.selection import Selection
from adgen.frontend.arrays.storage import (
    allocate,
    bare,
    base,
    boxed,
    constant,
    copy,
    identical,
    is_array,
    materialise,
    parameter,
    wrap,
)

MODULES = (
    diagonals,
    extremes,
    joining,
    making,
    norms,
    ordering,
    polynomials,
    probabilities,
    products,
    rearrange,
    reduce,
    reshaping,
    scans,
    shaping,
)

__all__ = [
    "MODULES",
    "Array",
    "Lazy",
    "Selection",
    "View",
    "allocate",
    "as_array",
    "attribute",
    "augment",
    "bare",
    "base",
    "boxed",
    "constant",
    "copy",
    "copy_into",
    "elementwise",
    "from_nested",
    "function",
    "getitem",
    "grid",
    "identical",
    "inplace",
    "is_array",
    "iterate",
    "materialise",
    "matmul",
    "method",
    "ndarray",
    "parameter",
    "refuse_complex",
    "setitem",
    "static_only",
    "wrap",
]
