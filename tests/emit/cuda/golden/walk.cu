/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_1(const double *__restrict__ steps, int64_t steps_n0,
        double *__restrict__ place_parts, int64_t parts)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        const int64_t size = ad_maximum_i64(ad_floordiv_i64(steps_n0 + parts - 1, parts), 1);
        const int64_t end = ad_minimum_i64(part * size + size, steps_n0);
        double place = 0.0;
        for (int64_t i = part * size; i < end; ++i) {
            place += sin(steps[i]);
        }
        place_parts[part] = place;
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_2(const double *__restrict__ place_parts,
        double *__restrict__ place_parts_2, int64_t parts, int64_t parts_2)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        const int64_t end = ad_floordiv_i64(parts_2 * (part + 1), parts);
        double place = 0.0;
        for (int64_t part_2 = ad_floordiv_i64(parts_2 * part, parts); part_2 < end; ++part_2) {
            place += place_parts[part_2];
        }
        place_parts_2[part] = place;
    }
}

/* walk_grad: one thread, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_3(double *__restrict__ place_before,
        const double *__restrict__ place_parts, int64_t parts)
{
    /* programs.py:62  for i in range(len(steps)): */
    double place = 0.0;
    for (int64_t part = 0; part < parts; ++part) {
        place_before[part] = place;
        place += place_parts[part];
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_4(const double *__restrict__ place_before,
        double *__restrict__ place_before_2, const double *__restrict__ place_parts, int64_t parts,
        int64_t parts_2)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        double place = place_before[part];
        const int64_t end = ad_floordiv_i64(parts_2 * (part + 1), parts);
        for (int64_t part_2 = ad_floordiv_i64(parts_2 * part, parts); part_2 < end; ++part_2) {
            place_before_2[part_2] = place;
            place += place_parts[part_2];
        }
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_5(const double *__restrict__ place_before,
        const double *__restrict__ steps, int64_t steps_n0, double *__restrict__ place_saved, int64_t parts)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        double place = place_before[part];
        const int64_t size = ad_maximum_i64(ad_floordiv_i64(steps_n0 + parts - 1, parts), 1);
        const int64_t end = ad_minimum_i64(part * size + size, steps_n0);
        for (int64_t i = part * size; i < end; ++i) {
            /* programs.py:63  place += np.sin(steps[i]) */
            place += sin(steps[i]);
            /* programs.py:62  for i in range(len(steps)): */
            place_saved[i] = place;
        }
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_6(const double *__restrict__ place_saved,
        double *__restrict__ place_bar_parts, double *__restrict__ target_bar_parts, int64_t parts,
        int64_t steps_n0, double target)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        const int64_t size = ad_maximum_i64(ad_floordiv_i64(steps_n0 + parts - 1, parts), 1);
        double place_bar = 0.0;
        double target_bar = 0.0;
        for (int64_t i = steps_n0 - part * size - 1; i > steps_n0 - ad_minimum_i64(part * size + size, steps_n0)
                - 1; --i) {
            /* programs.py:63  place += np.sin(steps[i]) */
            const double place = place_saved[i];
            /* programs.py:64  cost += (place - target) ** 2 */
            const double t1 = (place - target) * 2.0;
            /* programs.py:62  for i in range(len(steps)): */
            place_bar += t1;
            target_bar -= t1;
        }
        place_bar_parts[part] = place_bar;
        target_bar_parts[part] = target_bar;
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_7(const double *__restrict__ place_bar_parts,
        const double *__restrict__ target_bar_parts, double *__restrict__ place_bar_parts_2,
        double *__restrict__ target_bar_parts_2, int64_t parts, int64_t parts_2)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        const int64_t end = ad_floordiv_i64(parts_2 * (part + 1), parts);
        double place_bar = 0.0;
        double target_bar = 0.0;
        for (int64_t part_2 = ad_floordiv_i64(parts_2 * part, parts); part_2 < end; ++part_2) {
            place_bar += place_bar_parts[part_2];
            target_bar += target_bar_parts[part_2];
        }
        place_bar_parts_2[part] = place_bar;
        target_bar_parts_2[part] = target_bar;
    }
}

/* walk_grad: one thread, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_8(double *__restrict__ target_bar,
        double *__restrict__ place_bar_before, const double *__restrict__ place_bar_parts,
        const double *__restrict__ target_bar_parts, int64_t parts)
{
    /* programs.py:62  for i in range(len(steps)): */
    double place_bar = 0.0;
    double target_bar_2 = 0.0;
    for (int64_t part = 0; part < parts; ++part) {
        place_bar_before[part] = place_bar;
        place_bar += place_bar_parts[part];
        target_bar_2 += target_bar_parts[part];
    }
    target_bar[0] = target_bar_2;
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_9(const double *__restrict__ place_bar_before,
        double *__restrict__ place_bar_before_2, const double *__restrict__ place_bar_parts, int64_t parts,
        int64_t parts_2)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        double place_bar = place_bar_before[part];
        const int64_t end = ad_floordiv_i64(parts_2 * (part + 1), parts);
        for (int64_t part_2 = ad_floordiv_i64(parts_2 * part, parts); part_2 < end; ++part_2) {
            place_bar_before_2[part_2] = place_bar;
            place_bar += place_bar_parts[part_2];
        }
    }
}

