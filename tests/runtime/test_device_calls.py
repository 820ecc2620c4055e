"""Operators called with arrays that are on a device; the emulator's device has the memory of the host."""

from __future__ import annotations

import gc
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import adgen
from adgen.ahead import Options, compile_file
from adgen.diagnostics import AdgenError
from adgen.emit.cuda.host import FAILURE
from adgen.frontend.complexes.types import C128
from adgen.frontend.specs import StaticSpec, array_output
from adgen.operators.jacobians import sizes
from adgen.runtime.calls import Entry
from adgen.runtime.devices import DeviceMemory
from adgen.runtime.devices.bound import BoundDeviceCall
from adgen.runtime.devices.calls import NOTED
from adgen.runtime.devices.cuda import Cuda
from adgen.runtime.devices.direct import device_call
from adgen.runtime.devices.errors import cuda_error
from adgen.runtime.devices.workspaces import STREAMS, forget_workspaces, workspace
from adgen.runtime.placement import is_device_array
from adgen.runtime.pullback import leaves_of
from tests.runtime.device_arrays import CupyArray, Interface, JaxArray, NumbaArray, Tensor, install

X, W = np.linspace(0.1, 2.0, 7), np.linspace(1.0, 3.0, 7)
ALL, BEYOND = Interface(np.arange(7)), Interface(np.arange(1, 8))  # places in X, and one that is not


def energy(p: dict, a: float) -> Any:
    return np.sum(np.sin(p["x"]) * p["w"] * p["x"]) * a


def double(x: Any, y: Any, k: Any, n: int) -> Any:
    for i in range(len(k)):
        y[i] = 2.0 * x[k[i]]
    return np.zeros(n), x[0]


@dataclass
class State:
    energy: Any
    x: Any


def moved(state: State, factors: Any) -> State:
    return State(np.sum(state.x) * state.energy, state.x * factors)


def never(x: Any) -> Any:
    raise SystemError("it is refused before it is compiled")


@pytest.fixture(scope="module")
def emulated() -> SimpleNamespace:
    """Operators on these two for the emulator; compiled when they are first called."""
    with adgen.target("cuda-emulated"):
        return SimpleNamespace(
            both=adgen.value_and_grad(energy),
            along=adgen.jvp(energy, wrt="p"),
            second=adgen.hvp(energy, wrt="p"),
            double=adgen.jit(double),
            moved=adgen.jit(moved),
            pulled=adgen.vjp(double),
            matrix=adgen.jacobian(lambda x: x[1:] * x[:-1]),
        )


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules; `cupy` and `torch` are the numbers of their current streams."""
    return install(monkeypatch)


@pytest.fixture
def allocations(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """The memory of the device that is taken: addresses in use, and how often some was asked for."""
    forget_workspaces()
    held: dict[int, int] = {}
    found = SimpleNamespace(held=held, count=0)
    allocate, free = Cuda.allocate, Cuda.free

    def counted(self: Cuda, size: int) -> int:
        found.count += 1
        pointer = allocate(self, size)
        held[pointer] = size
        return pointer

    def given_back(self: Cuda, pointer: int) -> None:
        held.pop(pointer, None)  # one that an earlier test took is none of these
        free(self, pointer)

    monkeypatch.setattr(Cuda, "allocate", counted)
    monkeypatch.setattr(Cuda, "free", given_back)
    yield found
    forget_workspaces()


def entry_of(operator: Callable[..., Any]) -> Entry:
    """The code of an operator that has been called."""
    (entry,) = operator.__adgen__.entries.values()
    return entry


def spied(entry: Entry, hidden: str = "", **changes: Any) -> Entry:
    """The code with other functions in its library; that of a machine with a device where the emulator's are hidden."""
    functions = {name: getattr(entry.library.lib, name) for name in dir(entry.library.lib) if name != hidden}
    library = SimpleNamespace(ffi=entry.library.ffi, lib=SimpleNamespace(**{**functions, **changes}))
    return Entry(entry.program, library, telling=True)


