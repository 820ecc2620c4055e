"""Integers narrower than 64 bits: they wrap, are promoted and cast as in NumPy.  The default values are the arguments."""
import numpy as np

import adgen

BIG = np.array([2147483647, -2147483648, 77777, -5, 3], np.int32)
SMALL = np.array([127, -128, 5, -1, 100], np.int8)
SHORT = np.array([32767, -32768, 300, 7, -1], np.int16)
BYTES = np.array([0, 255, 7, 200, 128], np.uint8)
WORDS = np.array([65535, 1, 40000, 12, 0], np.uint16)
WIDE = np.array([4294967295, 3000000000, 1, 0, 17], np.uint32)
MATRIX = np.array([[1, 2, 3], [-4, 100, 90], [2, 0, 1]], np.int8)
CRC = np.array([0, 7, 14, 9, 28, 27, 18, 21], np.uint8)  # a table of the module


def arithmetic_wraps(a=BIG, b=SMALL, c=BYTES):
    return a + 1, a * a, a - 5, -a, abs(a), b + b, b * 3, -b, abs(b), c + c, c - 1, -c, ~c, ~b


def quotients_and_remainders(a=SMALL, b=BIG, c=WIDE):
    return a // 3, a % 7, a // np.int8(-1), a % -3, b // -1, b % 10, c // 7, c % 1000, divmod(a[0], a[3])


def bits(a=BIG, b=BYTES, c=SMALL):
    return a & 255, a | 1, a ^ a[2], b << 1, b >> 3, a << 4, c >> 1, c << 6, c & b, b ^ np.uint8(15)


def powers(a=SMALL, b=BYTES, n=3):
    return a**2, a**n, b**2, a[2] ** 5, np.power(b, 3), a**2.0


def promotion(a=SMALL, b=BYTES, c=SHORT, d=WORDS, e=BIG, f=WIDE):
    return a + b, a + c, b + c, b + d, c + d, d + e, e + f, a + f, e + np.int64(1), a * True, a + (b > 7)


def promotion_to_floats(a=SMALL, b=SHORT, c=BIG, x=0.5, y=np.array([0.5, 1.5], np.float32)):
    return a + x, b * y[0], c[:2] * y, a[:2] * y, a / 2, b / b, c + 1j, np.sqrt(np.abs(b[2:])), np.sin(c)


def comparisons(a=SMALL, b=BYTES, c=WIDE, n=300):
    return a < b, a == b, c > a, a < n, a > -1000, b == 256, c != -1, a <= 4.5, b[1] > a[1]


def casts(a=BIG, b=WIDE, x=np.array([300.7, -1.5, 1e12, -129.0, 70000.2]), n=-7):
    narrow = a.astype(np.int8), a.astype(np.uint8), a.astype(np.uint16), b.astype(np.int32), b.astype(np.int16)
    floats = x.astype(np.int32), x.astype(np.int16), x.astype(np.int8), x.astype(np.uint8), a.astype(np.float32)
    return narrow, floats, np.int16(n), np.int64(a[0]) + 1, int(a[0]) + 1, float(a[1]), a.astype(bool), np.int8(a[2])


def reductions(a=BIG, m=MATRIX, s=SHORT):
    return a.sum(), m.sum(0), a[2:].prod(), np.cumsum(m), a.sum(dtype=np.int32), m.prod(1), s.mean(), m.var(), a.cumsum()


def unsigned_sums_say_their_type(a=BYTES, b=WIDE):
    return a.sum(dtype=np.int64), b.cumsum(dtype=np.int64), a.sum(dtype=np.uint8), a.mean(), np.count_nonzero(a)


def extremes(a=BIG, m=MATRIX, b=BYTES):
    return a.max(), a.min(), m.max(0), m.argmax(1), b.argmin(), np.ptp(m), np.minimum(m, 3), np.maximum(b, b[2])


def products(m=MATRIX, v=SMALL):
    return m @ m, np.dot(v, v), np.outer(v, v), np.einsum("ij,kj->ik", m, m), m @ v[:3], np.linalg.matrix_power(m, 3)


def selections(a=SMALL, b=SHORT, n=4):
    return np.where(a > n, a, 0), np.where(a > 0, a, b), np.clip(a, -5, n), np.where(a > 0, a, 1.5), np.sign(a)


def ordering(a=SHORT, b=BYTES):
    return np.sort(a), np.argsort(b), np.searchsorted(np.sort(a), 5), np.median(b), np.diff(b), np.flip(a)


def joined_arrays(a=SMALL, b=BYTES, n=3):
    return np.concatenate([a, b]), np.append(a, 3), np.stack([a, a]), np.array([a[0], b[0]]), np.array([n, 2], np.int16)


def made_with_a_dtype(n=3, x=2.7):
    ones = np.ones(n, np.uint16), np.eye(2, dtype=np.int8), np.full(2, n, np.int16), np.full(2, x, np.int32)
    return ones, np.arange(n, dtype=np.int8), np.zeros((2, n), np.int32), np.arange(300, dtype=np.int8)[-1]


