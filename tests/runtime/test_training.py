"""Norms, clipping and scaled losses, against closed forms."""

from __future__ import annotations

import math
import sys
import types

import numpy as np
import pytest

import adgen
from adgen import AdgenError


def loss(w, b, x, y):
    return np.mean((x * w + b - y) ** 2)


X = np.linspace(-1.0, 1.0, 20)
Y = 3.0 * X + 2.0


def test_behaviour_34_norms_by_parameter() -> None:
    """Norms per parameter over steps fall while the loss is minimised; the global one is that of all of them."""
    gradient, watch = adgen.grad(loss, wrt=("w", "b")), adgen.monitor()
    w, b = np.zeros(20), 0.0
    for _ in range(30):
        g = gradient(w, b, X, Y)
        total = watch.record({"w": g[0], "b": g[1]})
        w, b = w - 0.5 * g[0], b - 0.5 * g[1]
    assert list(watch.norms) == ["w", "b"]
    assert len(watch.norms["w"]) == 30
    assert total == pytest.approx(math.hypot(watch.norms["w"][-1], watch.norms["b"][-1]))
    assert watch.norms["b"][-1] < 1e-3 * watch.norms["b"][0]


def test_names_of_parts() -> None:
    """Parts have the names under which a program finds them; a gradient alone is called so."""
    watch = adgen.monitor()
    watch.record({"layers": [{"weight": np.ones(4)}, (2.0, None)], "b": 3.0}, tapped=np.array([3.0, 4.0]))
    assert {name: series[0] for name, series in watch.norms.items()} == {
        "layers[0]['weight']": 2.0, "layers[1][0]": 2.0, "b": 3.0, "tapped": 5.0,
    }  # fmt: skip
    named = adgen.monitor()
    named.record(adgen.grad(loss, wrt=None)(0.5, 0.1, 2.0, 3.0))
    assert list(named.norms) == ["w", "b", "x", "y"]
    alone = adgen.monitor()
    alone.record(np.array([3.0, 4.0]))
    assert alone.norms == {"gradient": [5.0]}


def test_vanishing_and_exploding() -> None:
    """What is too small or too large now is named, with the step since when; not-a-number explodes."""
    watch = adgen.monitor()
    for k, bad in enumerate((1.0, 2e9, math.nan)):
        watch.record({"good": 1.0, "small": 10.0 ** (-6 * k), "bad": bad})
    assert watch.vanishing(1e-5) == {"small": 1}
    assert watch.exploding() == {"bad": 1}


def test_other_parts_at_a_later_step() -> None:
    """A part that comes and goes is an error, as its series would not be one over steps."""
    watch = adgen.monitor()
    watch.record({"a": 1.0})
    with pytest.raises(AdgenError, match="differ in `b`"):
        watch.record({"a": 1.0, "b": 1.0})
    assert watch.norms == {"a": [1.0]}


def test_figure_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(AdgenError, match="pip install matplotlib"):
        adgen.monitor().figure()


def test_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line a part, by name, over a logarithmic axis."""
    calls: list[tuple[str, tuple, dict]] = []

    class Recorder:
        def __getattr__(self, name):
            return lambda *args, **kwargs: calls.append((name, args, kwargs))

    class Figure:
        def subplots(self):
            return Recorder()

    module = types.ModuleType("matplotlib.figure")
    module.Figure = Figure
    monkeypatch.setitem(sys.modules, "matplotlib", types.ModuleType("matplotlib"))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", module)
    watch = adgen.monitor()
    watch.record({"w": 1.0, "b": 2.0})
    assert isinstance(watch.figure(), Figure)
    assert ("plot", ([1.0],), {"label": "w"}) in calls
    assert ("plot", ([2.0],), {"label": "b"}) in calls
    assert ("set_yscale", ("log",), {}) in calls


def test_clipping() -> None:
    """The global norm becomes the limit, the direction stays; a smaller gradient is left as it is."""
    gradient = {"w": np.array([3.0, 0.0]), "b": 4.0}
    clipped = adgen.clip_by_global_norm(gradient, 1.0)
    assert np.allclose(clipped["w"], [0.6, 0.0])
    assert clipped["b"] == pytest.approx(0.8)
    assert adgen.clip_by_global_norm(gradient, 5.0) is gradient
    named = adgen.grad(loss)(0.5, 0.1, 2.0, 3.0)
    assert type(adgen.clip_by_global_norm(named, 1e-3)) is type(named)


def test_clipping_keeps_dtypes_and_large_norms() -> None:
    """float32 stays float32, and a norm whose square overflows is a norm."""
    clipped = adgen.clip_by_global_norm((np.full(4, 1e30, np.float32), 1e200), 2.0)
    assert clipped[0].dtype == np.float32
    assert clipped[1] == pytest.approx(2.0)


def test_clipping_what_is_not_finite() -> None:
    """Then nothing of the gradient is to be used."""
    clipped = adgen.clip_by_global_norm((np.array([1.0, np.inf]), 1.0), 2.0)
    assert np.isnan(clipped[0]).all()
    assert math.isnan(clipped[1])
    with pytest.raises(AdgenError, match="must be positive"):
        adgen.clip_by_global_norm(1.0, 0.0)


def small(w, a, b):
    """In float32 the cotangent of the first product is flushed to zero, and the gradient with it."""
    return np.sum(((w * b) * a) * a)


def overflowing(w, a):
    return np.sum(w * a)


def test_behaviour_35_scaled_seed() -> None:
    """What underflows in float32 without scaling is the right gradient with it, unscaled and in float32."""
    w, a, b = np.ones(3, np.float32), np.full(3, 1e-23, np.float32), np.full(3, 1e20, np.float32)
    wanted = 1e-26
    _, pullback = adgen.vjp(small, wrt="w")(w, a, b)
    assert np.all(pullback(1.0) == 0.0)
    scaler = adgen.LossScaler(scale=2.0**30)
    gradient = scaler.pull(pullback)
    assert gradient.dtype == np.float32
    assert np.allclose(gradient / wanted, 1.0, rtol=1e-5)


def test_behaviour_35_steps_are_skipped_and_scales_adapt() -> None:
    """An overflow skips the step and halves the scale; a run of good steps doubles it."""
    w, a = np.ones(3, np.float32), np.full(3, 1e36, np.float32)
    _, pullback = adgen.vjp(overflowing, wrt="w")(w, a)
    scaler = adgen.LossScaler(scale=2.0**10, interval=3)
    taken = []
    for _ in range(8):
        gradient = scaler.pull(pullback)
        taken.append(gradient is not None)
        if gradient is not None:
            assert np.allclose(gradient, a)
    # 2**8 * 1e36 fits into float32, 2**9 * 1e36 does not
    assert taken == [False, False, True, True, True, False, True, True]
    assert (scaler.scale, scaler.skipped, scaler.good) == (2.0**8, 3, 2)


def test_a_scale_stays_finite() -> None:
    """Growth ends before a scale would be infinite."""
    scaler = adgen.LossScaler(scale=2.0**1022, interval=1)
    for _ in range(3):
        assert scaler.pull(lambda seed: seed) == 1.0
    assert scaler.scale == 2.0**1023


def test_senseless_settings() -> None:
    """A scaler that would not adapt is refused."""
    for settings in ({"growth": 0.5}, {"backoff": 2.0}, {"scale": 0.0}, {"interval": 0}):
        with pytest.raises(AdgenError, match="would not adapt"):
            adgen.LossScaler(**settings)
