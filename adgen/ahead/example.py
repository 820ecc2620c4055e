"""`main.c`: how to call an entry point from C, on the inputs that it was checked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adgen.ahead.units import Subject
from adgen.emit.names import Names
from adgen.emit.text import c_type, literal
from adgen.ir.types import Buffer, Scalar, Type
from adgen.runtime.convert import canonical, leaf_value

PREFERRED = ("value_and_grad", "grad", "value", "jvp", "vjp", "hvp")
EXTENT = 3  # of arrays for which no inputs are known
PER_LINE = 4
FORMATS = {"f64": "%.17g", "f32": "%.9g", "i64": "%lld", "bool": "%d"}
CASTS = {"i64": "(long long)", "f32": "(double)"}

MAIN = """/* How to call {entry} from C.  Build and run: cc main.c {stem}.c -lm && ./a.out */
#include "{stem}.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{{
{inputs}
    int64_t sizes[{count}];
    {entry}_sizes({given}, sizes);
    void *work = malloc(sizes[0] > 0 ? (size_t)sizes[0] : 1);
{results}
    int64_t detail[2] = {{0, 0}};
    const int status = {entry}({call});
    if (status != 0) {{
        fprintf(stderr, "{entry}: check %d failed (%lld, %lld)\\n", status, (long long)detail[0], (long long)detail[1]);
        return 1;
    }}
{prints}
{frees}
    return 0;
}}
"""


def example_main(stem: str, subject: Subject, arguments: Any) -> str:
    """A C program that calls the most telling entry point of a function; `arguments` may be None."""
    product = next(product for product in PREFERRED if product in subject.units)
    unit = subject.units[product]
    function = unit.optimised
    names = Names(frozenset({function.name, "work", "sizes", "detail", "status"}))
    values = [_value(leaf, value.type, arguments) for leaf, value in zip(unit.derived.leaves, function.parameters)]
    parameters = [(names.claim(value.name), value.type) for value in function.parameters]
    results = [
        (names.claim(name), value.type) for name, value in zip(function.result_names, function.results, strict=True)
    ]
    given = [
        text
        for (name, _), value in zip(parameters, values, strict=True)
        for text in (name, *(f"{name}_n{axis}" for axis in range(np.ndim(value))))
    ]
    targets = [name if isinstance(kind, Buffer) else f"&{name}" for name, kind in results]
    lines = list(_results(results))
    return MAIN.format(
        stem=stem,
        entry=function.name,
        inputs="\n".join(line for (n, k), v in zip(parameters, values, strict=True) for line in _input(n, k, v)),
        count=1 + sum(kind.rank for _, kind in results if isinstance(kind, Buffer)),
        given=", ".join(given),
        results="\n".join(lines),
        call=", ".join([*given, *targets, "work", "detail"]),
        prints="\n".join(line for name, kind in results for line in _print(name, kind)),
        frees="\n".join(f"    free({name});" for name in ("work", *(n for n, k in results if isinstance(k, Buffer)))),
    )


def _value(leaf: Any, kind: Type, arguments: Any) -> Any:
    """The value of a leaf: that of the arguments; ones for a direction; zeros when nothing is known."""
    assert isinstance(kind, Scalar | Buffer)
    if arguments is not None and leaf.path[0] in arguments:
        return canonical(leaf_value(arguments, leaf.path), leaf.spec)
    if arguments is not None and leaf.path[0] == "tangent" and isinstance(kind, Buffer):
        return np.ones_like(leaf_value(arguments, leaf.path[1:]))
    return np.full((EXTENT,) * kind.rank, 1.0) if isinstance(kind, Buffer) else 1


def _input(name: str, kind: Type, value: Any) -> Iterator[str]:
    if not isinstance(kind, Buffer):
        assert isinstance(kind, Scalar)
        yield f"    const {c_type(kind)} {name} = {literal(value, kind)[0]};"
        return
    for axis, extent in enumerate(value.shape):
        yield f"    const int64_t {name}_n{axis} = {extent};"
    numbers = [literal(number, kind.element)[0] for number in np.ravel(value)] or [literal(0, kind.element)[0]]
    yield f"    {c_type(kind)} {name}[] = {{"
    for start in range(0, len(numbers), PER_LINE):
        yield f"        {', '.join(numbers[start : start + PER_LINE])},"
    yield "    };"


def _results(results: Sequence[tuple[str, Type]]) -> Iterator[str]:
    position = 1
    for name, kind in results:
        if not isinstance(kind, Buffer):
            yield f"    {c_type(kind)} {name} = 0;"
            continue
        extents = " * ".join(f"sizes[{position + axis}]" for axis in range(kind.rank)) or "1"
        position += kind.rank
        yield f"    const int64_t {name}_size = {extents};"
        yield f"    {c_type(kind)} *{name} = malloc({name}_size > 0 ? (size_t){name}_size * sizeof *{name} : 1);"


def _print(name: str, kind: Type) -> Iterator[str]:
    assert isinstance(kind, Scalar | Buffer)
    element = str(kind.element if isinstance(kind, Buffer) else kind)
    form, cast = FORMATS[element], CASTS.get(element, "")
    if isinstance(kind, Buffer):
        yield f"    for (int64_t k = 0; k < {name}_size; ++k) {{"
        yield f'        printf("{name}[%lld] = {form}\\n", (long long)k, {cast}{name}[k]);'
        yield "    }"
    else:
        yield f'    printf("{name} = {form}\\n", {cast}{name});'
