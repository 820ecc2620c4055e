def walk(steps, start, x):
    best = start
    while True:
        limit = best * 2.0 + x
        if limit > 100.0:
            break
        size = int(limit)
        trail = np.zeros(size + 1)
        for k in range(size, -1, -2):
            trail[k] = limit - k
        best = trail[size] + limit
    return best


# ruff: noqa
