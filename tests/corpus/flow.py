"""What decides about derivatives: values are those of Python, and both modes agree."""
import numpy as np

import adgen


def stopped_number(x=0.7, y=1.3):
    return x * adgen.stop_gradient(np.sin(x) * y) + y


def stopped_in_a_loop(x=np.array([0.1, 0.7, 0.3]), a=1.5):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.2:
            total += adgen.stop_gradient(total) * x[i] + a
        else:
            total = adgen.stop_gradient(x[i]) * a * x[i]
    return total


def stopped_array(x=np.array([0.1, 0.7, 0.3])):
    y = adgen.stop_gradient(x)
    y[0] = 5.0
    z = adgen.stop_gradient(x * x)
    x[1] = 2.0
    return np.sum(y * x) + np.sum(z * x[::-1])


def stopped_structure(x=np.array([0.1, 0.7, 0.3]), n=2, a=1.5):
    kept = adgen.stop_gradient({"x": x, "pair": (a, n), "text": "t"})
    return np.sum(kept["x"] * x) * kept["pair"][0] + a * kept["pair"][1] + len(kept["text"])


def stopped_selection(x=np.array([0.1, 0.7, 0.3]), single=np.array([0.5, 2.0], dtype=np.float32)):
    return np.sum(adgen.stop_gradient(x[x > 0.2]) * x[x > 0.2]) + np.sum(adgen.stop_gradient(single) * single)


def stopped_complex(x=0.7, y=np.array([0.5, 2.0])):
    z = adgen.stop_gradient(x + 2.0j * x)
    w = adgen.stop_gradient(y * (1.0 + 0.5j))
    return abs(z * (x + 1.0j)) + np.sum(np.abs(w * y))


def tapped_in_a_loop(w=np.array([[0.1, 0.7], [0.3, -0.4]]), x=np.array([0.5, 2.0])):
    h = adgen.tap(w @ x, "h")
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.0:
            e = adgen.tap(h[i] * x[i], "e")
            row = adgen.tap(w[i] * 2.0, "row")
            total += e * e + np.sum(row) * x[i]
    h[0] = 3.0
    return total + h[0] * adgen.tap(2.5, "constant")


def hooked_number(x=0.7, limit=1.3):
    y = adgen.hook(x * x, lambda g: g * limit)
    return y * y * limit


def hooked_in_a_loop(w=np.array([[0.1, 0.7], [0.3, -0.4]]), x=np.array([0.5, 2.0]), a=0.3):
    total = 0.0
    for i in range(3):
        y = adgen.hook(w @ x, lambda g: np.where(w[0] > 0.2, 2.0 * g, g * a))
        x = x + np.sin(y)
        if i > 0:
            total += adgen.hook(y[0] * a, lambda g: 3.0 * g)
    return total + np.sum(x)


def hooked_view_that_is_overwritten(w=np.array([[0.1, 0.7], [0.3, -0.4]]), s=np.array([1.5, 0.5])):
    def reversed_and_scaled(g):
        out = np.zeros(len(g))
        for k in range(len(g)):
            out[len(g) - 1 - k] += g[k] * s[k]
        return out

    y = adgen.hook(w[:, 1], reversed_and_scaled)
    total = np.sum(y * y)
    s[0] = 0.0
    w[0, 1] = 5.0
    return total + np.sum(w) * s[1]


@adgen.checkpoint
def stepped(u, c, scratch):
    f = np.sin(c * u) + 0.1 * u * u
    scratch[0] += np.sum(f)
    if c > 0.5:
        f = f * np.exp(-f)
    return u + 0.01 * f, f[0]


def checkpointed_step(u=np.array([0.1, 0.7, 0.3]), c=0.9, n=4):
    scratch, total = np.zeros(2), 0.0
    for _ in range(n):
        u, first = stepped(u, c, scratch)
        total += first * scratch[0]
    return np.sum(u * u) + total * scratch[0]


def checkpointed_loop(u=np.array([0.1, 0.7, 0.3]), c=0.9, n=7):
    before, s = u.copy(), 1.0
    for t in adgen.checkpoint(range(n - 1, 0, -2), memory="1kB"):
        for k in adgen.checkpoint(range(1, len(u))):
            u[k] += c * np.sin(u[k - 1]) * before[k] + t * 0.01
        s = s * c + u[1]
        before[:] = u
    return np.sum(u * before) * s


def checkpointed_rows(w=np.array([[0.1, 0.7], [0.3, -0.4], [0.2, 0.5]]), x=np.array([0.5, 2.0])):
    total = 1.0
    for i, row in adgen.checkpoint(enumerate(w)):
        total = np.sin(total * (row @ x)) + i
    return total


def checkpointed_closure(x=0.7, c=1.2):
    pair = adgen.checkpoint(lambda z: (np.sin(z * c), z**c))
    a, b = pair(x)
    d, _ = pair(a * b)
    return a * b * d


def checkpointed_once(x=np.array([0.5, 2.0])):
    y = np.zeros(2)
    for k in adgen.checkpoint(range(1)):
        y = x * x + k
    return np.sum(y * x)
