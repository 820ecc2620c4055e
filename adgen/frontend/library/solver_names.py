"""`adgen.root`, `adgen.fixed_point`, `adgen.linear_solve` in compiled code."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from adgen.frontend import calls, memory, operators
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.arrays.storage import materialise
from adgen.frontend.implicit import solution
from adgen.frontend.library import names, solvers
from adgen.frontend.values import Number, describe, is_number
from adgen.ir.types import F32, F64

if TYPE_CHECKING:
    from adgen.frontend.context import Context


def _start(ctx: Context, name: str, guess: Any) -> Any:
    """The number or the vector that a search starts from."""
    if is_number(guess):
        found = ctx.number(guess)
        if found.element.is_float or found.element.is_integer:
            return ctx.number(guess, F64 if found.element != F32 else F32)
    elif memory.is_array(guess) or isinstance(guess, tuple | list):
        array = as_array(ctx, guess)
        if array.rank == 1 and (array.element.is_float or array.element.is_integer):
            return materialise(ctx, array if array.element in (F64, F32) else astype(ctx, array, F64))
    ctx.fail("AD302", f"`{name}` starts from a real number or a vector, not {describe(guess)}", "use `.ravel()`")


def _solved(ctx: Context, name: str, start: Any, equation: Any, search: Any) -> Any:
    like = _start(ctx, name, start)
    return solution(ctx, name, lambda slope: [search(like, slope)], equation, like)[0]


def _searched(
    ctx: Context, solver: Any, ways: tuple[Any, Any], given: list[Any], start: Any, args: tuple[Any, ...], *limits: Any
) -> Any:
    """What the user's search finds, or that of this package, which is one of two ways: for a number, for a vector."""
    if solver is not None:
        return calls.call(ctx, solver, [given[0], start, *args], {})
    return calls.call(ctx, ways[not isinstance(start, Number)], [*given, start, args, *limits], {})


@expands(solvers.root)
def root(
    ctx: Context, residual: Any, guess: Any, *args: Any, solver: Any = None, tol: Any = 1e-10, maxiter: Any = 50
) -> Any:
    """`adgen.root`."""
    fixed(ctx, "root", tol=tol, maxiter=maxiter)

    def search(start: Any, slope: Any) -> Any:
        ways = solvers.newton_number, solvers.newton_system
        return _searched(ctx, solver, ways, [residual, slope], start, args, tol, maxiter)

    return _solved(ctx, "root", guess, lambda x: calls.call(ctx, residual, [x, *args], {}), search)


@expands(solvers.fixed_point)
def fixed_point(
    ctx: Context, step: Any, start: Any, *args: Any, solver: Any = None, tol: Any = 1e-12, maxiter: Any = 1000
) -> Any:
    """`adgen.fixed_point`."""
    fixed(ctx, "fixed_point", tol=tol, maxiter=maxiter)

    def search(start: Any, _: Any) -> Any:
        ways = solvers.iterate_number, solvers.iterate_system
        return _searched(ctx, solver, ways, [step], start, args, tol, maxiter)

    def equation(x: Any) -> Any:
        return operators.binary(ctx, operator.sub, x, calls.call(ctx, step, [x, *args], {}))

    return _solved(ctx, "fixed_point", start, equation, search)


@expands(solvers.linear_solve)
def linear_solve(ctx: Context, a: Any, b: Any, solver: Any = None) -> Any:
    """`adgen.linear_solve`."""
    if solver is None:
        return names.solve(ctx, a, b)
    return calls.call(ctx, solvers.solved_by, [a, b, solver], {})
