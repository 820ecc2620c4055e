"""Products of matrices on a device: one kernel for tiles, in shared memory and registers.

Comes in: a `multiply` of a host's function.  Goes out: its launches.  Guaranteed: the order of sums depends on extents
alone, not on which thread runs first: long sums over few elements are taken in parts, which a second kernel brings
together in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adgen.emit.expression import Expression, reads_of
from adgen.emit.memory import nothing
from adgen.emit.products import placed
from adgen.emit.text import c_type, literal
from adgen.ir.contraction import contraction
from adgen.ir.nodes import Operation, Row
from adgen.ir.types import Buffer

if TYPE_CHECKING:
    from adgen.emit.cuda.host import HostBody


MULTIPLY = Row("multiply", nothing)  # a `contract` with the number of parts and memory for them

KERNEL = """/* Tiles of factor * left @ right, a block for each and each part of the sums: added to the target, or
 * left in `parts` where there are several.  Rows are `step` elements apart; `across`: it is stored by columns. */
static __global__ void __launch_bounds__(256) adgen_multiply_%(type)s(int64_t rows, int64_t columns, int64_t depth,
        %(type)s factor, const %(type)s *scale, const %(type)s *__restrict__ left, int64_t left_step, bool left_across,
        const %(type)s *__restrict__ right, int64_t right_step, bool right_across, %(type)s *__restrict__ target,
        int64_t step, %(type)s *__restrict__ parts)
{
    __shared__ %(type)s a[16][65];
    __shared__ %(type)s b[16][65];
    const int x = (int)threadIdx.x %% 16, y = (int)threadIdx.x / 16;
    const int64_t begin = depth * blockIdx.z / gridDim.z, end = depth * (blockIdx.z + 1) / gridDim.z;
    const int64_t column = (int64_t)blockIdx.x * 64;
    const %(type)s times = scale ? *scale : factor;
    for (int64_t row = (int64_t)blockIdx.y * 64; row < rows; row += (int64_t)gridDim.y * 64) {
        %(type)s sum[4][4] = {{0}};
        for (int64_t k = begin; k < end; k += 16) {
            for (int n = (int)threadIdx.x; n < 1024; n += 256) {
                const int r = left_across ? n %% 64 : n / 16, l = left_across ? n / 64 : n %% 16;
                const int64_t i = row + r, m = k + l;
                a[l][r] = i < rows && m < end ? left[left_across ? m * left_step + i : i * left_step + m] : 0;
                const int c = right_across ? n / 16 : n %% 64, t = right_across ? n %% 16 : n / 64;
                const int64_t j = column + c, q = k + t;
                b[t][c] = j < columns && q < end ? right[right_across ? j * right_step + q : q * right_step + j] : 0;
            }
            __syncthreads();
            for (int l = 0; l < 16; ++l) {
                for (int c = 0; c < 4; ++c) {
                    const %(type)s other = b[l][x + 16 * c];
                    for (int r = 0; r < 4; ++r) sum[r][c] += a[l][y + 16 * r] * other;
                }
            }
            __syncthreads();
        }
        for (int r = 0; r < 4; ++r) {
            for (int c = 0; c < 4; ++c) {
                const int64_t i = row + y + 16 * r, j = column + x + 16 * c;
                if (i < rows && j < columns) {
                    if (gridDim.z > 1) parts[((int64_t)blockIdx.z * rows + i) * columns + j] = sum[r][c];
                    else target[i * step + j] += times * sum[r][c];
                }
            }
        }
    }
}"""

TOGETHER = """/* Adds to the target what adgen_multiply_%(type)s has left in parts. */
static __global__ void __launch_bounds__(256) adgen_multiplied_%(type)s(int64_t rows, int64_t columns, int64_t splits,
        %(type)s factor, const %(type)s *scale, const %(type)s *__restrict__ parts, %(type)s *__restrict__ target,
        int64_t step)
{
    const %(type)s times = scale ? *scale : factor;
    for (int64_t n = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; n < rows * columns;
         n += (int64_t)gridDim.x * blockDim.x) {
        %(type)s sum = 0;
        for (int64_t k = 0; k < splits; ++k) sum += parts[k * rows * columns + n];
        target[n / columns * step + n %% columns] += times * sum;
    }
}"""

TILES = """/* The blocks of a product of matrices, whose sums are in so many parts. */
static inline dim3 adgen_tiles(int64_t rows, int64_t columns, int64_t splits)
{
    return dim3(adgen_blocks(columns, 64, 2147483647), adgen_blocks(rows, 64, 65535), (unsigned)splits);
}"""


def helpers(kind: str) -> list[str]:
    """The helpers for an element type."""
    return [KERNEL % {"type": kind}, TOGETHER % {"type": kind}]


def multiply(body: HostBody, operation: Operation) -> None:
    """The launches of one product."""
    splits, memory = operation.operands[-2:]
    given = Operation(operation.row, operation.operands[:-2], (), operation.attributes, (), operation.span)
    parts, values = contraction(given), body.values
    target, left, right = (placed(body, operand) for operand in (parts.target, parts.left, parts.right))
    rows, columns, depth, count = (values.lasting(v) for v in (parts.rows, parts.columns, parts.depth, splits))
    element = parts.target.buffer.type
    assert isinstance(element, Buffer)
    kind = c_type(element)
    if isinstance(parts.factor.type, Buffer):
        factor, scale = Expression(literal(1, element.element)[0]), Expression(body.buffers[parts.factor])
        scale = Expression(scale.text, reads=frozenset((body.uses.root[parts.factor],)))
    else:
        factor, scale = values.lasting(parts.factor), Expression("nullptr")
    room = Expression(body.buffers[memory], reads=frozenset((body.uses.root[memory],)))
    reads = reads_of([rows, columns, depth, count, factor, scale, room, *target, *left, *right])
    across = ["true" if o.rows > o.columns else "false" for o in (parts.left, parts.right)]
    sizes = f"{rows.text}, {columns.text}"
    values.emit(
        f"adgen_multiply_{kind}<<<adgen_tiles({sizes}, {count.text}), 256, 0, stream>>>({sizes}, {depth.text}, "
        f"{factor.text}, {scale.text}, {left[0].text}, {left[1].text}, {across[0]}, {right[0].text}, {right[1].text}, "
        f"{across[1]}, {target[0].text}, {target[1].text}, {room.text});",
        operation.span,
        reads,
    )
    blocks = f"adgen_blocks({rows.inside(13)} * {columns.inside(13)}, 256, 2147483647)"
    values.emit(
        f"if ({count.text} > 1) adgen_multiplied_{kind}<<<{blocks}, 256, 0, stream>>>({sizes}, {count.text}, "
        f"{factor.text}, {scale.text}, {room.text}, {target[0].text}, {target[1].text});",
        operation.span,
        reads,
    )
