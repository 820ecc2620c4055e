"""The commands and their options."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="adgen",
    help="Ordinary Python functions in, C code of their derivatives out: compiled, checked, and readable.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

PRODUCTS = "value, grad, jvp, vjp, hvp, jacobian, jacfwd, jacrev, hessian"
File = Annotated[Path, typer.Argument(help="A Python file.", show_default=False)]
Function = Annotated[str | None, typer.Argument(help="One function of it; default: every public one.")]
Wrt = Annotated[str | None, typer.Option(help="Parameters to differentiate for, as a,b; default: all of floats.")]
Arg = Annotated[
    list[str] | None,
    typer.Option("--arg", help='The type of a parameter, as "x: f64[n,d]"; may be repeated.', show_default=False),
]
Static = Annotated[
    list[str] | None,
    typer.Option(
        "--static",
        help="A parameter that is compiled for one value, as full=True; may be repeated.  An int or bool that decides "
        "what is returned is compiled for its default.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        help="c, cuda (nvcc), or cuda-emulated (the same on the processor); default: ADGEN_TARGET, else c.",
        show_default=False,
    ),
]
Deterministic = Annotated[
    bool, typer.Option("--deterministic", help="For cuda: the same bits in every run, at the cost of memory.")
]


class Stage(str, Enum):
    """What `show` can show."""

    python = "python"
    ir = "ir"
    tangent = "tangent"
    adjoint = "adjoint"
    c = "c"
    cuda = "cuda"
    latex = "latex"


@app.callback(invoke_without_command=True)
def adgen(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        from adgen.ahead.report import VERSION

        typer.echo(f"adgen {VERSION}")
        raise typer.Exit


@app.command("compile")
def compile_command(
    file: File,
    function: Function = None,
    wrt: Wrt = None,
    emit: Annotated[str, typer.Option(help=f"Entry points: {PRODUCTS}.")] = "value,grad,jvp,vjp",
    arg: Arg = None,
    static: Static = None,
    out: Annotated[Path, typer.Option(help="The folder to put the package into.")] = Path("build"),
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not check the derivatives.")] = False,
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Drop the index checks from the C code.")] = False,
    example_main: Annotated[bool, typer.Option("--example-main", help="Also write a main.c that calls it.")] = False,
    memory: Annotated[
        str | None, typer.Option(help="What the residuals of a loop may take, as 256MB; default: what they need.")
    ] = None,
    trace_nan: Annotated[
        bool, typer.Option("--trace-nan", help="Calls tell which operation is the first to make a NaN or an infinity.")
    ] = False,
    profile: Annotated[
        str,
        typer.Option(help="hosted, or embedded: C99 without heap and recursion, and a manifest."),
    ] = "hosted",
    float32: Annotated[bool, typer.Option("--float32", help="Compute in single precision throughout.")] = False,
    closed_form: Annotated[
        bool, typer.Option("--closed-form", help="Formulas of sympy for straight-line code, where they are cheaper.")
    ] = False,
    threads: Annotated[int, typer.Option(help="How many threads long independent loops are divided among.")] = 1,
    target: Target = None,
    arch: Annotated[
        str | None,
        typer.Option(
            help="For cuda: as sm_80,sm_90; default: the devices that are there, else these.", show_default=False
        ),
    ] = None,
    deterministic: Deterministic = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Say more, and name the compiler's command.")] = False,
    timings: Annotated[bool, typer.Option("--timings", help="Say how long each stage and each pass took.")] = False,
) -> None:
    """Compile functions and their derivatives to the package OUT/<file>_ad."""
    from adgen.ahead import Options, compile_file
    from adgen.cli.progress import progress

    given = function, wrt, emit, arg or (), static or ()
    options = Options.parse(
        *given,
        not no_check,
        unchecked,
        example_main,
        memory,
        trace_nan,
        profile,
        float32,
        closed_form,
        threads,
        target,
        arch,
        deterministic,
    )
    with progress() as tell:
        report = compile_file(file, out, options, tell)
    typer.echo(report.text(verbose))
    if timings:
        typer.echo(f"\n{report.timings()}")


@app.command()
def show(
    file: File,
    function: Annotated[str, typer.Argument(help="The function.", show_default=False)],
    stage: Annotated[Stage, typer.Option(help="Which form of it.")] = Stage.c,
    wrt: Wrt = None,
    arg: Arg = None,
    static: Static = None,
    side_by_side: Annotated[bool, typer.Option("--side-by-side", help="Python left, the adjoint C right.")] = False,
    deterministic: Deterministic = False,
) -> None:
    """Show a function at a stage of its way to C."""
    from adgen.ahead import Options, stage_text
    from adgen.cli.colour import print_code, print_side_by_side

    target = "cuda-emulated" if stage is Stage.cuda else None
    given = function, wrt, "value,grad,jvp,vjp", arg or (), static or ()
    options = Options.parse(*given, target=target, deterministic=deterministic)
    if side_by_side:
        left, right = (stage_text(file, options, name) for name in ("python", "adjoint-c"))
        print_side_by_side(left, right)
    else:
        print_code(
            stage_text(file, options, stage.value),
            {"python": "python", "c": "c", "cuda": "cuda", "latex": "latex"}.get(stage.value, "llvm"),
        )


@app.command()
def check(file: File, function: Function = None, wrt: Wrt = None, arg: Arg = None, static: Static = None) -> None:
    """Check derivatives against the dot-product identity, the complex step, differences, and formulas."""
    from adgen.ahead import Options, check_file
    from adgen.cli.progress import progress

    with progress() as tell:
        report = check_file(file, Options.parse(function, wrt, "value,grad,jvp,vjp", arg or (), static or ()), tell)
    typer.echo(report.text(verbose=True))


@app.command()
def explain(
    file: File,
    function: Function = None,
    wrt: Wrt = None,
    arg: Arg = None,
    static: Static = None,
    memory: Annotated[str | None, typer.Option(help="What the residuals of a loop may take, as 256MB.")] = None,
    target: Target = None,
    deterministic: Deterministic = False,
    max_bytes: Annotated[
        str | None, typer.Option(help="Fail when the workspace of a gradient is larger, as 64kB.", show_default=False)
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(help="Fail when a gradient takes more operations for each of the value.", show_default=False),
    ] = None,
) -> None:
    """Say what a gradient costs, what its reverse sweep keeps, and why it is zero where it is."""
    from adgen.ahead import Options, explain_file
    from adgen.sizes import bytes_of

    limit = bytes_of(max_bytes)
    options = Options.parse(
        function,
        wrt,
        "value,grad,vjp",
        arg or (),
        static or (),
        memory=memory,
        target=target,
        deterministic=deterministic,
    )
    found = explain_file(file, options)
    typer.echo("\n\n".join(map(str, found)))
    excess = [line for explanation in found for line in explanation.excess(limit, max_ratio)]
    for line in excess:
        typer.echo(line, err=True)
    raise typer.Exit(1 if excess else 0)


@app.command()
def fuzz(
    file: File,
    function: Function = None,
    arg: Arg = None,
    static: Static = None,
    variants: Annotated[int, typer.Option(help="How many variants of each function at most.")] = 12,
    seed: Annotated[int, typer.Option(help="For the choice of variants and inputs.")] = 0,
) -> None:
    """Compare functions with equivalent variants of them: value and derivatives must agree."""
    from adgen.ahead import Options
    from adgen.ahead.fuzz import fuzz_file
    from adgen.cli.progress import progress

    with progress() as tell:
        options = Options.parse(function, None, "value,jvp,vjp", arg or (), static or ())
        text, good = fuzz_file(file, options, variants, seed, tell)
    typer.echo(text)
    raise typer.Exit(0 if good else 1)


@app.command()
def doctor() -> None:
    """Say which compiler is used, and what is missing and how to get it."""
    from adgen.ahead.doctor import diagnose

    text, healthy = diagnose()
    typer.echo(text)
    raise typer.Exit(0 if healthy else 1)
