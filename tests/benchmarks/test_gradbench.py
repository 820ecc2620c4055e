"""The tool for GradBench, driven by its messages, against formulas that need no derivative tool."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from benchmarks import gradbench_tool
from benchmarks.gradbench import ht, lstm
from benchmarks.gradbench_tool import EVALS, answer
from benchmarks.workloads import saddle

X = np.array([0.5, -1.0, 2.0])
POINTS = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0]])
CENTROIDS = np.array([[0.2, 0.1], [4.0, 4.0]])
MATRIX = np.array([[2.0, 1.0], [5.0, 3.0]])
CAMERA = {"n": 2, "m": 3, "p": 4, "cam": [*(0.1, 0.2, 0.3), *(0.0, 0.0, -5.0), 2.0, 0.5, 0.25, 0.1, 0.01]}


def softmax(x: np.ndarray) -> np.ndarray:
    """The gradient of the logarithm of a sum of exponentials."""
    return np.exp(x) / np.sum(np.exp(x))


def powers(n: int, m: int) -> tuple[np.ndarray, np.ndarray]:
    """The times of the least squares, and their powers."""
    t = np.linspace(-1.0, 1.0, n)
    return t, t[:, None] ** np.arange(m)


def least_squares_gradient() -> np.ndarray:
    """From the normal equations."""
    t, a = powers(4, 3)
    return a.T @ (a @ X - np.sign(t))


def mixture(seed: int) -> dict[str, Any]:
    """A small mixture: one dimension, so that everything has a formula."""
    rng = np.random.default_rng(seed)
    arrays = {"x": (3, 1), "alpha": (2,), "mu": (2, 1), "q": (2, 1), "l": (2, 0)}
    return {"d": 1, "k": 2, "n": 3, "m": 0, "gamma": 1.0, **{k: rng.normal(size=s).tolist() for k, s in arrays.items()}}


def mean_gradient(given: dict[str, Any]) -> np.ndarray:
    """The derivative by the means: responsibilities times distances, scaled."""
    x, mu, q = (np.array(given[name])[:, 0] for name in ("x", "mu", "q"))
    weights = softmax(np.array(given["alpha"]))
    scaled = np.exp(q) * (x[:, None] - mu)
    density = weights * np.exp(q) * np.exp(-0.5 * scaled**2)
    return np.sum(density / density.sum(axis=1, keepdims=True) * scaled * np.exp(q), axis=0)


def send(module: str, function: str, given: Any) -> Any:
    """The output of one evaluation, after a trip through JSON."""
    message = {"id": 7, "kind": "evaluate", "module": module, "function": function, "input": given}
    reply = json.loads(json.dumps(answer(message)))
    assert reply["id"] == 7 and reply["success"], reply
    assert [timing["name"] for timing in reply["timings"]] == ["compile", "evaluate"]
    return reply["output"]


@pytest.mark.parametrize(
    ("module", "function", "given", "expected"),
    [
        ("hello", "double", 3.0, 6.0),
        ("lse", "gradient", {"x": X.tolist()}, softmax(X)),
        ("llsq", "gradient", {"x": X.tolist(), "n": 4}, least_squares_gradient()),
        ("det", "gradient", {"A": MATRIX.ravel().tolist(), "ell": 2}, [3.0, -5.0, -1.0, 2.0]),
        ("kmeans", "dir", {"points": POINTS.tolist(), "centroids": CENTROIDS.tolist()}, [[-0.3, 0.1], [-1.0, -1.0]]),
        ("ode", "primal", {"x": [1.0, 2.0], "s": 3}, [2.0, 4.0]),
        ("particle", "fr", {"w": 0.0}, 0.2071918746),
    ],
)
def test_an_eval_is_answered(module: str, function: str, given: Any, expected: Any) -> None:
    """Derivatives through the tool are those of formulas."""
    assert np.allclose(send(module, function, given), expected, rtol=1e-6, atol=1e-12)


def test_a_mixture_has_the_gradient_of_its_responsibilities() -> None:
    """The means of a mixture in one dimension, and empty lower triangles keep their shape."""
    given = mixture(1)
    gradient = send("gmm", "jacobian", given)
    assert np.allclose(np.array(gradient["mu"])[:, 0], mean_gradient(given))
    assert gradient["l"] == [[], []]


def test_a_sparse_jacobian_shows_its_first_block_and_its_end() -> None:
    """Starts of rows, columns and values of the first observation, and the last weight."""
    shown = send("ba", "jacobian", {**CAMERA, "x": [0.3, 0.2, 0.1], "w": 0.5, "feat": [0.0, 0.0]})
    assert shown["rows"] == [*range(0, 121, 15), 121, 122, 123, 124, 124]
    first, last = [*range(11), 22, 23, 24], 22 + 9
    assert shown["cols"] == [*first, last, *first, last, last + 3]
    assert np.isclose(shown["vals"][-1], -1.0)
    assert np.allclose(np.array(shown["vals"])[[7, 8, 22, 23]], [0.5, 0.0, 0.0, 0.5])  # the principal point


def plain(function: Callable[..., Any], given: Any, prepare: Callable[[Any], Any]) -> Any:
    """What Python makes of the arguments that an eval prepares."""
    return function(*prepare(given))


def test_the_layers_of_a_memory_are_taken_apart() -> None:
    """Rows of weights and of biases in turn, states likewise: shapes of one layer, and the order in it."""
    rows = {"main_params": np.arange(16.0).reshape(2, 8), "extra_params": np.zeros((3, 2)), "state": np.zeros((2, 2))}
    main, extra, state, sequence = lstm.prepare(
        {k: v.tolist() for k, v in {**rows, "sequence": np.zeros((4, 2))}.items()}
    )
    assert (main.shape, extra.shape, state.shape, sequence.shape) == ((1, 8, 2), (3, 2), (1, 2, 2), (4, 2))
    assert main[0, 4].tolist() == [8.0, 9.0]


def test_a_hand_at_rest_is_its_model() -> None:
    """Bones without a turn leave the vertices where they are, so a point on one has no error."""
    bones, still = 22, np.eye(4).tolist()
    model = {
        "is_mirrored": False,
        "parents": [-1, *range(bones - 1)],
        "base_relatives": [still] * bones,
        "inverse_base_absolutes": [still] * bones,
        "base_positions": [[1.0, 2.0, 3.0, 1.0], [0.0, 1.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]],
        "weights": (np.ones((3, bones)) / bones).tolist(),
        "triangles": [[0, 1, 2]],
    }
    data = {"model": model, "correspondences": [0], "points": [[1.0, 2.0, 3.5]]}
    assert np.allclose(plain(ht.simple, {"theta": [0.0] * 26, "data": data, "us": []}, ht.prepare), [[0.0, 0.0, 0.5]])
    inside = {"theta": [0.0] * 26, "data": data, "us": [[0.5, 0.25]]}
    assert np.allclose(plain(ht.complicated, inside, ht.prepare), [[1.0 - 0.75, 2.0 - 1.25, 3.5 - 1.5]])


def test_a_saddle_is_where_slopes_vanish() -> None:
    """Ascent in plain Python, which the compiled search repeats, ends at the top."""
    assert abs(saddle.highest(np.array([3.0, 4.0]), np.ones(2), lambda y, x: 2.0 * y) - 25.0) < 1e-6


@pytest.mark.parametrize("module", EVALS)
def test_every_eval_is_defined(module: str) -> None:
    """And has functions."""
    assert answer({"id": 1, "kind": "define", "module": module}) == {"id": 1, "success": True}
    assert gradbench_tool.functions(module)


def test_what_is_not_there_is_an_answer_too() -> None:
    """An unknown eval, a function that fails, and messages that need no answer."""
    assert "no eval" in answer({"id": 2, "kind": "define", "module": "nothing"})["error"]
    assert not answer({"id": 3, "kind": "evaluate", "module": "lse", "function": "primal", "input": {}})["success"]
    assert answer({"id": 4, "kind": "start", "eval": "lse"}) == {"id": 4, "tool": "adgen"}
    assert answer({"id": 5, "kind": "analysis", "of": 3, "valid": True}) == {"id": 5}
