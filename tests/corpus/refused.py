"""Functions that are refused.  The line of the diagnostic ends in `# ADnnn words of the message`."""
import math
import random
import threading
import time

import numpy as np

import adgen
from scipy import special

LOCK = threading.Lock()
SCRATCH = np.zeros(3)
SETTINGS = {"a": 1.0}
COUNT = 0
CACHE = None


def try_around_a_loop(x=0.5, n=3):
    total = 0.0
    try:
        for k in range(n):
            total += 1.0 / (x - k)  # AD204 ZeroDivisionError
    except ZeroDivisionError:
        return 0.0
    return total


def generator(x=0.5):
    for k in range(3):
        yield x * k  # AD205 yield


def class_inside(x=0.5):
    class A:  # AD207 class
        pass

    return x


def global_write(x=0.5):
    global COUNT
    COUNT += 1  # AD208 COUNT
    return x


def global_write_of_a_run_time_value(x=0.5):
    global CACHE
    CACHE = x  # AD208 run time
    return x


def global_write_on_one_path(x=0.5):
    global CACHE
    if x > 1.0:  # AD311 changes its size
        CACHE = 2.0
    return x


def counting():
    k = 0

    def count(x=0.5):
        nonlocal k
        k += 1  # AD208 nonlocal
        return x * k

    return count


nonlocal_of_a_function_that_python_ran = counting()


def match_statement(x=0.5, k=(1, 2)):
    match k:  # AD209 match
        case (1, n):
            return x * n
    return -x


def with_open(x=0.5):
    with open("file") as f:  # AD213 file
        return x


def with_a_lock(x=0.5):
    with LOCK:  # AD210 with
        return x


def eval_call(x=0.5):
    return eval("x * 2")  # AD212 eval


def exec_call(x=0.5):
    exec("y = 1")  # AD212 exec
    return x


def open_call(x=0.5):
    f = open("name")  # AD213 open
    return x


def print_call(x=0.5):
    print(x)  # AD214 print
    return x


def numpy_random(x=0.5):
    return x * np.random.rand()  # AD216 random


def python_random(x=0.5):
    return x * random.random()  # AD216 random


def clock(x=0.5):
    return x * time.time()  # AD217 time


def recursion_without_end(x=0.5):
    return recursion_without_end(x * 0.5)  # AD218 recursion_without_end


def recursion_on_an_array(x=np.array([0.5, 0.2])):
    if x[0] < 0.1:
        return x[0]
    return recursion_on_an_array(x * 0.5)  # AD218 recursion_on_an_array


def recursion_that_reads_an_array(x=np.array([0.5, 0.2]), n=2):
    def total(n):
        if n == 0:
            return 0.0
        return x[n - 1] + total(n - 1)  # AD218 total

    return total(n)


def recursion_that_appends(x=0.5, n=3):
    seen = [x]

    def walk(x, n):
        if n == 0:
            return x
        seen[0] = seen[0] + x
        return walk(x * 0.5, n - 1)

    return walk(x, n) + seen[0]  # AD218 walk


def recursion_that_returns_none(x=0.5, n=3):
    def walk(n):
        if n > 0:
            walk(n - 1)

    walk(n)  # AD218 walk
    return x


def unknown_library(x=np.array([1.0, 2.0])):
    return np.sum(np.abs(np.fft.hfft(x)))  # AD236 hfft


def undefined_name(x=0.5):
    return x + undefined  # AD401 undefined


def used_before_bound(x=0.5):
    y = x + z  # AD402 z
    z = 1.0
    return y


def missing_argument(x=0.5):
    def g(a, b):
        return a + b

    return g(x)  # AD403 b


def too_many_arguments(x=0.5):
    def g(a):
        return a

    return g(x, x)  # AD403 g


def unknown_keyword(x=0.5):
    def g(a):
        return a

    return g(x, c=1.0)  # AD403 c


def misspelt_attribute(x=0.5):
    return np.sine(x)  # AD404 sine


def misspelt_method(x=np.array([1.0, 2.0])):
    return x.summ()  # AD237 summ


def writes_module_array(x=0.5):
    SCRATCH[0] = x  # AD225 global
    return SCRATCH[0]


def writes_module_dict(x=0.5):
    SETTINGS["a"] = x  # AD226 dict
    return SETTINGS["a"]


