"""Containers and instances that change, calls that change them, recursion on structure.  Defaults are sample arguments."""
import math
from dataclasses import dataclass

import numpy as np


@dataclass
class Body:
    position: float
    velocity: float

    def step(self, dt):
        self.velocity -= 9.81 * dt
        self.position += self.velocity * dt


class Network:
    def __init__(self, w, b):
        self.layers = []
        for k in range(2):
            self.layers.append((w * (k + 1), b))

    def __call__(self, x):
        for w, b in self.layers:
            x = np.tanh(w @ x + b)
        return x


class Polynomial:
    def __init__(self, *coefficients):
        self.coefficients = coefficients

    def __getitem__(self, k):
        return self.coefficients[k]

    def __len__(self):
        return len(self.coefficients)

    @classmethod
    def constant(cls, c):
        return cls(c)

    @staticmethod
    def scale(x):
        return 2.0 * x


def instance_changed_in_dynamic_loop(h=10.0, n=4):
    body = Body(h, 0.0)
    for k in range(n):
        body.step(0.1)
    return body.position * body.velocity


def instance_changed_in_branch(h=10.0, c=0.5):
    body = Body(h, 1.0)
    if c > 0.0:
        body.velocity = body.velocity * h
    else:
        body.step(0.1)
    return body.position + body.velocity


def instance_with_list_of_layers(w=np.array([[0.5, 0.2], [0.1, 0.4]]), x=np.array([1.0, -1.0])):
    net = Network(w, 0.1)
    return np.sum(net(x))


def class_and_static_methods(x=0.5):
    p = Polynomial(1.0, x, x * x)
    q = Polynomial.constant(x)
    return sum(p[k] * x for k in range(len(p))) + q[0] + Polynomial.scale(x) + p.scale(x)


def helper_appends_to_list(x=0.5):
    def push(values, v):
        values.append(v)
        return len(values)

    values = []
    push(values, x)
    n = push(values, x * x)
    return values[0] + values[1] * n


def list_alias(x=0.5):
    a = [x, 1.0]
    b = a
    c = a[:]
    b[0] = 7.0
    c[1] = 3.0
    return a[0] + a[1] * b[0] + c[0] * c[1]


def nested_list_in_branch(x=0.5):
    m = [[x, 0.0], [0.0, x]]
    if x > 0.0:
        m[0][1] = x * 3.0
    else:
        m[1][0] = 4.0
    return m[0][1] + m[1][0] * 10.0 + m[0][0]


def dict_changed_in_loop(x=0.5, n=3):
    d = {"sum": 0.0, "product": 1.0}
    for k in range(n):
        d["sum"] += x
        d["product"] *= x + k
    return d["sum"] * d["product"]


def list_of_arrays_changed_in_loop(x=np.array([1.0, 2.0]), n=3):
    pair = [x * 1.0, x * 0.0]
    for k in range(n):
        pair[1] = pair[0] + pair[1]
        pair[0] *= 0.5
    return pair[0] + pair[1]


def tuple_of_arrays_and_numbers_carried(x=np.array([1.0, 2.0]), n=3):
    state = (x, 0.0, 1)
    for k in range(n):
        h, s, c = state
        state = (h * 0.5, s + np.sum(h), c + k)
    return state[0] * state[1] + state[2]


def chained_assignment_shares(x=2.0):
    a = b = np.zeros(2)
    a[0] = x
    return b * 3.0 + a


def default_list_is_fresh(x=0.5):
    def g(v, acc=None):
        acc = [] if acc is None else acc
        acc.append(v)
        return acc

    return g(x)[0] + len(g(x * 2.0))


def recursion_on_a_list(x=0.5):
    def total(values):
        if not values:
            return 0.0
        return values[0] + 0.5 * total(values[1:])

    return total([x, x * x, 1.0])


def recursion_on_depth_with_run_time_exit(x=3.0):
    def shrink(v, depth):
        if v < 1.0 or depth == 0:
            return v
        return shrink(v * 0.5, depth - 1) + 0.1

    return shrink(x, 6)


def mutual_recursion(x=0.5):
    def even(n):
        return x if n == 0 else odd(n - 1) * 2.0

    def odd(n):
        return 1.0 if n == 0 else even(n - 1) + x

    return even(5)


def function_table(x=0.5, k=1):
    table = {"sin": math.sin, "square": lambda v: v * v}
    return sum(f(x) for f in table.values()) + table["sin"](2.0 * x)


def returned_closure(x=0.5):
    def make(a):
        def f(v):
            return a * v + x

        return f

    f, g = make(2.0), make(x)
    return f(1.0) * g(3.0)


def loop_over_dict_of_arrays(p={"a": np.array([1.0, 2.0]), "b": np.array([3.0])}):
    total = 0.0
    for name, value in sorted(p.items(), key=lambda item: item[0]):
        total += np.sum(value) * len(name)
    return total


