"""adgen as a tool of GradBench (https://github.com/gradbench/gradbench): JSON messages over standard input and output.

    python benchmarks/gradbench_tool.py

A line in is a message, a line out its answer. The first call of a function, which compiles it, is a timing of its own.
"""

from __future__ import annotations

import json
import sys
import traceback
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

if TYPE_CHECKING:
    from benchmarks.gradbench.evaluation import Evaluation

EVALS = ("hello", "gmm", "ba", "ht", "kmeans", "llsq", "lse", "lstm", "det", "ode", "particle", "saddle")


def functions(module: str) -> dict[str, Evaluation]:
    """What is implemented of an eval."""
    if module not in EVALS:
        raise LookupError(f"no eval {module!r}; there are {', '.join(EVALS)}")
    found: dict[str, Evaluation] = import_module(f"benchmarks.gradbench.{module}").FUNCTIONS
    return found


def evaluate(evaluation: Evaluation, given: Any) -> dict[str, Any]:
    """The output, and a timing a run until there are as many and as long ones as asked."""
    asked = given if isinstance(given, dict) else {}
    arguments = evaluation.prepare(given)
    times: list[int] = []

    def run() -> Any:
        start = perf_counter_ns()
        result = evaluation.call(*arguments)
        times.append(perf_counter_ns() - start)
        return result

    result = run()
    compiled = times.pop()
    while len(times) < asked.get("min_runs", 1) or sum(times) < asked.get("min_seconds", 0) * 1e9:
        result = run()
    timings = [("compile", compiled), *(("evaluate", time) for time in times)]
    return {
        "success": True,
        "output": evaluation.present(result),
        "timings": [{"name": name, "nanoseconds": time} for name, time in timings],
    }


def respond(message: dict[str, Any]) -> dict[str, Any]:
    """What a message asks for, without its number."""
    if message["kind"] == "start":
        return {"tool": "adgen"}
    if message["kind"] == "define":
        functions(message["module"])
        return {"success": True}
    if message["kind"] == "evaluate":
        return evaluate(functions(message["module"])[message["function"]], message["input"])
    return {}


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The answer to a message; an error is one too."""
    try:
        response = respond(message)
    except Exception:
        response = {"success": False, "error": traceback.format_exc()}
    return {"id": message["id"], **response}


def main() -> None:
    """Answer until there is nothing more to read."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
