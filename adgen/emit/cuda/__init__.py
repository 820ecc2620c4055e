"""From IR to CUDA."""

from adgen.emit.cuda.source import EmittedCuda, emit_cuda

__all__ = ["EmittedCuda", "emit_cuda"]
