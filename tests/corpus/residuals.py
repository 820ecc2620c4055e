"""What a reverse sweep has to keep, and where it may find it.  The default values are the sample arguments."""
import numpy as np


def stored_in_one_branch_only(x=np.array([0.1, 0.7, 0.3])):
    kept = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        e = np.exp(x[i])
        if x[i] > 0.5:
            kept[i] = e
        total += e * e
    return total + np.sum(kept * kept)


def stored_then_used(x=np.array([0.1, 0.7, 0.3])):
    kept = np.zeros(len(x))
    total = 0.0
    for i in range(len(x)):
        kept[i] = np.exp(x[i])
        total += kept[i] * kept[i]
    return total * np.sum(kept)


def read_before_the_only_write(x=np.array([0.1, 0.7, 0.3])):
    kept = np.zeros(3)
    total = 0.0
    for i in range(3):
        total += kept[i] * x[i] + kept[2 - i] * x[0]
        kept[i] = np.exp(x[i])
    return total


def written_in_reversed_order(x=np.array([0.1, 0.7, 0.3])):
    kept = np.zeros(3)
    for i in range(2, -1, -1):
        kept[i] = np.sin(x[i])
    return np.prod(kept) + np.sum(kept)


def same_element_in_every_iteration(x=np.array([0.1, 0.7, 0.3]), a=1.5):
    last = np.zeros(1)
    total = 0.0
    for i in range(3):
        total += np.exp(last[0]) * a
        last[0] = x[i] * a
    return total


def scratch_inside_a_branch(x=np.array([0.4, -0.7, 0.3]), a=1.5):
    total = 0.0
    for i in range(3):
        if x[i] > 0.0:
            scratch = np.zeros(3)
            for j in range(3):
                scratch[j] = np.exp(x[j] * a)
            for j in range(3):
                total += scratch[j] * scratch[(j + i) % 3]
    return total


def scratch_of_growing_size(x=np.array([0.4, -0.7, 0.3, 0.9])):
    total = 0.0
    for n in range(len(x)):
        scratch = np.exp(x[:n])
        total += np.sum(scratch * scratch) * x[n]
    return total


def while_inside_a_loop(x=np.array([0.4, 1.7, 3.3])):
    total = 0.0
    for i in range(3):
        y = x[i]
        while y > 0.5:
            y = np.sin(y) * 0.9
            total += y * y
        total += y * x[i]
    return total


def memory_made_in_a_while(x=np.array([0.4, 0.7]), a=0.9):
    y = a
    total = 0.0
    while y < 6.0:
        scratch = np.exp(0.1 * x * y)
        y = y + scratch[0] * scratch[1]
        total += np.sum(scratch)
    return total * y


def stencil_with_carried_scalar(u0=np.array([0.1, 0.8, 0.3, -0.4, 0.2]), c=0.3, steps=4):
    u = u0.copy()
    energy = 0.0
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + c * u[i] * (u[i + 1] - u[i - 1])
        u = new
        energy += u[1] * u[2] * energy + 0.1
    return energy + np.sum(u * u)


def increments_of_fixed_elements(x=np.array([0.4, -0.7, 0.3, 0.9]), n=3):
    total = 0.0
    for i in range(n):
        for j in range(i, n):
            total += x[0] * x[i] * np.sin(x[j + 1])
    return total


def increments_through_an_index_array(x=np.array([0.4, -0.7, 0.3]), where=np.array([0, 2, 0, 1, 0])):
    total = 0.0
    for k in range(len(where)):
        total += x[where[k]] ** 2 * (k + 1)
    return total


def loop_inside_a_branch(x=np.array([0.4, -0.7, 0.3, 0.9]), w=0.3):
    b = x * 1.0
    if w > 0.1:
        for i in range(3, -1, -1):
            w -= np.sin(b[(i + 1) % 4] + 0.5)
    else:
        b[1] = 0.7
    b[2] = w
    return w + np.sum(b * b)
