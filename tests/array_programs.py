"""Random Python programs over NumPy arrays, and equivalent ways to write each of them.

`program(seed)` draws a function of `a, b: f64[n]`, `c: f64[k]`, `m: f64[k, n]` and `s: float`: aliases, views, writes
in place, arrays rebound in loops and branches, swaps, lists of arrays, helpers that write what they are given.
`render(program, style)` is its source.  Styles are rewrites that do not change what is computed: `plain`, `named`
(sub-expressions get names), `unrolled` (constant loops are written out), `while` (counted loops as `while`), `helper`
(writes and bindings go through functions), `spelled` (`x op= e` as `x[...] = x op e`, new arrays copied once more),
`elements` (writes into slices are loops over their first axis).

Every name has one shape for all of the program, so that a draw is valid Python wherever it stands, but for a few
indices that small arrays do not have; shapes are tuples of symbolic extents: `n`, `k`, `n-1`, `h` (every second of n),
`1`.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

STYLES = ("plain", "named", "unrolled", "while", "helper", "spelled", "elements")
Shape = tuple[str, ...]
N, K, KN, NK, KK = ("n",), ("k",), ("k", "n"), ("n", "k"), ("k", "k")
SHORT, HALF, ONE, SCALAR = ("n-1",), ("h",), ("1",), ()
NAMES: dict[Shape, tuple[str, ...]] = {
    N: ("a", "b", "u", "v", "w"),
    K: ("c", "d", "e"),
    KN: ("m", "p", "q"),
    NK: ("z",),
    KK: ("k",),
    SHORT: ("l",),
    HALF: ("h",),
    SCALAR: ("s", "x", "g"),
}
PARAMETERS = ("a", "b", "c", "m", "s")
ZEROS = {
    N: "np.zeros(len(a))",
    K: "np.zeros(c.shape)",
    KN: "np.zeros((len(c), len(a)))",
    NK: "np.zeros((len(a), len(c)))",
    KK: "np.zeros((len(c), len(c)))",
    SHORT: "np.zeros(len(a) - 1)",
    HALF: "np.zeros((len(a) + 1) // 2)",
}
TEXTS = """
def same(o):
    return o


def flip(o):
    return o[::-1]


def pick(o, i, g):
    if g > 0.2:
        return o
    return i


def later(o, i, g):
    if g > 0.2:
        o = i
    o[0] += g
    return o


def step(o, i, g):
    o = np.sin(o) + 0.5 * i
    o[0] += g
    return o


def bump(o, i, g):
    o += g * np.sin(i)
    return o


def fill(o, i, g):
    o[...] = g * i
    return o


def shift(o, i, g):
    o[1:] = o[:-1]
    o[0] = g
    return i


def relax(o, i, g):
    for j in range(1, len(o)):
        o[j] += 0.3 * i[j - 1] - g * o[j - 1]
    return o


def fresh(o, i, g):
    r = np.empty_like(o)
    for j in range(len(o)):
        r[j] = g * o[j] + i[-1 - j]
    return r


def put(o, i):
    o[...] = i


def put_add(o, i):
    o += i


def put_sub(o, i):
    o -= i


def put_mul(o, i):
    o *= i
