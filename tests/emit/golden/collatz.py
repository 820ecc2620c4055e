def collatz(n, weights):
    values = []
    while n > 1:
        values.append(weights[n % 4])
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    total = 0.0
    for value in reversed(values):
        total = total * 0.5 + value
    return total


# ruff: noqa
