"""C written by hand, in a folder whose `workloads/NAME.py` makes inputs and sets up what runs on them."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.workload import Calls, Inputs, Workload, flat


class Folder:
    """Workloads of such a folder; every one keeps the inputs that its C points to."""

    def __init__(self, path: Path) -> None:
        os.environ.setdefault("BENCH_THREADS", os.environ.get("OMP_NUM_THREADS", "1"))
        sys.path[:0] = [str(path.resolve()), str(path.resolve().parent)]
        self.theirs: Inputs = {}

    def inputs(self, workload: Workload, size: str) -> Inputs | None:
        """Their inputs by our names; None where they have none, or lack the files they need."""
        self.theirs = {}
        if not workload.hand:
            return None
        try:
            self.theirs = import_module(f"workloads.{workload.hand}").make_inputs(size)
        except (KeyError, OSError):
            return None
        if workload.adapt is not None:
            return workload.adapt(self.theirs)
        names = [*workload.names, *(["v"] if workload.product == "hvp" else [])]
        return {name: self.theirs[name] for name in names}

    def calls(self, workload: Workload, inputs: Inputs) -> Calls | None:
        """Their function and derivative on the inputs that were made last."""
        if not self.theirs:
            return None
        setup = getattr(import_module(f"workloads.{workload.hand}"), f"setup_{workload.hand_peer}")(self.theirs)
        readers = (setup.get("get_primal", flat), setup.get("get_grad", flat))
        return Calls(setup["primal"], setup["grad"], *readers)
