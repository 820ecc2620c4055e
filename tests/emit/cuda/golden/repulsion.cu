/* repulsion_grad: a thread for each iteration of two loops, programs.py:28 */
static __global__ void __launch_bounds__(256) repulsion_grad_1(const double *__restrict__ points,
        int64_t points_n0, double *__restrict__ points_bar_parts, int64_t points_bar_parts_n1,
        double *__restrict__ points_bar_parts_2, int64_t points_bar_parts_2_n1, int64_t rows, int64_t parts)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:28  for i in range(len(points)): */
    for (int64_t i = thread_y; i < rows; i += threads_y) {
        /* programs.py:29  for j in range(i + 1, len(points)): */
        for (int64_t part = thread; part < parts; part += threads) {
            const int64_t end = ad_floordiv_i64(ad_maximum_i64(i, 0) - part + parts - 1, parts);
            double points_bar = 0.0;
            double points_bar_2 = 0.0;
            for (int64_t turn = 0; turn < end; ++turn) {
                const int64_t t1 = points_n0 - i + (part + turn * parts);
                /* programs.py:31  dy = points[i, 1] - points[j, 1] */
                const double dy = points[(points_n0 - i - 1) * 2 + 1] - points[t1 * 2 + 1];
                /* programs.py:30  dx = points[i, 0] - points[j, 0] */
                const double dx = points[(points_n0 - i - 1) * 2] - points[t1 * 2];
                /* programs.py:32  energy += 1.0 / (0.1 + dx * dx + dy * dy) */
                const double t2 = 1.0 / (0.1 + dx * dx + dy * dy);
                const double t3 = 2.0 * (t2 * t2);
                /* programs.py:31  dy = points[i, 1] - points[j, 1] */
                points_bar -= dy * t3;
                /* programs.py:30  dx = points[i, 0] - points[j, 0] */
                points_bar_2 -= dx * t3;
            }
            /* programs.py:29  for j in range(i + 1, len(points)): */
            points_bar_parts[i * points_bar_parts_n1 + part] = points_bar;
            points_bar_parts_2[i * points_bar_parts_2_n1 + part] = points_bar_2;
        }
    }
}

/* repulsion_grad: a thread for each iteration, programs.py:28 */
static __global__ void __launch_bounds__(256) repulsion_grad_2(const double *__restrict__ points_bar_rows,
        const double *__restrict__ points_bar_rows_2, double *__restrict__ points_bar, int64_t points_n0,
        int64_t rows)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:28  for i in range(len(points)): */
    for (int64_t i = thread; i < rows; i += threads) {
        const double points_bar_2 = points_bar_rows[i];
        const double points_bar_3 = points_bar_rows_2[i];
        /* programs.py:29  for j in range(i + 1, len(points)): */
        if (points_n0 - i < points_n0) {
            points_bar[(points_n0 - i - 1) * 2 + 1] += points_bar_2;
            points_bar[(points_n0 - i - 1) * 2] += points_bar_3;
        }
    }
}

/* repulsion_grad: a thread for each iteration, programs.py:28 */
static __global__ void __launch_bounds__(256) repulsion_grad_3(const double *__restrict__ points,
        int64_t points_n0, double *__restrict__ points_bar)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:28  for i in range(len(points)): */
    for (int64_t i = points_n0 - 1 - thread; i > -1; i -= threads) {
        /* programs.py:29  for j in range(i + 1, len(points)): */
        double points_bar_2 = 0.0;
        double points_bar_3 = 0.0;
        for (int64_t j = i + 1; j < points_n0; ++j) {
            /* programs.py:31  dy = points[i, 1] - points[j, 1] */
            const double dy = points[i * 2 + 1] - points[j * 2 + 1];
            /* programs.py:30  dx = points[i, 0] - points[j, 0] */
            const double dx = points[i * 2] - points[j * 2];
            /* programs.py:32  energy += 1.0 / (0.1 + dx * dx + dy * dy) */
            const double t1 = 1.0 / (0.1 + dx * dx + dy * dy);
            const double t2 = 2.0 * (t1 * t1);
            /* programs.py:31  dy = points[i, 1] - points[j, 1] */
            points_bar_2 -= dy * t2;
            /* programs.py:30  dx = points[i, 0] - points[j, 0] */
            points_bar_3 -= dx * t2;
        }
        /* programs.py:29  for j in range(i + 1, len(points)): */
        if (i + 1 < points_n0) {
            points_bar[i * 2 + 1] += points_bar_2;
            points_bar[i * 2] += points_bar_3;
        }
    }
}

