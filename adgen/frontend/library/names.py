"""Which function of NumPy and SciPy is which function of the library."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen.frontend import scalars
from adgen.frontend.arrays.build import as_array
from adgen.frontend.arrays.elementwise import astype
from adgen.frontend.arrays.registry import expands, fixed
from adgen.frontend.arrays.shaping import transpose
from adgen.frontend.arrays.storage import materialise
from adgen.frontend.complexes.types import Complex
from adgen.frontend.library import (
    complex_systems,
    determinant,
    functions,
    lu,
    orthogonal,
    singular,
    symmetric,
    triangular,
)
from adgen.frontend.values import Poison
from adgen.ir.types import F64, I32

if TYPE_CHECKING:
    from adgen.frontend.context import Context


OF_COMPLEX: dict[Any, Any] = {
    function: functools.partial(function, system=complex_systems.of_complex_numbers) for function in (lu.solve, lu.inv)
}


def run(ctx: Context, function: Callable[..., Any], arrays: Sequence[Any], *constants: Any) -> Any:
    """Call a function of the library with arrays of one floating-point type, and constants."""
    from adgen.frontend import calls

    found = [as_array(ctx, x) for x in arrays]
    element = scalars.promote([(x.element, False) for x in found])
    element = element if element.is_float else F64
    ready = [materialise(ctx, x if x.element == element else astype(ctx, x, element)) for x in found]
    if isinstance(element, Complex):
        function = OF_COMPLEX.get(function, function)
    return calls.call(ctx, function, [*ready, *constants], {})


def _matrix(ctx: Context, name: str, array: Any, most: int = 2, least: int = 2) -> Any:
    """An argument that is a matrix, or (where `most` is 3) several of them."""
    if ctx.inference is not None:
        ctx.inference.rank(ctx, array, least)
    found = as_array(ctx, array)
    if not least <= found.rank <= most:
        kinds = "a vector or a matrix" if least == 1 else "a matrix or an array of rank 3" if most == 3 else "a matrix"
        ctx.fail("AD331", f"`{name}` takes {kinds}, not an array of rank {found.rank}", "call it in a loop")
    return found


# -- square systems ----------------------------------------------------------------------------------------------------


@expands(np.linalg.solve)
def solve(ctx: Context, a: Any, b: Any) -> Any:
    """`np.linalg.solve`; of a stack of matrices with one right-hand side for all, or one for each."""
    a, b = _matrix(ctx, "solve", a, 3), _matrix(ctx, "solve", b, 3, 1)
    if b.rank > a.rank:
        ctx.fail(
            "AD331", "`solve` of one matrix with a stack of right-hand sides is not supported", "call it in a loop"
        )
    return run(ctx, lu.solve, (a, b))


@expands(np.linalg.inv, scipy="linalg.inv")
def inv(ctx: Context, a: Any) -> Any:
    """`np.linalg.inv`."""
    return run(ctx, lu.inv, (_matrix(ctx, "inv", a, 3),))


@expands(np.linalg.det, scipy="linalg.det")
def det(ctx: Context, a: Any) -> Any:
    """`np.linalg.det`; its derivative exists for singular matrices too."""
    return run(ctx, determinant.det, (_matrix(ctx, "det", a, 3),))


@expands(np.linalg.slogdet)
def slogdet(ctx: Context, a: Any) -> Any:
    """`np.linalg.slogdet`."""
    return _named(np.linalg.slogdet, run(ctx, lu.slogdet, (_matrix(ctx, "slogdet", a, 3),)))


def _named(function: Any, items: Any) -> Any:
    """Results under the names that NumPy gives them."""
    kind = type(function(np.eye(1)))
    return kind(*items) if issubclass(kind, tuple) and hasattr(kind, "_fields") else tuple(items)


# -- Cholesky and triangular systems -----------------------------------------------------------------------------------


@expands(np.linalg.cholesky)
def cholesky(ctx: Context, a: Any, upper: Any = False) -> Any:
    """`np.linalg.cholesky`: a function of the lower triangle."""
    if upper:
        ctx.fail("AD234", "`cholesky`: the argument `upper` is not supported", "transpose the argument and the result")
    return run(ctx, triangular.cholesky, (_matrix(ctx, "cholesky", a, 3),))


@expands(scipy="linalg.cholesky")
def scipy_cholesky(ctx: Context, a: Any, lower: Any = False) -> Any:
    """`scipy.linalg.cholesky`, which reads the triangle that it gives."""
    fixed(ctx, "cholesky", lower=lower)
    return _cholesky(ctx, _matrix(ctx, "cholesky", a), lower)


def _cholesky(ctx: Context, a: Any, lower: bool) -> Any:
    if lower:
        return run(ctx, triangular.cholesky, (a,))
    return transpose(ctx, run(ctx, triangular.cholesky, (transpose(ctx, a),)))


@expands(scipy="linalg.cho_factor")
def cho_factor(ctx: Context, a: Any, lower: Any = False) -> Any:
    """`scipy.linalg.cho_factor`; the other triangle is the argument's, as in SciPy."""
    fixed(ctx, "cho_factor", lower=lower)
    return run(ctx, triangular.factor_in_place, (_matrix(ctx, "cho_factor", a),), lower), lower


