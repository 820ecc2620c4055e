"""nvcc: how it is found, what it is told, what it says; a script stands in for it where none is needed."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.emit.cuda import emit_cuda
from adgen.ir.builder import Builder
from adgen.ir.nodes import Function, Value
from adgen.ir.types import F64
from adgen.toolchain import cuda_devices, load, nvcc
from adgen.toolchain.cuda_devices import Device, devices
from adgen.toolchain.device import build_device
from adgen.toolchain.nvcc import architectures, build_cuda, find_nvcc
from adgen.toolchain.ptxas import Usage, blocks_of, plain, resident, usages
from adgen.toolchain.target import Target

pytestmark = pytest.mark.quick

REAL = shutil.which("nvcc")
needs_nvcc = pytest.mark.skipif(REAL is None, reason="nvcc is not installed")

# Knows sm_75 to sm_90; a compile writes down what it was told.
FAKE = """\
#!/bin/sh
case "$1" in
--version) echo "Cuda compilation tools, release 12.4, V12.4.131" ;;
--list-gpu-code) printf 'sm_75\\nsm_90\\nsm_80\\n' ;;
*)
    if grep -q fault *.cu; then
        echo "ptxas info    : Used 10 registers"
        echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"
        echo "m.cu(1): error: a fault"
        exit 2
    fi
    while [ $# -gt 0 ]; do
        if [ "$1" = -o ]; then out="$2"; fi
        echo "$1" >> told.txt
        shift
    done
    echo library > "$out"
    echo "ptxas info    : Compiling entry function '_Z6heat_0PKdPd' for 'sm_80'"
    echo "ptxas info    : Used 38 registers, used 1 barriers, 2048 bytes smem"
    ;;
esac
"""
SMI = "#!/bin/sh\nprintf '{}'\n"

PRINTED = """\
ptxas info    : 272 bytes gmem, 16 bytes cmem[4]
ptxas info    : Compiling entry function '_ZN35_GLOBAL__N__106e5f79_7_heat_cu_heat6heat_0EPKdPdl' for 'sm_80'
ptxas info    : Function properties for _ZN35_GLOBAL__N__106e5f79_7_heat_cu_heat6heat_0EPKdPdl
    40 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 56 bytes cumulative stack size, 2048 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 50.823 ms
ptxas info    : Function properties for __internal_trig_reduction_slowpathd
    16 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Compiling entry function 'heat_1' for 'sm_90'
ptxas info    : Function properties for heat_1
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 368 bytes cmem[0]
"""


@pytest.fixture(autouse=True)
def nothing_known(fresh_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No nvcc by name, and nothing known of one from before."""
    nvcc._find.cache_clear()
    cuda_devices._devices.cache_clear()
    for name in ("NVCC", "CUDA_HOME", *nvcc.ENVIRONMENT):
        monkeypatch.delenv(name, raising=False)


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that `$NVCC` names, on a machine without a device."""
    found = script(tmp_path / "fake" / "nvcc", FAKE)
    script(found.parent / "nvidia-smi", "#!/bin/sh\nexit 9\n")
    monkeypatch.setenv("NVCC", str(found))
    monkeypatch.setenv("PATH", f"{found.parent}:/usr/bin:/bin")
    return found


def give_devices(fake: Path, table: str) -> None:
    script(fake.parent / "nvidia-smi", SMI.format(table.replace("\n", "\\n")))
    cuda_devices._devices.cache_clear()


def test_the_one_that_the_environment_names(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its options are passed on; a name that is no nvcc is an error that names it, not a silent other choice."""
    assert find_nvcc().command == (str(fake),)
    monkeypatch.setenv("NVCC", f"{fake} -ccbin g++")
    script(fake, FAKE.replace("$1", "$3", 1))  # what it is asked comes after its options
    assert find_nvcc().command == (str(fake), "-ccbin", "g++")
    for wrong in ("/nonexistent/nvcc", "false", 'nvcc "', "true"):
        monkeypatch.setenv("NVCC", wrong)
        with pytest.raises(AdgenError) as raised:
            find_nvcc()
        assert raised.value.code == "AD507" and wrong in raised.value.message


def test_where_it_is_looked_for(fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the path first, then in CUDA_HOME; one that does not work is passed over."""
    monkeypatch.delenv("NVCC")
    home = script(tmp_path / "home" / "bin" / "nvcc", FAKE)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    assert find_nvcc().command == (str(fake),)
    script(fake, "#!/bin/sh\nexit 1\n")
    nvcc._find.cache_clear()
    assert find_nvcc().command == (str(home),)


def test_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install."""
    monkeypatch.setattr(nvcc, "_usual", lambda home: iter(()))
    with pytest.raises(AdgenError) as raised:
        build_cuda("", "", "m.cuh", ("sm_80",))
    assert raised.value.code == "AD507" and "apt install nvidia-cuda-toolkit" in str(raised.value)


def test_it_is_asked_only_once(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was found out about it is in the cache folder, until the file is another."""
    first = find_nvcc()
    assert first == nvcc.Nvcc((str(fake),), "12.4.131", ("sm_75", "sm_80", "sm_90"))
    nvcc._find.cache_clear()
    with monkeypatch.context() as inner:
        inner.setattr(subprocess, "run", lambda *arguments, **options: pytest.fail("a process was started"))
        assert find_nvcc() == first
    script(fake, FAKE.replace("V12.4.131", "V12.6.77"))
    nvcc._find.cache_clear()
    assert find_nvcc().version == "12.6.77"


def test_architectures_by_name(fake: Path) -> None:
    """Those that nvcc knows; anything else is an error that says how to name them."""
    assert architectures("sm_80, sm_90,sm_80,compute_90") == ("sm_80", "sm_90", "compute_90")
    for wrong, said in (
        ("sm80", "sm_80,sm_90"),
        ("", "sm_80,sm_90"),
        ("sm_80,", "sm_80,sm_90"),
        ("sm_100", "sm_75, sm_80, sm_90"),
        ("compute_70", "nvcc 12.4.131"),
    ):
        with pytest.raises(AdgenError) as raised:
            architectures(wrong)
        assert raised.value.code == "AD509" and said in str(raised.value)


def test_architectures_of_this_machine(fake: Path) -> None:
    """What is present, each once; PTX for a device newer than nvcc; an error where nvcc is too new for all."""
    give_devices(fake, "NVIDIA A100, 8.0, 40960\nNVIDIA A100, 8.0, 40960\nNVIDIA H100, 9.0, 81559\n")
    assert architectures(None) == ("sm_80", "sm_90")
    give_devices(fake, "NVIDIA B200, 10.0, 183359\nTesla V100, 7.0, 16384\n")
    assert architectures(None) == ("compute_90",)
    give_devices(fake, "Tesla V100, 7.0, 16384\n")
    with pytest.raises(AdgenError, match=r"no code for the device: Tesla V100 \(sm_70\)"):
        architectures(None)


def test_architectures_without_a_device(fake: Path) -> None:
    """The usual ones that nvcc knows and PTX of the newest."""
    assert architectures(None) == ("sm_80", "sm_90", "compute_90")
    script(fake, FAKE.replace("sm_90", "sm_86"))
    nvcc._find.cache_clear()
    assert architectures(None) == ("sm_80", "compute_80")


def test_what_a_driver_may_say(fake: Path) -> None:
    """Names with commas, and drivers that do not know what they are asked."""
    give_devices(fake, "GPU, large, 8.9, 24564\n")
    assert devices() == (Device("GPU, large", "8.9", "24564"),)
    for table in ("", "No devices were found\n", "GRID, [N/A], 100\n"):
        give_devices(fake, table)
        assert devices() == ()


def test_what_it_is_told(fake: Path) -> None:
    """Warnings are errors, nothing is contracted, all architectures at once; the log is read each time."""
    library, found = build_cuda("code", "header", "m.cuh", ("sm_80", "compute_90"), ("-lcublas",))
    told = (library.parent / "told.txt").read_text().split()
    assert told[-5:] == ["-shared", "m.cu", "-o", library.name, "-lcublas"]
    assert "arch=compute_80,code=sm_80" in told and "arch=compute_90,code=compute_90" in told
    assert {"--fmad=false", "all-warnings", "-std=c++17", "--threads"} < set(told)
    assert found == (Usage("heat_0", "sm_80", 38, 0, 2048, 0),)
    assert (library.parent / "m.cu").read_text() == "code" and (library.parent / "m.cuh").read_text() == "header"
    fake.write_text(FAKE + "# touched\n")  # never run again: the process knows it, and the library is there
    assert build_cuda("code", "header", "m.cuh", ("sm_80", "compute_90"), ("-lcublas",)) == (library, found)
    assert len((library.parent / "told.txt").read_text().split()) == len(told)


def test_the_key(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text, header, architectures, libraries and what nvcc reads from the environment."""
    calls = [
        ("code", "header", "m.cuh", ("sm_80",)),
        ("other", "header", "m.cuh", ("sm_80",)),
        ("code", "other", "m.cuh", ("sm_80",)),
        ("code", "header", "m.cuh", ("sm_90",)),
        ("code", "header", "m.cuh", ("sm_80",), ("-lcublas",)),
    ]
    paths = {build_cuda(*call)[0] for call in calls}
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-lineinfo")
    paths.add(build_cuda(*calls[0])[0])
    assert len(paths) == len(calls) + 1


def test_what_it_says_is_in_the_error(fake: Path, fresh_cache: Path) -> None:
    """Without what the assembler reports; and the cache is empty."""
    with pytest.raises(AdgenError) as raised:
        build_cuda("fault", "", "m.cuh", ("sm_80",))
    assert raised.value.code == "AD508" and raised.value.message.endswith("failed:\nm.cu(1): error: a fault")
    assert not [path for path in (fresh_cache / "cuda").iterdir() if not path.name.startswith(".")]


def test_usages() -> None:
    """Each kernel, with the stack of what it calls; what is called is no kernel."""
    assert usages(PRINTED) == (Usage("heat_0", "sm_80", 38, 32, 2048, 56), Usage("heat_1", "sm_90", 10, 0, 0, 8))
    assert usages("nothing of the kind\n") == ()


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("heat", "heat"),
        ("_Z6heat_0PKdPd", "heat_0"),
        ("_ZL6heat_0PKdPd", "heat_0"),
        ("_ZN5adgen4heat8kernel_0EPKdPd", "kernel_0"),
        ("_Z2kkILi3EEvPd", "kk"),
        ("_private", "_private"),
    ],
)
def test_names(symbol: str, name: str) -> None:
    """A kernel is called what it is called in the text."""
    assert plain(symbol) == name


CUDA = dedent("""\
    #include "m.cuh"

    static __global__ void __launch_bounds__(256)
    square_0(const double *__restrict__ x, double *__restrict__ y, int64_t n)
    {
        const int64_t first = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
        for (int64_t i = first; i < n; i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
            y[i] = x[i] * x[i] - y[i] * y[i];
        }
    }

    extern "C" int square(const double *x, double *y, int64_t n, cudaStream_t stream)
    {
        square_0<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(x, y, n);
        return static_cast<int>(cudaGetLastError());
    }
    """)
HEADER = """\
#include <cstdint>
#include <cuda_runtime.h>
extern "C" int square(const double *x, double *y, int64_t n, cudaStream_t stream);
"""


@needs_nvcc
def test_a_real_compile() -> None:
    """A library that loads where there is no device, without a warning, and its kernels for both architectures."""
    found = find_nvcc()
    archs = (found.architectures[0], found.architectures[1])
    library, used = build_cuda(CUDA, HEADER, "m.cuh", archs)
    assert ctypes.CDLL(str(library)).square
    assert sorted((each.kernel, each.architecture) for each in used) == [("square_0", name) for name in sorted(archs)]
    assert all(8 <= each.registers <= 64 and not each.spilled for each in used)
    assert "warning" not in (library.parent / nvcc.PRINTED).read_text()


@needs_nvcc
def test_functions_of_numbers_alone() -> None:
    """Nothing that only arrays need is left without a use, which would be a warning."""
    x = Value(F64, "x")
    builder = Builder()
    with builder.block((x,)) as block:
        block.results = (builder.op(ops.MUL, x, x),)
    emitted = emit_cuda([Function("square", block.region(), ("out",))], "m")
    assert load(build_device(emitted, Target("cuda", find_nvcc().architectures[0]))).lib.square_host


@needs_nvcc
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("static __global__ void k(double *x) { double y; x[0] = y; }", "used before its value is set"),
        ('extern "C" int f(int64_t n) { return 0; }', "unused parameter"),
        ("static __global__ void k() {}\nvoid f() { k<<<1, 1>>>(); }", "explicit stream argument not provided"),
        ('extern "C" int f(int64_t n) { int m = n; return m; }', "conversion"),
    ],
)
def test_warnings_are_errors(fault: str, said: str) -> None:
    """Those of nvcc, and those of the C++ compiler of the host."""
    with pytest.raises(AdgenError) as raised:
        build_cuda(f"#include <cstdint>\n{fault}\n", "", "m.cuh", find_nvcc().architectures[:1])
    assert raised.value.code == "AD508" and said in raised.value.message


def test_blocks_suit_registers() -> None:
    """A smaller block is chosen where a quarter more threads then fit beside each other, and for no less."""
    found = [
        Usage("light", "sm_90", 40, 0, 0, 0),
        Usage("some", "sm_90", 48, 0, 0, 0),  # 1,280 threads in blocks of 256, 1,344 in blocks of 64
        Usage("heavy", "sm_80", 96, 0, 0, 0),
        Usage("heavy", "sm_90", 168, 0, 0, 0),  # 256 threads, or three blocks of 128
        Usage("full", "sm_90", 255, 0, 0, 0),
    ]
    assert blocks_of(found) == {"heavy": 128}
    assert [resident(registers, 256) for registers in (1, 32, 40, 128, 168, 255)] == [2048, 2048, 1536, 512, 256, 256]
