"""Proofs about integers are sound, and find what loops need."""

import itertools
import random

from adgen import ops
from adgen.ir.builder import Builder
from adgen.ir.nodes import Value
from adgen.ir.types import I64
from adgen.passes.forms import Forms
from adgen.passes.polynomials import Form, number
from adgen.passes.ranges import Ranges, Scope


def loops(names: str, bounds: list[tuple[str, str]]) -> tuple[Builder, Ranges, dict[str, Form]]:
    """Ranges inside a nest of loops; a bound is the name of an invariant or of an outer index, or a number."""
    builder = Builder()
    values = {name: Value(I64, name) for name in ("n", "m", *names)}
    ranges = Ranges(Forms(builder))
    forms = {name: ranges.forms.single(value) for name, value in values.items()}
    ranges.open(Scope())
    for name, (start, stop) in zip(names, bounds):
        low, high = (forms[text] if text in forms else number(int(text)) for text in (start, stop))
        ranges.open(Scope([high - low - 1], ranges.forms.atom(values[name]), low, high - 1))
    return builder, ranges, forms


def test_triangle() -> None:
    """In `for i in range(n): for j in range(i, n)` the packed index stays in the triangle."""
    _, ranges, forms = loops("ij", [("0", "n"), ("i", "n")])
    i, j, n = forms["i"], forms["j"], forms["n"]
    assert ranges.proves(j - i)
    assert ranges.proves(n - 1 - j)
    assert ranges.proves(n * n - 1 - (i * n + j))
    assert not ranges.proves(j - i - 1)
    assert not ranges.proves(n - 2 - j)


def test_squares() -> None:
    """A power of an index is lowered to a product with its bound."""
    _, ranges, forms = loops("i", [("0", "n")])
    i, n = forms["i"], forms["n"]
    assert ranges.proves(i * i)
    assert ranges.proves(n * i - i * i)
    assert not ranges.proves(i * i - i - 1)


def test_facts_end_with_their_scope() -> None:
    """What holds in a branch is unknown after it."""
    _, ranges, forms = loops("", [])
    difference = forms["n"] - forms["m"]
    with ranges.assuming([difference]):
        assert ranges.proves(difference + 3)
    assert not ranges.proves(difference)


def test_operations_are_looked_into() -> None:
    """Extrema, remainders, quotients and selections are bounded by their operands."""
    builder, ranges, forms = loops("i", [("0", "n")])
    with builder.block():
        i, n = (ranges.forms.atoms[forms[name].atoms[0]] for name in ("i", "n"))
        least = builder.op(ops.MINIMUM, i, builder.index(7))
        rest = builder.op(ops.MOD, builder.op(ops.SUB, i, builder.index(1)), n)
        half = builder.op(ops.FLOORDIV, i, builder.index(3))
        first = builder.op(ops.EQ, i, builder.index(0))
        left = builder.op(ops.SELECT, first, i, builder.op(ops.SUB, i, builder.index(1)))
    for value, greatest in ((least, 7), (rest, None), (half, None), (left, None)):
        assert ranges.proves(ranges.forms.of(value))
        top = forms["n"] - 1 if greatest is None else number(greatest)
        assert ranges.proves(top - ranges.forms.of(value))


def test_proofs_are_sound() -> None:
    """Whatever is proved of a random form in a random nest holds for all its iterations."""
    chance = random.Random(5)
    proved = 0
    for _ in range(400):
        first = chance.choice([("0", "n"), ("1", "n"), ("0", "m")])
        second = chance.choice([("0", "n"), ("i", "n"), ("0", "i"), ("1", "m")])
        _, ranges, forms = loops("ij", [first, second])
        names = ["n", "m", "i", "j"]
        form = number(chance.randint(-2, 2))
        for _ in range(chance.randint(1, 3)):
            factors = chance.sample(names, chance.randint(1, 2))
            term = number(chance.choice([-2, -1, 1, 1, 2]))
            for name in factors:
                term = term * forms[name]
            form = form + term
        if ranges.proves(form):
            proved += 1
            for n, m in itertools.product(range(4), range(4)):
                for values in _iterations(first, second, n, m):
                    assert _value(form, ranges, values) >= 0, (form, first, second, values)
    assert proved > 20


def _iterations(first: tuple[str, str], second: tuple[str, str], n: int, m: int) -> list[dict[str, int]]:
    """The values of all names in every iteration of the nest."""
    found = []
    values = {"n": n, "m": m}

    def bound(text: str) -> int:
        return values[text] if text in values else int(text)

    for i in range(bound(first[0]), bound(first[1])):
        values["i"] = i
        found += [{**values, "j": j} for j in range(bound(second[0]), bound(second[1]))]
    return found


def _value(form: Form, ranges: Ranges, values: dict[str, int]) -> int:
    total = 0
    for monomial, coefficient in form.terms.items():
        for atom in monomial:
            coefficient = coefficient * values[ranges.forms.atoms[atom].name]
        total += coefficient
    return total
