"""Arrays that are rebound, aliased, swapped, written in place.  The default values are the sample arguments."""
import numpy as np


def rebound_in_loop(u=np.array([1.0, 2.0, 3.0]), n=4):
    for t in range(n):
        u = u * 0.5 + t
    return np.sum(u)


def rebound_then_written(u0=np.array([1.0, 2.0, 3.0]), n=4):
    u = u0.copy()
    for t in range(n):
        u[0] += 1.0
        u = u * 0.5
    return u


def swapped_buffers(u0=np.array([1.0, 2.0, 3.0, 4.0]), n=5):
    u = u0.copy()
    un = np.zeros_like(u)
    for t in range(n):
        for i in range(1, 3):
            un[i] = u[i - 1] + u[i + 1]
        un[0] = u[0]
        un[3] = u[3]
        u, un = un, u
    return u + 0.1 * un


def rotated_buffers(a=np.array([1.0, 2.0]), b=np.array([3.0, 4.0]), c=np.array([5.0, 6.0]), n=4):
    for t in range(n):
        a, b, c = b, c, a + 1.0
    return a + 10.0 * b + 100.0 * c


def reversed_view_rebound(x=np.array([1.0, 2.0, 3.0]), n=3):
    u = x.copy()
    for t in range(n):
        u = u[::-1]
    return u


def new_array_each_iteration(u0=np.array([1.0, 2.0, 3.0]), n=3):
    u = u0
    for t in range(n):
        new = np.zeros(3)
        for i in range(3):
            new[i] = u[i] * 2.0 + t
        u = new
    return u


def array_chosen_by_branch(x=np.array([1.0, 2.0]), y=np.array([3.0, 4.0]), c=0.5):
    if c > 0.0:
        z = x
    else:
        z = y
    return np.sum(z * z)


def array_rebound_in_branch(x=np.array([1.0, 2.0]), c=0.5):
    y = x * 1.0
    if c > 0.0:
        y = y * y
    else:
        y[0] = 7.0
    return y


def slices_of_different_length_by_branch(x=np.array([1.0, 2.0, 3.0, 4.0]), c=0.5):
    if c > 0.0:
        z = x[1:]
    else:
        z = x[:2]
    return np.sum(z) * len(z)


def returned_from_branches(x=np.array([1.0, 2.0]), c=-0.5):
    def pick(x, c):
        if c > 0.0:
            return x * 2.0
        return x[::-1]

    return pick(x, c) + pick(x, -c)


def alias_then_write(x=np.array([1.0, 2.0])):
    a = x * 1.0
    b = a
    b[0] = 5.0
    c = a[:1]
    c[0] += 1.0
    return a + b


def written_parameter(x=np.array([1.0, 2.0, 3.0])):
    x[0] = x[1] * 2.0
    x[1:] *= 0.5
    return np.sum(x)


def written_parameter_without_result(x=np.array([1.0, 2.0, 3.0]), a=2.0):
    for i in range(len(x)):
        x[i] = a * x[i]


def helper_writes(x=np.array([1.0, 2.0, 3.0])):
    def fill(u, v):
        u[...] = v
        return u

    a = np.zeros(3)
    fill(a, x * x)
    b = fill(a[1:], 2.0)
    return a + np.sum(b)


def accumulator_becomes_array(w=np.array([0.2, -0.5, 0.7]), x=np.array([0.3, 1.1])):
    acc = 0
    for i in range(3):
        acc = acc + w[i] * x
    return acc


def module_array_copied(p=np.array([0.5, 0.25])):
    u = BASE.copy()
    for k in range(3):
        u = u * p + 0.1 * BASE
        u[0] += p[1]
    return u


BASE = np.array([2.0, -1.0])


def list_of_arrays(x=np.array([1.0, 2.0])):
    layers = [x, x * 2.0, x + 1.0]
    total = 0.0
    for layer in layers:
        total += np.sum(layer * layer)
    layers[0] = x * 10.0
    return total + np.sum(layers[0])


def list_of_arrays_by_range(x=np.array([1.0, 2.0])):
    layers = [x, x * 2.0, x + 1.0]
    total = 0.0
    for k in range(len(layers)):
        total += np.sum(layers[k]) * (k + 1)
    return total


def array_state_in_tuple(x=np.array([1.0, 2.0]), n=3):
    h, c = x, np.zeros(2)
    for t in range(n):
        h, c = (h + c) * 0.5, h
    return h - c


def row_updates(a=np.array([[1.0, 2.0], [3.0, 4.0]])):
    m = a.copy()
    for i in range(2):
        row = m[i]
        row *= i + 1.0
        m[i, 0] = np.sum(row)
    return m


def running_best_row(a=np.array([[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]])):
    best = a[0]
    for i in range(1, a.shape[0]):
        if np.sum(a[i]) > np.sum(best):
            best = a[i]
    return best * 2.0


def maybe_array(x=np.array([1.0, 2.0]), c=1.0):
    if c > 0.0:
        y = x * 2.0
    if c > 0.0:
        return np.sum(y)
    return 0.0


