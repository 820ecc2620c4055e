/* spread_grad: a thread for each iteration of two loops, programs.py:11 */
static __global__ void __launch_bounds__(256) spread_grad_1(const double *__restrict__ field, int64_t field_n0,
        int64_t field_n1, double *__restrict__ moved, int64_t moved_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:11  moved = field.copy() */
    for (int64_t i = thread_y; i < field_n0; i += threads_y) {
        for (int64_t j = thread; j < field_n1; j += threads) {
            moved[i * moved_n1 + j] = field[i * field_n1 + j];
        }
    }
}

/* spread_grad: a thread for each iteration of two loops, programs.py:12 */
static __global__ void __launch_bounds__(256) spread_grad_2(const double *__restrict__ field, int64_t field_n0,
        int64_t field_n1, double *__restrict__ moved, int64_t moved_n1, double rate)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:12  for i in range(1, len(field) - 1): */
    for (int64_t i = 1 + thread_y; i < field_n0 - 1; i += threads_y) {
        /* programs.py:13  for j in range(1, field.shape[1] - 1): */
        for (int64_t j = 1 + thread; j < field_n1 - 1; j += threads) {
            /* programs.py:14  around = field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1] */
            const double around = field[(i - 1) * field_n1 + j] + field[(i + 1) * field_n1 + j]
                    + field[i * field_n1 + j - 1] + field[i * field_n1 + j + 1];
            /* programs.py:15  moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j]) */
            const double field_i_j = field[i * field_n1 + j];
            moved[i * moved_n1 + j] = field_i_j + rate * (around - 4.0 * field_i_j);
        }
    }
}

/* spread_grad: a thread for each iteration of two loops, programs.py:16 */
static __global__ void __launch_bounds__(256) spread_grad_3(const double *__restrict__ target,
        int64_t target_n0, int64_t target_n1, const double *__restrict__ moved, int64_t moved_n1,
        double *__restrict__ target_bar, int64_t target_bar_n1, double *__restrict__ moved_bar,
        int64_t moved_bar_n1, int64_t field_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:16  return np.sum((moved - target) ** 2) */
    for (int64_t i = target_n0 - 1 - thread_y; i > -1; i -= threads_y) {
        for (int64_t j = thread; j < field_n1; j += threads) {
            const double t1 = (moved[i * moved_n1 + j] - target[i * target_n1 + j]) * 2.0;
            target_bar[i * target_bar_n1 + j] = -t1;
            moved_bar[i * moved_bar_n1 + j] = t1;
        }
    }
}

/* spread_grad: a thread for each iteration of two loops, programs.py:15 */
static __global__ void __launch_bounds__(256) spread_grad_4(const double *__restrict__ moved_bar,
        int64_t moved_bar_n1, double *__restrict__ field_bar, int64_t field_bar_n1, int64_t field_n0,
        int64_t field_n1, double rate)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:15  moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j]) */
    for (int64_t i = thread_y; i < field_n0; i += threads_y) {
        const bool t1 = i >= 2;
        const bool t2 = i < field_n0 - 2;
        const bool t3 = t1 && t2;
        for (int64_t j = thread; j < field_n1; j += threads) {
            const bool t4 = j >= 2;
            const bool t5 = j < field_n1 - 2;
            if (t3 && t4 && t5) {
                const double moved_bar_i_j = moved_bar[i * moved_bar_n1 + j];
                const double t6 = moved_bar[i * moved_bar_n1 + j - 1] + moved_bar[i * moved_bar_n1 + j + 1]
                        + moved_bar[(i - 1) * moved_bar_n1 + j] + moved_bar[(i + 1) * moved_bar_n1 + j] - 4.0
                        * moved_bar_i_j;
                field_bar[i * field_bar_n1 + j] = rate * t6 + moved_bar_i_j;
            } else {
                if (t2) {
                    if (j >= 1 && j < field_n1 - 1) {
                        field_bar[i * field_bar_n1 + j] += rate * moved_bar[(i + 1) * moved_bar_n1 + j];
                    }
                }
                if (i >= 1 && i < field_n0 - 1) {
                    if (t5) {
                        field_bar[i * field_bar_n1 + j] += rate * moved_bar[i * moved_bar_n1 + j + 1];
                    }
                    if (j >= 1 && j < field_n1 - 1) {
                        const double moved_bar_i_j = moved_bar[i * moved_bar_n1 + j];
                        field_bar[i * field_bar_n1 + j] += moved_bar_i_j - 4.0 * (rate * moved_bar_i_j);
                    }
                    if (t4) {
                        field_bar[i * field_bar_n1 + j] += rate * moved_bar[i * moved_bar_n1 + j - 1];
                    }
                }
                if (t1) {
                    if (j >= 1 && j < field_n1 - 1) {
                        field_bar[i * field_bar_n1 + j] += rate * moved_bar[(i - 1) * moved_bar_n1 + j];
                    }
                }
            }
        }
    }
}