def swap_list_items(x=0.5, y=0.25):
    v = [x, y, 1.0]
    v[0], v[1] = v[1], v[0]
    v[-1] += v[0]
    return v[0] + 10.0 * v[1] + 100.0 * v[2]


def early_return_from_unrolled_loop(x=0.5):
    for limit in (0.1, 0.4, 0.9):
        if x < limit:
            return x * limit
    return -1.0


def break_out_of_two_loops(x=np.array([[1.0, -1.0], [2.0, 3.0]])):
    total = 0.0
    done = False
    for i in range(2):
        for j in range(2):
            if x[i, j] < 0.0:
                done = True
                break
            total += x[i, j]
        if done:
            break
        total *= 2.0
    return total


def continue_in_while(x=0.5, n=6):
    k = 0
    total = 0.0
    while k < n:
        k += 1
        if k % 2 == 0:
            continue
        total += x * k
    return total


def return_array_from_loop(x=np.array([1.0, 2.0, 3.0])):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * 2.0
        if y[i] > 3.0:
            return y
    return -y


def return_tuple_from_branches(x=0.5):
    def split(v):
        if v > 0.0:
            return v, 0.0, 1
        return 0.0, -v, 2

    p, m, k = split(x)
    q, r, j = split(-x)
    return p + 10.0 * m + k + q + 10.0 * r + j


def while_true_with_array(x=np.array([1.0, 2.0])):
    y = x.copy()
    count = 0
    while True:
        y = y * 0.5
        count += 1
        if np.sum(y) < 0.5:
            break
    return y * count


def branch_in_inlined_function_in_loop(x=np.array([1.0, -2.0, 3.0])):
    def relu(v):
        if v > 0.0:
            return v
        return 0.0

    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = relu(x[i]) + relu(-x[i]) * 0.1
    return out


def mixed_int_float_branches(x=0.5, n=3):
    if x > 1.0:
        k = n
    else:
        k = x
    return k * 2 + n // 2


def unused_join_is_free(x=np.array([1.0, 2.0, 3.0]), c=0.5):
    if c > 0.0:
        t = x[1:]
        s = np.sum(t)
    else:
        t = x[:2] * 2.0
        s = t[0]
    return s


def values_from_before_and_after(x=2.0, n=3):
    y = x
    for i in range(n):
        z = y
        y = y * 0.5
    return y + z


def loop_else_and_return(x=np.array([1.0, 2.0]), target=5.0):
    for v in x:
        if v == target:
            return v
    else:
        return -1.0


def index_of_first(x=np.array([1.0, 3.0, 5.0]), limit=2.0):
    k = -1
    for i in range(len(x)):
        if x[i] > limit:
            k = i
            break
    return x[k] * k


def bisect(a=0.0, b=2.0, c=2.0):
    for _ in range(30):
        m = 0.5 * (a + b)
        if m * m < c:
            a = m
        else:
            b = m
    return 0.5 * (a + b)


def newton_with_early_exit(c=2.0):
    x = c
    for k in range(50):
        step = (x * x - c) / (2.0 * x)
        x = x - step
        if abs(step) < 1e-12:
            break
    else:
        x = math.nan
    return x


def nested_comprehension_matrix(x=0.5):
    m = [[x ** (i + j) for j in range(2)] for i in range(3)]
    return sum(sum(row) for row in m) + np.sum(np.array(m))


def zip_star_transpose(x=0.5):
    rows = [(1.0, x), (2.0, x * x)]
    a, b = zip(*rows)
    return sum(a) * sum(b)


def star_in_display(x=0.5):
    a = [x, 2.0]
    b = [*a, 3.0, *(x, 4.0)]
    return sum(b) + len(b)


def string_building(x=0.5, name="ab"):
    label = f"{name}-{len(name)}"
    return x * (label == "ab-2") + x * ("a" in name)


def conditional_import_alias(x=0.5):
    import numpy.linalg as la

    return la.norm(np.array([x, 1.0]))


def numbers_compared_with_none(x=0.5):
    return x if x is not None and x != None else 0.0  # noqa: E711


def tuple_equality(x=0.5, n=2):
    return x if (n, 3) == (2, 3) else -x


def slice_object(x=np.array([1.0, 2.0, 3.0, 4.0])):
    s = slice(1, None, 2)
    return np.sum(x[s]) * len(x[1:3])


def augmented_attribute_and_item(x=0.5):
    body = Body(x, 1.0)
    body.position *= 2.0
    items = {"a": [x]}
    items["a"][0] -= 0.25
    return body.position + items["a"][0]


def live_list_iteration(x=0.5):
    values = [x, 1.0, 2.0]
    for k, v in enumerate(values):
        if k < 2:
            values[k + 1] = v * 2.0 + values[k + 1]
    return values[2]


