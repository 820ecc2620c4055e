"""Which mathematical functions have a form for vectors."""

from __future__ import annotations

# Functions of one number and of two that the C library has for vectors too.  Measured against its scalar functions they
# differ by four units in the last place at most, and not at all at zeros, infinities, NaN and denormal numbers.
VECTORISED = {
    name: count
    for count, names in (
        (1, "acos acosh asin asinh atan atanh cbrt cos cosh erf erfc exp exp2 expm1"),
        (1, "log log10 log1p log2 sin sinh tan tanh"),
        (2, "atan2 hypot pow"),
    )
    for name in names.split()
}