def host(value: Any) -> Any:
    """A result as NumPy has it."""
    if isinstance(value, DeviceMemory):
        return value.to_host()
    return value.array if is_device_array(value) else value


def refused(code: str, call: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    with pytest.raises(AdgenError) as raised:
        call(*arguments, **options)
    assert raised.value.code == code and raised.value.help
    return str(raised.value)


# -- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Interface, CupyArray, Tensor, NumbaArray, JaxArray])
def test_results_are_those_of_c(emulated: SimpleNamespace, libraries: SimpleNamespace, kind: type) -> None:
    """A value and its gradient, as arrays of the caller's kind: numbers too, which have no axes."""
    value, gradient = emulated.both({"x": kind(X), "w": kind(W)}, 1.5)
    expected, reference = adgen.value_and_grad(energy)({"x": X, "w": W}, 1.5)
    assert {type(value), type(gradient.a), type(gradient.p["x"])} == {kind if hasattr(kind, "device") else type(value)}
    assert host(value).shape == () and np.allclose(host(value), expected)
    assert np.allclose(host(gradient.a), reference.a) and gradient.p.keys() == reference.p.keys()
    assert all(np.allclose(host(gradient.p[key]), reference.p[key]) for key in "xw")


def test_directions(emulated: SimpleNamespace) -> None:
    """A tangent is on the device too; the results are those for NumPy arrays."""
    p, v = {"x": X, "w": W}, {"x": W, "w": X}
    there, along = ({key: Interface(array) for key, array in each.items()} for each in (p, v))
    value, tangent = emulated.along(there, 1.5, tangent=along)
    assert np.allclose([host(value), host(tangent)], emulated.along(p, 1.5, tangent=v))
    second, reference = emulated.second(there, 1.5, tangent=along), emulated.second(p, 1.5, tangent=v)
    assert all(np.allclose(host(second[key]), reference[key]) for key in "xw")
    bound = emulated.along.bind(there, 1.5, tangent=along)
    assert np.allclose(host(bound()[1]), host(tangent))
    wrong = {"x": Interface(W[1:]), "w": along["w"]}
    assert "tangent['x'] has shape (6,)" in refused("AD152", emulated.along, there, 1.5, tangent=wrong)
    wrong["x"] = Interface(W.astype(np.float32))
    assert "has dtype float32" in refused("AD151", emulated.along, there, 1.5, tangent=wrong)
    assert "on the CPU" in refused("AD133", emulated.along, there, 1.5, tangent=v)


def test_arrays_are_written_in_place(emulated: SimpleNamespace) -> None:
    """As Python writes them, and results beside them."""
    y = np.ones(9)
    zeros, first = emulated.double(Interface(X), Interface(y), ALL, 7)
    assert np.array_equal(y, [*(2.0 * X), 1.0, 1.0])
    assert np.array_equal(host(zeros), np.zeros(7)) and host(first) == X[0]


def test_pullbacks(emulated: SimpleNamespace, libraries: SimpleNamespace) -> None:
    """They keep copies on the device; a cotangent that is not given is zero there."""
    x = X.copy()
    _, pullback = emulated.pulled(Tensor(x), Tensor(np.zeros(7)), Tensor(np.arange(3)), 3)
    x[:] = 0.0
    gradient = pullback((Tensor(np.ones(3)), 2.0))
    assert type(gradient.x) is Tensor and np.array_equal(gradient.x.array, [2.0, 0, 0, 0, 0, 0, 0])
    out = gradient._replace(x=Tensor(np.ones(7)), y=Tensor(np.ones(7)))
    assert pullback((Tensor(np.ones(3)), 2.0), out=out) is out and np.array_equal(out.x.array, gradient.x.array)
    assert "add it where it is" in refused("AD139", pullback, (Tensor(np.ones(3)), 2.0), out=out, accumulate=True)


def test_a_jacobian(emulated: SimpleNamespace) -> None:
    """In the mode that the sizes of the arrays ask for, which is found out once."""
    x = np.arange(1.0, 4.0)
    assert np.array_equal(host(emulated.matrix(Interface(x))), [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]])
    assert sizes((Interface(x), 2.0)) == sizes((x, 2.0)) == ((3,), None) and sizes(([x],)) is None