/* repulsion_grad: a thread for each iteration of two loops, programs.py:28 */
static __global__ void __launch_bounds__(256) repulsion_grad_4(const double *__restrict__ points,
        int64_t points_n0, double *__restrict__ points_bar_parts, int64_t points_bar_parts_n1,
        int64_t points_bar_parts_n2, int64_t parts, int64_t first, int64_t last)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:28  for i in range(len(points)): */
    for (int64_t part = thread_y; part < parts; part += threads_y) {
        /* programs.py:29  for j in range(i + 1, len(points)): */
        for (int64_t j = first + thread; j < last; j += threads) {
            /* programs.py:28  for i in range(len(points)): */
            const int64_t size = ad_maximum_i64(ad_floordiv_i64(points_n0 + parts - 1, parts), 1);
            double points_bar = 0.0;
            double points_bar_2 = 0.0;
            for (int64_t i = points_n0 - part * size - 1; i > points_n0
                    - ad_minimum_i64(part * size + size, points_n0) - 1; --i) {
                if (i + 1 <= j && j < points_n0) {
                    /* programs.py:31  dy = points[i, 1] - points[j, 1] */
                    const double dy = points[i * 2 + 1] - points[j * 2 + 1];
                    /* programs.py:30  dx = points[i, 0] - points[j, 0] */
                    const double dx = points[i * 2] - points[j * 2];
                    /* programs.py:32  energy += 1.0 / (0.1 + dx * dx + dy * dy) */
                    const double t1 = 1.0 / (0.1 + dx * dx + dy * dy);
                    const double t2 = 2.0 * (t1 * t1);
                    /* programs.py:28  for i in range(len(points)): */
                    points_bar += dy * t2;
                    points_bar_2 += dx * t2;
                }
            }
            points_bar_parts[(j * points_bar_parts_n1 + 1) * points_bar_parts_n2 + part] += points_bar;
            points_bar_parts[j * points_bar_parts_n1 * points_bar_parts_n2 + part] += points_bar_2;
        }
    }
}

/* repulsion_grad, from programs.py:26
 *   in   double points[points_n0][points_n1]
 *   out  double points_bar[points_n0][2]
 *   workspace: 16*(parts*rows + parts(points_n0, last - min(points_n0, 1), max(2*points_n0, 1))*points_n0 + rows), parts = parts(((points_n0 - 1) // 8), points_n0, max(points_n0, 1)), rows = (points_n0 if parts >= 4 else 0), last = (min(points_n0, 1) if points_n0 - 1 <= -1 else points_n0) bytes
 *   operations: 260, 3.2 times the function's (at points 5x2)
 */
void repulsion_grad_sizes(const double *__restrict__ points, int64_t points_n0, int64_t points_n1,
        int64_t *sizes)
{
    (void)points;
    (void)points_n1;
    size_t used = 0;
    const int64_t parts = adgen_parts(ad_floordiv_i64(ad_maximum_i64(points_n0 - 1, 0), 8), points_n0,
            ad_maximum_i64(points_n0, 1));
    const int64_t rows = parts >= 4 ? points_n0 : 0;
    const int64_t first = ad_minimum_i64(points_n0, 1);
    const int64_t parts_2 = adgen_parts(points_n0, (points_n0 - 1 <= -1 ? first : points_n0) - first,
            ad_maximum_i64(2 * points_n0, 1));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), rows), parts));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), rows), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    used = adgen_reserve(used, adgen_times(adgen_times(adgen_times(sizeof(double), points_n0), 2), parts_2));
    sizes[0] = (int64_t)used;
    sizes[1] = points_n0;
    sizes[2] = 2;
}