def live_dict_iteration(x=0.5):
    d = {"a": x, "b": 1.0}
    total = 0.0
    for key, value in d.items():
        d["b"] = value + 10.0
        total += value
    return total


def list_rebuilt_in_loop(x=0.5, n=3):
    state = [x, 1.0]
    for k in range(n):
        state = [state[1], state[0] * 0.5]
        state[0] += k
    return state[0] + 10.0 * state[1]


def list_made_in_branches(x=0.5):
    if x > 0.0:
        v = [x, 2.0]
    else:
        v = [1.0, x]
    v[0] *= 3.0
    return v[0] * v[1]


def row_of_a_list_chosen_by_a_loop(x=0.5):
    out = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        out[i][0] = x * (i + 1)
        row = out[i]
        row[1] = row[0] * x
    return out


def chosen_list_is_read(x=0.5):
    a = [x, 1.0]
    b = [2.0 * x, 3.0]
    r = a if x > 1.0 else b
    return r[0] * r[1] + a[0]


def chosen_list_is_written_when_nothing_else_holds_it(x=0.5):
    if x > 1.0:
        r = [x, 1.0]
    else:
        r = [2.0 * x, 3.0]
    r[0] = r[0] * r[1]
    return r[0] + r[1]


def first_of_two_lists_written_before_the_choice(x=0.5):
    a = [x, 1.0]
    b = [2.0 * x, 3.0]
    a[0] = 7.0 * x
    r = a if x > 1.0 else b
    return r[0] + a[0]


def list_read_at_a_run_time_index_and_written(x=0.5, n=3):
    rows = [[x, 1.0], [2.0 * x, 3.0], [0.5, x * x]]
    total = 0.0
    for i in range(n):
        total += rows[i][0] * rows[i][1]
    rows[0][1] = total
    return rows


def list_kept_where_a_helper_returned_early(x=0.75):
    values = [x]

    def update():
        if x > 0.5:
            return
        values[0] = 5.0

    update()
    return values[0] * x


def list_of_the_path_that_returns(x=0.75):
    values = [x]
    if x > 0.5:
        return values
    values[0] = 5.0
    return values


def list_changed_until_a_helper_returns(x=0.75):
    values = [x]

    def update():
        for k in range(4):
            if x * k > 1.0:
                return 2.0 * k
            values[0] = values[0] * x + k
        return 1.0

    return update() + values[0]


def item_set_or_list_replaced(x=0.5):
    pair = [x, 2.0]
    if x > 0.0:
        pair[0] = 7.0 * x
    else:
        pair = [1.0, x]
    return pair[0] + pair[1]


def items_swapped_or_list_replaced(x=np.array([1.0, 2.0]), c=0.5):
    pair = [x, 2.0 * x]
    for k in range(3):
        if c > 0.0:
            pair[0], pair[1] = pair[1], pair[0] * 0.5
        else:
            pair = [3.0 * each for each in pair]
        c = c - 0.3
    return pair[0] - pair[1]


def inner_item_set_or_all_replaced(x=0.5):
    nest = [[x], [2.0]]
    if x > 0.0:
        nest[0][0] = 7.0
        nest[1] = [x * x]
    else:
        nest = [[x * x], [1.0]]
    return nest[0][0] * x + nest[1][0]


def argument_changed_or_new_list(x=0.5):
    def change(values):
        if x > 5.0:
            return [1.0, x]
        values[0] = 3.0 * x
        return values

    return change([x, x])[0] * x


def list_appended_to_in_a_run_time_loop(x=0.5, n=4):
    out = []
    for i in range(n):
        out.append(x * i)
    total = 0.0
    for v in out:
        total += v * v
    return total + len(out)


def lists_of_two_types_appended_to(x=np.array([1.0, 2.0, -3.0])):
    squares, places = [], []
    for k in range(len(x)):
        squares.append(x[k] * x[k])
        places.append(k + 1)
    return sum(squares) * places[1] + squares[-1]


def list_of_an_array_appended_to(x=np.array([1.0, 2.0, -3.0])):
    out = []
    for v in x:
        w = 2.0 * v
        out.append(w * w)
    return np.sum(np.array(out) * x)


def list_appended_to_in_steps(x=0.5, n=4):
    out, t = [], 1.0
    for i in range(2, n + 2, 2):
        t = t * x + i
        out.append(t)
        t = t + 1.0
    return out[0] * out[-1]


def list_repeated_a_run_time_number_of_times(x=0.5, n=3):
    values = [0.0] * n
    for i in range(n):
        values[i] = x * i
    again = values
    again[1] = again[1] + 7.0 * x
    return values[1] * len(values) + sum(n * [x])


def list_repeated_fewer_than_no_times(x=0.5, n=-2):
    return x + len([x] * n) + len([x * i for i in range(n)])


def equal_items_counted(x=0.5, y=-1.0):
    values = [x, y, 2.0 * x, 1.0]
    return values.count(1.0) * x
