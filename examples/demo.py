"""What `make demo` runs: the gradient of a Gaussian mixture from the compiled package, checked and timed.

adgen compile examples/gaussian_mixture.py mixture --wrt logits,means,log_scales
python examples/demo.py
"""

import sys
import timeit
from pathlib import Path

import gaussian_mixture as python
import numpy as np

import adgen


def main(build):
    compiled = adgen.load(build / "gaussian_mixture_ad")

    rng = np.random.default_rng(0)
    k, d, n = 5, 3, 1000
    parameters = rng.normal(size=k), rng.normal(size=(k, d)), 0.3 * rng.normal(size=(k, d))
    points = rng.normal(size=(n, d))

    value, gradient = compiled.mixture_value_and_grad(*parameters, points)
    print(f"\n{n} points, {k} components in {d} dimensions\n")
    print(f"value     {value:.6f}   in Python {python.mixture(*parameters, points):.6f}")
    print(f"gradient  for logits     {np.array2string(gradient.logits, precision=4)}")
    print(f"          for means[0]   {np.array2string(gradient.means[0], precision=4)}")

    step = [1e-6 * rng.normal(size=np.shape(p)) for p in parameters]
    ahead, behind = (compiled.mixture(*(p + s * e for p, e in zip(parameters, step)), points) for s in (1, -1))
    along = sum(np.sum(g * e) for g, e in zip(gradient, step))
    print(f"check     along a random direction {along:.10e}, differences {(ahead - behind) / 2:.10e}")

    slow = timeit.timeit(lambda: python.mixture(*parameters, points), number=1)
    fast = min(timeit.repeat(lambda: compiled.mixture(*parameters, points), number=20, repeat=5)) / 20
    both = min(timeit.repeat(lambda: compiled.mixture_value_and_grad(*parameters, points), number=20, repeat=5)) / 20
    print(f"time      value in Python {slow * 1e3:.1f} ms, in C {fast * 1e3:.3f} ms, with gradient {both * 1e3:.3f} ms")
    print(f"\nThe derivative to read: {build / 'gaussian_mixture_ad' / 'gaussian_mixture.c'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build"))