def zeros_by_dynamic_size(n=3, x=2.0):
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i] = x * i
    return np.sum(a) + a.shape[0]


def augmented_name_is_in_place(x=np.array([1.0, 2.0])):
    a = x * 1.0
    b = a
    a += 1.0
    a *= b
    return b


def augmented_scalar_is_rebound(x=2.0):
    a = x
    b = a
    a += 1.0
    return a * b


def expression_before_call_that_writes(x=np.array([1.0, 2.0])):
    def bump(u):
        u[0] += 10.0
        return u

    a = x * 1.0
    return a * 2.0 + bump(a)


def early_return_of_array(x=np.array([1.0, 2.0, 3.0]), c=0.5):
    y = x * 2.0
    for i in range(3):
        if y[i] > c:
            return y + i
        y = y + 0.1
    return y


def float32_stays(x=np.array([1.0, 2.0], dtype=np.float32)):
    y = x * 2.0 + 1
    s = 0.0
    for v in y:
        s += v
    return y * s


def integer_array_truncates(x=2.7):
    a = np.array([1, 2, 3])
    a[0] = x
    return np.sum(a) * x


def boolean_array(x=np.array([1.0, -2.0, 3.0])):
    mask = x > 0.0
    n = 0
    for m in mask:
        if m:
            n += 1
    return n * np.sum(x[mask])


def array_kept_from_the_iteration_before(u=np.array([1.0, 0.5, 2.0]), n=3):
    old = u
    for t in range(n):
        old = u
        u = np.sin(u) + 0.1 * t
    return u + 0.5 * old


def array_of_before_bound_in_the_loop_only(u=np.array([1.0, 0.5, 2.0]), n=3):
    for t in range(n):
        old = u
        u = np.sin(u) + 0.1 * t
    return old * u


def array_of_before_returned_from_loop(u=np.array([0.3, -0.5, 0.7]), n=6):
    for t in range(n):
        old = u
        u = u * 1.3
        if np.sum(u) > 0.8:
            return old
    return u


def row_kept_from_the_iteration_before(a=np.array([[1.0, 0.5], [2.0, -1.0]]), n=3):
    row = a[0]
    for t in range(n):
        row = a[1]
        a = np.cos(a) * (t + 1.0)
    return row * a[0]


def list_kept_from_the_iteration_before(u=np.array([1.0, 0.5, 2.0]), n=3):
    pair = (u, 0.0)
    for t in range(n):
        pair = (u, 1.0 * t)
        u = np.sin(u)
    return pair[0] * pair[1] + u


def array_of_before_in_a_while(u=np.array([0.3, 0.5]), tol=1e-2):
    old = u
    while np.sum(np.abs(u)) > tol:
        old = u
        u = 0.5 * u
    return old - 0.3 * u


def array_of_before_in_nested_loops(u=np.array([0.3, 0.5]), n=3):
    for t in range(n):
        start = u
        last = u
        for k in range(2):
            last = u
            u = np.sin(u) + 0.2 * last
    return start * last + u


def neighbour_read_while_filling(x=np.array([0.2, 0.4]), n=2):
    out = np.zeros(2)
    for t in range(n):
        w = np.zeros(2)
        for i in range(2):
            w[i] = x[i] * (t + 1.0)
            out[i] = out[i] * 0.5 + w[1 - i] + w[i]
    return out


def filled_buffer_read_at_the_other_end(x=np.array([0.2, 0.4, 0.7]), n=2):
    w = np.zeros(3)
    total = 0.0
    for t in range(n):
        for i in range(3):
            w[i] = x[i] * (t + 1.0)
            total += w[2 - i] * w[i]
    return total


def list_dropped_in_one_branch(x=np.array([0.2, 0.4]), c=1.0):
    parts = [x, 2.0 * x]
    y = x
    if c > 0.0:
        parts = x * 3.0
        y = parts
    return y + 1.0


def beginning_of_local_array(x=np.array([1.0, 2.0, 3.0])):
    y = x * 2.0
    return y[:-1]


def first_rows_of_local_array(x=np.array([1.0, 2.0, 3.0])):
    y = np.zeros((len(x), 2))
    y[:, 0] = x
    return y[:2], y[0]


def beginning_of_known_indices(x=np.array([1.0, 2.0, 3.0]), n=2):
    picks = np.array([0, 2, 2, 1])
    return x[picks[:n]]


def taken_row_is_a_copy(m=np.array([[1.0, 2.0], [3.0, 4.0]])):
    row = np.take(m, 0, axis=0)
    m[0] = 9.0
    row[1] = 5.0
    return row, m


def conversions_that_share(x=np.array([1.0, 2.0, 3.0])):
    a = x.astype(float, copy=False)
    a[0] = 9.0
    b = np.real(x)
    b[1] = 8.0
    c = np.array(x, copy=None)
    c[2] = a[0] + b[1]
    return np.float64(x) * 2.0


