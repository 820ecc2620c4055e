"""Values whose static part is chosen at run time: strings, None, functions, tuples.  The defaults are the arguments."""
import functools
import math
from dataclasses import dataclass

import numpy as np

TABLE = {"a": (1.0, 2.0), "b": (3.0, 4.0), "c": (5.0, 6.0)}
SMALL, LARGE = {"k": 1.0}, {"k": 2.0, "j": 3.0}


@dataclass
class Linear:
    slope: float

    def at(self, x):
        return self.slope * x


@dataclass
class Bilinear:
    slope: float
    other: float

    def at(self, x):
        return self.slope * x * self.other


def root(x):
    r = None if x < 0.0 else math.sqrt(x)
    return r


def positive(x):
    if x > 0.0:
        return 2.0 * x


def name_compared(x=0.5, y=-1.0):
    mode = "a" if y > 0.0 else "b"
    return x if mode == "a" else 2.0 * x


def name_as_key(x=0.5, k=2):
    if k == 0:
        mode = "a"
    elif k == 1:
        mode = "b"
    else:
        mode = "c"
    p, q = TABLE[mode]
    return p * x + q * x * x + (1.0 if mode in ("a", "c") else x)


def name_in_a_text(x=0.5, y=2.0):
    size = "low" if x < 1.0 else "high"
    return {"key_low": x * x, "key_high": x}[f"key_{size}"] * y + len(size.upper() + "!")


def all_names_tested(x=1.5):
    size = "low" if x < 0.0 else "mid" if x < 1.0 else "high"
    if size == "low" or size == "mid":
        y = x
    elif size == "high":
        y = x * x
    else:
        raise ValueError("no such size")
    return y


def none_until_set(x=1.5):
    a = None
    if x > 1.0:
        a = x * x
    if a is None:
        a = 3.0 * x
    return a


def none_of_a_helper(x=0.5, y=-0.5):
    u, v = root(x), root(y)
    if u is not None and v is None:
        return 3.0 * u
    if v is not None:
        return v
    return x


def end_of_a_helper(x=0.5):
    r = positive(x)
    return 1.0 if r is None else r + 1.0


def result_of_a_helper_used(x=0.5):
    return positive(x) + 1.0


def none_or_default(x=0.5):
    return (root(x - 1.0) or 4.0 * x) * x


def none_is_false(x=0.5):
    a = root(x)
    if not a:
        return 3.0 * x
    return a * a


def none_kept_by_another_name(x=0.5):
    a = root(x)
    b = a
    if a is None:
        a = 1.0
    return 2.0 * a + (0.0 if b is None else b)


def none_in_a_dict(x=0.5):
    options = {"mode": None, "value": x}
    if x > 0.2:
        options["mode"] = "q"
    if options["mode"] is None:
        options["value"] = 3.0 * x
    return options["value"] * (2.0 if options["mode"] == "q" else 1.0)


def none_in_a_list(x=0.9):
    out = [None] * 3
    for i in range(3):
        if x > 0.4 * i:
            out[i] = x * i
    total = 0.0
    for v in out:
        if v is not None:
            total += v + 1.0
    return total


def none_in_a_tuple(x=0.5):
    pair = (None if x < 0.0 else x, "k" if x > 1.0 else "m")
    again = pair
    return 0.0 if again[0] is None else again[0] * (2.0 if again[1] == "k" else 3.0)


def none_or_an_array(x=0.5, y=np.array([1.0, 2.0])):
    w = None
    if x > 0.0:
        w = y * x
    if w is None:
        return x
    return float(np.sum(w * w))


def none_or_an_argument_that_is_written(x=0.5, y=np.array([1.0, 2.0])):
    w = None
    if x > 0.0:
        w = y
    if w is not None:
        w[0] = 5.0 * x
    return y[0] * x


def none_or_a_list_that_is_written(x=0.5):
    values = [x, 2.0]
    chosen = None
    if x > 0.0:
        chosen = values
    if chosen is not None:
        chosen[0] = 9.0 * x
    return values[0] * x


def number_or_name(x=0.5):
    a = x if x > 0.0 else "q"
    return 2.0 * a if isinstance(a, float) else len(a) * x