@expands(scipy="linalg.cho_solve")
def cho_solve(ctx: Context, c_and_lower: Any, b: Any) -> Any:
    """`scipy.linalg.cho_solve`."""
    if not isinstance(c_and_lower, tuple | list) or len(c_and_lower) != 2:
        ctx.fail("AD331", "`cho_solve` takes what `cho_factor` gives")
    c, lower = c_and_lower
    fixed(ctx, "cho_solve", lower=lower)
    operands = _matrix(ctx, "cho_solve", c), _matrix(ctx, "cho_solve", b, 2, 1)
    return run(ctx, triangular.cholesky_solve, operands, bool(lower))


@expands(scipy="linalg.solve_triangular")
def solve_triangular(
    ctx: Context, a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False
) -> Any:
    """`scipy.linalg.solve_triangular`: a function of one triangle of the matrix."""
    fixed(ctx, "solve_triangular", trans=trans, lower=lower, unit_diagonal=unit_diagonal)
    if trans not in (0, 1, 2, "N", "T", "C"):
        ctx.fail("AD234", f"`solve_triangular`: trans={trans!r} is not one of 0, 1, 2")
    operands = _matrix(ctx, "solve_triangular", a), _matrix(ctx, "solve_triangular", b, 2, 1)
    options = bool(lower), trans not in (0, "N"), bool(unit_diagonal)
    return run(ctx, triangular.solve_triangular, operands, *options)


# -- factors -----------------------------------------------------------------------------------------------------------


@expands(np.linalg.qr)
def qr(ctx: Context, a: Any, mode: Any = "reduced") -> Any:
    """`np.linalg.qr`."""
    if mode not in ("reduced", "r"):
        ctx.fail("AD234", f"`qr` with mode={mode!r} is not supported", 'use mode="reduced"')
    found = run(ctx, orthogonal.qr, (_matrix(ctx, "qr", a),))
    return found[1] if mode == "r" else _named(np.linalg.qr, found)


@expands(np.linalg.eigh)
def eigh(ctx: Context, a: Any, UPLO: Any = "L") -> Any:
    """`np.linalg.eigh`: a function of one triangle."""
    return _named(np.linalg.eigh, run(ctx, symmetric.eigh, (_symmetric(ctx, "eigh", a, UPLO),)))


@expands(np.linalg.eigvalsh)
def eigvalsh(ctx: Context, a: Any, UPLO: Any = "L") -> Any:
    """`np.linalg.eigvalsh`: a function of one triangle."""
    return run(ctx, symmetric.eigvalsh, (_symmetric(ctx, "eigvalsh", a, UPLO),))


def _symmetric(ctx: Context, name: str, a: Any, triangle: Any) -> Any:
    fixed(ctx, name, UPLO=triangle)
    matrix = _matrix(ctx, name, a)
    return transpose(ctx, matrix) if str(triangle).upper() == "U" else matrix


