"""C text of small things: numbers, types, comments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adgen.ir.types import BOOL, F32, Scalar, Type
from adgen.ops.spelling import C_TYPES, PRIMARY, UNARY, Text

_UNSEEN = dict.fromkeys((*range(32), 127, *range(8234, 8239), *range(8294, 8298), 8206, 8207))


def c_type(kind: Type) -> str:
    """The C type of a scalar, or of an element."""
    return C_TYPES[kind if isinstance(kind, Scalar) else kind.element]


def literal(number: Any, kind: Scalar) -> Text:
    """A number that reads back to the same bits."""
    if kind == BOOL:
        return ("true" if number else "false"), PRIMARY
    if kind.is_integer:
        return _integer(int(number))
    value = float(number)
    if math.isnan(value) or math.isinf(value):
        name = "NAN" if math.isnan(value) else "INFINITY"  # these are floats
        text = name if kind == F32 else f"(double){name}"
        return (f"-{text}", UNARY) if value < 0 else (text, PRIMARY if kind == F32 else UNARY)
    text = str(np.float32(value)) if kind == F32 else repr(value)
    text = text if any(mark in text for mark in ".e") else f"{text}.0"
    if kind == F32:
        text += "f"
    return text, UNARY if text.startswith("-") else PRIMARY


def _integer(number: int) -> Text:
    if number == -(2**63):
        return "INT64_MIN", PRIMARY
    return str(number), UNARY if number < 0 else PRIMARY


def comment(text: str) -> str:
    """Text as a C comment of one line; what would end it, nest in it, or turn the direction of text is defused."""
    return f"/* {text.strip().translate(_UNSEEN).replace('*/', '* /').replace('/*', '/ *')} */"
