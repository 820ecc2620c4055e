"""Branches, loops and jumps.  The default values are the sample arguments."""
import math

import numpy as np


def early_return_chain(x=0.3, n=2):
    if n == 0:
        return x
    if n == 1:
        return x * 2.0
    if x > 1.0:
        return x * x
    return math.sin(x)


def nested_maybe_return(x=0.7, y=-0.2):
    if x > 0.0:
        if y > 0.0:
            return x * y
        x = x + 1.0
    else:
        x = x - 1.0
    return x * x + y


def return_in_nested_loops(x=np.array([0.5, 1.5, 2.5, 0.1]), limit=2.0):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            total += x[i] * x[j]
            if total > limit:
                return total * 10.0 + j
    return total


def return_in_while(x=1.7):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if x < 0.1:
            return x + n


def break_and_continue(x=np.array([1.0, -2.0, 3.0, 40.0, 5.0])):
    total = 0.0
    for v in x:
        if v < 0.0:
            continue
        if v > 10.0:
            break
        total += v * v
    return total


def continue_after_update(n=6, x=0.4):
    a = 0.0
    b = 1.0
    for i in range(n):
        a += x
        if i % 3 == 1:
            continue
        b *= a
        if i == 4:
            continue
        b += 1.0
    return a * b


def for_else_found(x=2.0, n=7, target=3):
    for i in range(n):
        if i == target:
            break
        x = x * 1.1
    else:
        x = -x
    return x


def for_else_return(x=2.0, n=4):
    for i in range(n):
        if x > 100.0:
            return x
        x = x * 2.0
    else:
        x = x + 0.5
    return x * 3.0


def while_else(x=5.0):
    while x > 1.0:
        x = x / 2.0
        if x == 0.25:
            break
    else:
        x += 10.0
    return x


def loop_variable_after_loop(x=np.array([1.0, 2.0, 3.0])):
    for i in range(3):
        y = x[i] * i
    return y + i


def loop_variable_after_dynamic_loop(x=np.array([1.0, 2.0, 3.0]), n=3):
    s = 0.0
    for i in range(n):
        s += x[i]
    return s * i


def bound_in_branch_then_used(x=2.0):
    if x > 1.0:
        y = x * 3.0
    if x > 1.0:
        return y + 1.0
    return x


def previous_value(x=np.array([1.0, 4.0, 9.0, 16.0])):
    total = 0.0
    for i in range(len(x)):
        if i > 0:
            total += x[i] - prev
        prev = x[i] * 0.5
    return total


def previous_none(x=0.3):
    prev = None
    total = 0.0
    for k in range(5):
        if prev is not None:
            total += x * k - prev
        prev = x * k * k
    return total


def counter_as_index(x=np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])):
    k = 0
    total = 0.0
    for i in range(2):
        for j in range(3):
            total += x[k] * (i + 1)
            k += 1
    return total + k


def int_becomes_float(x=np.array([0.5, 0.25])):
    total = 0
    count = 0
    for v in x:
        total += v
        count += 1
    return total / count


def bool_flag(x=np.array([0.1, 0.7, 0.2]), level=0.5):
    found = False
    for v in x:
        if v > level:
            found = True
    if found:
        return x[0]
    return x[1]


def static_flag_loop(x=1.5):
    for mode in ("double", "square", "none"):
        if mode == "double":
            x = 2.0 * x
        elif mode == "square":
            x = x * x
    return x


def swap_in_loop(a=1.0, b=2.0, n=5):
    for _ in range(n):
        a, b = b, a + b
    return a / b


def rotate_three(a=1.0, b=2.0, c=3.0, n=4):
    for i in range(n):
        a, b, c = b, c, a * 0.5 + i
    return a + 10.0 * b + 100.0 * c


def tuple_carried(x=0.3, n=4):
    state = (x, 1.0)
    for i in range(n):
        state = (state[0] + state[1], state[1] * 0.5)
    return state[0] * state[1]


def list_items_carried(x=0.3, n=4):
    state = [x, 1.0]
    for i in range(n):
        state[0] += state[1]
        state[1] *= 0.5
    return state[0] * state[1]


def collatz_like(n=7, x=0.5):
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = x * 0.9
        else:
            n = 3 * n + 1
            x = x + 0.1
    return x


def nested_while(x=3.0):
    total = 0.0
    while x > 0.5:
        y = x
        while y > 0.3:
            total += y
            y = y * 0.5
        x = x - 0.7
    return total


def while_with_index_guard(x=np.array([3.0, 2.0, 1.0])):
    i = 0
    total = 0.0
    while i < len(x) and x[i] > 0.5:
        total += x[i]
        i += 1
    return total + i


def while_walrus(x=10.0):
    total = 0.0
    while (x := x * 0.5) > 1.0:
        total += x
    return total + x


