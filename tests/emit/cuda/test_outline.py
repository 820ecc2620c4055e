"""How a function is cut into kernels."""

from __future__ import annotations

import numpy as np
import pytest

from adgen import ops
from adgen.emit.cuda.outline import LAUNCH, LONGEST, outline
from adgen.ir.builder import Builder
from adgen.ir.interpret import run
from adgen.ir.nodes import Function, Value, walk
from adgen.ir.types import F64, Buffer
from adgen.passes.adjoint import adjoint
from tests.emulated import Emulated


def straight(statements: int) -> Function:
    """Code without loops, of whose numbers a few are needed much later."""
    builder = Builder()
    x = Value(Buffer(F64, 1), "x")
    with builder.block((x,)) as block:
        found = [builder.load(x, (builder.index(k),)) for k in (0, 1)]
        for k in range(statements // 2):
            product = builder.op(ops.MUL, found[-1], found[-2])
            found.append(builder.op(ops.SIN, product) if k % 7 else builder.op(ops.ADD, product, found[k // 2]))
        block.results = (found[-1],)
    return Function("straight", block.region(), ("out",))


@pytest.mark.quick
def test_long_code_is_cut() -> None:
    """No kernel is longer than what a compiler takes, however long the code is, and none has a parameter for each
    number that it needs: their size is bounded."""
    for times in (1, 4, 9):
        outlined = outline(straight(times * LONGEST))
        assert len(outlined.kernels) == sum(o.row is LAUNCH for o in walk(outlined.host.body))
        assert times <= len(outlined.kernels) <= 2 * times
        for kernel in outlined.kernels:
            assert sum(1 for _ in walk(kernel.function.body)) < 2 * LONGEST
            assert len(kernel.function.parameters) <= 3


def test_long_code_computes_the_same() -> None:
    """Numbers that pass from kernel to kernel in the emulator are those of the interpreter."""
    value = straight(2500)
    given = [np.array([0.7, 1.3])]
    gradient = adjoint(value, (0,))
    module = Emulated([value, gradient])
    for function, arguments in ((value, given), (gradient, [*given, 1.0])):
        failure, found = module.call(function.name, arguments)
        assert failure is None
        for one, other in zip(found, run(function, list(arguments)).results, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9)
