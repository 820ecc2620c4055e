"""Arrays on a device as arguments and results; memory of the host stands in for that of a device."""

from __future__ import annotations

import ctypes
import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from adgen.diagnostics import AdgenError
from adgen.runtime import devices
from adgen.runtime.devices import (
    DeviceMemory,
    check,
    device_array,
    device_arrays,
    dlpack,
    maker,
    refuse_overlap,
)
from adgen.runtime.failures import amount
from tests.runtime.device_arrays import CupyArray, Device, Interface, JaxArray, NumbaArray, Tensor, install

pytestmark = pytest.mark.quick

F64 = np.dtype("float64")
# How NumPy is asked for a capsule of old, and for one of DLPack 1 where it makes those.
VERSIONS = [{}, {"max_version": (1, 0)}][: 2 if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else 1]


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The modules; `cupy` and `torch` are the numbers of their current streams."""
    return install(monkeypatch)


class Memory:
    """An allocator: memory of the host; `limit` is how often there is any."""

    def __init__(self, limit: int = 100) -> None:
        self.held: dict[int, np.ndarray] = {}
        self.limit, self.waited = limit, []

    def allocate(self, size: int) -> int:
        self.limit -= 1
        if self.limit < 0:
            raise MemoryError
        block = np.empty(size, np.uint8)
        self.held[block.ctypes.data] = block
        return block.ctypes.data

    def free(self, pointer: int) -> None:
        del self.held[pointer]  # a second time is a KeyError

    def to_device(self, pointer: int, array: np.ndarray) -> None:
        self.held[pointer][:] = np.frombuffer(array.tobytes(), np.uint8)

    def to_host(self, array: np.ndarray, pointer: int) -> None:
        array[...] = self.held[pointer].view(array.dtype).reshape(array.shape)

    def synchronise(self, stream: int) -> None:
        self.waited.append(stream)


def refused(code: str, call: object, *arguments: object) -> str:
    with pytest.raises(AdgenError) as raised:
        call(*arguments)
    assert raised.value.code == code
    return str(raised.value)


def test_an_interface() -> None:
    """Where, how large, of what, and whether it may be written; its object stays alive."""
    array = np.zeros((3, 4), np.float32)
    given = Interface(array, data=(array.ctypes.data, True), version=3, stream=7)
    found = device_array(given, "x")
    assert (found.pointer, found.shape, found.dtype) == (array.ctypes.data, (3, 4), np.dtype("float32"))
    assert (found.read_only, found.stream, found.device, found.size) == (True, 7, None, 48)
    assert found.value is given
    assert device_array(Interface(array, stream=1), "x").stream == 0, "the default stream has two names"
    assert device_array(Interface(array), "x").stream is None


@pytest.mark.parametrize(
    ("shape", "strides", "good"),
    [
        ((3, 4), None, True),
        ((3, 4), (32, 8), True),
        ((3, 4), (8, 24), False),
        ((3, 4), (64, 8), False),
        ((3,), (-8,), False),
        ((3,), (0,), False),
        ((1, 4, 1), (7, 8, 9), True),
        ((0, 4), (1, 1), True),
        ((4, 0), (1, 1), True),
        ((), (), True),
    ],
)
def test_order(shape: tuple, strides: tuple | None, good: bool) -> None:
    """In C order, where strides matter."""
    given = Interface(np.zeros(12), shape=shape, strides=strides)
    if good:
        assert device_array(given, "x").shape == shape
    else:
        assert "not C-contiguous" in refused("AD134", device_array, given, "x")


def test_how_to_make_it_contiguous(libraries: SimpleNamespace) -> None:
    """In the words of its library."""
    array = np.zeros((3, 4)).T
    assert "cupy.ascontiguousarray(p.x)" in refused("AD134", device_array, CupyArray(array), "p.x")
    assert "x.contiguous()" in refused("AD134", device_array, Tensor(array), "x")
    assert "numba.cuda.to_device" in refused("AD134", device_array, NumbaArray(array), "x")


def test_what_cannot_be_read(libraries: SimpleNamespace) -> None:
    """Masks, addresses that no load takes, lazy tensors, and interfaces that are none."""
    array = np.zeros(4)
    assert "mask" in refused("AD134", device_array, Interface(array, mask=Interface(array)), "x")
    place = array.ctypes.data + 4
    assert "multiple of 8" in refused("AD134", device_array, Interface(array, data=(place, False), shape=(2,)), "x")
    assert "x.resolve_conj()" in refused("AD134", device_array, Tensor(array, conj=True), "x")
    for wrong in ({"typestr": "?!"}, {"data": None}, {"strides": (8, 8)}):
        assert "argument `x` cannot be read" in refused("AD133", device_array, Interface(array, **wrong), "x")


def test_arrays_on_the_cpu(libraries: SimpleNamespace) -> None:
    """And values that are no arrays: what to do."""
    array = np.zeros(4)
    said = refused("AD133", device_array, array, "x")
    assert "`x` is on the CPU" in said and "cupy.asarray(x)" in said
    assert "x.cuda()" in refused("AD133", device_array, Tensor(array, None), "x")
    assert "x.cuda()" in refused("AD133", device_array, Tensor(array, None, requires_grad=True), "x")
    for kind in (1, 3):
        assert "jax.device_put(x" in refused("AD133", device_array, JaxArray(array, kind), "x")
    assert "another kind (10)" in refused("AD133", device_array, JaxArray(array, 10), "x")
    assert "of type list" in refused("AD133", device_array, [1.0], "x")


def test_subclasses(libraries: SimpleNamespace) -> None:
    """A class of the user's own is of the library of its base."""

    class Parameter(Tensor):
        pass

    libraries.torch = 4
    assert device_array(Parameter(np.zeros(4)), "x").stream == 4


