"""Functions of NumPy that are lowered as Python, and what else has NumPy's names."""
import numpy as np

X = np.array([0.3, 1.7, -0.4, 2.2, 0.35])
Y = np.array([1.0, 2.0, 0.5, 3.0, -1.0])
M = np.array([[1.0, 4.5, 0.5], [2.0, -1.0, 3.0]])
MISSING = np.array([[1.0, np.nan, 0.5], [2.0, -1.0, np.nan]])


def histogram_of_bins(x=X, w=Y, n=3):
    counts, edges = np.histogram(x, bins=n)
    heights, _ = np.histogram(x, 4, (0.0, 2.0), weights=w)
    return counts, edges, heights


def histogram_between_edges(x=X, w=Y, edges=np.array([-0.4, 0.3, 1.0, 2.2])):
    counts, _ = np.histogram(x, edges)
    heights, same = np.histogram(x, bins=edges, weights=w)
    return counts, heights * same[1:], np.histogram(x, bins=[0.0, 1.0, 3.0], density=True)


def histogram_of_one_value(x=np.array([2.0, 2.0])):
    return np.histogram(x, bins=2)


def digitized(x=X, up=np.array([0.0, 0.3, 2.0]), down=np.array([2.0, 0.3, 0.0])):
    return np.digitize(x, up), np.digitize(x, up, right=True), np.digitize(x, down), np.digitize(x, down, True), np.digitize(x[0], [0.1, 0.2])


def pieces(x=X):
    first = np.piecewise(x, [x < 0, x > 1], [lambda v: -v, lambda v: v * v, 5.0])
    return first, np.piecewise(x, [x < 0, x >= 0], [-1.0, 1.0]), np.piecewise(x, x > 0.3, [lambda v: np.sqrt(v), 0.0])


def pieces_of_a_number(x=1.5):
    return np.piecewise(x, [x < 0, x > 1], [lambda v: -v, lambda v: v * v, 5.0]) * 2.0


def covariances(m=M, x=X, y=Y):
    return np.cov(m), np.cov(m, rowvar=False, bias=True), np.cov(x, y), np.cov(x, ddof=0)


def correlations(m=M, x=X, y=Y):
    return np.corrcoef(x, y), np.corrcoef(m)


def reductions_without_nan(a=MISSING):
    return np.nanmax(a), np.nanmin(a, axis=0), np.nanstd(a, axis=1), np.nanvar(a, ddof=1), np.nanprod(a), np.nancumsum(a)


def positions_without_nan(a=MISSING):
    return np.nanargmax(a), np.nanargmin(a, axis=1)


def nothing_but_nan(a=np.array([np.nan, np.nan])):
    return np.nanmax(a), np.nanmin(a)


def quantiles(x=X, m=M, q=0.3):
    return np.quantile(x, q), np.percentile(x, [25, 50, 100]), np.percentile(m, 50, axis=1), np.quantile(m, q, axis=0)


def along_an_axis(m=M):
    return np.apply_along_axis(np.sum, 0, m), np.apply_along_axis(lambda v: v * v[0], 1, m)


def step_function(v):
    return v * v if v > 0.5 else 0.25 * v


STEP = np.vectorize(step_function)


def vectorised(x=X, m=M, y=1.5):
    return STEP(x), np.vectorize(lambda a, b: a * b + y)(m, m[0]), STEP(y)


def padded(x=X, m=M):
    sides = np.pad(x, 2, mode="reflect"), np.pad(x, 1, mode="wrap"), np.pad(x, (2, 1), mode="symmetric")
    return np.pad(x, 1), np.pad(m, ((1, 0), (0, 2)), constant_values=7.0), np.pad(m, (1, 2), mode="edge"), sides


def taken_out_and_put_in(x=X, m=M):
    return np.delete(x, 1), np.delete(m, -1, axis=1), np.insert(x, 1, 5.0), np.insert(x, -1, m[0])


def grids(m=M, t=0.5):
    i, j = np.mgrid[0 : m.shape[0], 0 : m.shape[1]]
    a, b = np.ogrid[0 : m.shape[0], 1 : t * 4 : 3j]
    return m * i + j, a * b, np.mgrid[0 : t : 4j], np.indices((2, 3))[1] * m


def made_of_blocks(m=M):
    return np.block([[m, m * 2.0], [m * m, m]]), np.fromfunction(lambda i, j: i + 2.0 * j, (2, 3)) * m


def running(m=M):
    largest = np.maximum.accumulate(m), np.minimum.accumulate(m, axis=1)
    return largest, np.add.accumulate(m), np.multiply.accumulate(m, axis=1)


def parts(x=X):
    fraction, whole = np.modf(x * 3.3)
    quotient, rest = np.divmod(x, 0.7)
    return fraction, whole, quotient, rest


def real_numbers(x=X):
    return x.conj() + x.conjugate() + np.conj(x) + x.imag + np.imag(x), np.isposinf(x), np.isin(x, [0.3, 2.2])


def weights_along_an_axis(m=M, w=np.array([1.0, 3.0])):
    return np.average(m, axis=0, weights=w), np.average(m, axis=1, weights=m[0] * m[0])


def memory_by_its_type(m=M):
    a = np.ndarray((2, 3), dtype=np.float64)
    a[:] = m * m
    b = np.ndarray(3)
    b[:] = a[0]
    return a, b


def windows(x=X):
    return np.hanning(5) * x, np.correlate(x, x[:2]), np.logspace(0.0, x[0], 3), np.ediff1d(x)


def sorted_numbers(x=X):
    a, b, c = x[0], x[1], x[2]
    items = [a, b * b, c]
    items.sort()
    return sorted((c, a, b), reverse=True), items, [a, b, c].index(max(a, b, c)), sorted([c, a, b])[1]


