"""`adgen compile`: from a file to a package folder that is checked and written whole.

    file -> functions -> subjects (IR) -> C text -> library -> checks -> report -> files -> folder

Guaranteed: a derivative that fails its check is not written unless checks are off; the same request on the same state
of things is answered from the cache without compiling, importing sympy or starting a compiler but to ask its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from adgen.ahead import store
from adgen.ahead.folder import write_folder
from adgen.ahead.options import Options
from adgen.ahead.report import Report
from adgen.ahead.source import functions, load, read
from adgen.diagnostics import AdgenError
from adgen.toolchain import find_compiler, prepare, settled
from adgen.toolchain.cuda_devices import devices
from adgen.toolchain.nvcc import find_nvcc
from adgen.toolchain.target import EMULATED

if TYPE_CHECKING:
    from adgen.ahead.findings import Measured
    from adgen.ahead.units import Subject
    from adgen.emit import Emitted
    from adgen.toolchain.stack import Stack

Tell = Callable[[str], None]
REPORT = "report.json"


class Clock:
    """Seconds by stage, of a part of a stage under `stage: part`; `tell` is told which one begins."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time the `with` body."""
        self.tell(name)
        start = perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start


def compile_file(path: Path, out: Path, options: Options, tell: Tell) -> Report:
    """Compile functions of a file to the package `out/<stem>_ad`.

    Raises AdgenError when something is wrong; then nothing has been written.
    """
    clock = Clock(tell)
    prepare()
    with clock.stage("reading"):
        source = read(path)
        targets = functions(load(path), options.function)
        stem = identifier(path.stem)
        target = out / f"{stem}_ad"
        # while the compiler's flags are still being measured nothing can have been kept for them
        contents = store.recall(store.key(path, source, options), targets) if settled() else None
    if contents is not None:
        report = Report.from_json(contents[REPORT])
        write_folder(target, contents)
        return replace(report, package=str(target), seconds=clock.seconds, cached=True)

    from adgen.ahead.example import example_main
    from adgen.ahead.package import contents as package_contents

    made = _made(path, stem, targets, options, clock)
    report = replace(made.report, package=str(target))
    if not report.passed:
        raise failed(report)
    contents = package_contents(stem, made.subjects, made.emitted, made.library, report)
    if options.example_main:
        contents["main.c"] = example_main(stem, made.subjects[-1], made.emitted, made.measured[-1].arguments).encode()
    if options.profile == "embedded":
        from adgen.ahead.manifest import MANIFEST, manifest

        contents[MANIFEST] = manifest(stem, made.subjects, made.emitted, made.stack, options.float32).encode()
    write_folder(target, contents)
    key = store.key(path, source, options)
    store.remember(key, contents, {subject.name: subject.primal.dependencies for subject in made.subjects})
    return replace(report, seconds=clock.seconds)


def check_file(path: Path, options: Options, tell: Tell) -> Report:
    """Compile and check functions of a file, writing nothing but to the cache.

    Raises AdgenError when something is wrong, a failed check included.
    """
    clock = Clock(tell)
    prepare()
    with clock.stage("reading"):
        targets = functions(load(path), options.function)
    report = _made(path, identifier(path.stem), targets, options, clock, prove=True).report
    if not report.passed:
        raise failed(report)
    return replace(report, seconds=clock.seconds)


@dataclass(frozen=True)
class Made:
    """Everything that a compile makes on the way."""

    subjects: Sequence[Subject]
    measured: Sequence[Measured]
    emitted: Emitted
    library: Path
    report: Report
    stack: Stack | None = None


def _made(
    path: Path,
    stem: str,
    targets: Sequence[Callable[..., Any]],
    options: Options,
    clock: Clock,
    prove: bool = False,
) -> Made:
    """The one straight line: subjects, their costs, C for them, the library, and whether it is right."""
    with clock.stage("importing"):
        from adgen.ahead.findings import findings, measured, notes
        from adgen.ahead.units import subjects as make_subjects
        from adgen.driver import built, translated
        from adgen.emit.profile import PROFILES
        from adgen.toolchain.stack import measure

    subjects, skipped = make_subjects(targets, options, clock.stage)
    with clock.stage("counting"):
        costs = [measured(subject) for subject in subjects]
    with clock.stage("writing C"):
        functions = [unit.optimised for subject in subjects for unit in subject.units.values()]
        comments = {name: text for pair in zip(subjects, costs) for name, text in notes(*pair).items()}
        profile, stack = PROFILES[options.profile], None
        fixed = {unit.optimised.name: unit.fixed for subject in subjects for unit in subject.units.values()}
        emitted = translated(functions, stem, options.target, comments, profile, fixed)
    with clock.stage("compiling C"):
        if profile.bare:
            stack = measure(emitted)
            for name, interface in emitted.interfaces.items():
                comments[name] += f"\n{stack.note(interface.c_name)}"
            emitted = translated(functions, stem, options.target, comments, profile, fixed)
        library = built(emitted, options.target)
        checkable = built(emitted, EMULATED) if options.target.name == "cuda" and not devices() else library
    with clock.stage("checking"):
        found = tuple(findings(*pair, emitted, checkable, options.check, prove) for pair in zip(subjects, costs))
    compiler = find_nvcc() if options.target.name == "cuda" else find_compiler()
    report = Report(str(path), "", " ".join(compiler.command), found, skipped, clock.seconds)
    return Made(subjects, costs, emitted, library, report, stack)


def failed(report: Report) -> AdgenError:
    """The error for derivatives that fail their check."""
    from adgen.ahead.at_kinks import AT_A_KINK

    wrong = [(function.name, check) for function in report.functions for check in function.checks if not check.passed]
    lines = [
        f"`{name}`, {check.product}: {check.name} is off by {check.error:.1e}, at most {check.tolerance:.0e} is allowed"
        + (f": {check.remark}" if check.remark else "")
        for name, check in wrong
    ]
    said = [(function.name, remark) for function in report.functions for remark in function.remarks]
    lines += [f"`{name}`, {remark}" for name, remark in said if remark.startswith(AT_A_KINK)]
    return AdgenError(
        "AD189",
        "a derivative fails its check, so nothing was written\n  " + "\n  ".join(lines),
        help="a custom rule, a kink at the sampled inputs, or a fault in adgen; --no-check writes it all the same",
    )


def identifier(stem: str) -> str:
    """A file's stem as a name that Python and C take."""
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter == "_") else "_" for letter in stem)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
