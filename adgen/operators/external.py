"""`adgen.external`: C functions of the user's, with their derivative functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adgen.diagnostics import AdgenError
from adgen.frontend.complexes.types import Complex
from adgen.frontend.foreign import Declared, External, Primitive
from adgen.frontend.library.transposes import jvp_of, vjp_of
from adgen.frontend.rules import Rules, check_rules
from adgen.frontend.specs import ArraySpec, ScalarSpec, bound
from adgen.ops.foreign import Files, ForeignFunction, Parameter
from adgen.runtime.annotations import parse_type_text
from adgen.toolchain.foreign import Foreign

Named = tuple[str, Declared]
Rule = str | Callable[..., Any]
EXAMPLE = 'write for example arguments=("v: f64", "c: f64[n]"), result="f64"'


def external(
    name: str,
    *,
    header: str | Path,
    sources: Sequence[str | Path] = (),
    arguments: Sequence[str],
    result: str | Sequence[str] = "f64",
    vjp: Rule | None = None,
    jvp: Rule | None = None,
) -> External:
    """A C function as one of Python, inside compiled functions and outside.

    `arguments` are types such as `"v: f64"` or `"c: f64[n,3]"`, `result` is one of them without a name, or several.
    `header` declares the function; `sources` are the C files to compile and what else they include.  Paths count from
    the file of the call.  The files are read now: what a program was compiled from does not change under it.

    In C a number is passed as it is, and an array as a pointer to `const` elements in C order with an `int64_t` for
    each axis behind it.  One number is returned; other results are written through pointers behind the arguments.

    `vjp` and `jvp` name C functions.  `vjp` takes the arguments, the results, a cotangent of each floating-point
    result, and pointers to write a cotangent of each floating-point argument through; `jvp` takes the arguments, the
    results and a tangent of each floating-point argument, and gives tangents as the function gives results.  What a
    derivative function gets beyond the arguments comes without extents, and memory to write to is zero before.  Either
    may be a Python function instead, as `custom_vjp` and `custom_jvp` take it, which is needed for second derivatives.
    From one C function the other mode is computed by unit vectors.

    Raises AdgenError for files that are not there and for types that cannot be read; what the compiler says of the
    files is an error of the first use.
    """
    files = _files(_folder(sys._getframe(1).f_code.co_filename), header, sources)
    inputs = [_declared(text, f"a{place}") for place, text in enumerate(arguments)]
    bare = isinstance(result, str)
    texts = (result,) if isinstance(result, str) else tuple(result)
    outputs = [_declared(text, "out" if bare else f"out_{place}") for place, text in enumerate(texts)]
    _check(name, inputs, outputs)
    primitive = _primitive(name, files, inputs, [], outputs, bare)
    rules = {"vjp": vjp, "jvp": jvp}
    for kind, rule in rules.items():
        if isinstance(rule, str):
            rules[kind] = _derivative(kind, rule, files, inputs, outputs, bare)
    if rules["vjp"] is None and rules["jvp"] is None:
        return External(primitive, None, ())
    given = tuple(rule for rule in rules.values() if isinstance(rule, Primitive))
    moves, carries = ([spec.element.is_float for _, spec in named] for named in (inputs, outputs))
    if rules["jvp"] is None and given:
        rules["jvp"] = jvp_of(given[0], moves, carries, bare)
    elif rules["vjp"] is None and given:
        rules["vjp"] = vjp_of(given[0], moves, carries, bare)
    made = Rules(primitive, **rules)  # type: ignore[arg-type]
    function = External(primitive, made, given)
    check_rules(function, made)
    return function


def _primitive(
    name: str, files: Files, inputs: Sequence[Named], known: Sequence[Named], outputs: Sequence[Named], bare: bool
) -> Primitive:
    """A C function; what is `known` besides the inputs comes without extents."""
    given = [
        *(Parameter(n, spec.element, _rank(spec), bool(_rank(spec))) for n, spec in inputs),
        *(Parameter(n, spec.element, _rank(spec)) for n, spec in known),
    ]
    filled = [(n, spec) for n, spec in outputs if spec is not None]
    targets = tuple(Parameter(n, spec.element, _rank(spec)) for n, spec in filled)
    returns = bare and not targets[0].rank
    function = ForeignFunction(name, tuple(given), targets, returns, files, Foreign())
    return Primitive(function, (*inputs, *known), tuple(spec for _, spec in outputs), bare)


def _derivative(
    kind: str, name: str, files: Files, inputs: Sequence[Named], outputs: Sequence[Named], bare: bool
) -> Primitive:
    """A derivative function in C; its results have None where there is no derivative."""
    given, wanted, ending = (outputs, inputs, "bar") if kind == "vjp" else (inputs, outputs, "dot")
    moving = [(f"{n}_{ending}", spec) for n, spec in given if spec.element.is_float]
    moved: list[Any] = [(f"{n}_{ending}", spec if spec.element.is_float else None) for n, spec in wanted]
    return _primitive(name, files, inputs, [*outputs, *moving], moved, bare and kind == "jvp")


def _rank(spec: Declared) -> int:
    return spec.rank if isinstance(spec, ArraySpec) else 0


# -- what the user wrote -----------------------------------------------------------------------------------------------


def _declared(text: str, name: str) -> Named:
    """The name and type of an argument or result; every axis has a number or a name."""
    before, colon, after = text.partition(":") if "[" not in text.partition(":")[0] else ("", "", text)
    spec = parse_type_text(after if colon else text)
    name = before.strip() if colon else name
    if not isinstance(spec, ScalarSpec | ArraySpec) or isinstance(spec.element, Complex) or not name.isidentifier():
        raise AdgenError("AD157", f"`{text}` is not the type of an argument or result of a C function", help=EXAMPLE)
    if isinstance(spec, ScalarSpec):
        return name, spec
    extents = tuple(e if bound(e) else f"{name}_n{axis}" for axis, e in enumerate(spec.extents))
    return name, replace(spec, extents=extents)


def _check(name: str, inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """Refuse what no C function can be called with."""
    names = [n for n, _ in inputs]
    if not name.isidentifier() or not name.isascii():
        raise AdgenError("AD157", f"`{name}` is not the name of a C function")
    if len(set(names)) < len(names):
        raise AdgenError("AD157", f"two arguments of `{name}` have the same name", help=EXAMPLE)
    known = {extent for _, spec in inputs if isinstance(spec, ArraySpec) for extent in spec.extents}
    for _, spec in outputs:
        for extent in spec.extents if isinstance(spec, ArraySpec) else ():
            if isinstance(extent, str) and extent not in known:
                raise AdgenError(
                    "AD157",
                    f"the extent `{extent}` of a result of `{name}` is that of no argument",
                    help='give it the name of an extent, as in arguments=("x: f64[n]",), result="f64[n]", or a number',
                )
    if not outputs:
        raise AdgenError("AD157", f"`{name}` has no result", help=EXAMPLE)


def _folder(file: str) -> Path:
    """Where paths count from: the folder of the calling file, or the present one where there is no file."""
    path = Path(file)
    return path.resolve().parent if path.is_file() else Path.cwd()


def _files(folder: Path, header: str | Path, sources: Sequence[str | Path]) -> Files:
    """The contents of the files.

    Raises AdgenError when one is not there, or two have one name.
    """
    found: dict[str, bytes] = {}
    for path in (folder / Path(header), *(folder / Path(source) for source in sources)):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise AdgenError(
                "AD157", f"`{path}` cannot be read: {error.strerror}", help=f"paths count from `{folder}`"
            ) from None
        if found.setdefault(path.name, data) != data:
            raise AdgenError("AD157", f"two different files are named `{path.name}`", help="rename one of them")
    return Files((Path(header).name,), tuple(sorted(found.items())))
