"""The meaning of i64 arithmetic: Python's, modulo 2**64 as in NumPy and in the machine.

Comes in: Python integers (or int64 arrays).  Goes out: integers in range.  Guaranteed: total - division by zero gives
zero, as in NumPy - because a pure operation may be executed where its result is not used; the front end's checks
raise Python's exceptions.
"""

from __future__ import annotations

import math
from typing import Any

from adgen.ir.types import I32, I64, Scalar

LEAST, GREATEST = I64.numbers[0], I64.numbers[-1]


def wrapped(number: Any) -> Any:
    """A Python integer brought into the range of i64; anything else as it is."""
    if type(number) is not int or LEAST <= number <= GREATEST:
        return number
    return (number - LEAST) % 2**64 + LEAST


def floor_quotient(a: int, b: int) -> int:
    """Python's `//`."""
    return int(wrapped(a // b)) if b else 0


def floor_remainder(a: int, b: int) -> int:
    """Python's `%`."""
    return a % b if b else 0


def power(base: int, exponent: int) -> int:
    """Python's `**`; 1 for negative exponents, which have no integer meaning."""
    return int(wrapped(pow(base, max(exponent, 0), 2**64)))


def shift_left(a: int, n: int) -> int:
    """Python's `<<`; all bits are lost when the count is out of range."""
    return int(wrapped(a << n)) if 0 <= n < 64 else 0


def shift_right(a: int, n: int) -> int:
    """Python's `>>`; only the sign is left when the count is out of range."""
    return a >> n if 0 <= n < 64 else a >> 63


def conversion_type(kind: Scalar) -> Scalar:
    """The type that x86 converts a real number to, on its way to an integer type."""
    return I32 if kind.numbers.stop <= I32.numbers.stop else I64


def converted(number: Any, kind: Scalar) -> int:
    """A number as one of an integer type.

    Integers wrap.  A real number goes towards zero; out of range, or nan: the least number that x86 converts to.
    """
    numbers, wide = kind.numbers, conversion_type(kind).numbers
    if not isinstance(number, int):
        number = int(number) if wide[0] <= number < float(wide.stop) else wide[0]
    return (int(number) - numbers.start) % (numbers.stop - numbers.start) + numbers.start


def factorial(n: int) -> int:
    """`n!` where it fits, for n from 0 to 20; zero elsewhere."""
    return math.factorial(n) if 0 <= n <= 20 else 0
