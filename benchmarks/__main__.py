"""Gradients by adgen beside those of other tools, in one process.

python -m benchmarks --peers jax,casadi
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import perf_counter, process_time
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

PEERS = "jax,casadi,autograd,torch"
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def use_threads(count: int) -> None:
    """For everything that is loaded from now on."""
    os.environ.update({name: str(count) for name in POOLS})
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # idle threads must not spin on the cores of the timed peer
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])  # the first are the busiest


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Workloads; all by default.")] = None,
    peers: Annotated[str, typer.Option(help=f"Of {PEERS}, with commas between.")] = "",
    hand: Annotated[Path | None, typer.Option(help="A folder of hand-written C and its workloads.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="ADBench's files of hand tracking (GradBench: evals/ht/data).")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Names of sizes, or `all`; the first of a workload by default.")] = "",
    threads: Annotated[int, typer.Option(help="And as many cores.")] = 1,
    rounds: Annotated[int, typer.Option(help="Turns of the peers.")] = 5,
    seconds: Annotated[float, typer.Option(help="For a function in a turn.")] = 0.1,
    cpu_time: Annotated[bool, typer.Option("--cpu-time", help="Of the process, on a machine that others use.")] = False,
    as_json: Annotated[Path | None, typer.Option("--json", help="A file for the rows.")] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table in Markdown.")] = False,
) -> None:
    """Compare values and derivatives, then time them."""
    use_threads(threads)
    from benchmarks import report, suite
    from benchmarks.peers.hand import Folder

    console = Console(width=None if sys.stdout.isatty() else 160)
    known = suite.all_workloads()
    chosen = names or list(known)
    if unknown := [name for name in chosen if name not in known]:
        raise typer.BadParameter(f"no workload {', '.join(unknown)}; there are {', '.join(known)}")
    asked = [peer for peer in peers.split(",") if peer]
    if unknown := [peer for peer in asked if peer not in PEERS.split(",")]:
        raise typer.BadParameter(f"no peer {', '.join(unknown)}; there are {PEERS}")
    for peer in asked:
        if suite.installed(peer) is None:
            console.print(f"{peer} is not installed")
    options = suite.Options(
        tuple(peer for peer in asked if suite.installed(peer)),
        Folder(hand) if hand else None,
        data,
        rounds=rounds,
        seconds=seconds,
        clock=process_time if cpu_time else perf_counter,
    )
    rows: list[suite.Row] = []
    for name in chosen:
        for size in suite.sizes(known[name], sizes):
            with console.status(f"{name} {size}"):
                rows += suite.run(name, known[name], size, options)
    if as_json:
        as_json.write_text(json.dumps([suite.plain(row) for row in rows], indent=1))
    if as_markdown:
        print(report.markdown(rows))
        return
    table = Table(*(Column(header, no_wrap=True) for header in report.HEADERS))
    for line in report.lines(rows):
        table.add_row(*line)
    console.print(table)


if __name__ == "__main__":
    typer.run(main)
