def smooth(A, rows):
    out = np.zeros_like(A)
    for i in range(rows):
        line = np.zeros(3)
        scratch = np.zeros(i + 1)
        for j in range(A.shape[1] - 1):
            old = A[i, j]
            A[i, j] = old + A[i, j + 1]
            line[0] = line[0] - old * old
            scratch[i] += -old
            out[i, j] += line[0] * scratch[i]
    return out


# ruff: noqa
