"""C names for values: the user's own where C allows, legible and unique everywhere else."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# C11 keywords; macros, types and functions of the headers that emitted files include; names that emitted code uses
_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
NULL INFINITY NAN NDEBUG assert asm typeof linux unix I errno size_t ptrdiff_t int64_t int32_t int16_t int8_t
uint64_t uint32_t uint16_t uint8_t intptr_t uintptr_t intmax_t uintmax_t math_errhandling signgam
free malloc realloc calloc memset memcpy memmove exit abort
isnan isinf isfinite isnormal signbit fpclassify isgreater isless islessgreater isunordered
main work detail sizes status done used
"""
_MATHEMATICAL = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax
fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
"""
MATHEMATICAL = frozenset(_MATHEMATICAL.split())
RESERVED = frozenset(_WORDS.split()) | MATHEMATICAL
_LIBM_VARIANT = re.compile(r"(\w+)[fl]")
_OURS = ("ad_", "adgen_")


class Names:
    """The names that can be seen from a place of a C file: those of the file, and of the blocks that are open."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self.alike: Counter[str] = Counter()  # how many visible names were made from a hint
        self.open: list[list[tuple[str, str]]] = [[]]

    @contextmanager
    def block(self) -> Iterator[None]:
        """Names claimed inside are free again afterwards."""
        self.open.append([])
        yield
        for hint, name in self.open.pop():
            self.taken.discard(name)
            self.alike[hint] -= 1

    def claim(self, hint: str) -> str:
        """A C name close to the hint that no visible name hides or is hidden by."""
        base = legible(hint)
        count = self.alike[base] + 1
        name = base if base and count == 1 and not reserved(base) else _numbered(base, count)
        while name in self.taken or reserved(name):
            count += 1
            name = _numbered(base, count)
        self.taken.add(name)
        self.alike[base] += 1
        self.open[-1].append((base, name))
        return name


def _numbered(base: str, count: int) -> str:
    """`x_2`, after `x`; names without a hint are `t1`, `t2`; a word that C has taken is first tried as `exp_`."""
    if not base:
        return f"t{count}"
    if reserved(base):
        return f"{base}_" if count == 1 else f"{base}_{count}"
    return f"{base}_{max(count, 2)}"


def reserved(name: str) -> bool:
    """True when C, its library or the helper functions own a name."""
    if name in RESERVED or name.startswith(_OURS):
        return True
    variant = _LIBM_VARIANT.fullmatch(name)
    return variant is not None and variant[1] in RESERVED and name != "used"


def called(text: str) -> set[str]:
    """The names of the functions that some C calls or defines."""
    return set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", text))


def mathematical(names: Iterable[str]) -> list[str]:
    """Which names are functions of libm."""
    return sorted(name for name in names if name in MATHEMATICAL or name.removesuffix("f") in MATHEMATICAL)


def legible(name: str) -> str:
    """A name in ASCII: Greek letters by their names, accents dropped, the rest by code point."""
    if not name.isascii():
        name = "".join(_letter(letter) for letter in unicodedata.normalize("NFKD", name))
    text = re.sub(r"\W", "_", name)
    if text[:1] == "_":
        text = text.lstrip("_")
    if text.startswith(_OURS):
        return f"v_{text}"
    return f"v{text}" if text[:1].isdigit() else text


def _letter(letter: str) -> str:
    if letter.isascii():
        return letter
    if unicodedata.combining(letter):
        return ""
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        word = words[words.index("LETTER") + 1].lower()
        return word.capitalize() if "CAPITAL" in words else word
    return f"u{ord(letter):04X}"
