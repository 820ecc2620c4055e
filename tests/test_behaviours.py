"""What users of other tools for derivatives know and expect, one fact a test, with the value that is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError

X = np.array([1.0, 2.0, 3.0])


def square(x: Any) -> Any:
    return x**2


def cube(x: Any) -> Any:
    return x**3


def test_behaviour_01_square() -> None:
    """`x**2` at 2."""
    assert adgen.grad(square)(2.0) == 4.0


def test_behaviour_02_polynomial() -> None:
    """`x**2 + 3*x + 1` at 2."""
    assert adgen.value_and_grad(lambda x: x**2 + 3 * x + 1)(2.0) == (11.0, 7.0)


def test_behaviour_03_two_arguments() -> None:
    """`a*b + b**2` at (2, 3)."""
    assert adgen.grad(lambda a, b: a * b + b**2)(2.0, 3.0) == (3.0, 8.0)


def test_behaviour_04_product() -> None:
    """`x*y + x` at (2, 3)."""
    assert adgen.grad(lambda x, y: x * y + x)(2.0, 3.0) == (4.0, 2.0)


def test_behaviour_05_square_of_a_sum() -> None:
    """`(2*x).sum()**2` at [1, 2, 3]."""
    assert np.array_equal(adgen.grad(lambda x: (2 * x).sum() ** 2)(X), [48.0, 48.0, 48.0])


def test_behaviour_06_mean() -> None:
    """`mean(2*x)` of three numbers."""
    assert np.allclose(adgen.grad(lambda x: np.mean(2 * x))(X), 2.0 / 3.0, rtol=1e-15)


def test_behaviour_07_derivative_of_an_intermediate() -> None:
    """`y = x**2; z = 3*y` at 2."""

    def f(x: Any) -> Any:
        y = adgen.tap(x**2, "y")
        return 3 * y

    assert adgen.grad(f, wrt=("x", "y"))(2.0) == (12.0, 3.0)


def test_behaviour_08_seed_of_a_vector() -> None:
    """With the seed [1, 1, 1]; without one an error that says how to pass it."""
    _, pullback = adgen.vjp(square)(X)
    assert np.array_equal(pullback(np.ones(3)), [2.0, 4.0, 6.0])
    with pytest.raises(AdgenError, match="not a scalar(.|\n)*pullback"):
        pullback()
    with pytest.raises(AdgenError, match="scalar(.|\n)*vjp with a cotangent"):
        adgen.grad(square)(X)


def test_behaviour_09_integer_argument() -> None:
    """The error names the dtype and suggests a float."""
    with pytest.raises(AdgenError, match="int64(.|\n)*float"):
        adgen.grad(square)(2)


def test_behaviour_10_branch_on_a_loop_index() -> None:
    """`2*x` when even, `x**3` when odd, at 0, 1, 2."""

    def f(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            if i % 2 == 0:
                total += 2 * x[i]
            else:
                total += x[i] ** 3
        return total

    assert np.array_equal(adgen.grad(f)(np.array([0.0, 1.0, 2.0])), [2.0, 3.0, 2.0])


def test_behaviour_11_custom_square() -> None:
    """A right rule passes the check of gradients, a wrong one is caught with the offending entry."""
    right = adgen.custom_vjp(square, lambda x, out, bar: 2 * x * bar)
    wrong = adgen.custom_vjp(square, lambda x, out, bar: 3 * x * bar)
    assert adgen.grad(lambda x: right(x))(3.0) == 6.0
    assert adgen.gradcheck(lambda x: right(x), (3.0,))
    with pytest.raises(AdgenError, match="wrong at .*result 0, input 0"):
        adgen.gradcheck(lambda x: wrong(x), (3.0,))


def test_behaviour_12_custom_relu() -> None:
    """At [-2, 1, 3]."""
    relu = adgen.custom_vjp(lambda x: np.maximum(x, 0.0), lambda x, out, bar: bar * (x > 0.0))
    assert np.array_equal(adgen.grad(lambda x: np.sum(relu(x)))(np.array([-2.0, 1.0, 3.0])), [0.0, 1.0, 1.0])


def test_behaviour_13_gradcheck() -> None:
    """`x**3` at random numbers."""
    x = np.random.default_rng(0).normal(size=5)
    assert adgen.gradcheck(cube, (x,), eps=1e-6, atol=1e-4) is True


def test_behaviour_14_recorded_scope() -> None:
    """In the style of a tape: the block runs as Python, and is compiled when its gradient is asked for."""
    x = 3.0
    with adgen.record() as tape:
        y = x**2
    assert y == 9.0 and tape.gradient("y", "x") == 6.0


def test_behaviour_15_linear_regression() -> None:
    """Gradient descent in plain Python around a compiled gradient."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=100)
    y = 3.0 * x + 2.0 + 0.1 * generator.normal(size=100)

    def loss(w: Any, b: Any, x: Any, y: Any) -> Any:
        return np.mean((w * x + b - y) ** 2)

    step, w, b, losses = adgen.value_and_grad(loss, wrt=("w", "b")), 0.0, 0.0, []
    for _ in range(50):
        value, (w_bar, b_bar) = step(w, b, x, y)
        w, b = w - 0.1 * w_bar, b - 0.1 * b_bar
        losses.append(value)
    assert abs(w - 3.0) < 0.1 and abs(b - 2.0) < 0.1 and losses == sorted(losses, reverse=True)


