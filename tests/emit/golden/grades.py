def grades(x, flag):
    if x > 3.0:
        y = x * x
    elif x > 2.0:
        x = x + 1.0
        y = math.sin(x)
    elif flag:
        y = -x
    else:
        y = 0.0
    z = 1.0 / y if y > 0.5 else y
    return z - -x


# ruff: noqa