def local_table(seq=np.array([0, 1, 2, 3, 1, 2], np.int32)):
    n = len(seq)
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j - 1], table[i + 1, j]) if i + 1 < n else table[i, j - 1]
            if i + 1 < n and i < j - 1:
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + (1 if seq[i] + seq[j] == 3 else 0))
    return table


def shortest_paths(path=np.array([[0, 5, 99], [7, 0, 1], [2, 99, 0]], np.int32)):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def in_place(a=BIG.copy(), b=BYTES.copy(), n=2):
    a += n
    a[1] *= 3
    a //= 2
    a += np.int64(5)
    b -= 1
    b[2:] <<= 1
    b[0] += 200
    b &= 253
    a[::2] -= a[1]


def stored_elements(a=SHORT.copy(), b=SMALL.copy(), x=12.9, n=-3):
    a[0] = n
    a[1] = x
    a[2:4] = [1, 2]
    a[4] = b[0]
    b[:] = a + 200
    b[b < 0] = 1
    return a


def indices(a=np.array([0.5, 1.5, 2.5, 3.5]), i=np.array([3, 0, 2], np.int32), k=np.uint8(1), m=BYTES % 4):
    return a[i], a[k], a[m], a[i[0] : k : -1].sum(), a[i - 1], np.take(a, i)


def gathered_and_counted(v=BYTES, x=np.array([0.5, 1.5, 2.5, 3.5, 4.5])):
    counts = np.zeros(256, np.int32)
    total = 0.0
    for i in range(len(v)):
        counts[v[i]] += 1
        total += x[i] * v[i]
    np.add.at(counts, v[:3], 2)
    return counts[7], counts[255], total


def bounds_of_loops(n=np.int16(3), step=np.int8(2), x=0.5):
    for _ in range(n):
        x = x * 1.5
    return x + np.zeros(n).sum() + sum(range(0, n, step))


def table_of_the_module(data=BYTES):
    crc = np.uint8(0)
    for byte in data:
        crc = CRC[(crc ^ byte) & 7]
    return crc, CRC[data & 3], CRC.max()


def checksum(data=BYTES):
    a, b = np.uint32(1), np.uint32(0)
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return (b << 16) | a


def crc16(data=BYTES, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def accumulated_from_an_int(a=SMALL, b=BIG):
    total, best = 0, -1
    for v in a:
        total += v
        best = max(best, v)
    largest = b[0]
    for v in b:
        if v > largest:
            largest = v
    return total, best, largest, sum(a), max(b), min(a)


def hash_of_bytes(data=BYTES):
    h = np.uint32(2166136261)
    for byte in data:
        h = (h ^ byte) * np.uint32(16777619)
    return h


def linear_congruences(seed=np.int32(12345), n=6):
    out = np.empty(n, np.int32)
    for k in range(n):
        seed = seed * np.int32(1103515245) + np.int32(12345)
        out[k] = seed
    return out


def rounding_keeps_them(a=SHORT):
    return np.floor(a), np.round(a), np.rint(a), round(a[2]), a[2].item(), np.isnan(a), np.square(a), np.gcd(a, 6)


def limits(a=SHORT, n=1):
    return np.iinfo(a.dtype).max, np.iinfo(np.int8).min + n, a.dtype == np.int16, a.itemsize, isinstance(a[0], np.int16)


def results_without_axes(a=SHORT):
    x = np.asarray(a[0])
    return x + np.int16(1), x, a[2] * a[2], a[0] / 2


def weighted_sum(x=np.array([0.5, -1.5, 2.0, 0.3, 1.1]), w=SMALL, k=np.uint8(3)):
    y = x * w
    return np.sum(y * y) * k + np.sum(x[w > 0])


def chosen_by_integers(x=np.array([0.5, -1.5, 2.0]), labels=np.array([2, 0, 0, 1], np.int8)):
    total = np.zeros(3)
    for label in labels:
        total[label] += x[label] ** 2
        x = x * 0.5
    return total


def bools_divide_as_int8(a=np.array([True, True, False]), b=np.array([True, True, True])):
    return a // b, a % b, a**b, a << b, a + b


def recursion_on_narrow_numbers(n=np.int8(5), x=0.5):
    def down(k, y):
        return y if k <= 0 else down(k - 2, y * x) + 1.0

    return down(n, x)


def recorded_narrow_numbers(x=0.5, k=np.int8(1)):
    total = 0.0
    while 0 < k < 100:
        total += x**2 * k
        x = x * 0.9
        k = k * np.int8(3)
    return total


def narrow_numbers_of_a_nested_derivative(x=0.5, a=SMALL):
    return adgen.grad(_scaled)(x, a[0]) + adgen.value_and_grad(_scaled)(x, a[2])[0]


def _scaled(y, k):
    return y * (k + np.int8(100))


def bound_in_the_loop_only(a=SMALL, b=WIDE):
    for v in a:
        last = v
        if v > 4:
            great = v
    for k in range(len(b)):
        if b[k] < 20:
            found = b[k] * 3
    return last + last, great, found