def test_structures_and_stretched_axes(emulated: SimpleNamespace) -> None:
    """Dataclasses go in and come out; an axis of length one is stretched by other code, bound calls too."""
    state, one = State(2.0, Interface(X)), Interface(np.full(1, 3.0))
    for factors in (Interface(np.full(7, 3.0)), one):
        result = emulated.moved(state, factors)
        assert type(result) is State and np.allclose(host(result.energy), 2.0 * X.sum())
        assert np.allclose(host(result.x), 3.0 * X)
    bound = emulated.moved.bind(state, one)
    assert np.allclose(host(bound().x), 3.0 * X) and bound() is bound()


# -- memory and streams ----------------------------------------------------------------------------------------------


def test_results_into_arrays(
    emulated: SimpleNamespace, libraries: SimpleNamespace, allocations: SimpleNamespace
) -> None:
    """`out` gives them, and they are given back; nothing is allocated but the workspace that all calls share."""
    p = {"x": CupyArray(X), "w": CupyArray(W)}
    gradient = {"x": CupyArray(np.zeros(7)), "w": CupyArray(np.zeros(7))}
    out = (gradient, CupyArray(np.zeros(())))
    value, given = emulated.both(p, 1.5, out=out)
    emulated.both(p, 1.5, out=out)
    assert given is out and type(value) is CupyArray and allocations.count == 1
    assert np.allclose(gradient["w"].array, 1.5 * np.sin(X) * X)
    gradient["x"] = CupyArray(np.zeros(6))
    assert "(7,) does not fit into out[0]['x'] of shape (6,)" in refused("AD154", emulated.both, p, 1.5, out=out)
    gradient["x"] = p["x"]
    assert "overlap" in refused("AD131", emulated.both, p, 1.5, out=out)
    gradient["x"] = np.zeros(7)
    assert "`out[0]['x']` is on the CPU" in refused("AD133", emulated.both, p, 1.5, out=out)


def test_nothing_leaks(emulated: SimpleNamespace, allocations: SimpleNamespace) -> None:
    """One workspace serves all calls on a stream; results live as long as somebody holds them."""
    p = {"x": Interface(X), "w": Interface(W)}
    result = emulated.both(p, 1.5)
    assert allocations.count == 5 and len(allocations.held) == 5  # four results and a workspace
    emulated.double(Interface(X), Interface(np.zeros(7)), ALL, 7)  # the workspace grows
    assert allocations.count == 8 and len(allocations.held) == 5
    for _ in range(3):
        assert np.allclose(host(emulated.both(p, 1.5)[0]), host(result[0]))
        emulated.double(Interface(X), Interface(np.zeros(7)), ALL, 7)
    assert allocations.count == 8 + 3 * (4 + 2)
    with pytest.raises(IndexError):
        emulated.double(Interface(X), Interface(np.zeros(7)), BEYOND, 7)
    del result
    gc.collect()
    assert len(allocations.held) == 1
    forget_workspaces()
    assert not allocations.held


def test_streams_have_workspaces_of_their_own(emulated: SimpleNamespace, allocations: SimpleNamespace) -> None:
    """Of so many streams; that of the one that was not used for longest is given back."""
    for stream in (2, *range(2, 2 * STREAMS)):
        emulated.both({"x": Interface(X, stream=stream), "w": Interface(W, stream=stream)}, 1.5)
    gc.collect()
    assert len(allocations.held) == STREAMS
    forget_workspaces()
    cuda = Cuda(entry_of(emulated.both).library, "f", 0)
    found = [workspace(cuda, 7), workspace(cuda, 2)]
    there = threading.Thread(target=lambda: found.extend([workspace(cuda, 7), workspace(cuda, 2)]))
    there.start()
    there.join()
    assert found[0] is found[2] and found[1] is not found[3], "stream 2 is another one in each thread"


