"""Random programs on integers of all widths, as text: an expression, or an update of an array in place."""

from __future__ import annotations

from hypothesis import strategies as st

TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
BINARY = ("+", "-", "*", "//", "%", "&", "|", "^", "<", "<=", "==", "!=")
FUNCTIONS = ("np.minimum({}, {})", "np.maximum({}, {})", "np.add({}, {})", "np.where({} > 1, b, c) * {}")
UNARY = ("-{}", "~{}", "abs({})", "+{}", "np.square({})", "np.sign({} + 0)", "({} + 0) ** 2")
UPDATES = ("+=", "-=", "*=", "//=", "%=", "&=", "|=", "^=", "<<=")


def numbers(kind: str) -> list[int]:
    """Numbers of a type: small ones, and its ends."""
    width, signed = int(kind.strip("uint")), not kind.startswith("u")
    least, greatest = (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)
    return [least, greatest, least + 1, greatest // 2, 0, 1, 2, 3, 7, 100, *([-1, -2, -7] if signed else [])]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression of the numbers or arrays `a`, `b`, `c` and the Python int `n`."""
    form = draw(st.integers(0, 9)) if depth else 0
    if form < 2:
        return draw(st.sampled_from("abc"))
    inner = expressions(depth - 1)
    if form < 5:
        left, right = draw(inner), draw(st.one_of(inner, weak()))
        pair = (right, left) if draw(st.booleans()) else (left, right)
        return f"({pair[0]} {draw(st.sampled_from(BINARY))} {pair[1]})"
    if form < 6:
        return f"({draw(inner)} {draw(st.sampled_from(('<<', '>>')))} ({draw(inner)} & 7))"
    if form < 7:
        return draw(st.sampled_from(FUNCTIONS)).format(draw(inner), draw(inner))
    if form < 8:
        return draw(st.sampled_from(UNARY)).format(draw(inner))
    return f"({draw(inner)} + np.int8(0)).astype(np.{draw(st.sampled_from(TYPES))})"


def weak() -> st.SearchStrategy[str]:
    """An int of Python."""
    return st.sampled_from(("n", "2", "3", "-1", "100", "200", "70000", "(n + 1)", "True"))


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The body of a function of `a`, `b`, `c` and `n`."""
    expression = draw(expressions())
    if draw(st.integers(0, 3)):
        return f"return {expression}"
    return f"r = np.array(b)\n    r {draw(st.sampled_from(UPDATES))} {expression}\n    return r"
