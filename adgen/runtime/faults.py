"""Exception classes.  They are apart so that raising them imports no compiler, and nothing that they are raised in."""

from __future__ import annotations

from adgen.diagnostics import AdgenError, Span

HELP = "reduce it to one number, or use adgen.vjp with a cotangent, or adgen.jacobian"


class ArgumentError(AdgenError, TypeError):
    """An argument of a kind that does not fit."""


class NotScalar(AdgenError):
    """A gradient was asked for of a function that does not return one number."""

    def __init__(self, code: str, message: str, span: Span | None = None, help: str | None = HELP) -> None:
        super().__init__(code, message, span, help)

    @property
    def is_array(self) -> bool:
        """True when the result is an array."""
        return "an array" in self.message

    def with_shape(self, shape: tuple[int, ...]) -> NotScalar:
        """The error with the shape that the result has for the arguments of a call."""
        message, _, _ = self.message.partition(" of rank ")
        return NotScalar(self.code, f"{message} of shape {shape}", self.span, self.help)