@expands(np.linalg.svd)
def svd(ctx: Context, a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """`np.linalg.svd`."""
    fixed(ctx, "svd", full_matrices=full_matrices, compute_uv=compute_uv)
    matrix = _matrix(ctx, "svd", a)
    if not compute_uv:
        return run(ctx, singular.singular_values, (matrix,))
    return _named(np.linalg.svd, run(ctx, singular.svd, (matrix,), bool(full_matrices)))


@expands(scipy="linalg.solve")
def scipy_solve(ctx: Context, a: Any, b: Any) -> Any:
    """`scipy.linalg.solve` of a general matrix."""
    return run(ctx, lu.solve, (_matrix(ctx, "solve", a), _matrix(ctx, "solve", b, 2, 1)))


@expands(scipy="linalg.eigh")
def scipy_eigh(ctx: Context, a: Any, lower: Any = True, eigvals_only: Any = False) -> Any:
    """`scipy.linalg.eigh` of one matrix."""
    fixed(ctx, "eigh", lower=lower, eigvals_only=eigvals_only)
    function = symmetric.eigvalsh if eigvals_only else symmetric.eigh
    return run(ctx, function, (_symmetric(ctx, "eigh", a, "L" if lower else "U"),))


@expands(scipy="linalg.eigvalsh")
def scipy_eigvalsh(ctx: Context, a: Any, lower: Any = True) -> Any:
    """`scipy.linalg.eigvalsh` of one matrix."""
    return scipy_eigh(ctx, a, lower, True)


@expands(scipy="linalg.svd")
def scipy_svd(ctx: Context, a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """`scipy.linalg.svd`."""
    found = svd(ctx, a, full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


@expands(scipy="linalg.svdvals")
def svdvals(ctx: Context, a: Any) -> Any:
    """`scipy.linalg.svdvals`."""
    return svd(ctx, a, compute_uv=False)


# -- what follows from singular values ---------------------------------------------------------------------------------


@expands(np.linalg.pinv)
def pinv(ctx: Context, a: Any, rcond: Any = 1e-15) -> Any:
    """`np.linalg.pinv`."""
    fixed(ctx, "pinv", rcond=rcond)
    return run(ctx, singular.pseudo_inverse, (_matrix(ctx, "pinv", a),), 1e-15 if rcond is None else float(rcond))


@expands(np.linalg.lstsq)
def lstsq(ctx: Context, a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq` without the residuals, whose shape depends on the rank."""
    if rcond is not None:
        ctx.fail("AD234", "`lstsq`: the argument `rcond` is not supported", "leave it out")
    matrix = _matrix(ctx, "lstsq", a)
    x = run(ctx, singular.least_squares, (matrix, _matrix(ctx, "lstsq", b, 2, 1)))
    message = "the residuals of `np.linalg.lstsq` are not supported: their shape depends on values"
    residuals = Poison("AD236", message, "compute them: `np.sum((a @ x - b)**2, axis=0)`")
    s = run(ctx, singular.singular_values, (matrix,))
    rank = scalars.cast(ctx, run(ctx, singular.rank_of, (matrix, s)), I32, False)  # of LAPACK's own integers
    return x, residuals, rank, s


@expands(np.linalg.matrix_rank)
def matrix_rank(ctx: Context, A: Any) -> Any:
    """`np.linalg.matrix_rank`."""
    return run(ctx, singular.matrix_rank, (_matrix(ctx, "matrix_rank", A),))


@expands(np.linalg.cond)
def cond(ctx: Context, x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`."""
    fixed(ctx, "cond", p=p)
    return run(ctx, singular.condition, (_matrix(ctx, "cond", x),), p)


@expands(np.linalg.matrix_power)
def matrix_power(ctx: Context, a: Any, n: Any) -> Any:
    """`np.linalg.matrix_power` with an exponent that is known when compiling."""
    from adgen.frontend import calls

    fixed(ctx, "matrix_power", n=n)
    matrix = _matrix(ctx, "matrix_power", a)
    if matrix.element.is_integer and int(n) >= 0:
        return calls.call(ctx, functions.matrix_power, [materialise(ctx, matrix), int(n)], {})
    return run(ctx, functions.matrix_power, (matrix,), int(n))


@expands(scipy="linalg.expm")
def expm(ctx: Context, A: Any) -> Any:
    """`scipy.linalg.expm`."""
    return run(ctx, functions.expm, (_matrix(ctx, "expm", A),))
