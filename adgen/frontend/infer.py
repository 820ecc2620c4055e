"""Finding the types of arguments that nobody described, from how the function uses them.

A parameter starts as a float scalar.  A use that does not fit - a subscript, `.shape`, `@`, a bound of `range` - raises
`Refine` with better specs, and the function is lowered again.  Where a use allows several, they are tried in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adgen import ops
from adgen.diagnostics import AdgenError
from adgen.frontend import memory
from adgen.frontend.arrays.model import Lazy, View
from adgen.frontend.complexes.types import complex_kind, memory_of
from adgen.frontend.specs import ArraySpec, Path, ScalarSpec, UnknownSpec
from adgen.frontend.values import Dynamic, Number
from adgen.ir import core
from adgen.ir.nodes import Value
from adgen.ir.types import BOOL, F64, I64, Buffer

if TYPE_CHECKING:
    from adgen.frontend.context import Context

LeafSpec = ScalarSpec | ArraySpec
LARGEST_RANK = 4
CASTS = [row for kind, row in ops.CASTS.items() if kind != BOOL]
INTEGRAL = ("load", "reshape", "add", "sub", "mul", "neg", "floordiv", "mod", "abs", "maximum", "minimum", "select")


class Refine(Exception):
    """The present specs do not fit; one of these changes may.

    `cause` is the diagnostic of an operation that failed: then the changes are guesses, tried after everything else.
    """

    def __init__(self, choices: Sequence[dict[Path, LeafSpec]], cause: AdgenError | None = None) -> None:
        super().__init__(choices)
        self.choices = list(choices)
        self.cause = cause


@dataclass
class Inference:
    """What is assumed about the parameters of unknown type in one attempt."""

    specs: dict[Path, LeafSpec]
    parameters: dict[Value, Path] = field(default_factory=dict)

    # -- demands -----------------------------------------------------------------------------------------------------

    def integer(self, ctx: Context, number: Number) -> None:
        """The number is used as an integer."""
        found: dict[Path, bool] = {}
        self._trace(ctx, number.value, True, found, set(), 0, exact=True)
        change = {p: replace(self.specs[p], element=I64) for p in found if self.specs[p].element.is_float}
        if change:
            raise Refine([change])

    def array(self, ctx: Context, number: Number, axes: int) -> None:
        """A number is used as an array with that many more axes."""
        self._raise_rank(self.origins(ctx, number), axes)

    def indexed(self, ctx: Context, array: Any, count: int) -> None:
        """An array gets `count` indices."""
        wrapped = memory.wrap(ctx, array)
        if wrapped.rank < count:
            self._raise_rank(self.origins(ctx, wrapped), count - wrapped.rank)

    def rank(self, ctx: Context, value: Any, count: int) -> None:
        """A value has exactly `count` axes."""
        rank = 0 if isinstance(value, Number) else getattr(value, "rank", count)
        if rank < count and isinstance(value, Dynamic):
            self._raise_rank(self.origins(ctx, value), count - rank)

    def blame(self, ctx: Context, values: Sequence[Any], cause: AdgenError | None = None) -> None:
        """An operation on these values failed: their parameters may have more axes."""
        found: dict[Path, bool] = {}
        for value in values:
            for path, direct in self.origins(ctx, value):
                found[path] = found.get(path, False) or direct
        choices = [{path: self.raised(path, 1)} for path in found if self._room(path, 1)]
        together = {path: self.raised(path, 1) for path in found if self._room(path, 1)}
        if len(choices) > 1:
            choices = [together, *choices]
        if choices:
            raise Refine(choices, cause)

    @contextmanager
    def blaming(self, ctx: Context, values: Sequence[Any]) -> Iterator[None]:
        """Diagnostics raised inside may be the fault of the specs of these values."""
        try:
            yield
        except AdgenError as error:
            if error.code.startswith("AD3"):
                self.blame(ctx, values, error)
            raise

    def before_call(self, ctx: Context, callee: Any, args: Sequence[Any]) -> None:
        """What certain NumPy functions say about their operands."""
        if callee is np.einsum and args and isinstance(args[0], str):
            for letters, operand in zip(args[0].partition("->")[0].replace(" ", "").split(","), args[1:]):
                self.rank(ctx, operand, len(letters))
        if callee in (np.dot, np.matmul) and len(args) == 2 and not all(isinstance(x, Number) for x in args):
            self.product(ctx, *args)
        if callee in (np.cross, np.outer, np.linalg.norm, np.dot) and all(isinstance(x, Dynamic) for x in args):
            for operand in args:
                self.rank(ctx, operand, 1)

    def stored(self, ctx: Context, owner: Any, count: int, value: Any) -> None:
        """An array is stored where `count` indices leave fewer axes than it has."""
        rank = getattr(memory.wrap(ctx, value), "rank", 0) if memory.is_array(value) else 0
        left = memory.wrap(ctx, owner).rank - count
        if rank > left:
            self._raise_rank(self.origins(ctx, owner), rank - left)

    def product(self, ctx: Context, a: Any, b: Any) -> None:
        """Operands of `@`: a matrix on the left; on the right a vector if it is a parameter, a matrix if an item."""
        for operand, first, second in ((a, 2, 1), (b, 1, 2)):
            found = [item for item in self.origins(ctx, operand) if item[1]] if isinstance(operand, Number) else []
            if found:
                item = any(isinstance(self.specs[path], ArraySpec) for path, _ in found)
                order = (2, 1) if item else (first, second)
                raise Refine([self._wider(found, axes) for axes in order])

    def conflict(self, ctx: Context, values: Sequence[Any]) -> None:
        """A variable is a number here and an array there: what the number is computed from has more axes."""
        ranks = [getattr(value, "rank", 0) for value in values]
        for value, rank in zip(values, ranks):
            if isinstance(value, Dynamic) and rank < max(ranks):
                change = self._wider(self.origins(ctx, value), max(ranks) - rank)
                if change:
                    raise Refine([change])

    # -- specs -------------------------------------------------------------------------------------------------------

    def _wider(self, found: list[tuple[Path, bool]], axes: int) -> dict[Path, LeafSpec]:
        return {path: self.raised(path, axes) for path, _ in found if self._room(path, axes)}

    def _raise_rank(self, found: list[tuple[Path, bool]], axes: int) -> None:
        direct = [item for item in found if item[1]] or found
        change = self._wider(direct, axes)
        if change:
            raise Refine([change])

    def _room(self, path: Path, axes: int) -> bool:
        spec = self.specs[path]
        return (spec.rank if isinstance(spec, ArraySpec) else 0) + axes <= LARGEST_RANK

    def raised(self, path: Path, axes: int) -> LeafSpec:
        """The spec with more axes."""
        spec = self.specs[path]
        rank = spec.rank if isinstance(spec, ArraySpec) else 0
        return ArraySpec(spec.element, rank + axes)

    # -- where values come from --------------------------------------------------------------------------------------

    def origins(self, ctx: Context, value: Any) -> list[tuple[Path, bool]]:
        """The parameters of unknown type that a value is computed from; True: it is the parameter or its element."""
        found: dict[Path, bool] = {}
        if isinstance(value, Number):
            self._trace(ctx, value.value, True, found, set(), 0)
        elif isinstance(value, View):
            self._trace(ctx, value.base, True, found, set(), 0)
        elif isinstance(value, Lazy):
            for root in value.roots:
                self._trace(ctx, root, False, found, set(), 0)
            self._trace_lazy(ctx, value, found)
        return list(found.items())

    def _trace_lazy(self, ctx: Context, value: Lazy, found: dict[Path, bool]) -> None:
        """Read one element where nothing is kept, to see which scalars take part."""
        with ctx.builder.block([]):
            element = value.read(ctx, [ctx.builder.index(0)] * value.rank)
            self._trace(ctx, element, False, found, set(), 0)

    def _trace(
        self,
        ctx: Context,
        value: Value,
        direct: bool,
        found: dict[Path, bool],
        seen: set[Value],
        depth: int,
        exact: bool = False,
    ) -> None:
        """Follow operands to parameters; `exact` stops at operations that do not give integers for integers."""
        if value in seen or depth > 60:
            return
        seen.add(value)
        if complex_kind(value.type) is not None:
            for part in ctx.builder.flat([memory_of(value)]):
                self._trace(ctx, part, direct, found, seen, depth + 1, exact)
            return
        if value in self.parameters:
            path = self.parameters[value]
            if path in self.specs:
                found[path] = found.get(path, False) or direct
            return
        operation = ctx.builder.definitions.get(value)
        if operation is None:
            return
        casts = operation.row in CASTS
        if exact and not casts and operation.row.name not in INTEGRAL:
            return
        for operand in operation.operands:
            if operation.row is core.LOAD and not isinstance(operand.type, Buffer):
                continue
            same = direct and (operation.row is core.LOAD or operation.row is core.RESHAPE or casts)
            self._trace(ctx, operand, same, found, seen, depth + 1, exact)


def default(spec: UnknownSpec) -> LeafSpec:
    """What a parameter is taken for until a use says otherwise."""
    return ScalarSpec(F64, True) if spec.element is None else ScalarSpec(spec.element, False)
