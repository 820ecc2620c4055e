"""From statements to lines of C.

Comes in: statements, each with the Python line it came from, nested in blocks.  Goes out: indented lines, no longer
than a page is wide.  Guaranteed: a Python line stands as a comment above the statements that came from it, once for
each run of them; `else` followed by nothing but an `if` becomes `else if`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from adgen.diagnostics import Span
from adgen.emit.text import comment

WIDTH = 112
INDENT = 4
CONTINUED = 8  # further indentation of a line that continues another
SHORTEST = 24  # characters that a line keeps at least


@dataclass
class Line:
    """One statement."""

    text: str
    span: Span | None = None


@dataclass
class Block:
    """Statements in braces after a head such as `for (...)`."""

    head: str
    body: list[Statement] = field(default_factory=list)
    span: Span | None = None


@dataclass
class Branch:
    """`if` and perhaps `else`."""

    condition: str
    then: list[Statement]
    otherwise: list[Statement]
    span: Span | None = None


Statement = Line | Block | Branch


class Layout:
    """Writes statements, remembering which Python line was shown last."""

    def __init__(self) -> None:
        self.shown: tuple[str, int] | None = None

    def lines(self, statements: Sequence[Statement], depth: int) -> Iterator[str]:
        """The lines of some statements."""
        for statement in statements:
            yield from self.origin(statement.span, depth)
            if isinstance(statement, Line):
                yield from wrapped(statement.text, depth)
            elif isinstance(statement, Block):
                yield from wrapped(f"{statement.head} {{", depth)
                yield from self.lines(statement.body, depth + 1)
                yield " " * INDENT * depth + "}"
            else:
                yield from self.branch(statement, depth, "")

    def branch(self, branch: Branch, depth: int, before: str) -> Iterator[str]:
        """An `if`; `before` closes the branch that it is the alternative of."""
        yield from wrapped(f"{before}if ({branch.condition}) {{", depth)
        if before:
            yield from self.origin(branch.span, depth + 1)
        yield from self.lines(branch.then, depth + 1)
        match branch.otherwise:
            case []:
                yield " " * INDENT * depth + "}"
            case [Branch() as alternative]:
                yield from self.branch(alternative, depth, "} else ")
            case _:
                yield " " * INDENT * depth + "} else {"
                yield from self.lines(branch.otherwise, depth + 1)
                yield " " * INDENT * depth + "}"

    def origin(self, span: Span | None, depth: int) -> Iterator[str]:
        """The comment with the Python line, unless it is the last one shown."""
        if span is None or (span.file, span.line) == self.shown:
            return
        self.shown = span.file, span.line
        yield " " * INDENT * depth + _origin(span.file, span.line)


@lru_cache(maxsize=4096)
def _origin(file: str, line: int) -> str:
    name = file.replace("\\", "/").rpartition("/")[2]
    text = " ".join(Span(file, line).text.split())
    if len(text) > WIDTH - 20:
        text = f"{text[: WIDTH - 24]} ..."
    return comment(f"{name}:{line}  {text}" if text else f"{name}:{line}")


def wrapped(text: str, depth: int) -> Iterator[str]:
    """A statement as lines of at most WIDTH characters where that is possible."""
    indent = INDENT * depth
    if text.startswith("#"):
        yield " " * indent + text  # a directive ends with its line
        return
    while indent + len(text) > WIDTH:
        place = _break(text, WIDTH - indent)
        if place is None:
            break
        yield " " * indent + text[:place].rstrip()
        text = text[place:].lstrip()
        indent = INDENT * depth + CONTINUED
    yield " " * indent + text


def _break(text: str, room: int) -> int | None:
    """Where to break a line: in as few parentheses as possible, then as far to the right as fits."""
    fitting: tuple[int, int] | None = None
    depth = 0
    for place, letter in enumerate(text):
        if letter in "([" or text.startswith("<<<", place):
            depth += 1
        elif letter in ")]" or text.startswith(">>>", place):
            depth -= 1
        elif letter == " " and place > SHORTEST and _breakable(text, place):
            if place > room:
                return fitting[1] if fitting else place
            if fitting is None or depth <= fitting[0]:
                fitting = depth, place
    return fitting[1] if fitting else None


def _breakable(text: str, place: int) -> bool:
    """Lines break after a comma, before an operator between blanks, and before what an `if` of one line does."""
    if text[place - 1] == ",":
        return True
    word = text[place + 1 : text.find(" ", place + 1)]
    return word in _OPERATORS or (word in ("return", "{") and text[place - 1] == ")")


_OPERATORS = frozenset(["+", "-", "*", "/", "?", ":", "&&", "||", "==", "!=", "<", ">", "<=", ">=", "&", "|", "^"])
