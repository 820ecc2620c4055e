"""Arrays on a CUDA device as arguments and results, of whatever library they are.

Comes in: the arguments of a call.  Goes out: pointers, shapes and the stream to compute on; arrays for the results, of
the caller's kind.  Guaranteed: nothing is copied, nor imported that the caller does not have; `calls.py` says when a
call waits.  NumPy arrays are copied by the compiled code itself, with a warning of what it costs.

| file | what is in it |
|---|---|
| `arrays.py` | one argument as a `DeviceArray` |
| `arguments.py` | all of a call: one device, one stream, nothing that overlaps |
| `libraries.py` | what differs between CuPy, PyTorch, Numba and JAX |
| `dlpack.py` | what a DLPack capsule holds |
| `results.py` | arrays of the caller's kind |
| `memory.py` | memory of our own on a device |
| `host.py` | what NumPy arrays cost |
| `cuda.py` | CUDA's runtime, of which `errors.py` explains the errors |
| `workspaces.py` | scratch memory that calls reuse |
| `bound.py` | calls with fixed arrays |
| `calls.py`, `direct.py` | calls of compiled code, and those that are known to be of its types |
"""

from adgen.runtime.devices.arguments import Arguments, check, device_arrays, refuse_overlap
from adgen.runtime.devices.arrays import DeviceArray, device_array
from adgen.runtime.devices.host import warn_of_copies
from adgen.runtime.devices.memory import Allocator, DeviceMemory
from adgen.runtime.devices.results import maker

__all__ = [
    "Allocator",
    "Arguments",
    "DeviceArray",
    "DeviceMemory",
    "check",
    "device_array",
    "device_arrays",
    "maker",
    "refuse_overlap",
    "warn_of_copies",
]
