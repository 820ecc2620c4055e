"""The C++ that emitted CUDA files contain when they need it."""

from __future__ import annotations

import re

from adgen.emit.cuda.products import helpers as multiplication
from adgen.emit.helpers import EXTENT, FAIL, FAIL_FOUR, RESERVE, TIMES
from adgen.ir import sizes
from adgen.ir.types import I64
from adgen.ops.spelling import C_TYPES

BLOCKS = """/* Blocks for so many iterations; where that is not enough, threads take several of them. */
static inline unsigned adgen_blocks(int64_t iterations, int64_t threads, int64_t most)
{
    const int64_t blocks = iterations > 0 ? (iterations - 1) / threads + 1 : 1;
    return (unsigned)(blocks < most ? blocks : most);
}"""

THREADS = """/* The 256 threads of a block for two axes, of which x has so many iterations. */
static inline dim3 adgen_threads(int64_t columns)
{
    unsigned x = 1;
    while (x < 256 && x < columns) x *= 2;
    return dim3(x, 256 / x, 1);
}"""

PLANE = """/* Blocks of adgen_threads for two axes. */
static inline dim3 adgen_plane(int64_t rows, int64_t columns)
{
    const dim3 threads = adgen_threads(columns);
    return dim3(adgen_blocks(columns, threads.x, 65535), adgen_blocks(rows, threads.y, 65535), 1);
}"""

TAKE = """/* The next part of the workspace, as adgen_reserve counted it. */
static inline void *adgen_take(void **work, size_t bytes)
{
    unsigned char *const part = (unsigned char *)*work;
    *work = part + (bytes / 64 + 1) * 64;
    return part;
}"""

LAUNCHED = """/* The status of a call that has put its work into the stream. */
static inline int adgen_launched(int64_t *detail)
{
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return 0;
    detail[0] = error;
    return -2;
}"""

FAILED = """/* Whether a kernel before this one has failed. */
static __device__ inline bool adgen_failed(const int64_t *failure, int64_t launch)
{
    const int64_t noted = *(const volatile int64_t *)(failure + 1);
    return noted != 0 && noted < launch;
}"""

NOTE = """/* A check failed in a kernel: note four numbers about it, unless an earlier iteration failed. */
static __device__ inline void adgen_fail_four(int64_t *failure, int64_t launch, int64_t row, int64_t column,
        int64_t first, int64_t second, int64_t third, int64_t fourth, int site)
{
    unsigned long long *const lock = (unsigned long long *)failure;
    while (atomicCAS(lock, 0ull, 1ull) != 0ull) {
    }
    __threadfence();
    volatile int64_t *const noted = failure;
    if (noted[1] == 0 || row < noted[2] || (row == noted[2] && column < noted[3])) {
        noted[1] = launch;
        noted[2] = row;
        noted[3] = column;
        noted[4] = site;
        noted[5] = first;
        noted[6] = second;
        noted[7] = third;
        noted[8] = fourth;
    }
    __threadfence();
    atomicExch(lock, 0ull);
}"""

NOTE_TWO = """/* The same with two numbers about it. */
static __device__ inline void adgen_fail(int64_t *failure, int64_t launch, int64_t row, int64_t column, int64_t first,
        int64_t second, int site)
{
    adgen_fail_four(failure, launch, row, column, first, second, 0, 0, site);
}"""

ADD_UP = """/* Adds to each element of the target the sum of its row of parts: a block for each, in a fixed order. */
static __global__ void __launch_bounds__(1024) adgen_add_up_%(type)s(%(type)s *__restrict__ target, int64_t count,
        const %(type)s *__restrict__ parts, int64_t width)
{
    __shared__ %(sum)s sums[32];
    for (int64_t k = blockIdx.x; k < count; k += gridDim.x) {
        %(sum)s sum = 0;
        for (int64_t i = threadIdx.x; i < width; i += blockDim.x) sum += %(cast)sparts[k * width + i];
        for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x %% 32 == 0) sums[threadIdx.x / 32] = sum;
        __syncthreads();
        if (threadIdx.x < 32) {
            sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
            for (unsigned step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
            if (threadIdx.x == 0) target[k] %(added)s;
        }
        __syncthreads();
    }
}"""

WIDTH = """/* Threads that add up so many parts. */
static inline unsigned adgen_width(int64_t parts)
{
    unsigned threads = 32;
    while (threads < 1024 && 4 * (int64_t)threads < parts) threads *= 2;
    return threads;
}"""


