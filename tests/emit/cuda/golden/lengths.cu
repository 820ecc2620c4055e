/* lengths_grad: a thread for each iteration of two loops, programs.py:52 */
static __global__ void __launch_bounds__(256) lengths_grad_1(const double *__restrict__ vectors,
        int64_t vectors_n1, double *__restrict__ square_parts, int64_t square_parts_n1, int64_t rows,
        int64_t parts)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:52  for i in range(len(vectors)): */
    for (int64_t i = thread_y; i < rows; i += threads_y) {
        /* programs.py:54  for j in range(vectors.shape[1]): */
        for (int64_t part = thread; part < parts; part += threads) {
            const int64_t end = ad_floordiv_i64(vectors_n1 - part + parts - 1, parts);
            double square = 0.0;
            for (int64_t turn = 0; turn < end; ++turn) {
                /* programs.py:55  square += vectors[i, j] ** 2 */
                const double t1 = vectors[i * vectors_n1 + part + turn * parts];
                square += t1 * t1;
            }
            /* programs.py:54  for j in range(vectors.shape[1]): */
            square_parts[i * square_parts_n1 + part] = square;
        }
    }
}

/* lengths_grad: a thread for each iteration, programs.py:52 */
static __global__ void __launch_bounds__(256) lengths_grad_2(const double *__restrict__ square_rows,
        double *__restrict__ number_rows, int64_t rows)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:52  for i in range(len(vectors)): */
    for (int64_t i = thread; i < rows; i += threads) {
        const double square = square_rows[i];
        /* programs.py:56  total += np.sqrt(1.0 + square) */
        const double square_bar = 1.0 / (2.0 * sqrt(1.0 + square));
        /* programs.py:52  for i in range(len(vectors)): */
        number_rows[i] = 2.0 * square_bar;
    }
}

/* lengths_grad: a thread for each iteration of two loops, programs.py:52 */
static __global__ void __launch_bounds__(256) lengths_grad_3(const double *__restrict__ number_rows,
        const double *__restrict__ vectors, int64_t vectors_n1, double *__restrict__ vectors_bar,
        int64_t vectors_bar_n1, int64_t rows)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:52  for i in range(len(vectors)): */
    for (int64_t i = thread_y; i < rows; i += threads_y) {
        const double number_rows_i = number_rows[i];
        /* programs.py:54  for j in range(vectors.shape[1]): */
        for (int64_t j = thread; j < vectors_n1; j += threads) {
            /* programs.py:55  square += vectors[i, j] ** 2 */
            vectors_bar[i * vectors_bar_n1 + j] = vectors[i * vectors_n1 + j] * number_rows_i;
        }
    }
}

/* lengths_grad: a thread for each iteration, programs.py:52 */
static __global__ void __launch_bounds__(256) lengths_grad_4(const double *__restrict__ vectors,
        int64_t vectors_n0, int64_t vectors_n1, double *__restrict__ vectors_bar, int64_t vectors_bar_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:52  for i in range(len(vectors)): */
    for (int64_t i = thread; i < vectors_n0; i += threads) {
        /* programs.py:54  for j in range(vectors.shape[1]): */
        double square = 0.0;
        for (int64_t j = 0; j < vectors_n1; ++j) {
            /* programs.py:55  square += vectors[i, j] ** 2 */
            const double vectors_i_j = vectors[i * vectors_n1 + j];
            square += vectors_i_j * vectors_i_j;
        }
        /* programs.py:56  total += np.sqrt(1.0 + square) */
        const double square_bar = 1.0 / (2.0 * sqrt(1.0 + square));
        /* programs.py:55  square += vectors[i, j] ** 2 */
        const double t1 = 2.0 * square_bar;
        /* programs.py:54  for j in range(vectors.shape[1]): */
        for (int64_t j = 0; j < vectors_n1; ++j) {
            /* programs.py:55  square += vectors[i, j] ** 2 */
            vectors_bar[i * vectors_bar_n1 + j] = vectors[i * vectors_n1 + j] * t1;
        }
    }
}

/* lengths_grad, from programs.py:50
 *   in   double vectors[vectors_n0][vectors_n1]
 *   out  double vectors_bar[vectors_n0][vectors_n1]
 *   workspace: 8*(parts*rows + 2*rows), parts = parts((vectors_n1 // 8), vectors_n0, max(vectors_n0, 1)), rows = (vectors_n0 if parts >= 4 else 0) bytes
 *   operations: 130, 1.4 times the function's (at vectors 5x6)
 */
void lengths_grad_sizes(const double *__restrict__ vectors, int64_t vectors_n0, int64_t vectors_n1,
        int64_t *sizes)
{
    (void)vectors;
    size_t used = 0;
    const int64_t parts = adgen_parts(ad_floordiv_i64(vectors_n1, 8), vectors_n0,
            ad_maximum_i64(vectors_n0, 1));
    const int64_t rows = parts >= 4 ? vectors_n0 : 0;
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), rows), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    sizes[0] = (int64_t)used;
    sizes[1] = vectors_n0;
    sizes[2] = vectors_n1;
}

int lengths_grad(const double *__restrict__ vectors, int64_t vectors_n0, int64_t vectors_n1,
        double *__restrict__ vectors_bar, void *work, int64_t *detail, int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t parts = adgen_parts(ad_floordiv_i64(vectors_n1, 8), vectors_n0,
            ad_maximum_i64(vectors_n0, 1));
    const bool t1 = parts >= 4;
    const int64_t rows = t1 ? vectors_n0 : 0;
    double *const number_rows = (double *)adgen_take(&work, (size_t)adgen_extent(rows) * sizeof(double));
    double *const square_parts = (double *)adgen_take(&work, (size_t)(adgen_extent(rows) * parts)
            * sizeof(double));
    double *const square_rows = (double *)adgen_take(&work, (size_t)adgen_extent(rows) * sizeof(double));
    /* programs.py:52  for i in range(len(vectors)): */
    if (t1) {
        lengths_grad_1<<<adgen_plane(rows, parts), adgen_threads(parts), 0, stream>>>(vectors, vectors_n1,
                square_parts, parts, rows, parts);
        /* programs.py:54  for j in range(vectors.shape[1]): */
        cudaMemsetAsync(square_rows, 0, (size_t)adgen_extent(rows) * sizeof *square_rows, stream);
        adgen_add_up_double<<<adgen_blocks(rows, 1, 2147483647), adgen_width(parts), 0, stream>>>(square_rows,
                rows, square_parts, parts);
        /* programs.py:52  for i in range(len(vectors)): */
        lengths_grad_2<<<adgen_blocks(rows, 256, 2147483647), 256, 0, stream>>>(square_rows, number_rows, rows);
        lengths_grad_3<<<adgen_plane(rows, vectors_n1), adgen_threads(vectors_n1), 0, stream>>>(number_rows,
                vectors, vectors_n1, vectors_bar, vectors_n1, rows);
    } else {
        lengths_grad_4<<<adgen_blocks(vectors_n0, 256, 2147483647), 256, 0, stream>>>(vectors, vectors_n0,
                vectors_n1, vectors_bar, vectors_n1);
    }
    return adgen_launched(detail);
}

