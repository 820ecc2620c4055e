"""How an operation is written in C11.

Comes in: the C text of the operands, each with its precedence, and the type of the first operand.  Goes out: the C
text of the result and its precedence, and the helper function that the text calls, if any.  Guaranteed: as few
parentheses as C and its compilers' warnings allow; no implicit conversion.

Precedences: 16 primary and call, 15 unary, 13 `* /`, 12 `+ -`, 10 relational, 9 equality, 8 `&`, 7 `^`, 6 `|`,
5 `&&`, 4 `||`, 3 `?:`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import Template

from adgen.ir.types import BOOL, F32, F64, INTEGERS, Scalar

Text = tuple[str, int]

C_TYPES: Mapping[Scalar, str] = {
    F64: "double",
    F32: "float",
    BOOL: "bool",
    **{kind: f"{kind.full_name}_t" for kind in INTEGERS},
}
PRIMARY, UNARY, MULTIPLICATIVE, ADDITIVE, RELATIONAL, EQUALITY = 16, 15, 13, 12, 10, 9
BITWISE = {"&": 8, "^": 7, "|": 6}
AND_ALSO, OR_ELSE, CONDITIONAL = 5, 4, 3


def enclosed(argument: Text, least: int) -> str:
    """The text, in parentheses when it binds less tightly than `least`."""
    text, precedence = argument
    return text if precedence >= least else f"({text})"


class Spelling:
    """The C form of a row."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        """The C expression and its precedence."""
        raise NotImplementedError

    def helper(self, kind: Scalar) -> str | None:
        """The C source of the function that `render` calls, when it is not in libm."""
        return None


@dataclass(frozen=True)
class Infix(Spelling):
    """`a + b`.  Operands of equal precedence are grouped from the left, so a rounding order is never changed."""

    sign: str
    precedence: int
    operands: int = 0
    """The precedence below which an operand is parenthesised, where that is not the operator's own."""
    associative: bool = False

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        left, right = arguments
        least = self.operands or self.precedence
        after = least if self.operands or self.associative else least + 1
        return f"{enclosed(left, least)} {self.sign} {enclosed(right, after)}", self.precedence


@dataclass(frozen=True)
class Prefix(Spelling):
    """`-a`."""

    sign: str

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        text = enclosed(arguments[0], UNARY)
        return self.sign + (f"({text})" if text.startswith(self.sign) else text), UNARY


@dataclass(frozen=True)
class Cast(Spelling):
    """`(double)a`."""

    target: Scalar

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return f"({C_TYPES[self.target]}){enclosed(arguments[0], UNARY)}", UNARY


@dataclass(frozen=True)
class NotZero(Spelling):
    """`a != 0.0`."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        zero = {F64: "0.0", F32: "0.0f"}.get(kind, "0")
        return f"{enclosed(arguments[0], RELATIONAL + 1)} != {zero}", EQUALITY


@dataclass(frozen=True)
class Conditional(Spelling):
    """`a ? b : c`; a chain of alternatives needs no parentheses."""

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        condition, first, second = arguments
        text = f"{enclosed(condition, EQUALITY)} ? {enclosed(first, CONDITIONAL + 1)} : {enclosed(second, CONDITIONAL)}"
        return text, CONDITIONAL


def call(name: str, arguments: Sequence[Text]) -> Text:
    """A C function call."""
    return f"{name}({', '.join(text for text, _ in arguments)})", PRIMARY


@dataclass(frozen=True)
class LibmCall(Spelling):
    """A function of `<math.h>`, with its `f` form for floats; `generic` names a macro that takes both."""

    name: str
    generic: bool = False

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return call(self.name + ("f" if kind == F32 and not self.generic else ""), arguments)


@dataclass(frozen=True)
class HelperCall(Spelling):
    """A function whose C source the file must contain.

    `source` is its text with `$name` for its name, `$real` for the floating-point type and `$f` for libm's suffix;
    `sources` holds other texts for single types.
    """

    name: str
    source: str = ""
    sources: Mapping[Scalar, str] = field(default_factory=dict)

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return call(self.name_of(kind), arguments)

    def helper(self, kind: Scalar) -> str | None:
        text = Template(self.sources.get(kind, self.source).strip("\n"))
        suffix = "f" if kind == F32 else ""
        return text.substitute(name=self.name_of(kind), real=C_TYPES[kind], f=suffix)

    def name_of(self, kind: Scalar) -> str:
        """The C name of the function for a type."""
        return f"ad_{self.name}" + {F64: "", F32: "_f32"}.get(kind, f"_{kind}")


@dataclass(frozen=True)
class ByType(Spelling):
    """One spelling for most types, others for some."""

    usual: Spelling
    others: Mapping[Scalar, Spelling]

    def render(self, arguments: Sequence[Text], kind: Scalar) -> Text:
        return self.others.get(kind, self.usual).render(arguments, kind)

    def helper(self, kind: Scalar) -> str | None:
        return self.others.get(kind, self.usual).helper(kind)
