"""Discrete Fourier transforms of any length.

A power of two is halved until nothing is left (Cooley and Tukey, 1965); another length up to 32 is summed directly; a
longer one is a convolution of a power of two (Bluestein, 1970).  The transform of both parts is one linear operation
whose transpose is the transform of the other sign, so nothing here is differentiated through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adgen.frontend.rules import Rules, with_rules

Array = Any
SHORT = 32  # up to which a length that is no power of two is summed directly


def _halved(re: Array, im: Array, cosines: Array, sines: Array, sign: Any) -> None:
    """Transform in place each row, whose length is that of the tables and a power of two."""
    rows, n = re.shape
    stride = n // len(cosines)
    for r in range(rows):
        j = 0
        for i in range(1, n):
            bit = n // 2
            while j >= bit:
                j -= bit
                bit = bit // 2
            j += bit
            if i < j:
                x, y = re[r, i], im[r, i]
                re[r, i], im[r, i] = re[r, j], im[r, j]
                re[r, j], im[r, j] = x, y
        half = 1
        while half < n:
            turn = n // (2 * half) // stride
            for block in range(n // (2 * half)):
                first = 2 * half * block
                for k in range(half):
                    c, s = cosines[turn * k], sign * sines[turn * k]
                    low, high = first + k, first + k + half
                    x = re[r, high] * c - im[r, high] * s
                    y = re[r, high] * s + im[r, high] * c
                    re[r, high] = re[r, low] - x
                    im[r, high] = im[r, low] - y
                    re[r, low] += x
                    im[r, low] += y
            half = 2 * half


def _summed(re: Array, im: Array, cosines: Array, sines: Array, sign: Any, out_re: Array, out_im: Array) -> None:
    """The transform by its definition."""
    rows, n = re.shape
    for r in range(rows):
        for k in range(n):
            x = 0.0
            y = 0.0
            for j in range(n):
                at = j * k % n
                c, s = cosines[at], sign * sines[at]
                x += re[r, j] * c - im[r, j] * s
                y += re[r, j] * s + im[r, j] * c
            out_re[r, k] = x
            out_im[r, k] = y


def _convolved(re: Array, im: Array, sign: Any, out_re: Array, out_im: Array) -> None:
    """The transform as a convolution with `exp(i pi k**2 / n)`, in rows of a power of two."""
    rows, n = re.shape
    m = 1
    while m < 2 * n - 1:
        m = 2 * m
    angles = 2.0 * np.pi / m * np.arange(m)
    cosines, sines = np.cos(angles), np.sin(angles)
    chirp = np.zeros((2, n))
    wave_re, wave_im = np.zeros((1, m)), np.zeros((1, m))
    for k in range(n):
        angle = np.pi * (k * k % (2 * n)) / n
        chirp[0, k], chirp[1, k] = np.cos(angle), sign * np.sin(angle)
        wave_re[0, k], wave_im[0, k] = chirp[0, k], -chirp[1, k]
        if k > 0:
            wave_re[0, m - k], wave_im[0, m - k] = chirp[0, k], -chirp[1, k]
    _halved(wave_re, wave_im, cosines, sines, -1.0)
    a, b = np.zeros((1, m)), np.zeros((1, m))
    for r in range(rows):
        for k in range(m):
            a[0, k] = 0.0
            b[0, k] = 0.0
        for k in range(n):
            a[0, k] = re[r, k] * chirp[0, k] - im[r, k] * chirp[1, k]
            b[0, k] = re[r, k] * chirp[1, k] + im[r, k] * chirp[0, k]
        _halved(a, b, cosines, sines, -1.0)
        for k in range(m):
            x = a[0, k] * wave_re[0, k] - b[0, k] * wave_im[0, k]
            b[0, k] = a[0, k] * wave_im[0, k] + b[0, k] * wave_re[0, k]
            a[0, k] = x
        _halved(a, b, cosines, sines, 1.0)
        for k in range(n):
            out_re[r, k] = (a[0, k] * chirp[0, k] - b[0, k] * chirp[1, k]) / m
            out_im[r, k] = (a[0, k] * chirp[1, k] + b[0, k] * chirp[0, k]) / m


def _transform(re: Array, im: Array, sign: float) -> Any:
    """The sums over j of `(re + i im)[j] * exp(sign * 2 pi i j k / n)` of each row, as real and imaginary parts."""
    rows, n = re.shape
    out_re, out_im = np.zeros((rows, n)), np.zeros((rows, n))
    power = 1
    while power < n:
        power = 2 * power
    if power != n and n > SHORT:
        _convolved(re, im, sign, out_re, out_im)
    else:
        angles = 2.0 * np.pi / n * np.arange(n)
        cosines, sines = np.cos(angles), np.sin(angles)
        if power == n:
            out_re[:] = re
            out_im[:] = im
            _halved(out_re, out_im, cosines, sines, sign)
        else:
            _summed(re, im, cosines, sines, sign, out_re, out_im)
    return out_re, out_im


def _transform_vjp(re: Array, im: Array, sign: float, out: Any, cotangent: Any) -> Any:
    back = transform(cotangent[0], cotangent[1], -sign)
    return back[0], back[1], None


def _transform_jvp(re: Array, im: Array, sign: float, out: Any, tangent: Any) -> Any:
    return transform(tangent[0], tangent[1], sign)


transform = with_rules(_transform, Rules(_transform, _transform_vjp, _transform_jvp))


def _single(x: Array) -> Any:
    return x.dtype == np.float32 or x.dtype == np.complex64


def _scale(norm: Any, n: Any, forwards: bool) -> Any:
    """What a transform is divided by."""
    if norm == "ortho":
        return np.sqrt(n * 1.0)
    return n if (norm == "forward") == forwards else 1.0


def _along(x: Array, n: Any, axis: Any, norm: Any, sign: float) -> Array:
    """The transform along an axis, of what is cropped, or filled with zeros, to a length."""
    moved = np.moveaxis(x, axis, -1)
    size = moved.shape[-1] if n is None else n
    if size < 1:
        raise ValueError("Invalid number of FFT data points (0) specified.")
    shape = (*moved.shape[:-1], size)
    re, im = np.zeros(shape), np.zeros(shape)
    kept = moved.shape[-1] if n is None else min(moved.shape[-1], size)
    re[..., :kept] = moved.real[..., :kept]
    if x.dtype.kind == "c":
        im[..., :kept] = moved.imag[..., :kept]
    rows = 1
    for extent in moved.shape[:-1]:
        rows = rows * extent
    found = transform(re.reshape((rows, size)), im.reshape((rows, size)), sign)
    result = np.zeros(shape, dtype=np.complex64 if _single(x) else np.complex128)
    scale = _scale(norm, size, sign < 0.0)
    result.real[...] = found[0].reshape(shape) / scale
    result.imag[...] = found[1].reshape(shape) / scale
    return np.moveaxis(result, -1, axis)


def fft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`np.fft.fft`."""
    return _along(np.asarray(a), n, axis, norm, -1.0)