def reductions_without_nan_of_integers(k=np.array([3, -1, 4])):
    return np.nanmax(k), np.nanmin(k), np.nanprod(k), np.nancumsum(k)


def slopes(m=M, x=X, h=0.5):
    along, across = np.gradient(m, h, 2.0)
    points = np.cumsum(x * x + 0.1)
    first = np.gradient(x), np.gradient(x, h), np.gradient(x, points)
    return first, along * across, np.gradient(m, axis=1), np.gradient(m, np.array([0.0, 1.0, 3.0]), axis=1)


def running_total(x=X, m=M):
    return np.cumulative_sum(x), np.cumulative_sum(m, axis=0)


def spectrum_in_single_precision(x=np.array([0.3, 1.7, -0.4], dtype=np.float32)):
    return np.fft.fft(x), np.fft.irfft(np.fft.rfft(x), 3)


def residuals_that_nobody_uses(m=M, y=np.array([1.0, -2.0])):
    x, residuals, rank, s = np.linalg.lstsq(m, y, rcond=None)
    return x, rank, s


def middles(x=X, m=M, b=np.array([True, False, True])):
    return np.median(x), np.median(m, axis=0), np.median(m, axis=1, keepdims=True), np.median(m), np.median(b)


def middles_without_nan(a=MISSING, q=0.3):
    first = np.nanmedian(a), np.nanmedian(a, axis=0), np.nanquantile(a, q), np.nanpercentile(a, [25, 80], axis=1)
    return first, np.nanquantile(a, 0.5, axis=1, keepdims=True)


def picked_by_conditions(x=X, m=M):
    total = 0.0
    for i in np.flatnonzero(x > 0.3):
        total += x[i] * i
    rows, columns = np.nonzero(m > 0.6)
    places = np.argwhere(m < 1.0)
    first = np.sum(m[rows, columns] ** 2), len(places), np.sum(places), np.sum(np.extract(x > 0.3, x)), len(rows)
    return total, first, np.sum(np.compress(m[0] > 0.6, m, axis=1), axis=1), np.prod(x[np.where(x > 0)])


def different_values(x=np.array([0.5, 2.0, 0.5, -1.0, 2.0])):
    values, counts = np.unique(x, return_counts=True)
    a, first, inverse = np.unique(x, return_index=True, return_inverse=True)
    sets = np.sum(np.union1d(x, [7.0])), np.sum(np.intersect1d(x, [2.0, 3.0])), np.sum(np.setdiff1d(x, [0.5]))
    return len(values), np.sum(values * counts), np.sum(values * first), np.sum(values[inverse] * x), np.sum(a), sets


def counted(k=np.array([1, 3, 1]), w=np.array([0.5, 2.0, 1.5])):
    total = np.bincount(k, weights=w, minlength=6)
    return np.sum(total * total), np.dot(np.bincount(k), np.bincount(k, w)), len(total)


def bins_in_two_directions(x=X, y=Y):
    counts, a, b = np.histogram2d(x, y, bins=3)
    sums, _, _ = np.histogram2d(x, y, [2, 3], [[0.0, 2.0], [-1.0, 3.0]], weights=x * y)
    return counts, a, b, sums, np.histogram2d(x, y, bins=(np.array([-1.0, 0.5, 3.0]), np.array([-1.0, 1.0, 3.0])), density=True)[0]


def fitted_polynomials(x=X, y=Y, m=M):
    c = np.polyfit(x, y, 2)
    return c, np.polyfit(x, y, 1, w=x * x), np.polyval(np.polyder(c), 0.5), np.polyint(c), np.polyfit(np.arange(2.0), m, 1)


def arithmetic_of_polynomials(x=X, y=Y):
    first = np.polyadd(x, y[1:]), np.polysub(x[:2], y), np.polymul(x, y[:2]), np.poly(x[:3]), np.polyder(x, 2)
    return first, np.vander(x[:3]), np.vander(x, 2, increasing=True), np.polyint(y, m=2, k=3.0)


def windows_of_run_time_length(n=6, b=4.0):
    return np.hanning(n), np.hamming(n), np.blackman(n), np.bartlett(n), np.kaiser(n, b), np.hamming(5) * b, np.geomspace(b, 2.0, 3)


def sines_over_their_argument(x=np.array([0.0, 0.3, -1.5, 1e-4, 2.0])):
    return np.sinc(x), np.sinc(x[1])


def phases(x=np.array([0.0, 3.0, -3.0, 2.9, -2.0])):
    return np.unwrap(x), np.unwrap(x * 0.5, period=2.0), np.angle(1j * x + 1.0), np.unwrap(np.stack([x, x * 2.0]), axis=1)


def chosen_elements(x=X, m=M, k=np.array([2, 0, 1, 1, 0])):
    y = m * 1.0
    np.put_along_axis(y, np.argmax(m, axis=1)[:, None], -5.0, axis=1)
    window = np.lib.stride_tricks.sliding_window_view(x, 3)
    first = np.choose(k, [x, 2.0 * x, x * x]), np.choose(k, (x, x + 1.0), mode="clip"), m[np.ix_([0, 1], [2, 0])]
    return first, y, window.mean(axis=-1), np.rollaxis(m[None], 2).shape, np.dstack((m, m * m)), np.diagflat(m)


def rearranged_again(m=M, x=X):
    first = np.atleast_3d(m), np.matrix_transpose(m), np.linalg.multi_dot([m, m.T, m]), np.cumulative_prod(x)
    return first, np.logaddexp2(x, 1.5), np.array_equiv(m, m[0]), np.lib.stride_tricks.sliding_window_view(m, 2, axis=1)
