"""Products of matrices on a device: one kernel for tiles, in shared memory and registers, or cuBLAS.

Comes in: a `multiply` of a host's function.  Goes out: a call of a helper that launches it.  Guaranteed: the order of
sums depends on extents alone, not on which thread runs first: long sums over few elements are taken in parts, which a
second kernel brings together in their order.

Where the file is compiled with `-DADGEN_CUBLAS` and the caller has given a handle, large products are the library's.
cuBLAS counts by columns: what lies in memory as a matrix by rows is its transpose to it, so it computes the transposed
product, right times left.  Its functions are declared here, so that no header of it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
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
                    for (int r = 0; r < 4; ++r) sum[r][c] = fma(a[l][y + 16 * r], other, sum[r][c]);
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

PRODUCT = """/* Adds factor * left @ right to the target, by tiles with sums in so many parts. */
static inline void adgen_product_%(type)s(int64_t rows, int64_t columns, int64_t depth, %(type)s factor,
        const %(type)s *scale, const %(type)s *left, int64_t left_step, bool left_across, const %(type)s *right,
        int64_t right_step, bool right_across, %(type)s *target, int64_t step, %(type)s *parts, int64_t splits,
        cudaStream_t stream)
{
    if (rows <= 0 || columns <= 0 || depth <= 0) return;
#ifdef ADGEN_CUBLAS
    const %(type)s one = 1;
    if (!scale && adgen_cublas_takes(rows, columns, depth, left_step, right_step, step, stream)
            && cublas%(letter)sgemm_v2(adgen_cublas_handle, right_across, left_across, (int)columns, (int)rows,
                    (int)depth, &factor, right, (int)right_step, left, (int)left_step, &one, target, (int)step) == 0) {
        return;
    }
#endif
    const dim3 tiles(adgen_blocks(columns, 64, 2147483647), adgen_blocks(rows, 64, 65535), (unsigned)splits);
    adgen_multiply_%(type)s<<<tiles, 256, 0, stream>>>(rows, columns, depth, factor, scale, left, left_step,
            left_across, right, right_step, right_across, target, step, parts);
    if (splits > 1) {
        adgen_multiplied_%(type)s<<<adgen_blocks(rows * columns, 256, 2147483647), 256, 0, stream>>>(rows, columns,
                splits, factor, scale, parts, target, step);
    }
}"""

CUBLAS = """/* cuBLAS, as its version 2 declares it: results are 0 where all is well. */
#ifdef ADGEN_CUBLAS
extern "C" int cublasSetStream_v2(void *handle, cudaStream_t stream);
extern "C" int cublasSgemm_v2(void *handle, int left_form, int right_form, int rows, int columns, int depth,
        const float *factor, const float *left, int left_step, const float *right, int right_step, const float *keep,
        float *target, int step);
extern "C" int cublasDgemm_v2(void *handle, int left_form, int right_form, int rows, int columns, int depth,
        const double *factor, const double *left, int left_step, const double *right, int right_step,
        const double *keep, double *target, int step);
static thread_local void *adgen_cublas_handle = nullptr;

/* Whether a product is the library's: there is a handle, it is large enough, and its numbers fit. */
static inline bool adgen_cublas_takes(int64_t rows, int64_t columns, int64_t depth, int64_t left_step,
        int64_t right_step, int64_t step, cudaStream_t stream)
{
    const int64_t numbers[] = {rows, columns, depth, left_step, right_step, step};
    for (int64_t number : numbers) {
        if (number > 2147483647) return false;
    }
    return adgen_cublas_handle && (double)rows * (double)columns * (double)depth >= %(smallest)d.0
            && cublasSetStream_v2(adgen_cublas_handle, stream) == 0;
}
#endif"""

SMALLEST = 32768  # multiplications; fewer are not worth a call of the library


def helpers(kinds: Sequence[str]) -> list[str]:
    """The helpers for element types."""
    found = [CUBLAS % {"smallest": SMALLEST}]
    for kind in kinds:
        names = {"type": kind, "letter": "D" if kind == "double" else "S"}
        found += [text % names for text in (KERNEL, TOGETHER, PRODUCT)]
    return found


def multiply(body: HostBody, operation: Operation) -> None:
    """The call for one product."""
    splits, memory = operation.operands[-2:]
    given = Operation(operation.row, operation.operands[:-2], (), operation.attributes, (), operation.span)
    parts, values = contraction(given), body.values
    target, left, right = (placed(body, operand) for operand in (parts.target, parts.left, parts.right))
    rows, columns, depth, count = (values.lasting(v) for v in (parts.rows, parts.columns, parts.depth, splits))
    element = parts.target.buffer.type
    assert isinstance(element, Buffer)
    if isinstance(parts.factor.type, Buffer):
        factor, scale = Expression(literal(1, element.element)[0]), Expression(body.buffers[parts.factor])
        scale = Expression(scale.text, reads=frozenset((body.uses.root[parts.factor],)))
    else:
        factor, scale = values.lasting(parts.factor), Expression("nullptr")
    room = Expression(body.buffers[memory], reads=frozenset((body.uses.root[memory],)))
    across = ["true" if o.rows > o.columns else "false" for o in (parts.left, parts.right)]
    arguments = [rows, columns, depth, factor, scale, *left, Expression(across[0]), *right, Expression(across[1])]
    arguments += [*target, room, count]
    text = ", ".join(argument.text for argument in arguments)
    values.emit(f"adgen_product_{c_type(element)}({text}, stream);", operation.span, reads_of(arguments))