/* walk_grad: a thread for each iteration, programs.py:62 */
static __global__ void __launch_bounds__(256) walk_grad_10(const double *__restrict__ place_bar_before,
        const double *__restrict__ place_saved, const double *__restrict__ steps, int64_t steps_n0,
        double *__restrict__ steps_bar, int64_t parts, double target)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    /* programs.py:62  for i in range(len(steps)): */
    for (int64_t part = thread; part < parts; part += threads) {
        double place_bar = place_bar_before[part];
        const int64_t size = ad_maximum_i64(ad_floordiv_i64(steps_n0 + parts - 1, parts), 1);
        for (int64_t i = steps_n0 - part * size - 1; i > steps_n0 - ad_minimum_i64(part * size + size, steps_n0)
                - 1; --i) {
            /* programs.py:63  place += np.sin(steps[i]) */
            const double place = place_saved[i];
            /* programs.py:64  cost += (place - target) ** 2 */
            place_bar += (place - target) * 2.0;
            /* programs.py:63  place += np.sin(steps[i]) */
            steps_bar[i] = cos(steps[i]) * place_bar;
        }
    }
}

/* walk_grad, from programs.py:60
 *   in   double steps[steps_n0]
 *   in   double target
 *   out  double steps_bar[steps_n0]
 *   out  double target_bar
 *   workspace: 8*(5*parts + 5*parts(((parts + 15) // 16), 1, 65536) + steps_n0), parts = parts(((steps_n0 + 15) // 16), 1, 256) bytes
 *   operations: 178, 1.6 times the function's (at steps 5)
 */
void walk_grad_sizes(const double *__restrict__ steps, int64_t steps_n0, double target, int64_t *sizes)
{
    (void)steps;
    (void)target;
    size_t used = 0;
    const int64_t parts = adgen_parts(ad_floordiv_i64(steps_n0 + 15, 16), 1, 256);
    const int64_t parts_2 = adgen_parts(ad_floordiv_i64(parts + 15, 16), 1, 65536);
    used = adgen_reserve(used, adgen_times(sizeof(double), steps_n0));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    used = adgen_reserve(used, adgen_times(sizeof(double), parts_2));
    sizes[0] = (int64_t)used;
    sizes[1] = steps_n0;
}

int walk_grad(const double *__restrict__ steps, int64_t steps_n0, double target, double *__restrict__ steps_bar,
        double *__restrict__ target_bar, void *work, int64_t *detail, int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t parts = adgen_parts(ad_floordiv_i64(steps_n0 + 15, 16), 1, 256);
    const int64_t parts_2 = adgen_parts(ad_floordiv_i64(parts + 15, 16), 1, 65536);
    double *const place_saved = (double *)adgen_take(&work, (size_t)steps_n0 * sizeof(double));
    double *const place_parts = (double *)adgen_take(&work, (size_t)parts * sizeof(double));
    double *const place_before = (double *)adgen_take(&work, (size_t)parts * sizeof(double));
    double *const place_parts_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const place_before_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const place_bar_parts = (double *)adgen_take(&work, (size_t)parts * sizeof(double));
    double *const target_bar_parts = (double *)adgen_take(&work, (size_t)parts * sizeof(double));
    double *const place_bar_before = (double *)adgen_take(&work, (size_t)parts * sizeof(double));
    double *const place_bar_parts_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const target_bar_parts_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    double *const place_bar_before_2 = (double *)adgen_take(&work, (size_t)parts_2 * sizeof(double));
    /* programs.py:62  for i in range(len(steps)): */
    walk_grad_1<<<adgen_blocks(parts, 256, 2147483647), 256, 0, stream>>>(steps, steps_n0, place_parts, parts);
    walk_grad_2<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(place_parts, place_parts_2, parts_2,
            parts);
    walk_grad_3<<<1, 1, 0, stream>>>(place_before_2, place_parts_2, parts_2);
    walk_grad_4<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(place_before_2, place_before,
            place_parts, parts_2, parts);
    walk_grad_5<<<adgen_blocks(parts, 256, 2147483647), 256, 0, stream>>>(place_before, steps, steps_n0,
            place_saved, parts);
    walk_grad_6<<<adgen_blocks(parts, 256, 2147483647), 256, 0, stream>>>(place_saved, place_bar_parts,
            target_bar_parts, parts, steps_n0, target);
    walk_grad_7<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(place_bar_parts, target_bar_parts,
            place_bar_parts_2, target_bar_parts_2, parts_2, parts);
    walk_grad_8<<<1, 1, 0, stream>>>(target_bar, place_bar_before_2, place_bar_parts_2, target_bar_parts_2,
            parts_2);
    walk_grad_9<<<adgen_blocks(parts_2, 256, 2147483647), 256, 0, stream>>>(place_bar_before_2,
            place_bar_before, place_bar_parts, parts_2, parts);
    walk_grad_10<<<adgen_blocks(parts, 256, 2147483647), 256, 0, stream>>>(place_bar_before, place_saved, steps,
            steps_n0, steps_bar, parts, target);
    return adgen_launched(detail);
}

