"""Random Python programs with loops, branches and in-place writes, and equivalent ways to write each of them.

A program is a small tree; `render(program, style)` is its Python source.  Styles are rewrites that do not change what
is computed: `plain`, `named` (sub-expressions get names), `unrolled` (constant loops are written out), `while`
(counted loops as `while`), `helper` (expressions move into a function), `copies` (in-place writes become writes into
a fresh copy).  Values stay bounded, so that derivatives can be compared to many digits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

STYLES = ("plain", "named", "unrolled", "while", "helper", "copies")
SCALARS = ("x", "y", "u", "v", "w")
EXTENT = 4


@dataclass(frozen=True)
class Node:
    """A statement or expression: what it is, and its parts."""

    kind: str
    parts: tuple[Any, ...]


@st.composite
def expressions(draw: st.DrawFn, depth: int, indices: tuple[str, ...]) -> Node:
    """Expressions over the scalars, elements of `a` and `b`, and the loop indices."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(("scalar", "scalar", "constant", "element", "element", "index")))
        if kind == "scalar":
            return Node("scalar", (draw(st.sampled_from(SCALARS)),))
        if kind == "constant":
            return Node("constant", (draw(st.sampled_from((0.3, -0.7, 1.1, 0.5, 2.0))),))
        if kind == "index" and indices:
            return Node("index", (draw(st.sampled_from(indices)),))
        return Node("element", (draw(st.sampled_from("ab")), draw(positions(indices))))
    deeper = expressions(depth - 1, indices)
    kind = draw(st.sampled_from(("sin", "tanh", "add", "sub", "mul", "ratio", "bump", "max", "choose")))
    count = {"sin": 1, "tanh": 1, "bump": 1, "choose": 4}.get(kind, 2)
    return Node(kind, tuple(draw(deeper) for _ in range(count)))


@st.composite
def positions(draw: st.DrawFn, indices: tuple[str, ...]) -> str:
    """An index expression that is in range for every iteration."""
    if indices and draw(st.integers(0, 3)):
        index = draw(st.sampled_from(indices))
        return draw(st.sampled_from((index, f"({index} + 1) % {EXTENT}", f"{EXTENT - 1} - {index}", f"-1 - {index}")))
    return str(draw(st.integers(-EXTENT, EXTENT - 1)))


@st.composite
def blocks(draw: st.DrawFn, depth: int, indices: tuple[str, ...], in_loop: bool = False) -> tuple[Node, ...]:
    """One to four statements."""
    return tuple(draw(statements(depth, indices, in_loop)) for _ in range(draw(st.integers(1, 4 if depth else 3))))


@st.composite
def statements(draw: st.DrawFn, depth: int, indices: tuple[str, ...], in_loop: bool) -> Node:
    """Assignments, in-place writes, loops and branches."""
    simple = ("assign", "assign", "augment", "store", "store", "increment", "swap")
    kinds = simple + (("for", "for", "if", "while") if depth else ()) + (("break", "continue") if in_loop else ())
    kind = draw(st.sampled_from(kinds))
    value = expressions(2, indices)
    target = st.sampled_from(SCALARS)
    if kind == "assign":
        return Node(kind, (draw(target), draw(value)))
    if kind == "augment":
        return Node(kind, (draw(target), draw(st.sampled_from("+-*")), draw(expressions(1, indices))))
    if kind == "store":
        return Node(kind, (draw(positions(indices)), draw(value)))
    if kind == "increment":
        return Node(kind, (draw(positions(indices)), draw(st.sampled_from("+-*")), draw(expressions(1, indices))))
    if kind == "swap":
        first, second = draw(st.lists(target, min_size=2, max_size=2, unique=True))
        return Node(kind, (first, second))
    if kind == "for":
        index = "ijk"[len(indices)]
        bounds = draw(st.sampled_from(("0, 4, 1", "1, 4, 1", "3, -1, -1", "0, 4, 2", "2, 2, 1")))
        inner = (*indices, index) if len(indices) < 2 else indices
        return Node(kind, (index, bounds, draw(blocks(depth - 1 if len(indices) < 1 else 0, inner, True))))
    if kind == "if":
        other = draw(blocks(depth - 1, indices, in_loop)) if draw(st.booleans()) else ()
        return Node(kind, (draw(value), draw(blocks(depth - 1, indices, in_loop)), other))
    if kind == "while":
        return Node(kind, (draw(target), draw(blocks(0, indices, False))))
    return Node(kind, (draw(value),))


