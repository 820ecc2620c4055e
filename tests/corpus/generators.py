"""Functions with `yield`, `next`, `nonlocal`.  The default values are the sample arguments."""
import math

import numpy as np


def multiples(x, n):
    for i in range(n):
        yield x * i


def powers(x):
    yield x
    yield x * x


def several(x):
    yield from powers(x)
    yield 1.0
    yield from (2.0 * x, 3.0 * x)


def some(x):
    if x > 0.0:
        yield x
    yield 2.0 * x
    if x > 1.0:
        return
    yield x * x


def yields_in_a_row(x=0.5):
    def values():
        yield x
        yield 2.0 * x * x

    total = 0.0
    for v in values():
        total += v * v
    return total


def yield_in_a_loop(x=0.5, n=4):
    total = 0.0
    for v in multiples(x, n):
        total += v * v
    return total


def left_early(x=0.5, n=4):
    total = 0.0
    for v in multiples(x, n):
        if v > 0.8:
            break
        if v < 0.2:
            continue
        total += v * v
    else:
        total = total + 3.0
    return total


def returned_from(x=0.5, n=4):
    for v in multiples(x, n):
        if v > 0.8:
            return v * v
    return -x


def reduced(x=0.5, n=4):
    largest = max(multiples(x, n + 1))
    return sum(multiples(x, n)) + largest * (2.0 if any(v > 0.4 for v in powers(x)) else 1.0)


def unpacked(x=0.5):
    a, b = powers(x)
    return 3.0 * a + b


def collected(x=0.5):
    return len(list(powers(x))) * tuple(powers(x))[1] + sorted(powers(x))[0] + sum([3.0 * v for v in powers(x)])


def yield_from(x=0.5):
    total = 0.0
    for k, v in enumerate(several(x)):
        total += k * v
    return total


def yield_on_some_paths(x=0.5):
    total, count = 0.0, 0
    for v in some(x):
        total += v * (count + 1)
        count += 1
    return total * count


def yield_in_a_while(x=0.5, n=3):
    def doubled():
        a = x
        while a < n:
            yield a
            a = 2.0 * a + 0.1

    product = 1.0
    for v in doubled():
        product = product * v
        if product > 5.0:
            break
    else:
        product = product + 100.0
    return product


def yields_tuples(x=0.5, n=4):
    def sums():
        s = 0.0
        for i in range(n):
            s += x * i
            yield i, s

    total = 0.0
    for i, s in sums():
        for _ in range(i):
            total += s * s
    return total


def yields_arrays(x=0.5, n=3):
    def rows():
        for i in range(n):
            yield np.ones(2) * x * i

    total = np.zeros(2)
    for row in rows():
        total = total + row * row
    return total[0]


def generator_of_a_generator(x=0.5, n=3):
    def outer():
        for i in range(n):
            for v in multiples(x + i, 2):
                yield v * i

    total = 0.0
    for w in outer():
        total += w
        if total > 4.0:
            return total * total
    return total


def generator_inside_itself(x=0.5, n=3):
    def values():
        for i in range(n):
            yield x * i

    total = 0.0
    for a in values():
        for b in values():
            if b > a:
                break
            total += a * b
    return total


def array_written_between_yields(x=0.5):
    a = np.ones(2)

    def values():
        yield a[0]
        yield a[1]

    total = 0.0
    for v in values():
        total += v * x
        a[1] = 3.0 * x
    return total


def list_written_between_yields(x=0.5):
    z = [x, 2.0]

    def values():
        for i in range(2):
            yield z[i]

    total = 0.0
    for k, v in enumerate(values()):
        total += v * (k + 1)
        z[1] = 5.0 * x
    return total


def zipped(x=0.5, n=3, y=np.array([1.0, 2.0, 3.0, 4.0])):
    total = 0.0
    for v, w in zip(multiples(x, n), y):
        total += v * w
    for w, v in zip(y, multiples(x, n + 5)):
        total += v * v * w
    return total


def mapped_and_filtered(x=0.5):
    first = sum(map(math.sin, powers(x)))
    return first + sum(filter(None, powers(x))) + sum(v * v for v in powers(x) if v > 0.3)


def dict_of_yields(x=0.5):
    d = {k: v for k, v in enumerate(powers(x))}
    return 2.0 * d[1] + d[0]


def first_item(x=0.5):
    return 2.0 * next(powers(x)) + next((v for v in (x, 2.0 * x, 3.0 * x) if v > 0.9), 7.0)


def first_item_or_none(x=0.5):
    found = next((v for v in (x, 2.0 * x, 3.0 * x) if v > 0.9), None)
    return x if found is None else found * found


def first_of_a_type(x=0.5):
    return next((a for a in ("name", None, x) if isinstance(a, float)), 2.0) * x


def nonlocal_sum(x=0.5, n=4):
    total, count = 0.0, 0

    def add(v):
        nonlocal total, count
        if v > 0.6:
            total += v * v
        count += 1

    for i in range(n):
        add(x * i)
    return total * count


def nonlocal_of_a_function_that_returned(x=0.5):
    def counter():
        n = 0.0

        def increase():
            nonlocal n
            n += x
            return n

        return increase

    a, b = counter(), counter()
    a()
    if x > 0.3:
        a()
    return 10.0 * a() + b()


def nonlocal_through_a_callback(x=0.5):
    best = None

    def update(v):
        nonlocal best
        if best is None or v < best:
            best = v

    def every(f):
        for i in range(4):
            if i % 2 == 0:
                f((x - i) * (x - i) + x)

    every(update)
    return best * x


def nonlocal_read_between(x=0.5):
    k = x

    def double():
        nonlocal k
        k = 2.0 * k
        return k

    return k + double() + k


def nonlocal_in_a_generator(x=0.5, n=4):
    s = 0.0

    def values():
        nonlocal s
        for i in range(n):
            s += x
            yield s * i

    total = 0.0
    for v in values():
        total += v * s
    return total + s


def _three(p):
    return np.array([p[0] * p[1], np.sin(p[0]), p[1] ** 2])


def rows_of_a_run_time_list(x=np.array([[0.3, 1.2], [-0.4, 0.7], [0.9, 0.2]])):
    rows = [_three(x[i]) for i in range(len(x))]
    total = 0.0
    for row in rows:
        total += row @ row
    rows[1][2] = 5.0
    first = rows[0]
    first[1] += x[0, 0]
    return total + rows[-1].sum() + len(rows), np.array(rows), rows[0][1] * rows[1][2]


def joined_rows(x=np.array([[0.3, 1.2], [-0.4, 0.7], [0.9, 0.2]]), n=3):
    scaled = np.stack([x[0] * k for k in range(n)])
    ends = np.concatenate([_three(row) for row in x])
    squares = np.vstack([np.outer(row, row) for row in x])
    return scaled, ends, squares, np.hstack([row * row.sum() for row in x]), np.stack(x), np.mean([_three(r) for r in x], axis=0)