def test_the_stream_of_the_arrays(emulated: SimpleNamespace, libraries: SimpleNamespace) -> None:
    """Is that of the call, and of a bound call the one that is current when it is called."""
    libraries.torch = 5
    emulated.both({"x": Tensor(X), "w": Tensor(W)}, 1.5)
    entry, streams = entry_of(emulated.both), []

    def launch(*arguments: Any) -> int:
        streams.append(int(entry.library.ffi.cast("intptr_t", arguments[-1])))
        return entry.library.lib.energy_value_and_grad(*arguments)

    spy = spied(entry, energy_value_and_grad=launch)
    leaves = [Tensor(X), Tensor(W), 1.5]
    spy.run(leaves)
    bound = BoundDeviceCall(spy.device, leaves, [], entry.program.output)
    libraries.torch = 6
    bound()
    assert streams == [5, 6]


def test_borrowed_arrays_are_waited_for(emulated: SimpleNamespace, libraries: SimpleNamespace) -> None:
    """Their library may use the memory anew; nobody else waits."""
    emulated.both({"x": JaxArray(X), "w": JaxArray(W)}, 1.5)
    entry, waited = entry_of(emulated.both), []

    def synchronise(stream: Any) -> int:
        waited.append(stream)
        return 0

    spy = spied(entry, adgen_cuda_synchronise=synchronise, adgen_cuda_outcome=synchronise)
    spy.run([CupyArray(X), CupyArray(W), 1.5])
    assert not waited
    spy.run([JaxArray(X), CupyArray(W), 1.5])
    assert len(waited) == 1


def test_the_short_way(emulated: SimpleNamespace) -> None:
    """Calls of types that are known go straight to their code; all else takes the longer way."""
    y = np.zeros(7)
    emulated.double(Interface(X), Interface(y), ALL, 7)
    entry, operator = entry_of(emulated.double), emulated.double.__adgen__
    assert (Interface, Interface, Interface, int) in operator.short.direct
    arguments = {"x": Interface(X), "y": Interface(y), "k": ALL, "n": 7}
    specs = operator.specs(arguments)
    call = device_call(entry, specs, arguments, [True] * 4, lambda *given: "longer")
    assert call is not None and host(call(Interface(W), Interface(y), ALL, 3)[0]).shape == (3,)
    assert np.array_equal(y, 2.0 * W)
    single, square = Interface(X.astype(np.float32)), Interface(np.eye(7))
    for x, n in ((single, 7), (square, 7), (Interface(X), 1 << 64)):
        assert call(x, Interface(y), ALL, n) == "longer"
    without = device_call(entry, specs, arguments, [True, True, True, False], lambda *given: "longer")
    assert without is not None and host(without(Interface(X), Interface(y), ALL, None)[0]).shape == (7,)
    option = {**specs, "n": StaticSpec(7)}
    fixed = device_call(entry, option, arguments, [True] * 4, lambda *given: "longer")
    assert fixed is not None and fixed(Interface(X), Interface(y), ALL, 8) == "longer"
    assert device_call(entry, specs, arguments, [False] + [True] * 3, lambda *given: "longer") is None


