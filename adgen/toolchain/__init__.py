"""From C text to loaded code: the compiler, the cache, the extension module."""

from adgen.toolchain.cache import cache_folder, cached, digest
from adgen.toolchain.extension import build, load
from adgen.toolchain.fastcall import fast_calls
from adgen.toolchain.tuning import find_compiler, prepare, settled

__all__ = [
    "build",
    "cache_folder",
    "cached",
    "digest",
    "fast_calls",
    "find_compiler",
    "load",
    "prepare",
    "settled",
]
