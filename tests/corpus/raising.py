"""Functions that raise when they run.  The line of the exception ends in `# Name: words of the message`."""
import math

import numpy as np


def index_out_of_range(x=np.array([1.0, 2.0]), n=3):
    total = 0.0
    for i in range(n):
        total += x[i]  # IndexError: 2
    return total


def negative_index_out_of_range(x=np.array([1.0, 2.0]), k=-3):
    return x[k]  # IndexError: -3


def constant_list_index(x=0.5, k=5):
    return x * (1.0, 2.0)[k]  # IndexError: 5


def value_list_index(x=0.5, k=5):
    return [x, 2.0 * x][k]  # IndexError: 5


def integer_division(n=3, m=0, x=0.5):
    return x * (n // m)  # ZeroDivisionError: zero


def integer_modulo(n=3, m=0, x=0.5):
    return x * (n % m)  # ZeroDivisionError: zero


def true_division_of_ints(n=3, m=0, x=0.5):
    return x * (n / m)  # ZeroDivisionError: zero


def unbound_on_this_path(x=-1.0):
    if x > 0.0:
        y = x
    return y + 1.0  # UnboundLocalError: y


def unbound_after_empty_loop(x=1.0, n=0):
    for i in range(n):
        y = x * i
    return x + y  # UnboundLocalError: y


def index_after_empty_loop(x=1.0, n=0):
    for i in range(n):
        x = x * 2.0
    return x + i  # UnboundLocalError: i


def assertion(x=2.0):
    assert x < 1.0, "x must be small"  # AssertionError: x must be small
    return x


def assertion_with_int(n=0, x=0.5):
    assert n > 0, f"n must be positive, got {n}"  # AssertionError: n must be positive, got 0
    return x**n


def raised_in_branch(rate=-0.5):
    if rate < 0:
        raise ValueError("negative rate")  # ValueError: negative rate
    return rate


def raised_in_helper_in_loop(x=np.array([1.0, -2.0])):
    def check(v, i):
        if v < 0.0:
            raise ArithmeticError(f"entry {i} is negative")  # ArithmeticError: entry 1 is negative
        return math.sqrt(v)

    total = 0.0
    for i in range(len(x)):
        total += check(x[i], i)
    return total


def raised_after_computation(x=2.0):
    if x > 1.0:
        y = 0.0
        while y < x:
            y += 0.5
        if y > 1.0:
            raise RuntimeError("large")  # RuntimeError: large
    return x


def empty_maximum(x=np.zeros(0)):
    return max(v for v in x)  # ValueError: max


def unpack_wrong_length(x=np.array([1.0, 2.0])):
    a, b, c = x  # ValueError: 3
    return a + b + c


def array_grows(x=np.array([1.0, 2.0]), n=3):
    u = x
    for i in range(n):  # ValueError: extent
        u = np.concatenate([u, x])
    return np.sum(u)


def broadcast_mismatch(x=np.array([1.0, 2.0]), y=np.array([1.0, 2.0, 3.0])):
    return np.sum(x * y)  # ValueError: broadcast


def negative_shift(n=3, m=-1, x=0.5):
    return x * (n << m)  # ValueError: shift


def range_step_zero(x=0.5, s=0):
    for i in range(0, 5, s):  # ValueError: zero
        x += i
    return x


def none_in_arithmetic(x=-0.5):
    def root(v):
        if v >= 0.0:
            return math.sqrt(v)

    return root(x) + 1.0  # TypeError: None


def none_indexed(x=-0.5):
    pair = (x, 2.0) if x > 0.0 else None
    return pair[0]  # TypeError: NoneType


def key_on_one_path(x=-0.5):
    return {"a": x}["a" if x > 0.0 else "b"]  # KeyError: b


def attribute_on_one_path(x=-0.5):
    name = "abc" if x > 0.0 else None
    return x * len(name.upper())  # AttributeError: upper


def none_unpacked(x=-0.5):
    pair = (x, 2.0) if x > 0.0 else None
    a, b = pair  # TypeError: None
    return a * b


def too_few_on_one_path(x=-0.5):
    pair = (x, 2.0) if x > 0.0 else (x,)
    a, b = pair  # ValueError: not enough
    return a * b


def no_name_matches(x=-0.5):
    name = "a" if x > 0.0 else "b" if x > -1.0 else "c"
    if name == "a":
        y = x
    elif name == "c":
        y = 2.0 * x
    return y  # UnboundLocalError: y


def none_in_one_branch(x=-0.5):
    p = None
    y = x
    if x < 0.0:
        y = x - p  # TypeError: None
    return y * x


def missing_method_on_one_path(x=-0.5):
    return x * 2.0 if x > 0.0 else x.copy()  # AttributeError: copy


def int_too_large_for_a_narrow_type(a=np.array([1, 2], np.int8), n=300):
    return a + n  # OverflowError: out of bounds for int8


def element_too_large_for_its_array(a=np.array([1, 2], np.int16), n=40000):
    a[1] = n  # OverflowError: out of bounds for int16
    return a


def negative_number_of_an_unsigned_type(n=-1):
    return np.uint8(n)  # OverflowError: out of bounds for uint8


def narrow_division_by_zero(a=np.array([1, 2], np.int8), b=np.array([1, 0], np.int8)):
    return int(a[1]) // int(b[1])  # ZeroDivisionError: by zero