int repulsion_grad(const double *__restrict__ points, int64_t points_n0, int64_t points_n1,
        double *__restrict__ points_bar, void *work, int64_t *detail, int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t parts = adgen_parts(ad_floordiv_i64(ad_maximum_i64(points_n0 - 1, 0), 8), points_n0,
            ad_maximum_i64(points_n0, 1));
    const bool t1 = parts >= 4;
    const int64_t rows = t1 ? points_n0 : 0;
    const int64_t first = ad_minimum_i64(points_n0, 1);
    const int64_t last = points_n0 - 1 <= -1 ? first : points_n0;
    const int64_t parts_2 = adgen_parts(points_n0, last - first, ad_maximum_i64(2 * points_n0, 1));
    double *const points_bar_parts = (double *)adgen_take(&work, (size_t)(adgen_extent(rows) * parts)
            * sizeof(double));
    double *const points_bar_parts_2 = (double *)adgen_take(&work, (size_t)(adgen_extent(rows) * parts)
            * sizeof(double));
    double *const points_bar_rows = (double *)adgen_take(&work, (size_t)adgen_extent(rows) * sizeof(double));
    double *const points_bar_rows_2 = (double *)adgen_take(&work, (size_t)adgen_extent(rows) * sizeof(double));
    double *const points_bar_parts_3 = (double *)adgen_take(&work, (size_t)(points_n0 * 2 * parts_2)
            * sizeof(double));
    /* programs.py:26  def repulsion(points: "f64[n,2]") -> float: */
    if (points_n1 != 2) return adgen_fail(detail, points_n1, 2, 17);
    cudaMemsetAsync(points_bar, 0, (size_t)(points_n0 * 2) * sizeof *points_bar, stream);
    /* programs.py:28  for i in range(len(points)): */
    if (t1) {
        repulsion_grad_1<<<adgen_plane(rows, parts), adgen_threads(parts), 0, stream>>>(points, points_n0,
                points_bar_parts, parts, points_bar_parts_2, parts, rows, parts);
        /* programs.py:29  for j in range(i + 1, len(points)): */
        cudaMemsetAsync(points_bar_rows, 0, (size_t)adgen_extent(rows) * sizeof *points_bar_rows, stream);
        cudaMemsetAsync(points_bar_rows_2, 0, (size_t)adgen_extent(rows) * sizeof *points_bar_rows_2, stream);
        adgen_add_up_double<<<adgen_blocks(rows, 1, 2147483647), adgen_width(parts), 0,
                stream>>>(points_bar_rows, rows, points_bar_parts, parts);
        adgen_add_up_double<<<adgen_blocks(rows, 1, 2147483647), adgen_width(parts), 0,
                stream>>>(points_bar_rows_2, rows, points_bar_parts_2, parts);
        /* programs.py:28  for i in range(len(points)): */
        repulsion_grad_2<<<adgen_blocks(rows, 256, 2147483647), 256, 0, stream>>>(points_bar_rows,
                points_bar_rows_2, points_bar, points_n0, rows);
    } else {
        repulsion_grad_3<<<adgen_blocks(points_n0, 256, 2147483647), 256, 0, stream>>>(points, points_n0,
                points_bar);
    }
    cudaMemsetAsync(points_bar_parts_3, 0, (size_t)(points_n0 * 2 * parts_2) * sizeof *points_bar_parts_3,
            stream);
    repulsion_grad_4<<<adgen_plane(parts_2, last - first), adgen_threads(last - first), 0, stream>>>(points,
            points_n0, points_bar_parts_3, 2, parts_2, parts_2, first, last);
    adgen_add_up_double<<<adgen_blocks(points_n0 * 2, 1, 2147483647), adgen_width(parts_2), 0,
            stream>>>(points_bar, points_n0 * 2, points_bar_parts_3, parts_2);
    return adgen_launched(detail);
}