def test_behaviour_16_jacobians() -> None:
    """Of a map from 10 to 100 numbers and of one from 100 to 10, in both modes."""
    wide = np.random.default_rng(0).normal(size=(100, 10))
    for matrix in (wide, wide.T.copy()):
        x = np.ones(matrix.shape[1])
        for operator in (adgen.jacobian, adgen.jacfwd, adgen.jacrev):
            assert np.allclose(
                operator(lambda a, x: np.sin(a @ x), wrt="x")(matrix, x), np.cos(matrix @ x)[:, None] * matrix
            )


def test_behaviour_17_higher_orders() -> None:
    """Hessians, their products, the gradient of a gradient, a third derivative."""

    def f(x: Any) -> Any:
        return np.sum(x**3)

    assert np.allclose(adgen.hessian(f)(X), np.diag(6.0 * X))
    assert np.allclose(adgen.hvp(f)(X, tangent=np.ones(3)), 6.0 * X)
    assert adgen.grad(adgen.grad(cube))(2.0) == 12.0
    assert adgen.grad(adgen.grad(adgen.grad(cube)))(2.0) == 6.0


def test_behaviour_18_vectors_of_the_user() -> None:
    """Pull-back and push-forward."""
    value, pullback = adgen.vjp(square)(X)
    assert np.array_equal(value, X**2) and np.array_equal(pullback(X), 2.0 * X * X)
    assert np.array_equal(adgen.jvp(square)(X, tangent=X)[1], 2.0 * X * X)


def test_behaviour_19_batches_in_one_loop() -> None:
    """A gradient for each item of a batch, from one call of compiled code."""
    batched = adgen.vmap(adgen.grad(lambda x: np.sum(x**3)))
    x = np.arange(6.0).reshape(3, 2)
    np.testing.assert_allclose(batched(x), 3.0 * x**2)


def test_behaviour_20_operators_inside_differentiated_functions() -> None:
    """Nested gradients of functions of different variables are not confused."""

    def f(x: Any, y: Any) -> Any:
        return x * adgen.grad(total, wrt="y")(x, y)

    assert adgen.grad(f)(3.0, 2.0) == (1.0, 0.0)


def total(x: Any, y: Any) -> Any:
    return x + y


def test_behaviour_21_several_losses() -> None:
    """Summed in one sweep, or pulled back one by one from one value."""

    def losses(x: Any) -> Any:
        shared = np.exp(x)
        return shared * 2.0, shared**2

    _, pullback = adgen.vjp(losses)(0.5)
    first, second = pullback((1.0, 0.0)), pullback((0.0, 1.0))
    assert np.isclose(first, 2.0 * np.exp(0.5)) and np.isclose(second, 2.0 * np.exp(1.0))
    assert np.isclose(pullback((1.0, 1.0)), first + second)


def test_behaviour_22_chosen_arguments() -> None:
    """The gradient of one argument alone."""
    assert adgen.grad(lambda a, b: a * b + b**2, wrt="b")(2.0, 3.0) == 8.0


def test_behaviour_23_stop_gradient() -> None:
    """The value is kept, the contribution is zero."""
    assert adgen.value_and_grad(lambda x: x * adgen.stop_gradient(x))(3.0) == (9.0, 3.0)


def test_behaviour_24_evaluation_alone() -> None:
    """The primal entry point needs no memory for derivatives."""

    def f(x: Any) -> Any:
        total = 1.0
        for i in range(len(x)):
            total = np.sin(total) * x[i]
        return total

    compiled = adgen.jit(f)
    assert np.isclose(compiled(X), f(X))
    assert not compiled.__adgen__.entry_at({"x": X}).program.workspace  # type: ignore[attr-defined]