def ifft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`np.fft.ifft`."""
    return _along(np.asarray(a), n, axis, norm, 1.0)


def rfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`np.fft.rfft` of real numbers: the frequencies that are not negative."""
    a = np.asarray(a)
    if a.dtype.kind == "c":
        raise TypeError("rfft takes real numbers")
    size = a.shape[axis] if n is None else n
    found = np.moveaxis(_along(a, n, axis, norm, -1.0), axis, -1)
    return np.moveaxis(found[..., : size // 2 + 1], -1, axis)


def irfft(a: Array, n: Any = None, axis: Any = -1, norm: Any = None) -> Array:
    """`np.fft.irfft`: real numbers from the frequencies that are not negative."""
    a = np.asarray(a)
    half = np.moveaxis(a, axis, -1)
    size = 2 * (half.shape[-1] - 1) if n is None else n
    if size < 1:
        raise ValueError("Invalid number of FFT data points (0) specified.")
    whole = np.zeros((*half.shape[:-1], size), dtype=np.complex64 if _single(a) else np.complex128)
    kept = min(half.shape[-1], size // 2 + 1)
    mirrored = min(kept, (size + 1) // 2)
    whole[..., :kept] = half[..., :kept]
    for k in range(1, mirrored):
        whole[..., size - k] = np.conjugate(half[..., k])
    return np.moveaxis(_along(whole, None, -1, norm, 1.0).real.copy(), -1, axis)


def _several(x: Array, s: Any, axes: Any, norm: Any, sign: float) -> Array:
    axes = _axes(x, s, axes)
    for k in tuple(range(len(axes))):
        x = _along(x, None if s is None else s[k], axes[k], norm, sign)
    return x


def _axes(x: Array, s: Any, axes: Any) -> Any:
    if axes is not None:
        return axes
    return tuple(range(x.ndim)) if s is None else tuple(range(x.ndim - len(s), x.ndim))


def fft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`np.fft.fft2`."""
    return _several(np.asarray(a), s, axes, norm, -1.0)


def ifft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`np.fft.ifft2`."""
    return _several(np.asarray(a), s, axes, norm, 1.0)


def fftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`np.fft.fftn`."""
    return _several(np.asarray(a), s, axes, norm, -1.0)


def ifftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`np.fft.ifftn`."""
    return _several(np.asarray(a), s, axes, norm, 1.0)


def rfft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`np.fft.rfft2`."""
    return rfftn(a, s, axes, norm)


def rfftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`np.fft.rfftn`: of real numbers, along the last axis the frequencies that are not negative."""
    a = np.asarray(a)
    axes = _axes(a, s, axes)
    found = rfft(a, None if s is None else s[-1], axes[-1], norm)
    return _several(found, None if s is None else s[:-1], axes[:-1], norm, -1.0)


def irfft2(a: Array, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Array:
    """`np.fft.irfft2`."""
    return irfftn(a, s, axes, norm)


def irfftn(a: Array, s: Any = None, axes: Any = None, norm: Any = None) -> Array:
    """`np.fft.irfftn`."""
    a = np.asarray(a)
    axes = _axes(a, s, axes)
    found = _several(a, None if s is None else s[:-1], axes[:-1], norm, 1.0)
    return irfft(found, None if s is None else s[-1], axes[-1], norm)


def fftfreq(n: Any, d: Any = 1.0) -> Array:
    """`np.fft.fftfreq`."""
    positive = (n - 1) // 2 + 1
    k = np.arange(n)
    return np.where(k < positive, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: Any, d: Any = 1.0) -> Array:
    """`np.fft.rfftfreq`."""
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


def fftshift(x: Array, axes: Any = None) -> Array:
    """`np.fft.fftshift`: the frequency zero in the middle."""
    x = np.asarray(x)
    for axis in _listed(x, axes):
        x = np.roll(x, x.shape[axis] // 2, axis)
    return x


def ifftshift(x: Array, axes: Any = None) -> Array:
    """`np.fft.ifftshift`."""
    x = np.asarray(x)
    for axis in _listed(x, axes):
        x = np.roll(x, -(x.shape[axis] // 2), axis)
    return x


def _listed(x: Array, axes: Any) -> Any:
    return tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