def augments_module_array(x=0.5):
    s = SCRATCH
    s += x  # AD225 global
    return s


def number_plus_list(x=0.5):
    return x + [1.0]  # AD306 list


def number_plus_string(x=0.5):
    return x + "a"  # AD306 string


def subscript_of_number(x=0.5):
    return x[0]  # AD319 float


def iterating_number(x=0.5):
    for v in x:  # AD322 iterable
        pass
    return x


def length_of_number(x=0.5):
    return len(x)  # AD322 length


def float_index(x=np.array([1.0, 2.0]), k=1.0):
    return x[k]  # AD304 integer


def float_range(x=0.5, n=3.0):
    for i in range(n):  # AD304 integer
        x = x * 2.0
    return x


def function_of_math_of_complex(x=0.5):
    return math.sin(x * 2j).real  # AD302 must be real number


def order_of_complex(x=0.5):
    return x if x * 2j < 1.0 else 2.0 * x  # AD309 not supported between instances of 'complex' and 'float'


def complex_in_real_array(x=np.array([0.5, 1.0])):
    x[0] = 2j * x[1]  # AD308 imaginary part
    return x


def complex_to_float(x=0.5):
    return float(x + 2j)  # AD308 imaginary part


def floor_of_complex(x=0.5):
    return abs(np.floor(x + 2j))  # AD301 floor


def clip_of_complex(x=0.5):
    return abs(np.clip(x * 2j, 0.0, 1.0))  # AD301 clip


def complex_index(x=np.array([0.5, 1.0])):
    return x[x[0] * 1j]  # AD304 not a complex number


def complex_added_in_place(x=np.array([0.5, 1.0])):
    x += 1j  # AD338 in-place
    return x


def part_of_complex_number_set(x=0.5):
    z = x + 1j
    z.real = 2.0  # AD215 .real
    return abs(z)


def complex_recursion(x=0.5, n=3):
    def power(z, n):
        return z if n == 0 else power(z * 1j, n - 1)  # AD218 recursion

    return abs(power(x + 0j, n))


def unpack_mismatch(x=0.5):
    a, b = x, x, x  # AD321 too many
    return a


def inconsistent_return(x=0.5):
    if x > 0:  # AD310 return
        return x
    return x, x


def list_grows_in_dynamic_loop(x=0.5, n=3):
    values = []
    again = values
    for i in range(n):  # AD315 size
        values.append(x * i)
    return again[0]


def list_grows_in_branch(x=0.5):
    values = [x]
    if x > 0.0:  # AD311 size
        values.append(x)
    return values[0]


def scalar_becomes_array_in_dynamic_loop(w=np.array([1.0, 2.0]), n=2):
    acc = 0.0
    for i in range(n):  # AD310 acc
        acc = acc + w
    return acc


def kind_decided_by_branch(x=0.5):
    if x > 0.0:
        y = x
    else:
        y = (x, x)
    return y  # AD310 y


def dynamic_key(x=0.5, k=1):
    return {0: x, 1: 2.0 * x}[k]  # AD222 key


def set_of_values(x=0.5):
    return len({x, 1.0})  # AD221 set


def filtered_comprehension(x=np.array([1.0, -2.0])):
    return sum([v for v in x if v > 0.0])  # AD227 length


def list_of_views(x=np.array([1.0, 2.0, 3.0])):
    rows = [x[k:] for k in range(2, len(x))]  # AD227 fresh array
    return rows[0][0]


def list_of_views_of_one_shape(x=np.array([1.0, 2.0, 3.0])):
    rows = [x[k : k + 2] for k in range(len(x) - 1)]  # AD227 fresh array
    x[0] = 3.0
    return rows[0][0]


def alias_written_in_loop(x=np.array([1.0, 2.0]), n=3):
    u = x
    for i in range(n):
        u[0] += 1.0  # AD341 shares
        u = u * 2.0
    return u


def stale_double_buffer(u0=np.array([1.0, 2.0]), n=3):
    u = u0.copy()
    un = np.zeros_like(u)
    for i in range(n):
        un[0] = u[1] + 1.0  # AD341 shares
        un[1] = u[0]
        u = un
    return u