/* spread_grad: a thread for each iteration of two loops, programs.py:12 */
static __global__ void __launch_bounds__(256) spread_grad_5(const double *__restrict__ field, int64_t field_n1,
        double *__restrict__ moved_bar, int64_t moved_bar_n1, double *__restrict__ rate_bar_parts,
        int64_t rate_bar_parts_n1, int64_t rows, int64_t parts, int64_t number)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:12  for i in range(1, len(field) - 1): */
    for (int64_t i = thread_y; i < rows; i += threads_y) {
        /* programs.py:13  for j in range(1, field.shape[1] - 1): */
        for (int64_t part = thread; part < parts; part += threads) {
            const int64_t end = ad_floordiv_i64(number - part + parts - 1, parts);
            double rate_bar = 0.0;
            for (int64_t turn = 0; turn < end; ++turn) {
                /* programs.py:14  around = field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1] */
                const double around = field[i * field_n1 + part + turn * parts + 1]
                        + field[(i + 2) * field_n1 + part + turn * parts + 1]
                        + field[(i + 1) * field_n1 + part + turn * parts]
                        + field[(i + 1) * field_n1 + part + turn * parts + 2];
                /* programs.py:15  moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j]) */
                const double t1 = moved_bar[(i + 1) * moved_bar_n1 + part + turn * parts + 1];
                moved_bar[(i + 1) * moved_bar_n1 + part + turn * parts + 1] = 0.0;
                rate_bar += (around - 4.0 * field[(i + 1) * field_n1 + part + turn * parts + 1]) * t1;
            }
            /* programs.py:13  for j in range(1, field.shape[1] - 1): */
            rate_bar_parts[i * rate_bar_parts_n1 + part] = rate_bar;
        }
    }
}

/* spread_grad: a thread for each iteration, programs.py:12 */
static __global__ void __launch_bounds__(256) spread_grad_6(const double *__restrict__ rate_bar_rows,
        double *__restrict__ rate_bar_parts, int64_t parts, int64_t field_n0)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:12  for i in range(1, len(field) - 1): */
    for (int64_t part = thread; part < parts; part += threads) {
        double rate_bar = 0.0;
        for (int64_t i = part + 1; i < field_n0 - 1; i += 131072) {
            rate_bar += rate_bar_rows[i - 1];
        }
        rate_bar_parts[part] = rate_bar;
    }
}

/* spread_grad: one thread */
static __global__ void __launch_bounds__(256) spread_grad_7(double *__restrict__ rate_bar,
        const double *__restrict__ rate_bar_2)
{
    rate_bar[0] = rate_bar_2[0];
}

/* spread_grad: a thread for each iteration, programs.py:12 */
static __global__ void __launch_bounds__(256) spread_grad_8(const double *__restrict__ field, int64_t field_n0,
        int64_t field_n1, double *__restrict__ moved_bar, int64_t moved_bar_n1,
        double *__restrict__ rate_bar_parts, int64_t parts)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:12  for i in range(1, len(field) - 1): */
    for (int64_t part = thread; part < parts; part += threads) {
        double rate_bar = 0.0;
        for (int64_t i = part + 1; i < field_n0 - 1; i += 131072) {
            /* programs.py:13  for j in range(1, field.shape[1] - 1): */
            for (int64_t j = 1; j < field_n1 - 1; ++j) {
                /* programs.py:14  around = field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1] */
                const double around = field[(i - 1) * field_n1 + j] + field[(i + 1) * field_n1 + j]
                        + field[i * field_n1 + j - 1] + field[i * field_n1 + j + 1];
                /* programs.py:15  moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j]) */
                const double moved_bar_i_j = moved_bar[i * moved_bar_n1 + j];
                moved_bar[i * moved_bar_n1 + j] = 0.0;
                rate_bar += (around - 4.0 * field[i * field_n1 + j]) * moved_bar_i_j;
            }
        }
        /* programs.py:12  for i in range(1, len(field) - 1): */
        rate_bar_parts[part] = rate_bar;
    }
}