def test_a_tensor_with_a_graph(libraries: SimpleNamespace) -> None:
    """Is read as what it holds."""
    array = np.zeros(4)
    assert device_array(Tensor(array, requires_grad=True), "x").pointer == array.ctypes.data


def test_current_streams(libraries: SimpleNamespace) -> None:
    """Those of the libraries at the time of the call; different ones are refused unless the caller chooses."""
    libraries.cupy, libraries.torch = 5, 6
    array = np.zeros(4)
    one, other = CupyArray(array, version=3, stream=5), Tensor(array)
    assert device_arrays([("x", one)]).stream == 5
    assert device_arrays([("x", other)]).stream == 6
    assert "`x` and `y` are made on different streams" in refused("AD136", device_arrays, [("x", one), ("y", other)])
    assert device_arrays([("x", one), ("y", other)], stream=9).stream == 9
    libraries.torch = 5
    assert device_arrays([("x", one), ("y", other), ("z", NumbaArray(array, stream=None))]).stream == 5
    assert device_arrays([("z", NumbaArray(array, stream=8))]).stream == 8
    assert device_arrays([("z", NumbaArray(array))]).stream == 0
    assert device_arrays([]).stream == 0


def test_one_device(libraries: SimpleNamespace) -> None:
    """The one that the arrays tell; several are refused."""
    array = np.zeros(4)
    assert device_arrays([("u", Interface(array)), ("x", Tensor(array, 1)), ("y", CupyArray(array, 1))]).device == 1
    assert device_arrays([("u", Interface(array))]).device is None
    said = refused("AD135", device_arrays, [("x", Tensor(array, 0)), ("y", CupyArray(array, 1))])
    assert "`x` is on device 0, and `y` on device 1" in said


@pytest.mark.parametrize("old", [not options for options in VERSIONS])
def test_a_capsule(libraries: SimpleNamespace, old: bool) -> None:
    """It is asked to be ready on the call's stream, is never written, and lends its memory until it is dropped."""
    libraries.cupy = 5
    array = np.zeros((3, 4), np.complex64)[1:]
    given = JaxArray(array, kind=13, device=2, old=old)
    found = device_arrays([("x", given), ("y", CupyArray(array, 2))])
    first = found.arrays[0]
    assert (first.pointer, first.shape, first.dtype) == (array.ctypes.data, (2, 4), array.dtype)
    assert first.read_only and first.stream == 5 and first.device == 2 and found.borrowed
    assert given.asked == [5] and not device_arrays([("y", CupyArray(array, 2))]).borrowed
    assert device_array(given, "x").stream == 0 and given.asked == [5, 1]
    assert "not C-contiguous" in refused("AD134", device_array, JaxArray(array.T, old=old), "x")