def alias_by_branch_written(x=np.array([1.0, 2.0]), y=np.array([3.0, 4.0]), c=0.5):
    a = x * 1.0
    b = y * 1.0
    if c > 0.0:
        z = a
    else:
        z = b
    z[0] = 10.0  # AD341 shares
    return a + b


def reshaped_copy_read_after_write(x=np.array([[1.0, 2.0], [3.0, 4.0]])):
    line = x.T.reshape(-1)
    x[0, 0] = 10.0  # AD341 shares
    return line


def contiguous_copy_written(x=np.array([[1.0, 2.0], [3.0, 4.0]])):
    turned = np.ascontiguousarray(x.T)
    turned[0, 0] = 10.0  # AD232 may share memory
    return x


def replaced_in_place(x=np.array([1.0, 2.0])):
    np.nan_to_num(x, copy=False)  # AD234 copy
    return x


def nothing_returned(x=0.5):  # AD326 return
    y = x * x


def sometimes_nothing_returned(x=0.5):  # AD320 return
    if x > 0.0:
        return x


def raise_decided_now(x=0.5, how="none"):
    if how == "none":
        raise ValueError("no such option")  # AD501 no such option
    return x


def integer_division_by_constant_zero(n=3, x=0.5):
    return x * (n // 0)  # AD307 ZeroDivision


def two_to_the_hundred(n=3, x=0.5):
    return x * (n + 2**100)  # AD303 64 bits


def array_condition(x=np.array([1.0, 2.0])):
    if x > 0.0:  # AD318 ambiguous
        return x[0]
    return x[1]


def ambiguous_lambdas(x=0.5):
    return SETTINGS["missing"] * x  # AD305 KeyError


def returns_function(x=0.5):  # AD325 function
    return lambda y: x * y


def undefined_exception_name(x=0.5):
    if x > 0.0:
        raise NoSuchError("a")  # AD401 NoSuchError
    return x


def list_with_two_names_replaced(x=0.5):
    a = [x, 1.0]
    b = a
    if x > 0.0:
        a = [2.0, x]
    a[0] = 5.0  # AD340 one of several
    return b[0]


def new_list_with_two_names(x=0.5):
    a = b = None
    if x > 0.0:
        a = [x]
        b = a
    else:
        a = [2.0 * x]
        b = a
    a[0] = 5.0  # AD340 one of several
    return b[0]


def list_changed_by_test(x=0.5):
    values = [x, x]
    while len(values) < 3 and x * 1.5 > values.pop():  # AD243 test
        x = x * 0.5
    return x


def list_grows_while_iterated(x=0.5):
    values = [x, 1.0]
    for v in values:  # AD242 size
        values.append(v)
    return x


def iterator_used_twice(x=np.array([1.0, 2.0])):
    pairs = zip(x, x)
    a = sum(u * v for u, v in pairs)
    return a + sum(u + v for u, v in pairs)  # AD241 used up


def chosen_list_written(x=0.5):
    a = [0.0]
    b = [0.0]
    r = a if x > 1.0 else b
    r[0] = x  # AD340 one of several
    return a[0] + 10.0 * b[0]


def chosen_list_written_through_its_other_name(x=0.5):
    a = [x]
    b = [2.0 * x]
    r = a if x > 1.0 else b
    a[0] = 5.0  # AD340 one of several
    return r[0]


def row_at_a_run_time_index_written(x=0.5, n=2):
    out = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(n):
        out[i][0] = x  # AD340 one of several
    return out


def row_of_an_argument_written(m=[[1.0, 2.0], [3.0, 4.0]], n=2):
    for i in range(n):
        m[i][0] = 0.0  # AD340 one of several
    return m[0][0]


def list_of_the_iteration_before_written(x=0.5, n=3):
    a = [x]
    b = [2.0 * x]
    r = b
    total = 0.0
    for i in range(n):
        a[0] = total + i  # AD340 one of several
        total += r[0]
        r = a if total < 1.0 else b
    return total


def iterator_run_through_twice(x=0.5):
    values = iter((1.0, 2.0))
    total = 0.0
    for v in values:
        total += v * x
    for v in values:  # AD241 used up
        total += v * x
    return total


def iterator_run_through_in_every_iteration(x=0.5, n=2):
    pairs = zip((1.0, 2.0), (3.0, 4.0))
    total = 0.0
    for k in range(n):
        for a, b in pairs:  # AD241 used up
            total += a * b * x
    return total


def iterator_run_through_on_one_path(x=0.5):
    values = iter([x, 2.0 * x])
    first = next(values) if x > 1.0 else 0.0
    return first + next(values)  # AD241 used up


ONCE = iter((1.0, 2.0))


def iterator_of_the_module(x=0.5):
    return x * sum(ONCE)  # AD241 once only


def length_of_an_iterator(x=0.5):
    return x * len(zip((1.0, 2.0), (x, x)))  # AD322 has no length


def text_of_a_run_time_number_compared(x=0.5):
    return x if f"{x}" == "0.5" else -x  # AD306 run-time values


def text_of_a_run_time_number_returned(x=0.5):  # AD325 run-time values
    return str(x)


def length_of_a_text(x=0.5):
    return x * len(str(x))  # AD230 the length


def try_exception_of_one_path(x=0.5):
    try:
        if x > 1.0:
            raise KeyError("a")  # AD204 KeyError
        return x
    except LookupError:
        return 2.0 * x


def try_index_of_an_array(x=np.array([0.5, 1.0]), n=1):
    try:
        return x[n]  # AD204 IndexError
    except IndexError:
        return x[0]


def try_arithmetic_on_one_path(x=0.5):
    try:
        return math.log(x) if x < 5.0 else x  # AD204 ValueError
    except ValueError:
        return x


def try_arithmetic_and_then_a_write(x=np.array([0.5, 1.0]), y=0.5):
    def noted(v):
        x[0] = v
        return v

    try:
        return noted(1.0 / y)  # AD204 ZeroDivisionError
    except ZeroDivisionError:
        return x[0]


def try_outer_arithmetic(x=0.5):
    try:
        try:
            return 1.0 / x  # AD204 ZeroDivisionError
        except ValueError:
            return 2.0
    except ZeroDivisionError:
        return 3.0 * x


def try_something_unsupported(x=0.5):
    try:
        print(x)  # AD214 print
    except Exception:
        return 2.0 * x
    return x


def try_return_in_finally(x=0.5):
    try:
        return x
    finally:
        return 2.0 * x  # AD204 finally


def try_not_caught(x=0.5):
    try:
        return x * SETTINGS["b"]  # AD305 KeyError
    except ValueError:
        return x


def where_without_output(x=np.ones(3)):
    return np.divide(1.0, x, where=x > 0)  # AD324 uninitialised


def output_that_would_lose_the_fraction(x=np.ones(3)):
    counts = np.zeros(3, dtype=np.int64)
    np.add(x, 1.0, out=counts)  # AD338 f64
    return counts * x


def output_of_too_few_axes(x=np.ones((2, 3))):
    row = np.zeros(3)
    return np.add(x[:1], 1.0, row)  # AD331 rank


def output_of_another_type(x=np.ones(3)):
    total = np.zeros(3, dtype=np.float32)
    return np.cumsum(x, out=total)  # AD338 f32


def output_that_is_a_number(x=0.5):
    return np.exp(x, out=x)  # AD232 axes


def array_without_axes_under_two_names(x=0.5):
    a = np.asarray(x)
    b = a
    a[...] = 2.0  # AD232 several names
    return b


def array_without_axes_written_by_a_helper(x=0.5):
    def clip(v):
        v[v > 1.0] = 1.0  # AD232 several names
        return v

    a = np.asarray(x)
    clip(a)
    return a


def array_without_axes_added_to(x=0.5):
    a = np.asarray(x)
    b = a
    a += 1.0  # AD232 several names
    return b


def write_into_a_numpy_scalar(x=0.5):
    a = np.exp(x)
    a[...] = 2.0  # AD319 assignment
    return a


def elements_that_are_unlike(x=np.ones(3)):
    return np.roots(x)  # AD233 depends on the data


def sorted_by_a_key(x=np.ones(3)):
    return sorted([x[0], x[1]], key=lambda v: -v)  # AD230 sorted


def quantile_of_another_kind(x=np.ones(3)):
    return np.quantile(x, 0.3, method="nearest")  # AD234 nearest


def vectorised_with_types(x=np.ones(3)):
    return np.vectorize(lambda v: v, otypes=[int])(x)  # AD234 otypes


def bessel_function_of_half_an_order(x=0.5):
    return special.jv(0.5, x)  # AD302 integral orders


def array_without_axes_that_has_views(x=0.5):
    a = np.asarray(x)
    line = a[None]
    a[...] = 2.0  # AD232 several names
    return line


def view_of_an_array_without_axes(x=0.5):
    a = np.asarray(x)
    line = np.atleast_1d(a)
    line[0] = 2.0  # AD232 share the memory
    return a


def array_without_axes_changed_in_a_loop(x=0.5, n=3):
    a = np.asarray(x)
    for k in range(n):
        a[a < k] = 2.0  # AD319 assignment
    return a


def part_of_an_array_without_axes(x=0.5):
    a = np.asarray(x + 2j)
    b = a.real
    a[...] = 9j  # AD232 several names
    return b


def part_of_an_array_without_axes_written(x=0.5):
    a = np.asarray(x + 2j)
    a.imag[...] = 9.0  # AD232 several names
    return a


def real_part_of_an_array_without_axes(x=0.5):
    a = np.asarray(x)
    b = np.real(a)
    a[...] = 9.0  # AD232 several names
    return b


def array_without_axes_in_an_iterator(x=0.5):
    a = np.asarray(x)
    items = iter([a])
    a[...] = 5.0  # AD232 several names
    return next(items)


def array_without_axes_in_a_default(x=0.5):
    a = np.asarray(x)

    def f(v=a):
        return v * 1.0

    a[...] = 5.0  # AD232 several names
    return f()


def array_without_axes_in_a_method(x=0.5):
    a = np.asarray(x)
    total = a.sum
    a[...] = 5.0  # AD232 several names
    return total()


def array_without_axes_of_one_branch(x=0.5):
    a = np.asarray(x)
    b = a if x > 0 else 2.0
    a[...] = 5.0  # AD232 several names
    return b * 1.0


def array_without_axes_converted_in_place(x=0.5):
    a = np.asarray(x)
    b = a.astype(float, copy=False)
    a[...] = 5.0  # AD232 several names
    return b * 1.0


def complex_output_in_real_array(z=np.array([1.0 + 2.0j])):
    b = np.zeros(1)
    np.multiply(z, 1j, out=b)  # AD338 c128
    return b


def complex_condition_of_an_output(z=np.array([1.0 + 2.0j])):
    b = np.zeros(1, dtype=complex)
    return np.multiply(z, 1j, out=b, where=z)  # AD302 boolean


def complex_numbers_in_a_statistic(z=np.array([1.0 + 2.0j])):
    return np.nanprod(z)  # AD301 complex


def complex_bessel_function(z=0.5 + 1.0j):
    return special.j0(z)  # AD301 complex


def complex_numbers_sorted(x=0.5):
    return sorted([1j * x, 2j * x])  # AD301 complex


def try_what_only_adgen_raises(x=np.array([[1.0, 2.0, 4.0]])):
    try:
        return np.cov(x) * 2.0  # AD204 ValueError
    except ValueError:
        return 9.0


def none_returned_on_one_path(x=0.5):
    return None if x < 0.0 else x  # AD310 None


def end_of_a_helper_returned(x=0.5):
    def g(v):
        if v > 0.0:
            return v

    return g(x)  # AD320 return


def name_returned_on_one_path(x=0.5):
    y = (x, "a")
    if x > 0.0:  # AD310 y_1
        y = (x, "b")
    return y


def names_without_end(x=0.5, n=3):
    name = "a"
    for i in range(n):  # AD314 settle
        name = name + "a"
    return x * len(name)


def choice_of_lists_written(x=0.5):
    a = None
    if x > 0.0:
        a = [x, 1.0]
    b = a
    if x > 1.0:
        a = [x, 2.0]
    if a is not None:
        a[0] = 5.0  # AD340 one of several
    return x if b is None else b[0]


def dict_of_the_module_chosen_and_written(x=0.5):
    d = SETTINGS if x > 0.0 else {"a": 2.0}
    d["a"] = 7.0  # AD340 one of several
    return d["a"] * x


def function_that_holds_a_value_of_one_path(x=0.5):
    f = (lambda v, k=2.0 * x: v * k) if x > 0.0 else math.sin  # AD310 lambda
    return f(x)


def none_caught(x=0.5):
    r = None if x < 0.0 else x
    try:
        return r * 2.0  # AD204 TypeError
    except TypeError:
        return 1.0


def yield_inside_try(x=0.5):
    def values():
        try:
            yield x
        finally:
            pass

    return sum(values())  # AD205 try


def value_of_yield(x=0.5):
    def values():
        y = yield x  # AD205 sent
        yield y

    return sum(values())


def generator_used_twice(x=0.5):
    def values():
        yield x
        yield 2.0 * x

    g = values()
    return next(g) + next(g)  # AD241 used up


def run_time_number_of_yields(x=0.5, n=3):
    def values():
        for i in range(n):  # AD315 size
            yield x * i

    return len(list(values())) * x


def generator_that_calls_itself(x=0.5):
    def halves(v):
        yield v
        if v > 0.1:
            for w in halves(0.5 * v):  # AD218 recursion
                yield w

    return sum(halves(x))


def two_generators_zipped(x=0.5):
    def values():
        yield x

    return sum(a * b for a, b in zip(values(), values()))  # AD205 zip


def list_grows_on_some_paths_of_a_loop(x=0.5, n=3):
    values = []
    for i in range(n):
        if i > 1:  # AD311 size
            values.append(x * i)
    return sum(values)


def float_set_in_a_list_of_ints(x=0.5, n=3):
    values = [0] * n
    values[0] = x  # AD302 run-time length
    return values[0]


def narrow_integers_plus_a_float(a=np.array([1, 2], np.int32)):
    a += 0.5  # AD338 i32


def unsigned_plus_signed(a=np.array([1, 2], np.uint8), b=np.array([1, 2], np.int8)):
    a += b  # AD338 u8


def int_beyond_a_narrow_type(a=np.array([1, 2], np.int8)):
    return a + 300  # AD303 out of bounds for int8


def negative_int_and_unsigned(a=np.array([1, 2], np.uint16)):
    a[0] = -1  # AD303 out of bounds for uint16
    return a


def sum_of_unsigned(a=np.array([1, 2], np.uint8)):
    return a.sum()  # AD334 uint64


def root_of_bytes(a=np.array([1, 2], np.int8)):
    return np.sqrt(a)  # AD334 float16


def made_of_uint64(n=3):
    return np.zeros(n, np.uint64)  # AD334 uint64


def number_of_uint64(a=np.array([1, 2], np.int32)):
    return a * np.uint64(3)  # AD334 uint64


def narrow_here_and_wide_there(a=np.array([1, 2], np.int8), n=3):
    x = a[0]
    if n > 2:
        x = np.int64(n)
    return x + 1  # AD310 int8


def narrow_arrays_of_two_types(a=np.array([1, 2], np.int8), b=np.array([1, 2], np.int16), n=3):
    c = a if n > 2 else b  # AD310 differ
    return c + 1


def int_or_narrow_with_another_type(a=np.array([1, 2], np.uint8), b=np.array([1, 2], np.int8)):
    total = 0
    for v in a:
        total += v
    return total + b[0]  # AD310 int on one path


def larger_of_two_types(a=np.array([1, 2], np.uint8), b=np.array([1, 2], np.int8)):
    return max(a[0], b[0])  # AD310 differ


def reciprocal_of_integers(a=np.array([1, 2], np.int32)):
    return np.reciprocal(a)  # AD203 integers


def remainder_of_integers_as_in_c(a=np.array([1, 2], np.int32)):
    return np.fmod(a, 2)  # AD203 integers


def integers_rounded_to_tens(a=np.array([14, 2], np.int32)):
    return np.round(a, -1)  # AD203 integers


def checkpoint_of_a_loop_that_stops(x=0.5, n=3):
    for k in adgen.checkpoint(range(n)):  # AD244 stop early
        x = x * x
        if x > 3.0:
            break
    return x


def checkpoint_of_a_sequence(x=0.5):
    for k in adgen.checkpoint((1.0, 2.0)):  # AD244 known items
        x = x * k
    return x


def checkpoint_of_changing_kinds(x=0.5, n=3):
    y = None
    for k in adgen.checkpoint(range(2)):  # AD310 y
        y = x if y is None else [y]
    return x