/* spread_grad: one thread */
static __global__ void __launch_bounds__(256) spread_grad_9(double *__restrict__ rate_bar,
        const double *__restrict__ rate_bar_2)
{
    rate_bar[0] = rate_bar_2[0];
}

/* spread_grad: a thread for each iteration of two loops, programs.py:11 */
static __global__ void __launch_bounds__(256) spread_grad_10(double *__restrict__ moved_bar,
        int64_t moved_bar_n1, double *__restrict__ field_bar, int64_t field_bar_n1, int64_t field_n0,
        int64_t field_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:11  moved = field.copy() */
    for (int64_t i = thread_y; i < field_n0; i += threads_y) {
        for (int64_t j = thread; j < field_n1; j += threads) {
            const double moved_bar_i_j = moved_bar[i * moved_bar_n1 + j];
            moved_bar[i * moved_bar_n1 + j] = 0.0;
            field_bar[i * field_bar_n1 + j] += moved_bar_i_j;
        }
    }
}

/* spread_grad, from programs.py:10
 *   in   double field[field_n0][field_n1]
 *   in   double target[target_n0][target_n1]
 *   in   double rate
 *   out  double field_bar[field_n0][field_n1]
 *   out  double target_bar[field_n0][field_n1]
 *   out  double rate_bar
 *   workspace: 8*(2*field_n0*field_n1 + parts*rows + 2*parts(field_n0 - 2, 1, 1) + rows + 2), parts = parts(((field_n1 - 2) // 8), field_n0 - 2, max(field_n0 - 2, 1)), rows = (field_n0 - 2 if parts >= 4 else 0) bytes
 *   operations: 342, 2.0 times the function's (at field 5x6, target 5x6)
 */
void spread_grad_sizes(const double *__restrict__ field, int64_t field_n0, int64_t field_n1,
        const double *__restrict__ target, int64_t target_n0, int64_t target_n1, double rate, int64_t *sizes)
{
    (void)field;
    (void)target;
    (void)rate;
    (void)target_n0;
    (void)target_n1;
    size_t used = 0;
    const int64_t t1 = ad_maximum_i64(field_n0 - 2, 0);
    const int64_t parts = adgen_parts(ad_floordiv_i64(ad_maximum_i64(field_n1 - 2, 0), 8), t1,
            ad_maximum_i64(field_n0 - 2, 1));
    const int64_t rows = parts >= 4 ? t1 : 0;
    const int64_t parts_2 = adgen_parts(t1, 1, 1);
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), field_n0), field_n1));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), field_n0), field_n1));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), rows), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, sizeof(double));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, sizeof(double));
    sizes[0] = (int64_t)used;
    sizes[1] = field_n0;
    sizes[2] = field_n1;
    sizes[3] = field_n0;
    sizes[4] = field_n1;
}

