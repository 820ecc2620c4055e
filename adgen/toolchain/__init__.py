"""From C text to loaded code: the compiler, the cache, the extension module."""

from adgen.toolchain.cache import cache_folder, cached, digest
from adgen.toolchain.extension import build, load
from adgen.toolchain.tuning import find_compiler, prepare, settled

__all__ = ["build", "cache_folder", "cached", "digest", "find_compiler", "load", "prepare", "settled"]