def test_threads(emulated: SimpleNamespace) -> None:
    """May call at the same time, on one stream too."""
    wrong: list[float] = []

    def work(scale: float) -> None:
        x, w = Interface(scale * X), Interface(W)
        expected = np.sum(np.sin(scale * X) * W * scale * X)
        for _ in range(100):
            value = float(host(emulated.both({"x": x, "w": w}, 1.0)[0]))
            wrong.extend([value] if not np.isclose(value, expected) else [])

    threads = [threading.Thread(target=work, args=(float(k),)) for k in range(1, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- bound calls and graphs ------------------------------------------------------------------------------------------


def test_bound_calls(emulated: SimpleNamespace, allocations: SimpleNamespace) -> None:
    """They read the arrays as they are, write the same results, and allocate nothing."""
    x, y = X.copy(), np.zeros(7)
    bound = emulated.double.bind(Interface(x), Interface(y), ALL, 7)
    before = allocations.count
    first = bound()
    x += 1.0
    assert bound() is first and allocations.count == before
    assert np.array_equal(y, 2.0 * x) and host(first[1]) == x[0]
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        emulated.double.bind(Interface(x), Interface(y), BEYOND, 7)()
    del bound, first
    gc.collect()
    assert not allocations.held


def test_calls_in_a_graph(emulated: SimpleNamespace, libraries: SimpleNamespace) -> None:
    """A bound call waits for nothing while it is captured; how it went is asked for where the graph was launched."""
    x, y, places = Tensor(X), Tensor(np.zeros(7)), Tensor(np.arange(1, 8))
    emulated.double(x, y, Tensor(np.arange(7)), 7)
    entry, waited = entry_of(emulated.double), []

    def capturing(stream: Any, found: Any) -> int:
        found[0] = 1
        return 0

    def outcome(failure: Any, stream: Any, detail: Any) -> int:
        waited.append(int(entry.library.ffi.cast("intptr_t", stream)))
        return entry.library.lib.adgen_cuda_outcome(failure, stream, detail)

    spy = spied(entry, adgen_cuda_capturing=capturing, adgen_cuda_outcome=outcome)
    assert "captured in a graph" in refused("AD517", spy.run, [x, y, places, 7])
    bound = BoundDeviceCall(spy.device, [x, y, places, 7], [], entry.program.output)
    libraries.torch = 5
    bound()
    assert not waited
    libraries.torch = 6
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
        bound.check()
    fine = BoundDeviceCall(spy.device, [x, y, Tensor(np.arange(7)), 7], [], entry.program.output)
    fine()
    fine.check(7)
    assert waited == [6, 7]


# -- what does not fit -----------------------------------------------------------------------------------------------


def test_checks_in_kernels(emulated: SimpleNamespace) -> None:
    """Are the exceptions of Python, with its line; what they note has room in front of the workspace."""
    assert NOTED == FAILURE * 8
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7") as raised:
        emulated.double(Interface(X), Interface(np.zeros(7)), BEYOND, 7)
    assert "y[i] = 2.0 * x[k[i]]" in str(raised.value)


def test_arrays_that_do_not_fit(emulated: SimpleNamespace, libraries: SimpleNamespace) -> None:
    """Are refused before anything is written."""
    y = np.zeros(7)
    call = emulated.double
    assert "`y` is on the CPU" in refused("AD133", call, Interface(X), y, ALL, 7)
    assert "`x` is a Tensor on the CPU" in refused("AD133", call, Tensor(X, None), Interface(y), ALL, 7)
    assert "on device 0, and `y` on device 1" in refused("AD135", call, Tensor(X, 0), Tensor(y, 1), ALL, 7)
    assert "different streams" in refused("AD136", call, Interface(X, stream=5), Interface(y, stream=6), ALL, 7)
    assert "not C-contiguous" in refused("AD134", call, Interface(X), Interface(np.zeros((7, 2))[:, 0]), ALL, 7)
    lent = Interface(y, data=(y.ctypes.data, True))
    assert "`y`, which is read-only" in refused("AD130", call, Interface(X), lent, ALL, 7)
    assert "`y` and `x` overlap" in refused("AD131", call, Interface(y[:4]), Interface(y), ALL, 4)
    assert "there is no such CUDA device" in refused("AD512", call, Tensor(X, 3), Tensor(y, 3), ALL, 7)
    assert "number on a device" in refused("AD137", call, Interface(np.zeros(())), Interface(y), ALL, 7)
    assert "numbers, NumPy arrays" in refused("AD127", call, Interface(X), object(), ALL, 7)
    assert not y.any()


def test_forms_that_were_not_compiled_for(emulated: SimpleNamespace) -> None:
    """A bound entry takes one dtype and rank; an operator compiles for others."""
    emulated.double(Interface(X), Interface(np.zeros(7)), ALL, 7)
    entry = entry_of(emulated.double)
    single = Interface(X.astype(np.float32))
    assert "has dtype float32" in refused("AD137", entry.run, [single, Interface(np.zeros(7)), ALL, 7])
    assert "has 2 axes" in refused("AD137", entry.run, [Interface(np.eye(3)), Interface(np.zeros(7)), ALL, 7])


def test_complex_results(emulated: SimpleNamespace) -> None:
    """Are put together by NumPy, so they are for its arrays."""
    emulated.moved(State(2.0, Interface(X)), Interface(X))
    entry = next(iter(emulated.moved.__adgen__.entries.values()))
    spy = Entry(replace(entry.program, output=array_output(1, C128, 0)), entry.library)
    assert "complex numbers" in refused("AD139", spy.run, [2.0, Interface(X), Interface(X)])


def test_code_for_the_processor() -> None:
    """Takes no arrays of a device, wherever they are in the arguments."""
    said = refused("AD139", adgen.value_and_grad(energy), {"x": Interface(X), "w": W}, 1.5)
    assert "argument `p.x` is on a device" in said
    assert "adgen.target('cuda')" in said
    with pytest.raises(AdgenError, match="argument `x` is on a device, and `never` is compiled for the processor"):
        adgen.grad(never)(Interface(X))


def test_operators_for_numpy_arrays(emulated: SimpleNamespace) -> None:
    """Say so; they ask for leaves without allowing for others."""
    arguments = {"p": {"x": Interface(X), "w": Interface(W)}, "a": 1.5}
    emulated.both(**arguments)
    assert "takes NumPy arrays" in refused("AD139", leaves_of, entry_of(emulated.both), arguments)


def test_memory_that_is_nowhere(emulated: SimpleNamespace) -> None:
    """An array that only says that it is on a device."""
    emulated.double(Interface(X), Interface(np.zeros(7)), ALL, 7)

    def place(memory: Any, found: Any) -> int:
        found[0] = -1
        return 0

    spy = spied(entry_of(emulated.double), adgen_cuda_place=place)
    assert "its memory is the host's" in refused("AD133", spy.run, [Interface(X), Interface(np.zeros(7)), ALL, 7])


@pytest.mark.parametrize("count", [1 << 50, 1 << 60, 1 << 61])
def test_no_memory(emulated: SimpleNamespace, allocations: SimpleNamespace, count: int) -> None:
    """Says how much was asked for, and holds nothing."""
    with pytest.raises(MemoryError, match=r"the device has no \S+ GB left"):
        emulated.double(Interface(X), Interface(np.zeros(7)), ALL, count)
    gc.collect()
    assert all(size < 1000 for size in allocations.held.values())


def test_no_memory_of_a_library(
    emulated: SimpleNamespace, libraries: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is the same error, whatever the library's own is called."""

    class OutOfMemoryError(RuntimeError):
        pass

    def empty(shape: Any, dtype: Any) -> Any:
        raise OutOfMemoryError

    monkeypatch.setattr(sys.modules["cupy"], "empty", empty)
    with pytest.raises(MemoryError, match="the device has no 56 bytes left"):
        emulated.double(CupyArray(X), CupyArray(np.zeros(7)), CupyArray(np.arange(7)), 7)


def test_arrays_that_are_nowhere(emulated: SimpleNamespace) -> None:
    """Such as those without memory, or on several devices, which say so by an exception."""

    class Meta:
        __slots__ = ()
        shape, dtype = (7,), np.dtype(float)

        def __dlpack_device__(self) -> tuple[int, int]:
            raise ValueError("unknown device type meta")

        @property
        def __cuda_array_interface__(self) -> dict:
            raise RuntimeError("no memory")

    assert not is_device_array(Meta())
    assert "of type Meta" in refused("AD127", emulated.double, Meta(), Interface(X), ALL, 7)


# -- what CUDA says --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "driver", "code", "words"),
    [
        (100, 12040, "AD512", "needs a CUDA device, and the driver finds none"),
        (35, 0, "AD512", "there is no driver for one"),
        (35, 11020, "AD513", "it is for CUDA 11.2"),
        (222, 12040, "AD513", "too old"),
        (209, 12040, "AD514", "--arch"),
        (700, 12040, "AD515", "compute-sanitizer"),
        (719, 12040, "AD515", "failed on the device"),
        (1, 12040, "AD516", "CUDA refuses"),
        (900, 12040, "AD517", "bind"),
    ],
)
def test_errors_of_cuda(number: int, driver: int, code: str, words: str) -> None:
    """What to do about them."""
    error = cuda_error(number, "cudaErrorKnown", "what it says", driver, "f")
    assert error.code == code and words in str(error) and "cudaErrorKnown: what it says" in str(error)
    assert "`f`" in error.message


def test_a_call_that_cuda_refuses(emulated: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NumPy arrays and with others."""
    x, y = X.copy(), np.zeros(7)
    emulated.double(x, y, np.arange(7), 7)
    monkeypatch.setenv("ADGEN_EMULATED_ORDER", "sideways")
    for arrays in ([x, y, np.arange(7)], [Interface(x), Interface(y), ALL]):
        assert "cudaErrorInvalidValue: invalid argument" in refused("AD516", emulated.double, *arrays, 7)


def test_no_device(emulated: SimpleNamespace) -> None:
    """The first thing that is asked for fails."""
    emulated.double(Interface(X), Interface(np.zeros(7)), ALL, 7)
    spy = spied(entry_of(emulated.double), adgen_cuda_device=lambda found: 100)
    assert "needs a CUDA device" in refused("AD512", spy.run, [Interface(X), Interface(np.zeros(7)), ALL, 7])
    exhausted = spy.exception(-1, [2, 3_000_000_000])
    assert exhausted.code == "AD610" and "the device has no 3 GB left" in str(exhausted)


# -- packages --------------------------------------------------------------------------------------------------------


def test_a_package(tmp_path: Path) -> None:
    """That is compiled ahead of time takes the same arrays, of the types that it was compiled for."""
    path = tmp_path / "bank.py"
    path.write_text("def weighted(x: 'f64[n]', w: 'f64[n]') -> 'f64[n]':\n    return w * x * x\n")
    options = Options.parse(None, None, "vjp", (), check=False, target="cuda-emulated")
    compile_file(path, tmp_path, options, lambda stage: None)
    package = adgen.load(tmp_path / "bank_ad")
    x, w = Interface(X), Interface(W)
    value, pullback = package.weighted_vjp(x, w)
    assert np.allclose(host(value), W * X * X)
    gradient = pullback(Interface(np.ones(7)))
    assert np.allclose(host(gradient.x), 2.0 * W * X) and np.allclose(host(gradient.w), X * X)
    said = refused("AD173", package.weighted_vjp, Interface(X.astype(np.float32)), w)
    assert "`x` must be an array f64[n], not an array of rank 1 and dtype float32" in said
    assert "extent 6" in refused("AD175", package.weighted_vjp, x, Interface(W[1:]))
    assert "`w` is on the CPU" in refused("AD133", package.weighted_vjp, x, W)


# -- NumPy arrays ----------------------------------------------------------------------------------------------------


def test_numpy_arrays_cost(emulated: SimpleNamespace) -> None:
    """One warning for a function, at the caller's line, which the emulator does not give."""
    y = np.zeros(500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        emulated.double(X, y, np.arange(7), 7)
    device = spied(entry_of(emulated.double), hidden="adgen_emulated_races")
    with pytest.warns(UserWarning) as caught:
        device.run([X, y, np.arange(7), 7])
        device.run([X, y, np.arange(7), 7])
    said = "4.11 kB were copied to the device and 4.06 kB back; arrays of CuPy, PyTorch or Numba stay there"
    assert [str(each.message) for each in caught] == [f"`double` has NumPy arguments: {said}"]
    assert caught[0].filename == __file__