def test_behaviour_25_custom_rules() -> None:
    """Saved values, None for arguments without a gradient, an error at definition for a wrong arity."""
    power = adgen.custom_vjp(
        lambda x, n: x**n, lambda saved, bar: (saved * bar, None), forward=lambda x, n: (x**n, n * x ** (n - 1))
    )
    assert adgen.grad(lambda x, n: power(x, n), wrt="x")(2.0, 3) == 12.0
    with pytest.raises(AdgenError, match="must take 3 arguments"):
        adgen.custom_vjp(square, lambda x: x)


def test_behaviour_26_hooks() -> None:
    """The cotangent of `x**2`, which is 3, is clipped to 1."""
    assert adgen.grad(lambda x: 3.0 * adgen.hook(x**2, lambda bar: np.clip(bar, -1.0, 1.0)))(2.0) == 4.0


def test_behaviour_27_memory_for_time() -> None:
    """Steps that are run again instead of kept: the same gradient from less memory."""

    def driven(x: Any, steps: int) -> Any:
        for _ in range(steps):
            x = np.sin(x) + 0.1 * x * x
        return x

    assert adgen.grad(driven, memory=0)(0.3, 100) == pytest.approx(adgen.grad(driven)(0.3, 100), rel=1e-12)

    def marked(x: Any, steps: int) -> Any:
        for _ in adgen.checkpoint(range(steps)):
            x = np.sin(x) + 0.1 * x * x
        return x

    assert adgen.grad(marked)(0.3, 100) == pytest.approx(adgen.grad(driven)(0.3, 100), rel=1e-12)
    before, after = adgen.explain(driven)(0.3, 100), adgen.explain(marked)(0.3, 100)
    assert after.workspace_bytes < 0.5 * before.workspace_bytes and "chunks" in after.workspace


def test_behaviour_28_in_place_update() -> None:
    """A value that the reverse sweep needs is overwritten."""

    def f(x: Any) -> Any:
        y = x * 1.0
        z = np.sum(y * y)
        y[0] = 5.0
        return z + np.sum(y)

    assert np.array_equal(adgen.grad(f)(X), [2.0, 5.0, 7.0])


def test_behaviour_29_accumulation() -> None:
    """The same step twice: fresh by default, added up when asked to."""
    gradient, out = adgen.grad(lambda x: np.sum(x**2)), np.zeros(3)
    for _ in range(2):
        assert np.array_equal(gradient(X), 2.0 * X)
        gradient(X, out=out, accumulate=True)
    assert np.array_equal(out, 4.0 * X)
    assert np.array_equal(gradient(X, out=out), 2.0 * X)


def test_behaviour_30_randomness() -> None:
    """A random call inside a compiled function is an error that says to pass it."""
    with pytest.raises(AdgenError, match="random(.|\n)*argument"):
        adgen.grad(lambda x: x * np.random.normal())(1.0)


def test_behaviour_31_why_a_gradient_is_zero() -> None:
    """The line that cuts the path and the reason; more of them are in test_explain."""

    def f(x: Any) -> Any:
        steps = np.floor(x)
        return 2.0 * steps

    (finding,) = adgen.explain(f)(2.5).gradients
    assert finding.state == "zero" and "constant between its steps" in finding.reason
    assert finding.line == f.__code__.co_firstlineno + 1


def test_behaviour_32_the_first_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """By an option or the environment: the line, the operation, its operands, in the function and in the derivative."""

    def f(x: Any) -> Any:
        return np.sum(np.sqrt(x))

    with pytest.raises(FloatingPointError, match=r"sqrt\(-1.0\) is nan, in the function\n.*\n.*np.sqrt\(x\)"):
        adgen.grad(f, trace_nan=True)(X - 2.0)
    monkeypatch.setenv("ADGEN_TRACE_NAN", "1")
    with pytest.raises(FloatingPointError, match=r"divide\(1.0, 0.0\) is inf, in the reverse sweep of sqrt\n"):
        adgen.grad(f)(X - 1.0)


def test_behaviour_33_check_against_differences() -> None:
    """A rule that is wrong in one entry is found."""
    wrong = adgen.custom_vjp(lambda x: x**2, lambda x, out, bar: 2.0 * x * bar + 0.01 * bar[0])
    assert not adgen.gradcheck(lambda x: np.sum(wrong(x)), (X,), raise_exception=False)