"""
HELPERS = {text[: text.index("(")]: f"def {text.strip()}\n" for text in TEXTS.split("def ")[1:]}
WRITERS = tuple(name for name in HELPERS if name not in ("same", "flip") and not name.startswith("put"))
ARRAYS = {name for shape, names in NAMES.items() if shape != SCALAR for name in names}


@dataclass(frozen=True)
class Expr:
    """An expression: a format string and its parts.  `fresh`: an array with memory of its own, or a number."""

    template: str
    parts: tuple[Expr, ...] = ()
    fresh: bool = True

    def __str__(self) -> str:
        return self.template.format(*self.parts)


@dataclass(frozen=True)
class Bind:
    """`targets = values`."""

    targets: tuple[str, ...]
    values: tuple[Expr, ...]


@dataclass(frozen=True)
class Store:
    """`target operator= value`; `rows`: the target is an array whose extents the value has exactly."""

    target: str
    operator: str
    value: Expr
    rows: bool


@dataclass(frozen=True)
class Count:
    """`for index in range(start, stop, step)`; `numbers` are its values when they are constants."""

    index: str
    bounds: tuple[str, str, int]
    numbers: tuple[int, ...] | None
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Each:
    """`for targets in items`."""

    targets: str
    items: str
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class While:
    """`while` with a counter that ends it."""

    counter: str
    test: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    """A branch."""

    test: Expr
    body: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Jump:
    """`break`, `continue` or `return` under a condition."""

    test: Expr
    text: str


@dataclass(frozen=True)
class Do:
    """A call for its effect."""

    value: Expr


Statement = Bind | Store | Count | Each | While | If | Jump | Do


@dataclass(frozen=True)
class Program:
    """The statements of the function and of its helper, each with its `return`."""

    body: tuple[Statement, ...]
    result: str
    helper: tuple[Statement, ...]
    helper_result: str


# -- drawing --------------------------------------------------------------------------------------------------------


class Draw:
    """Draws expressions and statements that are valid where they stand.

    A `calm` program makes no second name for an array inside of loops and branches, where adgen refuses many of them.
    """

    def __init__(self, generator: random.Random, names: dict[Shape, tuple[str, ...]], helpers: tuple[str, ...]) -> None:
        self.random = generator
        self.names = {shape: list(names.get(shape, ())) for shape in NAMES}
        self.helpers = helpers
        self.indices: dict[str, list[str]] = {"n": [], "k": []}
        self.numbers: list[str] = []
        self.counters = 0
        self.inside = -1  # of how many loops and branches
        self.box = False
        self.calm = self.chance(0.6)
        self.result = ""

    def chance(self, share: float) -> bool:
        """True that often."""
        return self.random.random() < share

    def pick(self, *options: str) -> str:
        """One of the texts."""
        return self.random.choice(options)

    def name(self, shape: Shape) -> str:
        """A name of an array of this shape, or of a number."""
        return self.random.choice(self.names[shape])

    def has(self, *shapes: Shape) -> bool:
        """True when there are names of these shapes."""
        return all(self.names[shape] for shape in shapes)

    def index(self, extent: str) -> str:
        """An index in range for extents of at least 2 (n) and 1 (k); now and then one that needs 4 and 3."""
        running = self.indices[extent]
        if self.chance(0.03):
            larger = self.numbers or ["3", "-4"] if extent == "n" else ["1", "2", "-3"]
            return self.random.choice(larger)
        if running and self.chance(0.75):
            name = self.random.choice(running)
            if extent == "n":
                return self.pick(
                    name, name, name, f"-1 - {name}", f"{name} - 1", f"({name} + 1) % len({self.names[N][0]})"
                )
            return self.pick(name, name, f"-1 - {name}", f"{name} - 1")
        return self.pick("0", "1", "-1", "-2") if extent == "n" else self.pick("0", "-1")

    # .. expressions ..

    def view(self, shape: Shape) -> str:
        """Memory that has a name: an array, or part of one; it may be written."""
        name = self.name
        options: list[str] = []
        if self.names.get(shape):
            options += [name(shape)] * 4
        if shape == N:
            options += [f"{name(N)}[::-1]", f"np.flip({name(N)})", f"np.asarray({name(N)})"]
            if self.has(KN):
                options += [f"{name(KN)}[{self.index('k')}]", f"{name(KN)}[{self.index('k')}, ::-1]"]
                options += [f"{name(KN)}.ravel()[: len({name(N)})]", f"{name(KN)}.reshape(-1)[-len({name(N)}) :]"]
                options += [f"np.take({name(KN)}, {self.index('k')}, axis=0)"]
            if self.has(NK):
                options += [f"{name(NK)}[:, {self.index('k')}]"]
            if self.box:
                options += [f"box[{self.pick('0', '1', '-1')}]"] * 2
        elif shape == K and self.has(KN):
            options += [f"{name(KN)}[:, {self.index('n')}]", f"{name(KN)}.T[{self.index('n')}]", f"{name(K)}[::-1]"]
        elif shape == SHORT:
            base = self.view(N)
            options += [f"{base}[1:]", f"{base}[:-1]", f"{base}[-2::-1]"] * 2
            if self.has(KN):
                options += [f"{name(KN)}[{self.index('k')}, 1:]"]
        elif shape == HALF:
            options += [f"{self.view(N)}[::2]"] * 2
        elif shape == ONE:
            options += [f"{name(N)}[:1]", f"{name(N)}[-1:]"]
        elif shape == KN:
            options += [f"{name(KN)}[::-1]", f"{name(KN)}[:, ::-1]"]
            if self.has(NK):
                options += [f"{name(NK)}.T"]
        elif shape == NK:
            options += [f"{name(KN)}.T", f"{name(KN)}[::-1].T", f"np.einsum('ij->ji', {name(KN)})"]
        elif shape == KK:
            options += [f"{name(KK)}.T", f"{name(KK)}[::-1, ::-1]", f"{name(KK)}.transpose()[:, ::-1]"]
        elif shape == SCALAR:
            options = [f"{self.view(N)}[{self.index('n')}]"] * 3
            if self.has(KN):
                i, j = self.index("k"), self.index("n")
                options += [f"{name(KN)}[{i}, {j}]", f"{name(KN)}[{i}][{j}]", f"{name(K)}[{i}]"]
        return self.random.choice(options)

    def leaf(self, shape: Shape) -> Expr:
        """A name, a view or a constant."""
        if shape == SCALAR:
            kind = self.random.randrange(6)
            if kind < 2:
                return Expr(self.name(SCALAR))
            if kind == 2:
                return Expr(self.pick("0.3", "-0.7", "1.1", "0.5"))
            if kind == 3 and (found := self.numbers + self.indices["n"] + self.indices["k"]):
                return Expr(f"(0.25 * {self.random.choice(found)})")
            return Expr(self.view(SCALAR))
        return Expr(self.view(shape), fresh=False)

    def spread(self, shape: Shape, depth: int) -> Expr:
        """An operand that broadcasts to a shape."""
        kind = self.random.randrange(5)
        if shape == SCALAR or kind < 2:
            return self.expression(shape, depth)
        if kind == 2:
            return self.expression(SCALAR, depth)
        if shape == KN and self.has(K, N):
            column = Expr("{0}[:, None]", (self.expression(K, depth),), False)
            kept = Expr("np.mean({0}, axis=1, keepdims=True)", (self.expression(KN, 0),))
            return self.random.choice([self.expression(N, depth), column, kept])
        if shape == NK and self.has(K, N):
            column = Expr("{0}[:, np.newaxis]", (self.expression(N, depth),), False)
            kept = Expr("{0}.max(axis=1, keepdims=True)", (self.expression(NK, 0),))
            return self.random.choice([self.expression(K, depth), column, kept])
        return self.expression(ONE, 0)

    def expression(self, shape: Shape, depth: int) -> Expr:
        """Any expression of a shape."""
        if depth <= 0 or self.chance(0.15):
            return self.leaf(shape)
        if self.chance(0.3) and (special := self.special(shape, depth - 1)) is not None:
            return special
        if shape != SCALAR and not self.calm and self.chance(0.1):
            test = f" if {self.view(SCALAR)} > 0.1 else "
            return Expr("({0}" + test + "{1})", (self.leaf(shape), self.leaf(shape)), False)
        one = self.expression(shape, depth - 1)
        kind = self.random.randrange(10)
        if kind < 3:
            return Expr(self.pick("np.sin({0})", "np.tanh({0})", "np.exp(-{0} * {0})", "(-{0})", "np.cos({0})"), (one,))
        other = self.spread(shape, depth - 1)
        if kind == 9:
            third = self.spread(shape, depth - 2)
            return Expr("np.where({0} > {1}, {2}, {1} - {0})", (one, other, third))
        template = self.pick(
            "({0} + {1})", "({0} - {1})", "({1} - {0})", "np.tanh({0} * {1})", "({0} / (1.5 + {1} * {1}))",
            "(0.5 * {0} * {1})", "np.maximum({0}, {1})", "({0} + 0.5 * {1})",
        )  # fmt: skip
        return Expr(template, (one, other))

    def special(self, shape: Shape, depth: int) -> Expr | None:
        """An expression that only some shapes have."""
        full = self.has(K, N, KN) and depth >= 0
        sub = self.expression
        options: list[Expr] = []
        if shape not in (SCALAR, ONE):
            options.append(Expr("{0}.copy()", (sub(shape, depth),)))
            if self.names.get(shape):
                options.append(Expr(self.pick("np.zeros_like({0})", "np.ones_like({0})"), (Expr(self.name(shape)),)))
        if shape == SCALAR:
            options.append(Expr("(0.4 * np.sum({0}))", (sub(N, depth),)))
            options.append(Expr("np.mean({0})", (sub(N, depth),)))
            options.append(Expr("np.tanh({0} @ {1})", (sub(N, depth), sub(N, 0))))
            options.append(Expr("np.max({0})", (sub(N, depth),)))
            if slices := self.slice():
                options += [Expr(f"np.sum({{0}}{slices})", (Expr(self.name(N)),))] * 2
            options.append(Expr("({0} if {1} > {2} else {3})", tuple(self.leaf(SCALAR) for _ in range(4))))
            if full:
                options.append(Expr("(0.3 * {0}.sum())", (sub(KN, 0),)))
        elif shape == N:
            options.append(Expr("np.zeros(len({0}))", (Expr(self.name(N)),)))
            options.append(Expr("np.concatenate(({0}, {1}))", (sub(ONE, 0), sub(SHORT, 0))))
            options.append(Expr("np.cumsum({0})", (sub(N, 0),)))
            options.append(Expr("np.roll({0}, 1)", (sub(N, 0),)))
            options.append(Expr("np.sort({0})", (sub(N, 0),)))
            options.append(Expr("np.stack(({0}, {1})).sum(axis=0)", (sub(N, depth), sub(N, 0))))
            options.append(Expr("np.array([0.5 * each for each in {0}])", (Expr(self.name(N)),)))
            options.append(Expr(f"same({self.name(N)})", fresh=False))
            options.append(Expr(f"flip({self.name(N)})", fresh=False))
            if full:
                options.append(Expr("(0.5 * {0}.sum(axis=0))", (sub(KN, depth),)))
                options.append(Expr("np.tanh({0} @ {1})", (sub(K, 0), sub(KN, 0))))
                options.append(Expr("np.max({0}, axis=0)", (sub(KN, 0),)))
        elif shape == K and full:
            options.append(Expr("np.mean({0}, axis=1)", (sub(KN, depth),)))
            options.append(Expr("np.tanh({0} @ {1})", (sub(KN, 0), sub(N, 0))))
            options.append(Expr("np.array([0.3 * np.sum(each) for each in {0}])", (Expr(self.name(KN)),)))
        elif shape == KN and full:
            options.append(Expr("np.outer({0}, {1})", (sub(K, 0), sub(N, 0))))
            options.append(Expr("np.tanh(({0} @ {1}) @ {2})", (sub(KN, 0), sub(NK, 0), sub(KN, 0))))
            options.append(Expr("np.zeros({0}.shape)", (Expr(self.name(KN)),)))
        elif shape == SHORT:
            options.append(Expr("np.diff({0})", (sub(N, 0),)))
        elif shape == KK and full:
            options.append(Expr("np.tanh({0} @ {1})", (sub(KN, 0), sub(NK, 0))))
            options.append(Expr("np.outer({0}, {1})", (sub(K, 0), sub(K, 0))))
        elif shape == NK and full:
            options.append(Expr("np.outer({0}, {1})", (sub(N, 0), sub(K, 0))))
        return self.random.choice(options) if options else None

    def test(self) -> Expr:
        """A condition."""
        return Expr("{0} > {1}", (self.expression(SCALAR, 1), Expr(self.pick("0.1", "-0.2", "0.4"))))

    def shape(self) -> Shape:
        """A shape of which there are names."""
        weights = {N: 10, SCALAR: 3, KN: 4, K: 3, NK: 1, KK: 1, SHORT: 1, HALF: 1}
        known = [shape for shape in weights if self.names[shape]]
        return self.random.choices(known, [weights[shape] for shape in known])[0]

    # .. statements ..

    def block(self, depth: int, loop: bool, most: int = 3) -> tuple[Statement, ...]:
        """Some statements."""
        self.inside += 1
        statements = tuple(self.statement(depth, loop) for _ in range(self.random.randint(1, most)))
        self.inside -= 1
        return statements

    def statement(self, depth: int, loop: bool) -> Statement:
        """One statement."""
        simple = [self.bind] * 3 + [self.alias] * 2 + [self.store] * 5 + [self.swap, self.called, self.masked]
        if self.slice():
            simple += [self.part] * 2
        if self.box:
            simple += [self.boxed] * 2
        nested = [self.count] * 3 + [self.each, self.whiles] + [self.branch] * 3 if depth > 0 else []
        jumps = [self.jump] if loop or (self.chance(0.3) and self.result) else []
        chosen = self.random.choice(simple + nested + jumps)
        if chosen == self.jump:
            return self.jump(loop)
        if chosen in (self.count, self.each, self.whiles):
            return chosen(depth)  # type: ignore[call-arg]
        if chosen == self.branch:
            return self.branch(depth, loop)
        return chosen()  # type: ignore[call-arg]

    def bind(self) -> Bind:
        """A name takes a new value."""
        shape = self.shape()
        value = self.expression(shape, 2)
        if shape != SCALAR and not value.fresh and self.calm and self.inside:
            value = Expr("{0}.copy()", (value,))
        return Bind((self.name(shape),), (value,))

    def alias(self) -> Bind:
        """A name takes an array or part of one."""
        shape = self.shape()
        if shape == SCALAR or (self.calm and self.inside):
            return self.bind()
        return Bind((self.name(shape),), (self.leaf(shape),))

    def slice(self) -> str:
        """A slice whose extent depends on a running index; empty where there is none."""
        running = [*self.indices["n"], *self.indices["k"], *self.numbers]
        if not running:
            return ""
        index = self.random.choice(running)
        return self.pick(
            f"[{index}:]", f"[:{index}]", f"[{index} :][::-1]", f"[{index} : {index} + 2]", f"[: -1 - {index}]"
        )

    def part(self) -> Store:
        """A write into a slice whose extent depends on a running index."""
        slices, operator = self.slice(), self.pick("", "+", "-")
        value = self.random.choice([Expr(f"{self.name(N)}{slices}"), Expr(f"np.sin({self.name(N)}{slices})")])
        return Store(f"{self.name(N)}{slices}", operator, self.random.choice([value, self.leaf(SCALAR)]), False)

    def masked(self) -> Store:
        """A number written where a condition holds."""
        name = self.name(N)
        return Store(f"{name}[{name} > {self.pick('0.2', '-0.1')}]", self.pick("", "+", "*"), self.leaf(SCALAR), False)

    def swap(self) -> Bind:
        """Two or three names, rows or elements change at once; or two names become one array."""
        if self.chance(0.2):
            first, second = (self.view(SCALAR) for _ in range(2))
            return Bind((first, second), (Expr(second), Expr(first)))
        if self.has(KN) and self.chance(0.15):
            rows = [f"{self.name(KN)}[{self.index('k')}]" for _ in range(2)]
            return Bind((rows[0], rows[1]), (Expr(rows[1]), Expr(rows[0])))
        if not (self.calm and self.inside) and self.chance(0.15):
            return Bind((f"{self.name(N)} = {self.name(N)}",), (self.expression(N, 1),))
        shape = self.random.choice([shape for shape in (N, N, KN, K, SCALAR) if len(self.names[shape]) > 1])
        names = self.random.sample(self.names[shape], min(len(self.names[shape]), self.random.choice((2, 2, 3))))
        values = [Expr(name, fresh=shape == SCALAR) for name in [*names[1:], names[0]]]
        if self.chance(0.4):
            values[-1] = self.expression(shape, 1)
        return Bind(tuple(names), tuple(values))

    def store(self) -> Store:
        """A write in place."""
        shape = self.random.choice([SCALAR, SCALAR, N, N, SHORT, HALF, *([K, KN, KN, KK] if self.has(KN, K) else [])])
        view = self.view(shape)
        operator = self.pick("", "", "+", "-", "*")
        if shape != SCALAR and (view.isidentifier() or view.endswith(".T")):
            view += self.pick("[:]", "[...]") if not operator or not view.isidentifier() or self.chance(0.5) else ""
        if re.fullmatch(r"box\[-?\d\]|np.*\)", view):
            view += "[:]"
        rows = shape != SCALAR and self.chance(0.7)
        value = self.expression(shape, 1) if rows else self.spread(shape, 1)
        if operator == "*":
            value = Expr("np.cos({0})", (value,))
        return Store(view, operator, value, rows)

    def called(self) -> Statement:
        """A helper that may write."""
        value = Expr(
            f"{self.pick(*self.helpers)}({{0}}, {{1}}, {{2}})",
            (self.leaf(N), self.expression(N, self.random.randint(0, 1)), self.expression(SCALAR, 1)),
            fresh=False,
        )
        return Do(value) if self.chance(0.4) or (self.calm and self.inside) else Bind((self.name(N),), (value,))

    def boxed(self) -> Statement:
        """A list of two arrays."""
        kind = self.random.randrange(7)
        if kind == 5:
            return Bind(("box",), (Expr("[0.5 * each for each in box]", fresh=False),))
        if kind == 6:
            return Bind((self.name(N), self.name(N)), (Expr("box[1]", fresh=False), self.expression(N, 1)))
        if kind == 0:
            return Bind(("box",), (Expr("[{0}, {1}]", (self.expression(N, 1), self.leaf(N)), False),))
        if kind == 1:
            return Bind((f"box[{self.pick('0', '1')}]",), (self.expression(N, 1),))
        if kind == 2:
            return Bind(("box[0]", "box[1]"), (Expr("box[1]", fresh=False), Expr("box[0]", fresh=False)))
        if kind == 3:
            return Bind((self.name(N),), (Expr(f"box[{self.pick('0', '1')}]", fresh=False),))
        return Each("o", "box", (Store(f"o[{self.index('n')}]", "+", self.expression(SCALAR, 1), False),))

    def count(self, depth: int) -> Count:
        """A counted loop."""
        self.counters += 1
        index = f"t{self.counters}"
        if self.chance(0.5):
            start, stop, step = self.random.choice([(0, 3, 1), (0, 2, 1), (1, 4, 1), (2, -1, -1), (0, 4, 2), (2, 2, 1)])
            self.numbers.append(index)
            body = self.block(depth - 1, True)
            self.numbers.remove(index)
            return Count(index, (str(start), str(stop), step), tuple(range(start, stop, step)), body)
        extent = "k" if self.has(KN) and self.chance(0.3) else "n"
        array = self.name(N if extent == "n" else K)
        size = self.pick(f"len({array})", f"{array}.shape[0]")
        bounds = self.random.choice([("0", size, 1), ("0", size, 1), ("1", size, 1), (f"{size} - 1", "-1", -1)])
        self.indices[extent].append(index)
        body = self.block(depth - 1, True)
        self.indices[extent].remove(index)
        return Count(index, bounds, None, body)

    def each(self, depth: int) -> Each:
        """A loop over the items of an array."""
        self.counters += 1
        item, index = f"r{self.counters}", f"t{self.counters}"
        if self.has(KN) and self.chance(0.25):
            self.names[N] += [item, f"{item}b"]
            body = self.block(depth - 1, True)
            self.names[N] = [name for name in self.names[N] if not name.startswith(item)]
            return Each(f"{item}, {item}b", f"zip({self.name(KN)}, {self.name(KN)})", body)
        rows = self.has(KN) and self.chance(0.6)
        source = self.name(KN) if rows else self.name(N)
        shape, extent = (N, "k") if rows else (SCALAR, "n")
        numbered = self.chance(0.4)
        if numbered:
            self.indices[extent].append(index)
        self.names[shape].append(item)
        body = self.block(depth - 1, True)
        self.names[shape].remove(item)
        if numbered:
            self.indices[extent].remove(index)
            return Each(f"{index}, {item}", f"enumerate({source})", body)
        return Each(item, source, body)

    def whiles(self, depth: int) -> While:
        """A loop of at most three rounds, which may end earlier."""
        self.counters += 1
        counter = f"t{self.counters}"
        test = Expr("{0} < 1.2", (self.expression(SCALAR, 1),))
        self.numbers.append(counter)
        body = self.block(depth - 1, False)
        self.numbers.remove(counter)
        return While(counter, test, body)

    def branch(self, depth: int, loop: bool) -> If:
        """Two paths, or one."""
        other = self.block(depth - 1, loop, 2) if self.chance(0.6) else ()
        return If(self.test(), self.block(depth - 1, loop), other)

    def jump(self, loop: bool) -> Jump:
        """Leaving an iteration, a loop or the function."""
        texts = ["break", "continue"] * 2 if loop else []
        if self.result and self.chance(0.5):
            texts.append(self.result)
        return Jump(self.test(), self.pick(*(texts or [self.result])))

    # .. the whole ..

    def beginning(self, shape: Shape) -> Expr:
        """The first value of a name."""
        if shape == SCALAR:
            return self.expression(SCALAR, 1)
        if self.chance(0.25) or not self.names[shape]:
            return Expr(ZEROS[shape])
        if self.chance(0.3):
            return self.leaf(shape)
        if self.chance(0.3):
            return Expr("{0}.copy()", (self.leaf(shape),))
        return self.expression(shape, 1)

    def returned(self) -> str:
        """A `return` of a number, an array, or both."""
        kind = self.random.randrange(4)
        total = " + ".join(
            f"{weight} * np.sum({self.view(shape)})" for weight, shape in ((1, N), (0.5, N), (0.3, KN), (0.2, K))
        )
        if kind == 0:
            return f"return {total} + {self.name(SCALAR)}"
        if kind == 1:
            return f"return {self.name(N)}"
        if kind == 2:
            return f"return {self.view(N)}, {total}"
        return f"return {self.name(KN)}, {self.view(SHORT)}, {self.name(SCALAR)}"


def program(seed: int) -> Program:
    """The program of a seed."""
    generator = random.Random(seed)
    inner = Draw(generator, {N: ("o", "i"), SCALAR: ("g",)}, WRITERS)
    local = Bind(("j",), (inner.expression(N, 1),))
    inner.names[N].append("j")
    helper = (local, *inner.block(1, False))
    helper_result = inner.pick("return o", "return i", "return j", "return o + j", "return j[::-1]")

    draw = Draw(generator, {N: ("a", "b"), K: ("c",), KN: ("m",), SCALAR: ("s",)}, (*WRITERS, *["helper"] * 4))
    start: list[Statement] = []
    for shape, names in NAMES.items():
        for name in names:
            if name not in PARAMETERS:
                start.append(Bind((name,), (draw.beginning(shape),)))
                draw.names[shape].append(name)
    start.append(Bind(("box",), (Expr("[{0}, {1}]", (draw.leaf(N), draw.leaf(N)), False),)))
    draw.box = draw.chance(0.3)
    draw.result = draw.returned()
    body = (*draw.block(1, False, 2), draw.count(2), *draw.block(2, False, 2))
    return Program((*needed(start, body, draw.result), *body), draw.result, helper, helper_result)


def needed(start: list[Statement], body: tuple[Statement, ...], result: str) -> list[Statement]:
    """The beginnings of the names that the program uses."""
    text = "\n".join([*Writer("plain").block(body, 0).lines, result])
    kept: list[Statement] = []
    for statement in reversed(start):
        assert isinstance(statement, Bind)
        if re.search(rf"\b{statement.targets[0]}\b", text):
            kept.insert(0, statement)
            text += f"\n{statement.values[0]}"
    return kept


# -- rendering ------------------------------------------------------------------------------------------------------


@dataclass
class Writer:
    """Python source being written in one style."""

    style: str
    lines: list[str] = field(default_factory=list)
    names: int = 0

    def line(self, depth: int, text: str) -> None:
        """Append an indented line."""
        self.lines.append("    " * depth + text)

    def fresh(self) -> str:
        """A name not used yet."""
        self.names += 1
        return f"new{self.names}"

    def expression(self, value: Expr, depth: int) -> str:
        """The text of an expression; in style `named` its parts get names first."""
        if self.style != "named" or not value.parts or " if " in value.template:
            return str(value)
        texts = []
        for part in value.parts:
            text = self.expression(part, depth)
            if part.parts:
                name = self.fresh()
                self.line(depth, f"{name} = {text}")
                text = name
            texts.append(text)
        return value.template.format(*texts)

    def block(self, statements: tuple[Statement, ...], depth: int) -> Writer:
        """Write statements."""
        for statement in statements:
            getattr(self, f"write_{type(statement).__name__.lower()}")(statement, depth)
        return self

    def write_bind(self, node: Bind, depth: int) -> None:
        texts = [self.expression(value, depth) for value in node.values]
        for k, value in enumerate(node.values):
            if self.style == "helper":
                texts[k] = f"same({texts[k]})"
            elif self.style == "spelled" and value.fresh and node.targets[k] in ARRAYS:
                texts[k] = f"({texts[k]}).copy()"
        self.line(depth, f"{', '.join(node.targets)} = {', '.join(texts)}")

    def write_store(self, node: Store, depth: int) -> None:
        value, target, operator = self.expression(node.value, depth), node.target, node.operator
        if self.style == "elements" and node.rows:
            view, new, index = self.fresh(), self.fresh(), self.fresh()
            self.line(depth, f"{new} = 1.0 * ({value})")
            self.line(depth, f"{view} = {target}")
            self.line(depth, f"for {index} in range(len({view})):")
            self.line(depth + 1, f"{view}[{index}] {operator}= {new}[{index}]")
        elif self.style == "helper" and operator and node.rows:
            self.line(
                depth, f"put_{'add' if operator == '+' else 'sub' if operator == '-' else 'mul'}({target}, {value})"
            )
        elif self.style == "helper" and node.rows:
            self.line(depth, f"put({target}, {value})")
        elif self.style == "spelled" and operator and "[" in target:
            self.line(depth, f"{target} = {target} {operator} ({value})")
        elif self.style == "spelled" and operator and target in ARRAYS:
            self.line(depth, f"{target}[...] = {target} {operator} ({value})")
        else:
            self.line(depth, f"{target} {operator}= {value}")

    def write_count(self, node: Count, depth: int) -> None:
        start, stop, step = node.bounds
        if self.style == "unrolled" and node.numbers is not None and not leaves(node.body):
            self.line(depth, f"{node.index} = {start}")
            for number in node.numbers:
                self.line(depth, f"{node.index} = {number}")
                self.block(node.body, depth)
        elif self.style == "while" and not leaves(node.body):
            self.line(depth, f"{node.index} = {start}")
            self.line(depth, f"while {node.index} {'<' if step > 0 else '>'} {stop}:")
            self.block(node.body, depth + 1)
            self.line(depth + 1, f"{node.index} += {step}")
        else:
            self.line(depth, f"for {node.index} in range({start}, {stop}, {step}):")
            self.block(node.body, depth + 1)

    def write_each(self, node: Each, depth: int) -> None:
        self.line(depth, f"for {node.targets} in {node.items}:")
        self.block(node.body, depth + 1)

    def write_while(self, node: While, depth: int) -> None:
        self.line(depth, f"{node.counter} = 0")
        self.line(depth, f"while {node.counter} < 3 and {node.test}:")
        self.line(depth + 1, f"{node.counter} += 1")
        self.block(node.body, depth + 1)

    def write_if(self, node: If, depth: int) -> None:
        self.line(depth, f"if {self.expression(node.test, depth)}:")
        self.block(node.body, depth + 1)
        if node.other:
            self.line(depth, "else:")
            self.block(node.other, depth + 1)

    def write_jump(self, node: Jump, depth: int) -> None:
        self.line(depth, f"if {self.expression(node.test, depth)}:")
        self.line(depth + 1, node.text)

    def write_do(self, node: Do, depth: int) -> None:
        self.line(depth, self.expression(node.value, depth))


def leaves(statements: tuple[Statement, ...]) -> bool:
    """True when a `break` or `continue` of the loop with this body is among the statements."""
    return any(
        (isinstance(node, Jump) and not node.text.startswith("return"))
        or (isinstance(node, If) and (leaves(node.body) or leaves(node.other)))
        for node in statements
    )


def render(drawn: Program, style: str) -> str:
    """The Python source of a program in a style: imports, helpers and the function `f`."""
    body = Writer(style).block(drawn.body, 1)
    body.line(1, drawn.result)
    helper = Writer(style).block(drawn.helper, 1)
    helper.line(1, drawn.helper_result)
    text = "\n".join(
        ["def helper(o, i, g):", *helper.lines, "", "", f"def f({', '.join(PARAMETERS)}):", *body.lines, ""]
    )
    used = [source for name, source in HELPERS.items() if f"{name}(" in text]
    return "import numpy as np\n\n\n" + "\n\n".join([*used, text])
