"""Functions, containers, static evaluation.  The default values are the sample arguments."""
import contextlib
import functools
import itertools
import math
import operator
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

GRAVITY = 9.81
TABLE = {"water": (1.0, 0.5), "oil": (0.8, 0.2)}
COEFFICIENTS = [0.5, -0.25, 0.125]
Point = namedtuple("Point", "x y")


@dataclass
class Spring:
    k: float
    rest: float = 0.5
    history: list = field(default_factory=list)

    @property
    def twice(self):
        return 2.0 * self.k

    def force(self, x):
        return -self.k * (x - self.rest)


class Counter:
    scale = 3.0

    def __init__(self, start):
        self.value = start

    def add(self, x):
        self.value = self.value + x * self.scale
        return self

    def __add__(self, other):
        return Counter(self.value + other.value)


def scaled(factor):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            return factor * function(*args, **kwargs)

        return wrapper

    return decorate


@scaled(2.5)
def decorated(x=0.7, y=0.2):
    return x * y + x


def helper(a, b=2.0, *rest, c=3.0, **more):
    total = a * b + c
    for k, r in enumerate(rest):
        total += (k + 1) * r
    for key, value in more.items():
        total += len(key) * value
    return total


def all_argument_kinds(x=0.3, y=0.4):
    args = (x, y)
    options = {"c": y, "long_name": x}
    return helper(x) + helper(*args) + helper(x, y, x, y, c=x) + helper(x, **options)


def lambda_and_map(x=0.3):
    square = lambda v: v * v
    return sum(map(square, [x, 2.0, x + 1.0])) + functools.reduce(lambda a, b: a * b, [x, 3.0, x])


def dictionary_of_constants(x=0.3, name="oil"):
    density, share = TABLE[name]
    return x * density + share


def dictionary_of_values(x=0.3, y=2.0):
    d = {"a": x, "b": y}
    d["c"] = d["a"] * d["b"]
    d.update(e=x + 1.0)
    total = 0.0
    for key, value in d.items():
        if key != "b":
            total += value
    return total + d.get("missing", 5.0) + len(d)


def static_list_polynomial(x=0.3):
    result = 0.0
    for c in reversed(COEFFICIENTS):
        result = result * x + c
    return result


def dynamic_index_of_constants(x=0.3, k=1):
    return COEFFICIENTS[k] * x + COEFFICIENTS[-k] + (1.0, 2.0, 3.0)[k % 3]


def dynamic_index_of_pairs(x=0.3, k=1):
    a, b = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))[k]
    return a * x + b


def dynamic_index_of_values(x=0.3, k=2):
    values = [x, x * x, x + 1.0, 4.0]
    return values[k] + values[k - 3]


def list_building(x=0.3):
    values = [x]
    for i in range(3):
        values.append(values[-1] * x + i)
    values[0] = 10.0
    values += [x, 1.0]
    first, *middle, last = values
    return first + sum(middle) * last + len(values) + values[1:3][0]


def list_comprehensions(x=0.3):
    squares = [(i + x) ** 2 for i in range(4) if i != 2]
    pairs = [a * b for a in squares for b in (1.0, x)]
    table = {i: x * i for i in range(3)}
    return sum(pairs) + table[2] + max(squares)


def generator_sum_over_array(x=np.array([0.5, -1.0, 2.0])):
    n = len(x)
    return sum(x[i] * x[n - 1 - i] for i in range(n)) + max(v * v for v in x) + min(abs(v) for v in x if v > 0)


def any_all_over_array(x=np.array([0.5, -1.0, 2.0])):
    y = 1.0 if any(v > 1.5 for v in x) else 2.0
    if all(v > 0.0 for v in x):
        y = y + 10.0
    return y * x[0]


def comprehension_over_array(x=np.array([0.5, -1.0, 2.0])):
    y = np.array([v * v + i for i, v in enumerate(x)])
    return np.sum(y * x)


def nested_tuples(x=0.3, y=0.7):
    (a, (b, c)), d = (x, (y, x * y)), 2.0
    return a + b * c - d


def named_tuple(x=0.3, y=0.7):
    p = Point(x, y=y * 2.0)
    q = p._replace(x=1.0)
    return p.x * p.y + q.x + p[1]


def data_class(x=0.3):
    s = Spring(k=x)
    s.rest = s.rest + 0.1
    s.history.append(x)
    return s.force(2.0) + s.twice + s.history[0]


def data_class_argument(s=Spring(2.0, 0.25), x=0.3):
    return s.force(x) * s.twice


def instance_with_operators(x=0.3):
    c = Counter(x).add(1.0).add(x)
    d = c + Counter(2.0)
    return d.value * Counter.scale


def dict_argument(p={"w": np.array([1.0, 2.0]), "b": (0.5, 2.0)}):
    return np.sum(p["w"]) * p["b"][0] + p["b"][1]


def closure_reads_latest(x=0.7, a=1.3):
    def g(y):
        return a * y + b

    b = x
    first = g(x)
    a = a * a
    b = 2.0 * x
    return first * g(x * x)


