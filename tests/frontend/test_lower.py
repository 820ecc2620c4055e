"""The contract of `lower`: leaves, outputs, mutated arguments, inferred specs, dependencies, the shape of the IR."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.frontend.lower import lower
from adgen.frontend.specs import (
    ArraySpec,
    OutputConstant,
    OutputLeaf,
    OutputStruct,
    ScalarSpec,
    StaticSpec,
    StructSpec,
    UnknownSpec,
    output_leaves,
)
from adgen.ir.nodes import walk
from adgen.ir.types import F32, F64, I64
from tests.frontend import harness

SCALE = 2.0
OFFSETS = np.array([1.0, 2.0])
Pair = namedtuple("Pair", "first second")


@dataclass
class Parameters:
    k: float
    w: np.ndarray


def rows(function: Any) -> dict[str, int]:
    """How often each row occurs in a function."""
    found: dict[str, int] = {}
    for operation in walk(function.body):
        found[operation.row.name] = found.get(operation.row.name, 0) + 1
    return found


def helper(x):
    return SCALE * x


def uses_helper(x):
    return helper(x) + np.sum(OFFSETS)


class TestArguments:
    """Specs are taken apart into leaves, one IR parameter each."""

    def test_structures_become_leaves(self) -> None:
        def f(p, q):
            return p["a"][0] * p["b"] + np.sum(q.w) * q.k

        p = StructSpec(dict, (("a", ArraySpec(F64, 1)), ("b", ScalarSpec())))
        q = StructSpec(Parameters, (("k", ScalarSpec()), ("w", ArraySpec(F64, 2))))
        result = lower(f, {"p": p, "q": q})
        assert [leaf.path for leaf in result.leaves] == [("p", "a"), ("p", "b"), ("q", "k"), ("q", "w")]
        assert [str(value.type) for value in result.function.parameters] == ["f64[:]", "f64", "f64", "f64[:,:]"]
        assert [value.name for value in result.function.parameters] == ["p_a", "p_b", "q_k", "q_w"]

    def test_defaults_and_static_values_are_compiled_in(self) -> None:
        def f(x, n=3, *, how="square"):
            return x * n if how == "scale" else x**2

        assert len(lower(f, {"x": ScalarSpec()}).leaves) == 1
        scaled = lower(f, {"x": ScalarSpec(), "how": StaticSpec("scale")})
        assert rows(scaled.function)["mul"] == 1

    def test_fixed_extents_are_checked(self) -> None:
        def f(x):
            return np.sum(x)

        assert rows(lower(f, {"x": ArraySpec(F64, 1, (3,))}).function)["check"] == 1
        assert "check" not in rows(lower(f, {"x": ArraySpec(F64, 1, ("n",))}).function)

    def test_variable_arguments(self) -> None:
        def f(*values, **named):
            return sum(values) + named["extra"]

        values = StructSpec(tuple, ((0, ScalarSpec()), (1, ScalarSpec())))
        named = StructSpec(dict, (("extra", ScalarSpec()),))
        assert len(lower(f, {"values": values, "named": named}).leaves) == 3

    def test_unknown_parameter_is_refused(self) -> None:
        with pytest.raises(AdgenError, match=r"AD103.*`z`"):
            lower(helper, {"z": ScalarSpec()})

    def test_float32_is_kept(self) -> None:
        def f(x, a):
            return a * x + 1

        result = lower(f, {"x": ArraySpec(F32, 1), "a": ScalarSpec()})
        assert [str(value.type) for value in result.function.results] == ["f32[:]"]


class TestOutputs:
    """The return value is a tree whose leaves are results."""

    def test_tree(self) -> None:
        def f(x, v):
            return {"loss": x, "parts": Pair(v * 2.0, "text"), "count": 3}

        result = lower(f, {"x": ScalarSpec(), "v": ArraySpec(F64, 1)})
        tree = result.output
        assert isinstance(tree, OutputStruct) and tree.kind is dict
        pair = dict(tree.items)["parts"]
        assert isinstance(pair, OutputStruct) and pair.kind is Pair
        assert isinstance(dict(pair.items)[1], OutputConstant)
        assert [leaf.rank for leaf in output_leaves(tree)] == [None, 1]
        assert result.function.result_names == ("out_loss", "out_parts_0")

    def test_arrays_are_fresh_buffers(self) -> None:
        def f(v):
            w = v * 2.0
            return v, w, w

        result = lower(f, {"v": ArraySpec(F64, 1)})
        tops = {value for operation in result.function.body.operations for value in operation.results}
        assert len(set(result.function.results)) == 3 and set(result.function.results) <= tops

    def test_mutated_arguments(self) -> None:
        def f(a, b, c):
            b[0] = a[0]
            c[1:] *= 2.0

        array = ArraySpec(F64, 1)
        result = lower(f, {"a": array, "b": array, "c": array})
        assert result.mutated == (1, 2)
        assert isinstance(result.output, OutputConstant) and result.output.value is None

    def test_result_names_do_not_clash(self) -> None:
        def f(out):
            return out * 2.0

        assert lower(f, {"out": ScalarSpec()}).function.result_names == ("out_",)


class TestTargets:
    """What can be lowered: functions, methods, instances, wrapped and partial functions."""

    def test_method_and_instance(self) -> None:
        class Model:
            def __init__(self, k):
                self.k = k

            def __call__(self, x):
                return self.k * x

            def twice(self, x):
                return 2.0 * self(x)

        assert len(lower(Model(3.0), {"x": ScalarSpec()}).leaves) == 1
        assert len(lower(Model(3.0).twice, {"x": ScalarSpec()}).leaves) == 1

    def test_lambda_partial_and_cached(self) -> None:
        @functools.lru_cache
        def cached(x):
            return x * x

        two, other = (lambda x: x + 1.0), (lambda x: x * 3.0)
        assert rows(lower(two, {}).function)["add"] == 1
        assert rows(lower(other, {}).function)["mul"] == 1
        assert rows(lower(cached, {}).function)["mul"] == 1
        assert len(lower(functools.partial(lambda a, b: a * b, 2.0), {"b": ScalarSpec()}).leaves) == 1

    def test_compiled_dispatcher(self) -> None:
        class Dispatcher:
            def __init__(self, py_func):
                self.py_func = py_func
                self.__name__ = py_func.__name__
                self.__wrapped__ = py_func

            def __call__(self, *args):
                raise AssertionError("never called")

        def f(x):
            return fast(x) * 2.0

        fast = Dispatcher(helper)
        assert rows(lower(f, {}).function)["mul"] >= 1
        assert len(lower(fast, {}).leaves) == 1

    @pytest.mark.parametrize("target", [math.hypot, len, int, np.sin])
    def test_no_source(self, target: Any) -> None:
        with pytest.raises(AdgenError, match="no source for"):
            lower(target, {})

    def test_lambdas_on_one_line(self) -> None:
        functions = [lambda x: x + 1.0, lambda x: x * 2.0]
        assert [sorted(rows(lower(f, {}).function)) for f in functions] == [["add", "const"], ["const", "mul"]]


class TestInference:
    """Parameters that nobody described get their types from use."""

    @pytest.mark.parametrize(
        ("function", "specs"),
        [
            (lambda x: x * 2.0, "x: f64"),
            (lambda x, n: sum(x[i] for i in range(n)), "x: f64[:], n: i64"),
            (lambda m: m[0, 1] + m[0][0], "m: f64[:,:]"),
            (lambda m: m[0][0], "m: f64[:,:]"),
            (lambda x, k: x[k] * x.shape[0], "x: f64[:], k: i64"),
            (lambda x, idx: x[idx[0]], "x: f64[:], idx: i64[:]"),
            (lambda x: x.shape[2] * 1.0, "x: f64[:,:,:]"),
            (lambda x: len(x) * 1.0, "x: f64[:]"),
            (lambda a, w: (a @ w) @ w, "a: f64[:,:], w: f64[:]"),
            (lambda ms, v: np.sum(ms[0] @ v), "ms: f64[:,:,:], v: f64[:]"),
            (lambda x: np.einsum("ij,j->i", x, x[0]), "x: f64[:,:]"),
            (lambda x, t: np.cross(x, t), "x: f64[:], t: f64[:]"),
            (lambda n, x: np.zeros(n) * x, "n: i64, x: f64"),
            (lambda x: [v * v for v in x][0], "x: f64[:]"),
        ],
    )
    def test_from_use(self, function: Any, specs: str) -> None:
        found = lower(function, {}).specs
        assert ", ".join(f"{name}: {spec}" for name, spec in found.items()) == specs

    def test_unpacked_shape(self) -> None:
        def f(x):
            n, d = x.shape
            return n * d * 1.0

        assert str(lower(f, {}).specs["x"]) == "f64[:,:]"

    def test_row_stored_into_element_raises_the_rank(self) -> None:
        def f(x):
            y = np.zeros((2, 3))
            h = x.copy()
            for i in range(2):
                h[i] = y[i] + h[i]
            return np.sum(h)

        assert str(lower(f, {}).specs["x"]) == "f64[:,:]"

    def test_given_specs_are_kept(self) -> None:
        def f(x, y):
            return x[0] * y

        found = lower(f, {"x": UnknownSpec(), "y": ScalarSpec(I64)}).specs
        assert (str(found["x"]), str(found["y"])) == ("f64[:]", "i64")

    def test_failure_is_the_users_mistake(self) -> None:
        with pytest.raises(AdgenError) as caught:
            lower(lambda x: undefined_name * x, {})  # noqa: F821
        assert caught.value.code == "AD401"


class TestDependencies:
    """Everything from outside that the result depends on is noted and can be checked again."""

    def test_routes(self) -> None:
        found = {str(dependency) for dependency in lower(uses_helper, {}).dependencies}
        assert {"helper", "helper.SCALE", "OFFSETS"} <= found

    def test_change_is_noticed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        dependencies = lower(uses_helper, {}).dependencies
        assert all(dependency.current() for dependency in dependencies)
        monkeypatch.setitem(globals(), "SCALE", 3.0)
        stale = [str(dependency) for dependency in dependencies if not dependency.current()]
        assert stale == ["helper.SCALE"]

    def test_cells(self) -> None:
        def make(k):
            return lambda x: k * x

        first, second = make(2.0), make(3.0)
        (dependency,) = lower(first, {}).dependencies
        assert dependency.current() and not dependency.current(second)


class TestShapeOfTheIR:
    """Loops stay loops, checks stay checks, and nothing is carried that nobody reads."""

    def test_range_with_constant_bounds_is_not_unrolled(self) -> None:
        def f(x):
            for _ in range(1000000):
                x = x * 0.5
            return x

        found = lower(f, {})
        assert rows(found.function)["for"] == 1 and sum(rows(found.function).values()) < 10

    def test_guard_is_a_check(self) -> None:
        def f(x):
            if x < 0.0:
                raise ValueError("negative")
            return math.sqrt(x)

        found = rows(lower(f, {}).function)
        assert found["check"] == 1 and "if" not in found

    def test_choice_between_values_is_a_selection(self) -> None:
        def f(x, y):
            best = x
            if y > best:
                best = y
            return best

        found = rows(lower(f, {}).function)
        assert found["select"] == 1 and "if" not in found

    def test_untaken_branch_is_not_computed(self) -> None:
        def f(x):
            return math.sin(x) / x if x != 0.0 else 1.0

        found = rows(lower(f, {}).function)
        assert found["if"] == 1 and "select" not in found

    def test_temporaries_are_not_carried(self) -> None:
        def f(x, n):
            total = 0.0
            for i in range(n):
                t = x * i
                u = t * t
                total += u
            return total

        (loop,) = (op for op in walk(lower(f, {}).function.body) if op.row.name == "for")
        assert len(loop.results) == 1

    def test_break_ends_the_loop(self) -> None:
        def f(x, n):
            for _ in range(n):
                if x > 10.0:
                    break
                x = x * 2.0
            return x

        (loop,) = (op for op in walk(lower(f, {}).function.body) if op.row.name == "for")
        assert loop.attributes["exit"] is True and len(loop.results) == 1

    def test_user_names_and_lines(self) -> None:
        def f(x):
            area = x * x
            return area + 1.0

        function = lower(f, {}).function
        first = function.body.operations[0]
        assert first.result.name == "area"
        assert first.span is not None and first.span.text.strip() == "area = x * x"

    def test_same_input_same_text(self) -> None:
        texts = {
            str(harness.lowered_for(f, harness.samples(f)).function) for f in harness.corpus("memory")[:5] for _ in "ab"
        }
        assert len(texts) == 5

    def test_size_is_linear_in_the_program(self) -> None:
        lines = ["def f(a0):"] + [f"    a{k + 1} = a{k} * 0.5 + {k}.0" for k in range(2000)] + ["    return a2000"]
        namespace: dict[str, Any] = {}
        source = "\n".join(lines)
        import linecache

        linecache.cache["<generated>"] = (len(source), None, [line + "\n" for line in lines], "<generated>")
        exec(compile(source, "<generated>", "exec"), namespace)
        assert sum(rows(lower(namespace["f"], {}).function).values()) < 7000

    def test_leaf_output_of_scalars(self) -> None:
        found = lower(lambda x: x, {"x": ScalarSpec(F64, False)}).output
        assert found == OutputLeaf(0, F64, None, False)
