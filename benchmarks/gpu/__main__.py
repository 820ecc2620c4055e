"""Gradients on a CUDA device by adgen beside those of other tools.

python -m benchmarks.gpu --markdown > build/gpu.md
python -m benchmarks.gpu --small --target cuda-emulated    # without a device: whether this program works
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Column, Table

from adgen.toolchain.cuda_devices import devices

PEERS = "jax,torch,cupy"
NO_DEVICE = "there is no CUDA device (nvidia-smi lists none); `--target cuda-emulated --small` runs without one"


def main(
    names: Annotated[list[str] | None, typer.Argument(help="Workloads; all by default.")] = None,
    target: Annotated[str, typer.Option(help="cuda, or cuda-emulated, whose times say nothing.")] = "cuda",
    small: Annotated[bool, typer.Option("--small", help="Sizes for the emulator.")] = False,
    peers: Annotated[str, typer.Option(help=f"Of {PEERS}, with commas between.")] = PEERS,
    sizes: Annotated[str, typer.Option(help="Names of sizes; all by default.")] = "",
    rounds: Annotated[int, typer.Option(help="Turns of the peers.")] = 7,
    seconds: Annotated[float, typer.Option(help="For a function in a turn.")] = 0.1,
    as_json: Annotated[Path | None, typer.Option("--json", help="A file for the rows.")] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print the table in Markdown.")] = False,
) -> None:
    """Compare values and derivatives with those of adgen's C, then time them on the device."""
    messages = Console(stderr=True)
    if target not in ("cuda", "cuda-emulated"):
        raise typer.BadParameter(f"no target {target}; there are cuda and cuda-emulated")
    if target == "cuda" and not devices():
        messages.print(NO_DEVICE, soft_wrap=True)
        raise typer.Exit(1)
    asked = tuple(peer for peer in peers.split(",") if peer)
    if unknown := [peer for peer in asked if peer not in PEERS.split(",")]:
        raise typer.BadParameter(f"no peer {', '.join(unknown)}; there are {PEERS}")

    from benchmarks.gpu import peaks, players, report, suite
    from benchmarks.gpu.device import device_of
    from benchmarks.gpu.tasks import TASKS
    from benchmarks.suite import all_workloads, plain

    chosen = names or list(TASKS)
    if unknown := [name for name in chosen if name not in TASKS]:
        raise typer.BadParameter(f"no workload {', '.join(unknown)}; there are {', '.join(TASKS)}")
    present = players.present(target, asked)
    for peer in asked:
        if peer not in present:
            messages.print(f"{peer} is not installed")
    try:
        device = device_of(target)
    except RuntimeError as error:
        messages.print(f"the CUDA device cannot be used: {error}", soft_wrap=True)
        raise typer.Exit(1) from None
    plan = suite.Plan(device, present, rounds, seconds)
    peak = peaks.peak_of(plan.device)
    rows: list[suite.Row] = []
    for name in chosen:
        for size in TASKS[name].chosen(sizes, small):
            with messages.status(f"{name} {size[0]}"):
                rows += suite.run(name, all_workloads()[name], TASKS[name], size, plan)
    if as_json:
        as_json.write_text(json.dumps([plain(row) for row in rows], indent=1))
    if as_markdown:
        print(report.markdown(rows, plan.device, peak))
    else:
        console = Console(width=None if sys.stdout.isatty() else 160)
        console.print(report.title(plan.device, peak), soft_wrap=True)
        table = Table(*(Column(header, no_wrap=True) for header in report.HEADERS))
        for line in report.lines(rows, peak):
            table.add_row(*line)
        console.print(table)
    raise typer.Exit(any(row.problem for row in rows if row.peer == "adgen"))


if __name__ == "__main__":
    typer.run(main)