@pytest.mark.parametrize("options", VERSIONS)
def test_a_capsule_lets_go_once(options: dict) -> None:
    """Its memory is freed when what was read is dropped, and not before; another consumer may still take it."""
    array = np.arange(6, dtype=np.int16).reshape(2, 3)
    alive = weakref.ref(array)
    found = dlpack.read(array.__dlpack__(**options))
    assert (found.pointer, found.shape, found.dtype) == (array.ctypes.data, (2, 3), np.dtype("int16"))
    assert found.device_type == 1 and found.strides in (None, (3, 1)) and not found.read_only
    del array
    gc.collect()
    assert alive() is not None
    kept = [found.capsule]
    taken = np.from_dlpack(SimpleNamespace(__dlpack__=lambda **o: kept.pop(), __dlpack_device__=lambda: (1, 0)))
    with pytest.raises(ValueError, match="no capsule that is still to be taken"):
        dlpack.read(found.capsule)
    del found
    gc.collect()
    assert alive() is not None and taken[1, 2] == 5
    del taken
    gc.collect()
    assert alive() is None


def test_what_a_capsule_may_say() -> None:
    """Where its memory begins, that it must not be written, and that it is of another version."""
    array = np.zeros(4)
    capsule = array.__dlpack__()
    dlpack._tensor(capsule)[0].offset = 16
    assert dlpack.read(capsule).pointer == array.ctypes.data + 16
    tensor = dlpack._Versioned(1, 5, None, None, dlpack.READ_ONLY, dlpack._tensor(capsule)[0])
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    versioned = new(("PyCapsule_New", ctypes.pythonapi))(ctypes.addressof(tensor), dlpack.VERSIONED, None)
    found = dlpack.read(versioned)
    assert found.read_only and found.shape == (4,) and found.pointer == array.ctypes.data + 16
    tensor.major = 2
    with pytest.raises(ValueError, match="version 2 of DLPack"):
        dlpack.read(versioned)


def test_capsules_of_other_kinds() -> None:
    """Versions, numbers and objects that are not known are refused, and let go."""
    array = np.zeros(4)
    alive = weakref.ref(array)
    capsule = array.__dlpack__()
    tensor, _ = dlpack._tensor(capsule)
    tensor.code = 4  # bfloat16
    with pytest.raises(ValueError, match="type 4 with 1 x 64 bits"):
        dlpack.read(capsule)
    tensor.code, tensor.lanes = 2, 2
    with pytest.raises(ValueError, match="2 x 64 bits"):
        dlpack.read(capsule)
    with pytest.raises(ValueError, match="no capsule"):
        dlpack.read(array)
    del array, tensor, capsule
    gc.collect()
    assert alive() is None


def test_a_library_that_exports_nothing() -> None:
    """Its words are in the error."""
    given = JaxArray(np.zeros(4))
    given.array = SimpleNamespace(__dlpack__=lambda **options: (_ for _ in ()).throw(BufferError("deleted")))
    assert "argument `x` cannot be read as an array on a device: deleted" in refused("AD133", device_array, given, "x")


def test_what_a_function_takes(libraries: SimpleNamespace) -> None:
    """The dtype and the rank that it was compiled for, and memory that it may write."""
    array = np.zeros((2, 2), np.float32)
    tensor = device_array(Tensor(array), "x")
    check(tensor, array.dtype, 2, True, "f")
    said = refused("AD137", check, tensor, F64, 2, False, "f")
    assert "`x` has dtype float32, and `f` takes float64" in said and "x.to(torch.float64)" in said
    assert "x.astype('float64')" in refused("AD137", check, device_array(CupyArray(array), "x"), F64, 2, False, "f")
    assert "2 axes, and `f` takes 1" in refused("AD137", check, tensor, array.dtype, 1, False, "f")
    assert "pass a number" in refused("AD137", check, tensor, array.dtype, 0, False, "f")
    lent = device_array(JaxArray(array), "x")
    check(lent, array.dtype, 2, False, "f")
    with pytest.raises(ValueError, match="`f` writes argument `x`, which is read-only"):
        check(lent, array.dtype, 2, True, "f")