def short_circuit_guards_index(x=np.array([1.0, 2.0]), k=5):
    if k < 2 and x[k] > 0.0:
        return x[0]
    return x[1]


def or_short_circuit(x=np.array([1.0, 2.0]), k=5):
    if k >= 2 or x[k] > 0.0:
        return x[0]
    return x[1]


def chained_comparison(x=0.5, y=0.7):
    if 0.0 < x < y <= 1.0:
        return x * y
    return x - y


def ternary_hides_division(x=0.0):
    return math.sin(x) / x if x != 0.0 else 1.0


def or_value(x=0.0, y=3.0):
    return (x or y) + (y and 2.0)


def max_min_builtin(x=0.4, y=1.1, z=-0.3):
    return max(x, y, z) * min(x, y) + max([x, 2.0]) - min((z, y))


def guard_raise(x=0.5):
    if x < 0.0:
        raise ValueError("negative")
    if not x < 10.0:
        raise ValueError(f"too large: {x}")
    return math.sqrt(x)


def raise_in_else(x=0.5):
    if x > 0.0:
        y = x * 2.0
    else:
        raise ValueError("not positive")
    return y * y


def raise_in_loop(x=np.array([1.0, 2.0, 3.0])):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError(f"negative at {i}")
        total += math.log(x[i])
    return total


def assert_with_message(n=3, x=0.5):
    assert n > 0, f"n must be positive, got {n}"
    assert x < 1.0
    return x**n


def zero_trip(x=2.0):
    for i in range(0):
        x = x * 100.0
    for i in range(5, 2):
        x = x + 1.0
    return x


def negative_step(x=np.array([1.0, 2.0, 3.0, 4.0])):
    s = 0.0
    for i in range(3, -1, -2):
        s = s * 0.5 + x[i]
    return s


def dynamic_step(x=np.array([1.0, 2.0, 3.0, 4.0, 5.0]), step=2):
    s = 0.0
    for i in range(0, len(x), step):
        s += x[i]
    for i in range(4, -1, -step):
        s += 0.1 * x[i] * i
    return s


def index_rebound_in_body(n=4, x=0.5):
    s = 0.0
    for i in range(n):
        i = i * 2
        s += i * x
    return s


def ladder_of_elif(x=0.5, k=2):
    if k == 0:
        y = x
    elif k == 1:
        y = x * x
    elif k == 2:
        y = x * x * x
    else:
        y = 0.0
    return y + 1.0


def branch_swaps_two_names(x=2.0, y=1.0):
    if x > y:
        x, y = y, x
    return y - 2.0 * x


def break_in_else_branch(x=np.array([0.5, 0.8, 1.2, 3.0]), limit=1.0):
    s = 0.0
    for v in x:
        if v < limit:
            s += v
        else:
            s -= 100.0
            break
        s *= 2.0
    return s


def loop_in_branch(x=0.9, n=3):
    if x > 0.5:
        for i in range(n):
            x = x * x + i
    else:
        while x < 0.5:
            x += 0.2
    return x


def del_name(x=0.9):
    y = x * x
    z = y + 1.0
    del y
    return z


