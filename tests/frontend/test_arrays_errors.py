"""Array errors: refused when compiling with a message and a way out, or raised at run time as NumPy raises them."""

from __future__ import annotations

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.frontend.specs import ArraySpec, ScalarSpec, free
from adgen.ir.interpret import ProgramError, run
from adgen.ir.types import BOOL, F64, I64

V, M = ArraySpec(F64, 1), ArraySpec(F64, 2)
K, B, N = ArraySpec(I64, 1), ArraySpec(BOOL, 1), ScalarSpec(I64)


def masked_value(x):
    y = x[x > 0.0]
    return y * y[::-1]


def masked_with_array(x, m):
    x[m] = x
    return x


def fourier(x):
    return np.sum(np.abs(np.fft.hfft(x)))


def eigenvalues(m):
    return np.linalg.eig(m)


def too_many(x):
    return x[0, 1]


def float_index(x):
    return x[0.5]


def ragged(x):
    return np.array([[x[0]], [x[1], x[2]]])


def bad_axis(m):
    return np.sum(m, axis=2)


def unknown_argument(x):
    return np.sum(x, where=x > 0)


def two_argument_where(x):
    return x[np.where(x > 0, x)]


def write_broadcast(x):
    y = np.broadcast_to(x, (2, 3))
    y[0, 0] = 1.0
    return y


def write_reshaped_copy(m):
    m.T.reshape(-1)[0] = 1.0
    return m


def integer_add(k, x):
    k += x
    return k


def half_zeros(x):
    return np.zeros(3, dtype=np.float16)


def scalar_product(m):
    return m @ 2.0


def einsum_labels(m):
    return np.einsum("i,i->", m, m)


def squeeze_unknown(m):
    return np.squeeze(m)


def bound_mask(x, m):
    x[m] = 0.0
    return x


def element(x, k):
    return x[k]


def last(x):
    return x[-3]


def product(m, x):
    return m @ x


def added(x, y):
    return x + y


def stored(x, y):
    x[1:] = y
    return x


def picked(x, k):
    return x[k]


def reshaped(x, n):
    return x.reshape(n, 2)


def sized(x, n):
    return np.zeros(n) + x[0]


def largest(x):
    return np.max(x)


def joined(m, n):
    return np.concatenate([m, n])


REFUSED = [
    (masked_value, {"x": V}, "AD233", "boolean mask"),
    (masked_with_array, {"x": V, "m": B}, "AD233", "boolean mask"),
    (fourier, {"x": V}, "AD236", "`np.fft.hfft` is not supported"),
    (eigenvalues, {"m": M}, "AD236", "`np.linalg.eig` is not supported"),
    (too_many, {"x": V}, "AD337", "too many indices"),
    (float_index, {"x": V}, "AD304", "must be an integer"),
    (ragged, {"x": V}, "AD335", "same shape"),
    (bad_axis, {"m": M}, "AD333", "axis 2 is out of bounds"),
    (unknown_argument, {"x": V}, "AD234", "`where` is not supported"),
    (two_argument_where, {"x": V}, "AD323", "both or neither"),
    (write_broadcast, {"x": V}, "AD232", "cannot be written"),
    (write_reshaped_copy, {"m": M}, "AD232", "reshaped copy"),
    (integer_add, {"k": K, "x": V}, "AD338", "in-place"),
    (half_zeros, {"x": V}, "AD334", "float16"),
    (scalar_product, {"m": M}, "AD339", "`@`"),
    (einsum_labels, {"m": M}, "AD234", "labels 1 axes"),
    (squeeze_unknown, {"m": M}, "AD234", "squeeze"),
]

X, A = np.arange(3.0), np.arange(6.0).reshape(2, 3)

RAISED = [
    (bound_mask, (V, B), (X, np.array([True, False])), IndexError, "size of axis is 3"),
    (element, (V, N), (X, 3), IndexError, "index 3 is out of bounds for axis 0 with size 3"),
    (element, (V, N), (X, -4), IndexError, "index -4 is out of bounds for axis 0 with size 3"),
    (last, (V,), (X[:2],), IndexError, "index -3 is out of bounds for axis 0 with size 2"),
    (product, (M, V), (A, X[:2]), ValueError, "3 is not 2"),
    (added, (V, V), (X, np.arange(2.0)), ValueError, "shapes (3,) (2,)"),
    (added, (M, V), (A, np.arange(2.0)), ValueError, "length 3 meets one of length 2"),
    (stored, (V, V), (X, np.arange(3.0)), ValueError, "from shape (3,) into shape (2,)"),
    (picked, (V, K), (X, np.array([0, 5])), IndexError, "index 5 is out of bounds"),
    (reshaped, (V, N), (X, 2), ValueError, "cannot reshape array of size 3"),
    (sized, (V, N), (X, -1), ValueError, "negative dimensions"),
    (largest, (V,), (X[:0],), ValueError, "zero-size array"),
    (joined, (M, M), (A, A[:, :2].copy()), ValueError, "3 is not 2"),
]


@pytest.mark.parametrize("function, specs, code, words", REFUSED, ids=lambda x: getattr(x, "__name__", ""))
def test_refused(function, specs, code, words) -> None:
    """The diagnostic has a code, says what, and points at the line."""
    with pytest.raises(AdgenError) as caught:
        lower(function, specs)
    assert caught.value.code == code
    assert words in caught.value.message
    first = function.__code__.co_firstlineno
    assert caught.value.lineno is not None and first < caught.value.lineno <= first + 3


@pytest.mark.parametrize("function, specs, arguments, kind, words", RAISED, ids=lambda x: getattr(x, "__name__", ""))
def test_raised(function, specs, arguments, kind, words) -> None:
    """The check fails where plain Python raises, with the same exception and the numbers in the message."""
    with pytest.raises(kind):
        function(*(x.copy() if isinstance(x, np.ndarray) else x for x in arguments))
    names = function.__code__.co_varnames[: len(specs)]
    lowered = lower(function, free(dict(zip(names, specs))))
    with pytest.raises(ProgramError) as caught:
        run(lowered.function, [np.ascontiguousarray(x) if isinstance(x, np.ndarray) else x for x in arguments])
    assert caught.value.exception == kind.__name__
    assert words in caught.value.message
    assert caught.value.span is not None and caught.value.span.line == function.__code__.co_firstlineno + 1
