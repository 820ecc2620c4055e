def dot(x, y):
    total = 0.0
    for i in range(len(x)):
        d = x[i] - y[i]
        total += d * d
    return math.sqrt(total)


# ruff: noqa
