"""`main.c`: how to call an entry point from C, on the inputs that it was checked on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from adgen.ahead.units import Subject
from adgen.emit import Emitted
from adgen.emit.interface import Parameter
from adgen.emit.text import c_type, literal
from adgen.frontend.complexes.types import Complex
from adgen.frontend.specs import Leaf
from adgen.ir.types import WIDTHS
from adgen.runtime.convert import canonical, leaf_value
from adgen.runtime.programs import MATRICES, TANGENT

PREFERRED = ("value_and_grad", "grad", "value", "jvp", "vjp", "hvp", *MATRICES)
EXTENT = 3  # of arrays for which no inputs are known
PER_LINE = 4
FORMATS = {"f64": "%.17g", "f32": "%.9g", "bool": "%d", **dict.fromkeys(WIDTHS, "%lld")}
CASTS = {"f32": "(double)", **dict.fromkeys(WIDTHS, "(long long)")}

MAIN = """/* How to call {entry} from C.  Build and run: cc main.c {sources} -lm && ./a.out */
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
    int64_t detail[4] = {{0, 0}};
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


def example_main(stem: str, subject: Subject, emitted: Emitted, arguments: Any) -> str:
    """A C program that calls the most telling entry point of a function; `arguments` may be None."""
    product = next(product for product in PREFERRED if product in subject.units)
    unit = subject.units[product]
    interface = emitted.interfaces[unit.optimised.name]
    values = [
        _value(leaf, parameter, arguments)
        for leaf, parameter in zip(unit.derived.leaves, interface.parameters, strict=True)
    ]
    given = [
        text
        for parameter, value in zip(interface.parameters, values, strict=True)
        for text in (parameter.c_name, *(f"{parameter.c_name}_n{axis}" for axis in range(np.ndim(value))))
    ]
    targets = [result.c_name if result.is_buffer else f"&{result.c_name}" for result in interface.results]
    buffers = [result.c_name for result in interface.results if result.is_buffer]
    return MAIN.format(
        stem=stem,
        sources=" ".join([f"{stem}.c", *emitted.external.sources]),
        entry=interface.c_name,
        inputs="\n".join(line for pair in zip(interface.parameters, values, strict=True) for line in _input(*pair)),
        count=1 + sum(result.rank for result in interface.results),
        given=", ".join(given),
        results="\n".join(_results(interface.results)),
        call=", ".join([*given, *targets, "work", "detail"]),
        prints="\n".join(line for result in interface.results for line in _print(result)),
        frees="\n".join(f"    free({name});" for name in ("work", *buffers)),
    )


def _value(leaf: Leaf, parameter: Parameter, arguments: Any) -> Any:
    """The value of a leaf: that of the arguments; ones for a direction, and for all when nothing is known."""
    if arguments is not None and leaf.path[0] in arguments:
        return canonical(leaf_value(arguments, leaf.path), leaf.spec)
    if arguments is not None and leaf.path[0] == TANGENT and parameter.is_buffer:
        return np.ones_like(leaf_value(arguments, leaf.path[1:]))
    if isinstance(leaf.spec.element, Complex):
        return np.ones((*(EXTENT,) * (parameter.rank - 1), 2))
    return np.ones((EXTENT,) * parameter.rank) if parameter.is_buffer else 1


def _input(parameter: Parameter, value: Any) -> Iterator[str]:
    name, element = parameter.c_name, parameter.element
    if not parameter.is_buffer:
        yield f"    const {c_type(element)} {name} = {literal(value, element)[0]};"
        return
    for axis, extent in enumerate(value.shape):
        yield f"    const int64_t {name}_n{axis} = {extent};"
    numbers = [literal(number, element)[0] for number in np.ravel(value)] or [literal(0, element)[0]]
    yield f"    {c_type(element)} {name}[] = {{"
    for start in range(0, len(numbers), PER_LINE):
        yield f"        {', '.join(numbers[start : start + PER_LINE])},"
    yield "    };"


def _results(results: Sequence[Parameter]) -> Iterator[str]:
    position = 1
    for result in results:
        name, kind = result.c_name, c_type(result.element)
        if not result.is_buffer:
            yield f"    {kind} {name} = 0;"
            continue
        extents = " * ".join(f"sizes[{position + axis}]" for axis in range(result.rank)) or "1"
        position += result.rank
        yield f"    const int64_t {name}_size = {extents};"
        yield f"    {kind} *{name} = malloc({name}_size > 0 ? (size_t){name}_size * sizeof *{name} : 1);"


def _print(result: Parameter) -> Iterator[str]:
    name, element = result.c_name, str(result.element)
    form, cast = FORMATS[element], CASTS.get(element, "")
    if result.is_buffer:
        yield f"    for (int64_t k = 0; k < {name}_size; ++k) {{"
        yield f'        printf("{name}[%lld] = {form}\\n", (long long)k, {cast}{name}[k]);'
        yield "    }"
    else:
        yield f'    printf("{name} = {form}\\n", {cast}{name});'