def pow_by_recursion(x=1.1):
    def power(x, n):
        if n == 0:
            return 1.0
        h = power(x, n // 2)
        return h * h * x if n % 2 else h * h

    return power(x, 13)


def unrolled_with_break(x=0.9, limit=2.0):
    total = 0.0
    for name, weight in [("a", 1.0), ("b", 2.0), ("c", 3.0)]:
        if total > limit:
            break
        if name == "b":
            continue
        total += weight * x
    return total


def nested_function_return_value_in_loop(x=np.array([1.0, 2.0, 3.0])):
    def first_above(limit):
        for v in x:
            if v > limit:
                return v
        return 0.0

    return first_above(1.5) + 10.0 * first_above(5.0)


def two_loops_share_names(x=np.array([1.0, 2.0, 3.0])):
    t = 0.0
    for i in range(3):
        w = x[i]
        t += w
    for i in range(2):
        w = x[i] * 2.0
        t += w * i
    return t + w


def conditional_break_value(n=10, x=1.3):
    k = 0
    for k in range(n):
        x = x * 1.3
        if x > 4.0:
            break
    return x + k


def helper_that_returns_early_without_value(x=np.array([1.0, -2.0])):
    def clamp(u, i):
        if u[i] > 0.0:
            return
        u[i] = 0.0

    y = x * 1.0
    for i in range(2):
        clamp(y, i)
    return y


class Unfit(Exception):
    """Raised by `checked`."""


NUMBERS = {"one": 1.0, "two": 2.0}


def checked(x, kind):
    if kind not in NUMBERS:
        raise Unfit(kind)
    return x * NUMBERS[kind]


def try_attribute_of_a_float(x=0.75):
    try:
        x.name = "x"
    except AttributeError:
        pass
    return x * 2.0


def try_store_into_a_float(x=0.75):
    p = x * 2.0
    mask = p > 1.0
    try:
        p[mask] = 3.0 * x
    except TypeError:
        p = 3.0 * x if mask else p
    return p


def try_store_into_an_array(x=np.array([0.75, -1.0])):
    p = x * 2.0
    try:
        p[p < 0.0] = 0.5
    except TypeError:
        p = 0.0
    return p


def try_lookup(x=0.75):
    try:
        v = NUMBERS["three"]
    except KeyError as error:
        v = 3.0 if str(error) == "'three'" else 0.0
    return x * v


def try_names_bound_before_the_exception(x=0.75):
    a = 1.0
    try:
        a = x * 2.0
        b = NUMBERS["three"]
        a = 5.0
    except LookupError:
        b = a
    return a * b


def try_return_of_a_lookup(x=0.75):
    values = [x, x * x]
    try:
        return values[["a", "b"].index("c")]
    except ValueError:
        pass
    return x * 3.0


def try_exception_of_a_callee(x=0.75):
    try:
        return checked(x, "three")
    except (KeyError, Unfit):
        return checked(x, "two")


def try_else_finally(x=0.75):
    try:
        v = NUMBERS["one"]
    except KeyError:
        v = 5.0
    else:
        v += x
    finally:
        x = x * 3.0
    return v * x


def try_finally_after_return(x=0.75, y=np.array([1.0, 2.0])):
    try:
        return x + y[0]
    finally:
        y[0] = x
        x = 3.0


def try_nested(x=0.75):
    try:
        try:
            return checked(x, "three")
        except KeyError:
            return 0.0
        finally:
            x = x + 1.0
    except Unfit:
        return x * 7.0


def try_raised_again(x=0.75):
    try:
        try:
            raise KeyError("a")
        except LookupError:
            x = 2.0 * x
            raise
    except KeyError:
        return x * 4.0


def try_in_a_loop(x=0.75):
    total = 0.0
    for name in ("one", "three", "two"):
        try:
            total += NUMBERS[name] * x
        except KeyError:
            continue
        total = total * 2.0
    return total


def try_around_a_run_time_branch(x=0.75):
    try:
        if x > 1.0:
            return 2.0 * x
        y = x * x
    except KeyError:
        return 0.0
    else:
        y = y + 1.0
    return y


def try_import(x=0.75):
    try:
        import adgen_has_no_such_module as faster
    except ImportError:
        faster = None
    return x if faster is None else -x


def try_unpacking(x=0.75):
    try:
        a, b = x
    except TypeError:
        a, b = x, 2.0 * x
    return a * b


def try_division(x=0.75):
    try:
        return 1.0 / x
    except ZeroDivisionError:
        return 7.0 * x


def try_division_by_zero(x=0.0):
    try:
        r = 1.0 / x
    except ZeroDivisionError:
        r = 7.0 * x + 1.0
    return r * 2.0


def limited(x):
    try:
        return math.exp(x)
    except:  # noqa: E722
        return 1e3 * x


def try_overflow_in_a_helper(x=0.75):
    return limited(x) + limited(1000.0 * x) * limited(-1000.0 * x)


def try_domain(x=-0.75):
    try:
        a = 2.0 * x
        b = math.log(x)
    except ZeroDivisionError:
        return x
    except ValueError:
        return a * x
    return a + b


def try_several_statements(x=0.75):
    try:
        a = math.sqrt(x)
        b = a / (x - 2.0)
        b += 1.0 / x
    except (ZeroDivisionError, ValueError):
        return -x
    else:
        b = b * 2.0
    finally:
        x = x + 1.0
    return a * b * x


def try_power(x=0.0, y=0.75):
    try:
        z = x**-2
    except (ZeroDivisionError, OverflowError):
        z = 4.0 * x + y
    return z * y


def try_overflow_of_a_power(x=0.75):
    big = x * 1e200
    try:
        return big**2
    except OverflowError:
        return x * x


def try_division_in_a_loop(x=2.0):
    total = 0.0
    for k in range(4):
        try:
            total += 1.0 / (x - k)
        except ZeroDivisionError:
            continue
        total = total * 2.0
    return total


def try_store_of_a_quotient(x=0.0, y=np.array([0.5, 2.0])):
    a = y * 2.0
    try:
        a[0] = y[1] * (1.0 / x)
    except ZeroDivisionError:
        a[1] = 8.0 * y[0]
    return a[0] * a[1] + x


def try_division_of_ints(x=0.75, n=0):
    try:
        share = 3 / n
    except ZeroDivisionError:
        share = 2.0
    return share * x
