"""Around a training loop: norms of gradients over steps, clipping, scaled losses.

Gradients come in as the operators give them: numbers, arrays, and tuples, NamedTuples, lists and dicts of them.
Guaranteed: a gradient goes out with the structure and the dtypes it came with; none is changed in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adgen.diagnostics import AdgenError
from adgen.frontend.specs import rebuild

LARGEST = 2.0**1023  # of scales: the next power of two is infinite


def parts(gradient: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """The numbers and arrays of a gradient, each with its name, such as `layers[0].weight`."""
    if gradient is None:  # what has no derivative
        return
    fields = getattr(gradient, "_fields", None)
    if isinstance(gradient, dict):
        items = [(f"[{key!r}]" if name else str(key), item) for key, item in gradient.items()]
    elif fields is not None:
        items = [(f".{key}" if name else key, item) for key, item in zip(fields, gradient)]
    elif isinstance(gradient, tuple | list):
        items = [(f"[{position}]", item) for position, item in enumerate(gradient)]
    else:
        yield name, gradient
        return
    for ending, item in items:
        yield from parts(item, name + ending)


def mapped(gradient: Any, change: Callable[[Any], Any]) -> Any:
    """The gradient with every number and array replaced."""
    if gradient is None:
        return None
    if isinstance(gradient, dict):
        return {key: mapped(item, change) for key, item in gradient.items()}
    if isinstance(gradient, tuple | list):
        keys = getattr(gradient, "_fields", range(len(gradient)))
        return rebuild(type(gradient), [(key, mapped(item, change)) for key, item in zip(keys, gradient)])
    return change(gradient)


def scaled(gradient: Any, factor: float) -> Any:
    """The gradient times a number, each part in its own dtype."""

    def times(part: Any) -> Any:
        if isinstance(part, np.ndarray | np.generic):
            with np.errstate(over="ignore"):
                return part * part.dtype.type(factor)
        return part * factor

    return mapped(gradient, times)


def norm(part: Any) -> float:
    """The Euclidean norm of all entries; the sum is taken in float64, scaled so that it does not overflow."""
    entries = np.abs(np.asarray(part, dtype=float)).ravel()
    largest = float(entries.max(initial=0.0))
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((entries / largest) ** 2)))


def global_norm(gradient: Any) -> float:
    """The Euclidean norm of all entries of all parts of a gradient."""
    return norm([norm(part) for _, part in parts(gradient)])


def clip_by_global_norm(gradient: Any, limit: float) -> Any:
    """The gradient, scaled down so that its global norm is at most `limit`; unchanged where it is already.

    A gradient that is not finite becomes not-a-number as a whole: no direction can be trusted.
    """
    if not limit > 0.0:
        raise AdgenError("AD177", f"the limit of a norm must be positive, not {limit!r}", help="pass a positive number")
    total = global_norm(gradient)
    if total <= limit:
        return gradient
    return scaled(gradient, limit / total if math.isfinite(total) else math.nan)


@dataclass
class Monitor:
    """Norms of gradients, recorded step by step: `norms[name][step]`."""

    norms: dict[str, list[float]] = field(default_factory=dict)

    def record(self, gradient: Any, **more: Any) -> float:
        """Record one step's gradient, and others by name, such as that for a tapped intermediate.

        Gives the global norm of `gradient`.  Raises AdgenError where the parts are not those of the first step.
        """
        found = {name or "gradient": norm(part) for name, part in parts(gradient)}
        for key, other in more.items():
            found |= {name: norm(part) for name, part in parts(other, key)}
        series = self.norms or {name: [] for name in found}
        if series.keys() != found.keys():
            wrong = ", ".join(f"`{name}`" for name in sorted(series.keys() ^ found.keys()))
            help = "record the same parts at every step, or use a monitor for each kind of step"
            raise AdgenError("AD177", f"the steps of a monitor differ in {wrong}", help=help)
        self.norms = series
        for name, value in found.items():
            series[name].append(value)
        return global_norm(gradient)

    def vanishing(self, limit: float = 1e-7) -> dict[str, int]:
        """What has a norm below the limit at the last step, and since which step."""
        return self._since(lambda value: value < limit)

    def exploding(self, limit: float = 1e3) -> dict[str, int]:
        """What has a norm above the limit, or one that is not a number, at the last step, and since which step."""
        return self._since(lambda value: not value <= limit)

    def _since(self, bad: Callable[[float], bool]) -> dict[str, int]:
        found = {}
        for name, series in self.norms.items():
            first = next((k for k in range(len(series), 0, -1) if not bad(series[k - 1])), 0)
            if first < len(series):
                found[name] = first
        return found

    def figure(self) -> Any:
        """The norms over steps as a `matplotlib.figure.Figure`, to be saved with `savefig` or shown in a notebook."""
        try:
            from matplotlib.figure import Figure
        except ImportError:
            help = "pip install matplotlib, or plot `norms` with something else"
            raise AdgenError("AD178", "a figure needs matplotlib, which is not installed", help=help) from None
        figure = Figure()
        axes = figure.subplots()
        for name, series in self.norms.items():
            axes.plot(series, label=name)
        axes.set_yscale("log")
        axes.set_xlabel("step")
        axes.set_ylabel("norm of the gradient")
        axes.legend()
        return figure


def monitor() -> Monitor:
    """A record of gradient norms by parameter and step: `norms = adgen.monitor()`, then `norms.record(gradient)`."""
    return Monitor()


@dataclass
class LossScaler:
    """Dynamic loss scaling: small cotangents that float32 would flush to zero are kept by a scaled seed.

    `gradient = scaler.pull(pullback)` is the gradient of `value, pullback = adgen.vjp(loss)(w)`, or None where an entry
    is not finite: then the step is to be skipped, and the scale has been multiplied by `backoff`.  After `interval`
    good steps in a row it is multiplied by `growth`.
    """

    scale: float = 2.0**16
    growth: float = 2.0
    backoff: float = 0.5
    interval: int = 2000
    good: int = 0
    skipped: int = 0

    def __post_init__(self) -> None:
        if not (0.0 < self.scale < math.inf and self.growth > 1.0 > self.backoff > 0.0 and self.interval > 0):
            help = "scale > 0, growth > 1, 0 < backoff < 1, interval > 0"
            raise AdgenError("AD177", f"{self} would not adapt its scale", help=help)

    def pull(self, pullback: Callable[[float], Any]) -> Any:
        """The gradient by a scaled seed, unscaled; None where it is not finite."""
        gradient = pullback(self.scale)
        if all(np.all(np.isfinite(part)) for _, part in parts(gradient)):
            unscaled = scaled(gradient, 1.0 / self.scale)
            self.good += 1
            if self.good == self.interval:
                self.good = 0
                self.scale = min(self.scale * self.growth, LARGEST)
            return unscaled
        self.good = 0
        self.skipped += 1
        self.scale *= self.backoff
        return None