int spread_grad(const double *__restrict__ field, int64_t field_n0, int64_t field_n1,
        const double *__restrict__ target, int64_t target_n0, int64_t target_n1, double rate,
        double *__restrict__ field_bar, double *__restrict__ target_bar, double *__restrict__ rate_bar,
        void *work, int64_t *detail, int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t t1 = ad_maximum_i64(field_n0 - 2, 0);
    const int64_t t2 = ad_maximum_i64(field_n1 - 2, 0);
    const int64_t parts = adgen_parts(ad_floordiv_i64(t2, 8), t1, ad_maximum_i64(field_n0 - 2, 1));
    const bool t3 = parts >= 4;
    const int64_t rows = t3 ? t1 : 0;
    const int64_t parts_2 = adgen_parts(t1, 1, 1);
    double *const moved = (double *)adgen_take(&work, (size_t)(field_n0 * field_n1) * sizeof(double));
    double *const moved_bar = (double *)adgen_take(&work, (size_t)(field_n0 * field_n1) * sizeof(double));
    double *const rate_bar_parts = (double *)adgen_take(&work, (size_t)(adgen_extent(rows) * parts)
            * sizeof(double));
    double *const rate_bar_rows = (double *)adgen_take(&work, (size_t)adgen_extent(rows) * sizeof(double));
    double *const rate_bar_parts_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const rate_bar_2 = (double *)adgen_take(&work, sizeof(double));
    double *const rate_bar_parts_3 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const rate_bar_3 = (double *)adgen_take(&work, sizeof(double));
    /* programs.py:10  def spread(field: "f64[n,m]", target: "f64[n,m]", rate: float) -> float: */
    if (field_n0 != target_n0) return adgen_fail(detail, field_n0, target_n0, 6);
    if (field_n1 != target_n1) return adgen_fail(detail, field_n1, target_n1, 7);
    /* programs.py:11  moved = field.copy() */
    spread_grad_1<<<adgen_plane(field_n0, field_n1), adgen_threads(field_n1), 0, stream>>>(field, field_n0,
            field_n1, moved, field_n1);
    /* programs.py:12  for i in range(1, len(field) - 1): */
    spread_grad_2<<<adgen_plane(field_n0 - 2, field_n1 - 2), adgen_threads(field_n1 - 2), 0, stream>>>(field,
            field_n0, field_n1, moved, field_n1, rate);
    /* programs.py:10  def spread(field: "f64[n,m]", target: "f64[n,m]", rate: float) -> float: */
    cudaMemsetAsync(field_bar, 0, (size_t)(field_n0 * field_n1) * sizeof *field_bar, stream);
    cudaMemsetAsync(target_bar, 0, (size_t)(field_n0 * field_n1) * sizeof *target_bar, stream);
    /* programs.py:11  moved = field.copy() */
    cudaMemsetAsync(moved_bar, 0, (size_t)(field_n0 * field_n1) * sizeof *moved_bar, stream);
    /* programs.py:16  return np.sum((moved - target) ** 2) */
    spread_grad_3<<<adgen_plane(target_n0, field_n1), adgen_threads(field_n1), 0, stream>>>(target, target_n0,
            target_n1, moved, field_n1, target_bar, field_n1, moved_bar, field_n1, field_n1);
    /* programs.py:15  moved[i, j] = field[i, j] + rate * (around - 4.0 * field[i, j]) */
    spread_grad_4<<<adgen_plane(field_n0, field_n1), adgen_threads(field_n1), 0, stream>>>(moved_bar, field_n1,
            field_bar, field_n1, field_n0, field_n1, rate);
    /* programs.py:12  for i in range(1, len(field) - 1): */
    if (t3) {
        spread_grad_5<<<adgen_plane(rows, parts), adgen_threads(parts), 0, stream>>>(field, field_n1, moved_bar,
                field_n1, rate_bar_parts, parts, rows, parts, t2);
        /* programs.py:13  for j in range(1, field.shape[1] - 1): */
        cudaMemsetAsync(rate_bar_rows, 0, (size_t)adgen_extent(rows) * sizeof *rate_bar_rows, stream);
        adgen_add_up_double<<<adgen_blocks(rows, 1, 2147483647), adgen_width(parts), 0, stream>>>(rate_bar_rows,
                rows, rate_bar_parts, parts);
        /* programs.py:12  for i in range(1, len(field) - 1): */
        spread_grad_6<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(rate_bar_rows,
                rate_bar_parts_2, parts_2, field_n0);
        cudaMemsetAsync(rate_bar_2, 0, 1 * sizeof *rate_bar_2, stream);
        adgen_add_up_double<<<adgen_blocks(1, 1, 2147483647), adgen_width(parts_2), 0, stream>>>(rate_bar_2, 1,
                rate_bar_parts_2, parts_2);
        spread_grad_7<<<1, 1, 0, stream>>>(rate_bar, rate_bar_2);
    } else {
        spread_grad_8<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(field, field_n0, field_n1,
                moved_bar, field_n1, rate_bar_parts_3, parts_2);
        cudaMemsetAsync(rate_bar_3, 0, 1 * sizeof *rate_bar_3, stream);
        adgen_add_up_double<<<adgen_blocks(1, 1, 2147483647), adgen_width(parts_2), 0, stream>>>(rate_bar_3, 1,
                rate_bar_parts_3, parts_2);
        spread_grad_9<<<1, 1, 0, stream>>>(rate_bar, rate_bar_3);
    }
    /* programs.py:11  moved = field.copy() */
    spread_grad_10<<<adgen_plane(field_n0, field_n1), adgen_threads(field_n1), 0, stream>>>(moved_bar, field_n1,
            field_bar, field_n1, field_n0, field_n1);
    return adgen_launched(detail);
}