def function_chosen(x=0.5):
    f = math.sin if x > 1.0 else math.cos
    return f(x) * x


def lambda_chosen(x=0.5):
    f = (lambda v: 2.0 * v) if x > 0.0 else (
        lambda v: v * v
    )
    return f(x) + f(3.0 * x)


def partial_chosen(x=0.5):
    f = functools.partial(math.atan2, 2.0) if x > 0.0 else math.sin
    return f(x)


def module_chosen(x=0.5):
    lib = np if x > 0.0 else math
    return lib.sin(x) * lib.pi


def name_given_to_a_helper(x=0.5):
    def apply(v, mode):
        if mode == "s":
            return math.sin(v)
        elif mode == "c":
            return math.cos(v)
        raise ValueError(mode)

    mode = "s" if x < 0.0 else "c"
    return apply(x, mode) + apply(2.0 * x, mode)


def tuples_of_different_length(x=0.5):
    r = ("one", x) if x > 1.0 else ("two", x * x, 3.0)
    name, v = r[0], r[1]
    return 2.0 * v if name == "two" else v * len(name)


def iterated_choice(x=0.5):
    values = (x, 2.0 * x) if x > 0.0 else (x, 2.0 * x, 3.0 * x)
    total = 0.0
    for v in values:
        total += v * v
    return total * len(values)


def dict_of_the_module_chosen(x=0.5):
    table = SMALL if x > 0.0 else LARGE
    return table["k"] * x + len(table)


def object_chosen(x=0.5):
    p = Linear(2.0 * x) if x > 0.0 else Bilinear(x, 3.0)
    return p.at(x)


def object_on_one_path(x=0.5):
    if x > 0.0:
        p = Linear(2.0 * x)
    if x > 0.0:
        return p.at(x)
    return x


def state_machine(x=0.5, n=5):
    state, total = "add", 0.0
    for _ in range(n):
        if state == "add":
            total += x
            state = "square"
        elif state == "square":
            total += x * x
            state = "scale"
        else:
            total *= x
            state = "add"
    return total


def state_machine_of_a_while(x=0.5):
    mode, t = None, 0.0
    while t < 10.0:
        if mode is None:
            mode = "up"
        if mode == "up":
            t += 3.0 * x
            if t > 4.0:
                mode = "fast"
        else:
            t += 5.0 * x
    return t


def none_before_a_run_time_loop(x=np.array([1.0, 3.0, 2.0])):
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best:
            best = x[i] * 1.0
    return 2.0 * best if best is not None else 0.0


def tuple_of_the_iteration_before(x=0.5, n=4):
    previous, total = None, 0.0
    for i in range(n):
        current = ("odd", x * i) if i % 2 else ("even", x + i, 1.0)
        if previous is not None and previous[0] == "odd":
            total += previous[1]
        previous = current
    return total


def function_of_the_iteration_before(x=0.5, n=4):
    f, total = math.exp, 0.0
    for _ in range(n):
        total += f(x)
        f = math.sin if total < 3.0 else math.cos
    return total


def found_in_a_loop_or_none(x=0.5):
    found = None
    for k in range(3):
        if x * k > 0.4:
            found = k
            break
    return -1.0 if found is None else found * x


def value_of_and_or(x=0.5):
    return (x > 0.0 and x or 2.0 * x) + (x > 1.0 and x) + (x > 1.0 or 3.0 * x)


def lists_of_different_length_written(x=0.5):
    a = None
    if x > 0.0:
        a = [x, 1.0]
    b = a
    if x > 1.0:
        a = [x, 2.0, 3.0]
    if a is not None:
        a[0] = 5.0 * x
    return (x if b is None else b[0]) + (x if a is None else a[0] * len(a))


def none_until_the_second_iteration(x=0.5, n=4):
    p0, p1 = x, None
    k = 0
    while k < n:
        if abs(p0) > 3.0:
            p0 = p1 + 0.5 * (p0 - p1)
        p = p0 * 1.5
        k += 1
        p0, p1 = p, p0
    return p0


def failing_branch_that_is_not_taken(x=0.5):
    values = [1.0, x]
    if x > 1.0:
        values[0] = 2.0
        values[1] = x.copy()
    return values[0] * values[1]