def closure_counter_in_loop(x=0.7, n=3):
    k = 1.0

    def g(y):
        return y * k

    total = 0.0
    for i in range(n):
        k = k + i
        total += g(x)
    return total


def default_argument_bound_early(x=0.5):
    def g(y, scale=x):
        return y * scale

    x = 10.0
    return g(x)


def static_arithmetic(x=0.5):
    n = 3
    m = n**2 // 2 % 5
    flags = [n > 2, m == 4, not n]
    text = f"{n:03d}" + "a" * 2
    return x * (m + flags.count(True) + len(text)) + (x if text.endswith("aa") else 0.0)


def integer_arithmetic(n=7, m=-3, x=1.0):
    q, r = divmod(n, m)
    return x * (q + 10 * r + 100 * (n // m) + (n % m) + n / m + (n << 2) + (n >> 1) + (n & 6) + (n | 8) + (n ^ 5) + ~n)


def integer_powers(n=3, x=1.5):
    return x**n + x**-n + n**2 + 2**n + x**2 + (-1) ** n * x + 2.0**n


def bool_arithmetic(x=0.6, y=0.2):
    return (x > 0.5) + (y > 0.5) * 2 + (x > y) * x - (not x > y) * y + True * x


def int_float_conversions(x=-2.7, n=5):
    return int(x) + float(n) / 2 + bool(n) + round(x) + round(2.5) + round(x, 1) + abs(x) + abs(-n)


def math_functions(x=0.4, y=1.3):
    return (
        math.hypot(x, y)
        + math.atan2(x, y)
        + math.pow(x, y)
        + math.fmod(y, x)
        + math.copysign(x, -y)
        + math.log(y, 2.0)
        + math.log1p(x)
        + math.expm1(x)
        + math.floor(y)
        + math.ceil(y)
        + math.radians(x)
        + math.erf(x)
        + math.lgamma(y)
        + math.fsum([x, y])
        + math.prod([x, y, 2.0])
        + math.dist((x, y), (1.0, 2.0))
        + math.factorial(4)
    )


def numpy_scalar_functions(x=0.4, y=1.3):
    return (
        np.sin(x)
        + np.square(y)
        + np.maximum(x, y)
        + np.where(x > y, x, y)
        + np.clip(y, 0.0, 1.0)
        + np.sign(-x)
        + np.deg2rad(x)
        + np.logaddexp(x, y)
        + np.float64(x)
        + np.add(x, y)
        + np.power(x, 2)
        + np.isnan(x)
        + np.round(y, 1)
        + np.abs(-x)
    )


def operator_module(x=0.4, y=1.3):
    return operator.add(x, y) * operator.mul(x, 2.0) - operator.neg(x) + operator.truediv(x, y)


def isinstance_dispatch(x=0.4, y=np.array([1.0, 2.0]), n=3):
    total = 0.0
    for v in (x, y, n, "text", None):
        if isinstance(v, np.ndarray):
            total += v.sum()
        elif isinstance(v, bool):
            total += 100.0
        elif isinstance(v, (int, float)):
            total += v
        elif v is None:
            total += 1000.0
    return total


def none_default(x=0.4, w=None):
    if w is None:
        w = 2.0 * x
    return w * x


def string_option(x=0.4, how="square"):
    if how == "square":
        return x * x
    elif how in ("cube", "third"):
        return x**3
    raise ValueError(f"unknown option {how!r}")


def import_inside(x=0.4):
    import math as m
    from numpy import cos

    return m.sin(x) + cos(x)


def errstate_block(x=0.4):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = 1.0 / x
    return y * y


def dead_code_is_not_lowered(x=0.4):
    if False:
        return undefined_name(x)
    if __debug__:
        x = x + 1.0
    return x


def partial_application(x=0.4):
    def f(a, b, c):
        return a * b + c

    return functools.partial(f, x, c=2.0)(3.0)


def starred_call_of_array(x=np.array([1.0, 2.0, 3.0])):
    a, b, c = x
    (p, q), r = x[:2], x[2]
    return a * b + c + p * q - r


def shadowed_builtins(x=np.array([1.0, 2.0, 3.0])):
    sum = 0.0
    max = x[0]
    for len in range(3):
        sum += x[len] * max
    return sum


def annotated(x: float = 0.4, n: int = 3) -> float:
    y: float = x
    z: float
    z = y * n
    return z


def conditional_function(x=0.4, k=1):
    f = math.sin if len("ab") == 2 else math.cos
    return f(x) * k


def constant_beyond_int64(x=0.75):
    return x * 12345678901234567890123 / 10**22 + x**2 * (2**64 + 1) / 2**63


def set_of_constants(x=0.75, k=3):
    allowed = {1, 2, 3}
    return x if 2 in allowed and k in (1, 3, 5) else -x


def string_keys_dynamic_values(x=0.75):
    return sum({"a": x, "b": 2.0 * x}.values()) + sorted([3, 1, 2])[0]


def zip_enumerate_reversed(x=np.array([1.0, 2.0, 3.0]), y=np.array([4.0, 5.0, 6.0])):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y), start=1):
        total += i * a * b
    for a in reversed(x):
        total = total * 0.5 + a
    for a, w in zip(x, (0.1, 0.2, 0.3)):
        total += a * w
    return total