def axes_renamed_by_einsum(m=np.array([[1.0, 2.0], [3.0, 4.0]])):
    turned = np.einsum("ij->ji", m)
    turned[0, 1] = 9.0
    diagonal = np.einsum("ii->i", m)
    diagonal += turned[0]
    return m


def reshaped_copy_read_before_the_write(m=np.array([[1.0, 2.0], [3.0, 4.0]])):
    line = m.T.reshape(-1)
    total = np.sum(line[:3])
    m[0] = line[2]
    return m * total


def ufunc_output_by_position(a=np.array([1.0, -2.0, 0.5])):
    b = np.zeros(a.shape)
    np.multiply(a, a, b)
    np.add(b, a, b)
    np.exp(b, b)
    return b


def ufunc_output_overlaps_its_operand(a=np.array([1.0, -2.0, 0.5, 3.0])):
    np.add(a[1:], a[:-1], out=a[1:])
    return np.multiply(a[::-1], a, out=a) * 2.0


def ufunc_output_where(b=np.array([0.0, 2.0, -4.0, 0.0])):
    return np.divide(1, b, out=np.full_like(b, 7.0), where=b != 0)


def ufunc_output_where_broadcast(m=np.array([[1.0, 4.0], [0.0, 9.0]]), x=np.array([2.0, -1.0])):
    old = m * 3.0
    np.sqrt(x, out=old, where=(x > 0) & (m > 0.5))
    np.power(m, 2.0, m, where=m > 1.0)
    return old


def ufunc_output_of_booleans(m=np.array([[1.0, 4.0], [0.0, 9.0]])):
    mask = m > 2.0
    np.logical_not(mask, mask)
    np.logical_or(mask, m > 5.0, out=mask)
    return np.where(mask, m, -m)


def outputs_of_reductions_and_products(m=np.array([[1.0, 4.0], [0.5, 9.0]]), x=np.array([2.0, -1.0])):
    total = np.empty(2)
    np.sum(m, axis=0, out=total)
    product = np.empty(2)
    np.dot(m, x, product)
    np.matmul(m, product, out=product)
    m.clip(0.75, 5.0, out=m)
    return total * product


def array_without_axes_clipped(x=2.5):
    x = np.asarray(x)
    x[x > 1.0] = 1.0 + 0.5 * x[x > 1.0]
    return x * 2.0


def array_without_axes_replaced(x=2.5, y=0.25):
    a = np.array(x)
    b = a.copy()
    a[...] = y * a
    b[()] = b * b
    b[b > 5] += y
    a += b
    return a * b, np.isscalar(a), a.ndim


def array_without_axes_from_a_helper(x=-2.5):
    def as_array(v):
        return np.asarray(v, dtype=np.float64)

    h = as_array(x)
    h[np.isnan(h)] = 0.0
    h[h < 0] = -h[h < 0]
    return h[..., np.newaxis] * np.array([1.0, 2.0]), h[()], h[None].sum()


def is_it_an_array(x=1.5):
    a = np.asarray(x)
    b = a * 2.0
    one = 1.0 if isinstance(a, np.ndarray) else 2.0
    two = 10.0 if isinstance(b, np.ndarray) else 20.0
    return x * (one + two), isinstance(np.zeros_like(x), np.ndarray), np.isscalar(b), isinstance(b, float)


def methods_of_numpy_scalars(x=1.5):
    a = np.exp(x)
    found = np.isclose(a, x).any() or np.isclose(a, a).all()
    return a.copy() + a.sum(axis=0) + a.mean() * a.max() - a.min() + a.clip(0, 2) + a.std() + a.astype(int), found


def methods_of_arrays_without_axes(x=1.5):
    a = np.asarray(x)
    return a.reshape(1), a.ravel() * 2.0, a.sum() + a.prod() + a.item() + a.squeeze(), a.astype(int), a.size, a[None, ...]


def ufunc_output_where_of_a_number(b=0.0):
    b = np.asarray(b)
    return np.divide(1.0, b, out=np.full_like(b, 7.0), where=b != 0) * np.exp(b, out=np.zeros_like(b))


def conjugate_of_real_numbers_is_the_array(x=np.array([1.0, 2.0])):
    x.conj()[0] = 9.0
    same = x.conjugate()
    same[1] = x[0] * x[1]
    other = np.conjugate(x)
    other[0] = 100.0
    return x


def contiguous_array_of_a_number(x=0.5):
    a = np.ascontiguousarray(x)
    a[0] = a[0] * x
    return a, np.ascontiguousarray(np.asarray(x))


def copies_of_an_array_without_axes(x=0.5):
    a = np.asarray(x)
    b = np.array(a)
    kept = a.astype(float)
    late = lambda: a * 2.0  # noqa: E731 - reads the name when it is called
    a[...] = 5.0 * x
    return a, b, kept, late()


def output_of_linear_algebra(m=np.array([[2.0, 0.5], [0.25, 1.0]]), x=np.array([1.0, -1.0])):
    total = np.zeros(2)
    np.subtract(np.linalg.solve(m, x), x, out=total, where=x > 0)
    return total * np.linalg.det(m)
