"""Calling compiled code: conversion, memory, errors, threads; the C here is written by hand."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError, Span
from adgen.frontend.specs import ArraySpec, Leaf, OutputConstant, OutputLeaf, OutputStruct, ScalarSpec, StaticSpec
from adgen.ir.types import F32, F64, I64, Buffer
from adgen.runtime.calls import Entry, direct_call
from adgen.runtime.programs import Program
from adgen.runtime.trees import container, named_tuple

pytestmark = pytest.mark.quick

DECLARATIONS = """
int scale(double a, double *x, int64_t x_n0, double *total, void *work, int64_t *detail);
void scale_sizes(double a, const double *x, int64_t x_n0, int64_t *sizes);
int outer(const double *x, int64_t x_n0, int64_t k, double *y, float *first, void *work, int64_t *detail);
void outer_sizes(const double *x, int64_t x_n0, int64_t k, int64_t *sizes);
"""
SOURCE = """
#include <stdint.h>
int scale(double a, double *x, int64_t n, double *total, void *work, int64_t *detail) {
    double *copy = work;
    if (n == 0) { detail[0] = n; detail[1] = 7; return 1; }
    *total = 0.0;
    for (int64_t i = 0; i < n; i++) copy[i] = a * x[i];
    for (int64_t i = 0; i < n; i++) { x[i] = copy[i]; *total += copy[i]; }
    return 0;
}
void scale_sizes(double a, const double *x, int64_t n, int64_t *sizes) { sizes[0] = n * 8; }
int outer(const double *x, int64_t n, int64_t k, double *y, float *first, void *work, int64_t *detail) {
    for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < k; j++) y[i * k + j] = x[i] * (double)j;
    *first = n ? (float)x[0] : 0.0f;
    return 0;
}
void outer_sizes(const double *x, int64_t n, int64_t k, int64_t *sizes) { sizes[0] = 0; sizes[1] = n; sizes[2] = k; }
"""
VECTOR = ArraySpec(F64, 1)
SITE = SimpleNamespace(exception="IndexError", message="index {0} of {1}", span=Span("user.py", 3))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    cffi = pytest.importorskip("cffi")
    builder = cffi.FFI()
    builder.cdef(DECLARATIONS)
    builder.set_source("_calls_by_hand", SOURCE)
    path = builder.compile(tmpdir=str(tmp_path_factory.mktemp("calls")))
    spec = importlib.util.spec_from_file_location("_calls_by_hand", Path(path))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module


@pytest.fixture
def scale(library: Any) -> Entry:
    program = Program(
        "scale", "scale", (F64, Buffer(F64, 1)), (F64,), (Leaf(("a",), ScalarSpec(F64)), Leaf(("x",), VECTOR)),
        OutputLeaf(0, F64), (1,), (1,), (SITE,),
    )  # fmt: skip
    return Entry(program, library)


@pytest.fixture
def outer(library: Any) -> Entry:
    output = OutputStruct(
        dict, (("y", OutputLeaf(0, F64, 2)), ("rest", container(tuple, [OutputLeaf(1, F32), OutputConstant("end")])))
    )
    program = Program(
        "outer", "outer", (Buffer(F64, 1), I64), (Buffer(F64, 2), F32),
        (Leaf(("x",), VECTOR), Leaf(("k",), ScalarSpec(I64))), output, (), (), (),
    )  # fmt: skip
    return Entry(program, library)


def test_results_have_their_structure(outer: Entry) -> None:
    """Dicts, tuples, constants, NumPy scalars and fresh arrays."""
    result = outer({"x": np.array([1.0, 2.0]), "k": 3})
    assert np.array_equal(result["y"], np.outer([1.0, 2.0], [0, 1, 2]))
    assert result["rest"] == (np.float32(1.0), "end") and type(result["rest"][0]) is np.float32


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0)[::2],
        np.array([0, 2, 4], np.int32).astype(">f8"),
        np.arange(6.0).reshape(3, 2)[:, 0],
        np.frombuffer(b"\0" + np.array([0.0, 2.0, 4.0]).tobytes(), "u1")[1:].view("f8"),
    ],
    ids=["strided", "big-endian", "column", "unaligned"],
)
def test_layouts(outer: Entry, array: np.ndarray) -> None:
    """Arrays of any layout are read right."""
    assert np.array_equal(outer({"x": array, "k": 2})["y"][:, 1], [0.0, 2.0, 4.0])


def test_empty_arrays(outer: Entry) -> None:
    """Extents of zero are fine."""
    assert outer({"x": np.zeros(0), "k": 2})["y"].shape == (0, 2)


def test_writes_reach_the_caller(scale: Entry) -> None:
    """A contiguous array is written itself, another through a copy."""
    direct, strided = np.ones(3), np.ones(6)
    assert scale({"a": 2.0, "x": direct}) == scale({"a": 2.0, "x": strided[::2]}) == 6.0
    assert np.array_equal(direct, [2.0] * 3) and np.array_equal(strided, [2.0, 1.0] * 3)


def test_failed_checks_are_python_exceptions(scale: Entry) -> None:
    """The exception is an AdgenError and an IndexError, with details and the line."""
    with pytest.raises(IndexError, match="index 0 of 7") as caught:
        scale({"a": 2.0, "x": np.zeros(0)})
    assert isinstance(caught.value, AdgenError) and caught.value.lineno == 3


def test_read_only_arrays(scale: Entry, outer: Entry) -> None:
    """They can be read, and are refused where the function writes."""
    array = np.ones(3)
    array.flags.writeable = False
    outer({"x": array, "k": 1})
    with pytest.raises(AdgenError, match="`x`, which is read-only"):
        scale({"a": 2.0, "x": array})


def test_direct_calls_check_what_types_do_not_tell(outer: Entry) -> None:
    """Another dtype, rank or layout, or a huge integer, goes the slow way."""
    slow: list[Any] = []
    arguments = {"x": np.ones(2), "k": 2}
    specs = {"x": VECTOR, "k": ScalarSpec(I64)}
    call = direct_call(outer, specs, arguments, [True, True], lambda *args: slow.append(args))
    assert call is not None
    assert call(np.ones(2), 2)["y"].shape == (2, 2) and not slow
    for args in [(np.ones(2, "f4"), 2), (np.ones((2, 1)), 2), (np.ones(4)[::2], 2), (np.ones(2), 2**70)]:
        call(*args)
        assert slow.pop()[1] == args[1]


def test_defaults_are_fixed_in_direct_calls(outer: Entry) -> None:
    """A parameter that is not given keeps the value that its default had."""
    specs = {"x": VECTOR, "k": ScalarSpec(I64)}
    call = direct_call(outer, specs, {"x": np.ones(2), "k": 4}, [True, False], lambda *args: None)
    assert call is not None and call(np.ones(2), None)["y"].shape == (2, 4)


def test_threads(scale: Entry) -> None:
    """Calls from many threads at a time do not share memory."""
    wrong: list[float] = []

    def work(number: float) -> None:
        for _ in range(200):
            total = scale({"a": number, "x": np.ones(500)})
            if total != 500 * number:
                wrong.append(total)

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_named_results() -> None:
    """The NamedTuple of some names is one type, and odd names do not break it."""
    assert named_tuple(("a", "b")) is named_tuple(("a", "b"))
    assert named_tuple(("_hidden", "b"))(1, 2).b == 2
    hidden = named_tuple(("_hidden", "b", "_fields"))(1, 2, 3)
    assert hidden._hidden == 1 and hidden[2] == 3 and hidden._fields == ("_hidden", "b", "_fields")
    assert repr(hidden) == "Gradient(_hidden=1, b=2, _fields=3)"


def test_parameters_that_start_with_an_underscore() -> None:
    """The gradient has their names, and a tangent may be given by them."""

    def f(_a_: float, b: float) -> float:
        return _a_ * _a_ * b

    gradient = adgen.grad(f)(3.0, 2.0)
    assert gradient._a_ == 12.0 and gradient.b == 9.0
    assert adgen.jvp(f)(3.0, 2.0, tangent={"_a_": 1.0, "b": 0.0}) == (18.0, 12.0)
    assert adgen.jvp(f)(3.0, 2.0, tangent=gradient) == (18.0, 225.0)


def test_options_are_checked_in_direct_calls(outer: Entry) -> None:
    """Another value of an option goes the slow way."""
    slow: list[Any] = []
    specs = {"kind": StaticSpec("sum"), "x": VECTOR, "g": StaticSpec(None), "k": ScalarSpec(I64), "h": StaticSpec(len)}
    arguments = {"kind": "sum", "x": np.ones(2), "g": None, "k": 4, "h": len}
    call = direct_call(outer, specs, arguments, [True] * 5, lambda *args: slow.append(args))
    assert call is not None and call("sum", np.ones(2), None, 4, len)["y"].shape == (2, 4)
    call("mean", np.ones(2), None, 4, len)
    call("sum", np.ones(2), None, 4, max)
    assert [args[0] for args in slow] == ["mean", "sum"]
