"""Products of matrices on a device: by tiles, or by cuBLAS, for which a stand-in counts what it is used for."""

from __future__ import annotations

from ctypes import c_int
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.diagnostics import AdgenError
from adgen.driver import lower_function
from adgen.emit.cuda.products import SMALLEST
from adgen.passes.pipeline import for_device, simplify
from adgen.runtime.devices import cublas
from adgen.runtime.signatures import describe_arguments
from adgen.toolchain.cublas import installed, library_for
from adgen.toolchain.nvcc import Nvcc
from adgen.toolchain.target import Target
from tests.emulated import Emulated
from tests.runtime.device_arrays import Interface

R = np.random.default_rng(7)
A, B, WIDE = R.normal(size=(41, 67)), R.normal(size=(67, 35)), R.normal(size=(35, 67))
USED = "ADGEN_CUBLAS"


def plain(a, b):
    return a @ b


def left_across(a, b):
    return a.T @ b


def right_across(a, b):
    return a @ b.T


def both_across(a, b):
    return a.T @ b.T


def bent(a, b):
    return np.sum(np.tanh(a @ b))


def of_parts(a, b):
    c = np.ones((a.shape[0], b.shape[1]))
    c[1:, 2:] += 0.5 * (a[1:, 3:] @ b[3:, 2:])
    return c


CASES = [
    (plain, (A, B)),
    (left_across, (A.T.copy(), B)),
    (right_across, (A, WIDE)),
    (both_across, (A.T.copy(), WIDE)),
    (of_parts, (A, B)),
    (plain, (A.astype(np.float32), B.astype(np.float32))),
]


@pytest.fixture(scope="module", params=["off", "on"])
def module(request: pytest.FixtureRequest) -> Emulated:
    """All cases, without and with the library."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(USED, request.param)
        functions = []
        for number, (program, given) in enumerate(CASES):
            specs = describe_arguments(dict(zip("ab", given, strict=True)))
            function = for_device(simplify(lower_function(program, specs).function))
            functions.append(function.__class__(f"f{number}", function.body, function.result_names, function.span))
        made = Emulated(functions)
    return made


@pytest.mark.parametrize("number", range(len(CASES)))
def test_products(number: int, module: Emulated, request: pytest.FixtureRequest) -> None:
    """Those of NumPy, with a handle and without; the library is used where there is one, and left alone afterwards."""
    program, given = CASES[number]
    handle = module.ffi.new("int *")
    for one in (handle, module.ffi.NULL):
        module.lib.adgen_cublas_use(one)
        failure, (found,) = module.call(f"f{number}", given)
        assert failure is None
        tolerance = 1e-4 if found.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(found, program(*given), rtol=tolerance, atol=tolerance)
    assert handle[0] == int(request.node.callspec.params["module"] == "on")


def test_small_products_are_tiles(module: Emulated) -> None:
    """A call of the library would cost more."""
    handle = module.ffi.new("int *")
    module.lib.adgen_cublas_use(handle)
    small = np.ones((31, 32)), np.ones((32, 32))
    assert 31 * 32 * 32 < SMALLEST
    _, (found,) = module.call("f0", small)
    module.lib.adgen_cublas_use(module.ffi.NULL)
    assert handle[0] == 0 and np.all(found == 32.0)


def test_calls_from_python(monkeypatch: pytest.MonkeyPatch, fresh_cache: Path) -> None:
    """Calls with arrays of a device have a handle of their thread; deterministic code does not use the library."""
    monkeypatch.setenv(USED, "on")
    monkeypatch.setattr(cublas, "_handles", cublas._Handles())
    with adgen.target("cuda-emulated"):
        usual = adgen.grad(bent, wrt="a")
    with adgen.target("cuda-emulated", deterministic=True):
        same = adgen.grad(bent, wrt="a")
    expected = adgen.grad(bent, wrt="a")(A, B)
    found = usual(Interface(A), Interface(B)).to_host()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    ((_, handle),) = cublas._handles.made.values()
    used = c_int.from_address(handle).value
    assert used == 2  # the product, and its adjoint for a
    np.testing.assert_allclose(same(Interface(A), Interface(B)).to_host(), expected, rtol=1e-11, atol=1e-12)
    usual(A, B)  # of NumPy: copied, and computed by tiles
    assert c_int.from_address(handle).value == used


def test_where_it_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside nvcc, of its version; not for text without products, nor for the same bits in every run."""
    monkeypatch.delenv(USED, raising=False)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "nvcc").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "nvcc").chmod(0o755)
    nvcc = Nvcc((str(tmp_path / "bin" / "nvcc"),), "13.0.88", ("sm_80",))
    assert installed(nvcc) is None or "nvidia" in str(installed(nvcc))
    for name in ("lib64/libcublas.so.12", "targets/any/lib/libcublas.so.13"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    library = tmp_path / "targets" / "any" / "lib" / "libcublas.so.13"
    assert installed(nvcc) == library
    monkeypatch.setattr("adgen.toolchain.cublas.find_nvcc", lambda: nvcc)
    told: Any = library_for("#ifdef ADGEN_CUBLAS", Target("cuda"))
    assert told.compile == ("-DADGEN_CUBLAS",) and told.link[1] == str(library)
    assert not library_for("no products", Target("cuda")).compile
    assert not library_for("#ifdef ADGEN_CUBLAS", Target("cuda", None, True)).compile
    assert not library_for("#ifdef ADGEN_CUBLAS", Target("cuda-emulated")).compile
    monkeypatch.setenv(USED, "perhaps")
    with pytest.raises(AdgenError, match="which is no choice"):
        library_for("#ifdef ADGEN_CUBLAS", Target("cuda"))
