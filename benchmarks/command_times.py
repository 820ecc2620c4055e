"""How long `adgen compile` takes as a whole process, from a cold and from a warm cache, beside the bare interpreter.

Run: python benchmarks/command_times.py FILE [FUNCTION]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def seconds(command: list[str], folder: Path) -> float:
    """The wall time of one run."""
    environment = {**os.environ, "ADGEN_CACHE_DIR": str(folder / "cache")}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> None:
    """Print the times of a cold compile, of three warm ones, and of `python -c pass`."""
    command = [sys.executable, "-m", "adgen", "compile", str(Path(sys.argv[1]).resolve()), *sys.argv[2:]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"cold        {seconds(command, folder):6.2f} s")
        print(f"warm        {min(seconds(command, folder) for _ in range(3)):6.2f} s")
        print(f"interpreter {min(seconds([sys.executable, '-c', 'pass'], folder) for _ in range(3)):6.2f} s")


if __name__ == "__main__":
    main()