PARTS = """/* In how many parts iterations are taken, if a part has `width` threads and `size` elements to add to. */
static inline int64_t adgen_parts(int64_t count, int64_t width, int64_t size)
{
    const int64_t threads = %(THREADS)d / (width > 1 ? width : 1), copies = %(ELEMENTS)d / (size > 1 ? size : 1);
    const int64_t fewer = threads < copies ? threads : copies, parts = fewer > 1 ? fewer : 1;
    return count < parts ? (count > 0 ? count : 0) : parts;
}"""

SLICES = """/* How many threads iterations have where each thread has memory of its own: whole blocks. */
static inline int64_t adgen_slices(int64_t count)
{
    const int64_t threads = (count > %(BLOCK)d ? (count - 1) / %(BLOCK)d + 1 : 1) * %(BLOCK)d;
    return threads < %(SLICED)d ? threads : %(SLICED)d;
}"""

SPLITS = """/* In how many parts the sums of a product of matrices are taken. */
static inline int64_t adgen_splits(int64_t rows, int64_t columns, int64_t depth)
{
    const int64_t tall = rows > %(TILE)d ? (rows - 1) / %(TILE)d + 1 : 1;
    const int64_t wide = columns > %(TILE)d ? (columns - 1) / %(TILE)d + 1 : 1;
    const int64_t most = %(BLOCKS)d / (tall * wide), parts = (depth + %(LONG)d - 1) / %(LONG)d;
    return most < 2 || parts < 2 ? 1 : most < parts ? most : parts;
}"""


ROOM = """/* The elements that the parts of a product of matrices take: none where there is one part. */
static inline int64_t adgen_room(int64_t rows, int64_t columns, int64_t depth)
{
    const int64_t splits = adgen_splits(rows, columns, depth);
    return splits > 1 && rows > 0 && columns > 0 ? rows * columns * splits : 0;
}"""


def cuda_helpers(text: str) -> list[str]:
    """The helpers that some text calls, in an order that compiles."""
    kinds = [kind for kind in C_TYPES.values() if f"adgen_add_up_{kind}<<<" in text]
    found = []
    noting = "adgen_failed(failure" in text
    for name, helper in (
        ("adgen_times(", TIMES),
        ("adgen_extent(", for_device(EXTENT)),
        ("adgen_reserve(", RESERVE),
        ("adgen_take(", TAKE),
        ("adgen_launched(", LAUNCHED),
    ):
        if name in text:
            found.append(helper)
    products = [kind for kind in C_TYPES.values() if f"adgen_product_{kind}(" in text]
    divisions = (("adgen_parts(", PARTS), ("adgen_slices(", SLICES), ("adgen_splits(", SPLITS), ("adgen_room(", ROOM))
    found += [helper % vars(sizes) for name, helper in divisions if name in text]
    if "<<<adgen_blocks(" in text or products or "<<<adgen_plane(" in text or kinds:
        found.append(BLOCKS)
    if "<<<adgen_plane(" in text:
        found += [THREADS, PLANE]
    if kinds:
        found += [WIDTH, *map(_add_up, kinds)]
    if products:
        found += multiplication(products)
    if noting:
        found += [FAILED, NOTE]
        found += [NOTE_TWO] if re.search(r"adgen_fail\(failure", text) else []
    if re.search(r"adgen_fail(_four)?\(detail", text):
        found.append(FAIL)
    if "adgen_fail_four(detail" in text:
        found.append(FAIL_FOUR)
    return found


def _add_up(kind: str) -> str:
    """The kernel that brings parts of sums together; integers wrap around."""
    words = {"type": kind, "sum": kind, "cast": "", "added": "+= sum"}
    if kind == C_TYPES[I64]:
        words |= {"sum": "uint64_t", "cast": "(uint64_t)", "added": f"= ({kind})((uint64_t)target[k] + sum)"}
    return ADD_UP % words


def for_device(helper: str) -> str:
    """A helper function of an operation for host and device; constant arrays are the device's."""
    text = re.sub(r"^static const ", "static __device__ const ", helper, flags=re.MULTILINE)
    where = "__device__" if "__device__ const" in text else "__host__ __device__"
    return re.sub(r"^static inline ", f"static {where} inline ", text, flags=re.MULTILINE).replace(
        "*restrict ", "*__restrict__ "
    )