@st.composite
def programs(draw: st.DrawFn) -> tuple[Node, ...]:
    """The body of a function of two scalars `x`, `y` and an array `a` of four elements."""
    body = draw(blocks(2, ()))
    loop = Node("for", ("i", "0, 4, 1", draw(blocks(1, ("i",), True))))
    return (*body, loop, *draw(blocks(1, ())))


# -- rendering ------------------------------------------------------------------------------------------------------


@dataclass
class Writer:
    """Python source being written in one style."""

    style: str
    lines: list[str] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    names: int = 0

    def line(self, depth: int, text: str) -> None:
        """Append an indented line."""
        self.lines.append("    " * depth + text)

    def fresh(self) -> str:
        """A name not used yet."""
        self.names += 1
        return f"t{self.names}"

    def named(self, depth: int, text: str) -> str:
        """In style `named`, a statement that names an expression, and its name."""
        if self.style != "named":
            return text
        name = self.fresh()
        self.line(depth, f"{name} = {text}")
        return name

    def expression(self, node: Node, depth: int, fixed: dict[str, int]) -> str:
        """The text of an expression; `fixed` are the loop indices that have become constants."""
        if node.kind == "scalar":
            return str(node.parts[0])
        if node.kind == "constant":
            return f"({node.parts[0]!r})"
        if node.kind == "index":
            return f"(0.25 * {fixed.get(node.parts[0], node.parts[0])})"
        if node.kind == "element":
            return f"{node.parts[0]}[{self.position(node.parts[1], fixed)}]"
        if node.kind == "choose":
            one, other, yes, no = (self.inline(part, fixed) for part in node.parts)
            return f"({yes} if {one} > {other} else {no})"
        parts = [self.expression(part, depth, fixed) for part in node.parts]
        text = {
            "sin": "np.sin({0})",
            "tanh": "np.tanh({0})",
            "add": "({0} + {1})",
            "sub": "({0} - {1})",
            "mul": "np.tanh({0} * {1})",
            "ratio": "({0} / (1.5 + {1} * {1}))",
            "bump": "np.exp(-{0} * {0})",
            "max": "max({0}, {1})",
        }[node.kind].format(*parts)
        if self.style == "helper" and node.kind in ("ratio", "bump"):
            name = f"helper_{node.kind}"
            body = "p / (1.5 + q * q)" if node.kind == "ratio" else "np.exp(-p * p)"
            arguments = "p, q" if node.kind == "ratio" else "p"
            definition = f"def {name}({arguments}):\n    result = {body}\n    return result\n"
            if definition not in self.helpers:
                self.helpers.append(definition)
            text = f"{name}({', '.join(parts)})"
        return self.named(depth, text)

    def inline(self, node: Node, fixed: dict[str, int]) -> str:
        """An expression without naming its parts: they must stay lazy."""
        style, self.style = self.style, "plain"
        text = self.expression(node, 0, fixed)
        self.style = style
        return text

    def position(self, text: str, fixed: dict[str, int]) -> str:
        """An index expression with constant indices put in."""
        for name, number in fixed.items():
            text = text.replace(name, f"({number})")
        return text

    def target(self, depth: int) -> None:
        """In style `copies`, a fresh copy of `b` before it is written."""
        if self.style == "copies":
            self.line(depth, "b = b.copy()")

    def block(self, nodes: tuple[Node, ...], depth: int, fixed: dict[str, int]) -> None:
        """Write statements."""
        for node in nodes:
            getattr(self, f"write_{node.kind}")(node, depth, fixed)

    def write_assign(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        value = self.expression(node.parts[1], depth, fixed)
        self.line(depth, f"{node.parts[0]} = {value}")

    def write_augment(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        name, operator, expression = node.parts
        value = self.expression(expression, depth, fixed)
        self.line(depth, f"{name} {operator}= np.sin({value})")

    def write_store(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        value = self.expression(node.parts[1], depth, fixed)
        self.target(depth)
        self.line(depth, f"b[{self.position(node.parts[0], fixed)}] = {value}")

    def write_increment(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        index, operator, expression = node.parts
        value = self.expression(expression, depth, fixed)
        self.target(depth)
        self.line(depth, f"b[{self.position(index, fixed)}] {operator}= np.cos({value})")

    def write_swap(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        first, second = node.parts
        self.line(depth, f"{first}, {second} = {second}, np.tanh({first})")

    def write_for(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        index, bounds, body = node.parts
        jumps = any(contains(part, ("break", "continue")) for part in body)
        start, stop, step = (int(bound) for bound in bounds.split(","))
        if self.style == "unrolled" and not jumps:
            for number in range(start, stop, step):
                self.block(body, depth, {**fixed, index: number})
            return
        if self.style == "while" and not jumps:
            self.line(depth, f"{index} = {start}")
            self.line(depth, f"while {index} {'<' if step > 0 else '>'} {stop}:")
            self.block(body, depth + 1, fixed)
            self.line(depth + 1, f"{index} += {step}")
            return
        self.line(depth, f"for {index} in range({bounds}):")
        self.block(body, depth + 1, fixed)

    def write_if(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        condition, body, other = node.parts
        value = self.expression(condition, depth, fixed)
        self.line(depth, f"if {value} > 0.1:")
        self.block(body, depth + 1, fixed)
        if other:
            self.line(depth, "else:")
            self.block(other, depth + 1, fixed)

    def write_while(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        name, body = node.parts
        counter = self.fresh()
        self.line(depth, f"{counter} = 0")
        self.line(depth, f"while {counter} < 3 and {name} < 1.0:")
        self.block(body, depth + 1, fixed)
        self.line(depth + 1, f"{name} = 0.5 * {name} + 0.6")
        self.line(depth + 1, f"{counter} += 1")

    def write_break(self, node: Node, depth: int, fixed: dict[str, int]) -> None:
        value = self.expression(node.parts[0], depth, fixed)
        self.line(depth, f"if {value} > 0.6:")
        self.line(depth + 1, node.kind)

    write_continue = write_break


def contains(node: Node, kinds: tuple[str, ...]) -> bool:
    """True when a statement or one inside it, but not in an inner loop, is of a kind."""
    if node.kind in kinds:
        return True
    inner = node.parts[1:] if node.kind == "if" else ()
    return any(contains(child, kinds) for part in inner for child in part)


def render(program: tuple[Node, ...], style: str, name: str = "f") -> str:
    """The Python source of a program in a style: imports, helpers and the function."""
    writer = Writer(style)
    writer.line(0, f"def {name}(x, y, a):")
    writer.line(1, "u = x * 0.5")
    writer.line(1, "v = y - a[0]")
    writer.line(1, "w = 0.25")
    writer.line(1, "b = a.copy()")
    writer.block(program, 1, {})
    writer.line(1, "total = 0.1 * (x + y + u + v + w)")
    writer.line(1, "for index in range(len(b)):")
    writer.line(2, "total += b[index] * b[index] * (index + 1)")
    writer.line(1, "return total")
    return "import numpy as np\n\n\n" + "\n\n".join([*writer.helpers, "\n".join(writer.lines) + "\n"])