def returns_structure(x=0.75, y=np.array([1.0, 2.0])):
    return {"loss": x * x, "grad": y * x, "extra": (x, [y[0], 3])}


def returns_named_tuple(x=0.75):
    return Point(x * 2.0, x + 1.0)


def several_walrus(x=0.75):
    if (y := x * 2.0) > 1.0 and (z := y + 1.0) > 0.0:
        return y * z
    return y


def numpy_bool_arithmetic(x=np.array([0.2, 0.7])):
    a = x[0] > 0.5
    b = x[1] > 0.5
    return x[1] * (a + b) + (a * b) + (a | b) * x[0]


def text_of_mapped_items(x=0.75):
    name = "_".join(map(str, ("a", "b")))
    return x * len(name) if name == "a_b" else -x


def product_of_static_tuples(x=0.75):
    return x * sum(a * b for a, b in itertools.product((1.0, 2.0), (3.0, 4.0)))


def chain_of_run_time_items(x=0.75, y=np.array([1.0, 2.0])):
    return sum(a * b for a, b in zip(itertools.chain((x, x * x), [y[0]]), itertools.count(1)))


def generator_reads_its_source_when_made(x=0.75):
    items = (1.0, 2.0)
    doubled = (2.0 * v for v in items)
    items = (3.0, 4.0, x)
    return x * sum(doubled) + sum(items)


def next_of_an_iterator(x=0.75):
    values = iter([x, x * x, 2.0 * x])
    total = next(values)
    for v in values:
        total = total * v + 1.0
    return total


def next_in_a_loop(x=0.75):
    values = iter((1.0, 2.0, 3.0))
    total = 0.0
    for k in range(3):
        total += next(values) * x * k
    return total


def next_with_a_default(x=0.75):
    name = next((a for a in (1, "a", 2) if isinstance(a, str)), None)
    empty = next(iter(()), 2.0)
    return x * empty if name == "a" else -x


def chosen_by_match(x, kind, order=1):
    match kind:
        case "linear" | "line":
            return x
        case "power" if order > 2:
            return x**order
        case "power":
            return x * x
        case None:
            return -x
        case other:
            raise ValueError(other)


def match_of_static_values(x=0.75):
    return chosen_by_match(x, "line") + chosen_by_match(x, "power", 3) * chosen_by_match(x, "power") - chosen_by_match(x, None)


def match_of_a_run_time_number(x=0.75, k=2):
    match k:
        case 1:
            y = x
        case 2 | 3:
            y = x * x
        case n:
            y = x * n
    return y


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __enter__(self):
        self.factor += 1.0
        return self

    def __exit__(self, kind, error, trace):
        self.factor = 10.0
        return kind is KeyError


@contextlib.contextmanager
def noted(log, value):
    log.append(value)
    try:
        yield value * 2.0
    finally:
        log.append(value * 3.0)


def with_an_object(x=0.75):
    manager = Scaled(2.0)
    with manager as inside:
        y = inside.factor * x
    return y + manager.factor * x


def with_an_object_that_ends_an_exception(x=0.75):
    with Scaled(2.0):
        x = x * 2.0
        raise KeyError
    return x


def with_a_generator(x=0.75):
    log = []
    with noted(log, x) as doubled, np.errstate(all="ignore"):
        y = doubled
    return y + log[0] * log[1]


def return_inside_with(x=0.75):
    log = []

    def inner():
        with noted(log, x) as doubled:
            if x > 0.5:
                return doubled
            log[0] = 5.0
        return 2.0

    return inner() + log[0] * log[1]


CACHE = None
MODE = "plain"


def cached_factor():
    global CACHE
    if CACHE is None:
        CACHE = [math.sqrt(k) for k in range(1, 4)]
    return CACHE


def factor_of_mode(x):
    return x * 2.0 if MODE == "doubled" else x


@contextlib.contextmanager
def mode(name):
    global MODE
    before, MODE = MODE, name
    try:
        yield
    finally:
        MODE = before


def cache_of_the_module(x=0.75):
    return x * cached_factor()[1] + sum(cached_factor()) * x


def mode_of_the_module(x=0.75):
    with mode("doubled"):
        y = factor_of_mode(x)
    return y * factor_of_mode(x)


@contextlib.contextmanager
def scaled_by(x, factor=1.0, offset=0.0):
    yield x * factor + offset


def manager_with_a_dict_of_arguments(x=0.5):
    options = {"factor": 3.0, "offset": 1.0}
    with scaled_by(x, **options) as y:
        z = y * y
    with scaled_by(*(x, 2.0)) as y:
        z += y
    return z
