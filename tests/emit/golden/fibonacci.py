def fibonacci(a, b, n, limit):
    for _ in range(n):
        a, b = b, a + b
        if b > limit:
            break
    return a, b


# ruff: noqa