def test_overlap() -> None:
    """Of an array that is written with any other; neighbours and empty arrays do not meet."""
    array = np.zeros(8)
    parts = [array[:4], array[4:], array[3:5], array[2:2]]
    found = [device_array(Interface(part), name) for part, name in zip(parts, "abcd")]
    found[3] = replace(found[3], pointer=array.ctypes.data + 16)  # where NumPy puts an empty slice is its own affair
    refuse_overlap(found[:2], [0, 1], "f")
    refuse_overlap(found, [], "f")
    refuse_overlap([found[0], found[3]], [0, 1], "f")
    assert "`c` and `a` overlap in memory, and `f` writes `c`" in refused("AD131", refuse_overlap, found, [2], "f")
    assert "`a` and `b`" in refused("AD131", refuse_overlap, [found[0], device_array(Interface(array), "b")], [0], "f")


def test_results_are_of_the_kind_of_the_arguments(libraries: SimpleNamespace) -> None:
    """Of the first one's library and on its device; memory of ours for any other."""
    libraries.cupy = 3
    array, memory = np.zeros(4), Memory()
    for given, kind in (
        (CupyArray(array, 1, stream=3), CupyArray),
        (Tensor(array, 1), Tensor),
        (NumbaArray(array), NumbaArray),
        (JaxArray(array), DeviceMemory),
        (Interface(array), DeviceMemory),
    ):
        made = maker(device_arrays([("x", given)]), memory)((2, 3), np.dtype("float32"))
        read = device_array(made, "y")
        assert type(made) is kind and read.shape == (2, 3) and read.dtype == np.dtype("float32")
        if kind in (CupyArray, Tensor):
            assert read.device == 1
    assert Device.current == 0
    made = maker(device_arrays([("x", Interface(array, stream=4)), ("y", NumbaArray(array))]), memory)((), F64)
    assert isinstance(made, DeviceMemory) and made.stream == 4
    assert isinstance(maker(device_arrays([]), memory)((), F64), DeviceMemory)


def test_nothing_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """An array of no known library asks for none."""
    monkeypatch.setattr(devices.libraries, "import_module", lambda name: pytest.fail(f"{name} was imported"))
    found = device_arrays([("x", Interface(np.zeros(4))), ("y", JaxArray(np.zeros(4)))])
    maker(found, Memory())((2,), F64)


def test_memory_of_ours() -> None:
    """Other libraries read it; it is given back once, by whoever is first; an empty one takes none."""
    memory = Memory()
    made = DeviceMemory((2, 2), F64, memory, stream=4)
    found = device_array(made, "y")
    assert found.pointer == made.pointer and found.stream == 4 and not found.read_only
    memory.to_device(made.pointer, np.eye(2))
    assert (made.to_host() == np.eye(2)).all() and memory.waited == [4]
    del found
    made.free()
    made.free()
    del made
    gc.collect()
    assert not memory.held
    dropped = DeviceMemory((3,), F64, memory)
    assert len(memory.held) == 1
    del dropped
    gc.collect()
    assert not memory.held
    empty = DeviceMemory((0, 3), F64, memory)
    empty.free()
    assert empty.pointer == 0 and not memory.held and empty.to_host().shape == (0, 3)
    assert device_array(empty, "y").size == 0 and empty.__cuda_array_interface__["stream"] == 1


@pytest.mark.parametrize(("size", "text"), [(999, "999 bytes"), (1000, "1 kB"), (12345678, "12.3 MB"), (4e9, "4 GB")])
def test_amounts(size: int, text: str) -> None:
    """Three digits."""
    assert amount(int(size)) == text
