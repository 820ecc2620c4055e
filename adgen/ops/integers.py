"""The meaning of i64 arithmetic: Python's, modulo 2**64 as in NumPy and in the machine.

Comes in: Python integers (or int64 arrays).  Goes out: integers in range.  Guaranteed: total - division by zero gives
zero, as in NumPy - because a pure operation may be executed where its result is not used; the front end's checks
raise Python's exceptions.
"""

from __future__ import annotations

import math
from typing import Any

LEAST, GREATEST = -(2**63), 2**63 - 1


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


def truncated(number: Any) -> int:
    """A real number towards zero; out of range, or nan: the least i64, as x86 does."""
    return int(number) if LEAST <= number <= GREATEST else LEAST


def factorial(n: int) -> int:
    """`n!` where it fits, for n from 0 to 20; zero elsewhere."""
    return math.factorial(n) if 0 <= n <= 20 else 0
