/* layer_grad: a thread for each iteration of two loops, programs.py:47 */
static __global__ void __launch_bounds__(256) layer_grad_1(const double *__restrict__ buffer, int64_t buffer_n1,
        const double *__restrict__ shifts, double *__restrict__ bar, int64_t bar_n1, int64_t inputs_n0,
        int64_t weights_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:47  return np.sum(np.tanh(inputs @ weights + shifts) ** 2) */
    for (int64_t i = inputs_n0 - 1 - thread_y; i > -1; i -= threads_y) {
        for (int64_t j = thread; j < weights_n1; j += threads) {
            const double t1 = tanh(buffer[i * buffer_n1 + j] + shifts[j]);
            bar[i * bar_n1 + j] = (1.0 - t1 * t1) * (t1 * 2.0);
        }
    }
}

/* layer_grad: a thread for each iteration of two loops, programs.py:47 */
static __global__ void __launch_bounds__(256) layer_grad_2(const double *__restrict__ buffer, int64_t buffer_n1,
        const double *__restrict__ shifts, double *__restrict__ shifts_bar_parts, int64_t shifts_bar_parts_n1,
        int64_t parts, int64_t weights_n1, int64_t inputs_n0)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:47  return np.sum(np.tanh(inputs @ weights + shifts) ** 2) */
    for (int64_t part = thread_y; part < parts; part += threads_y) {
        for (int64_t j = thread; j < weights_n1; j += threads) {
            const int64_t size = ad_maximum_i64(ad_floordiv_i64(inputs_n0 + parts - 1, parts), 1);
            double shifts_bar = 0.0;
            for (int64_t i = inputs_n0 - part * size - 1; i > inputs_n0
                    - ad_minimum_i64(part * size + size, inputs_n0) - 1; --i) {
                const double t1 = tanh(buffer[i * buffer_n1 + j] + shifts[j]);
                shifts_bar += (1.0 - t1 * t1) * (t1 * 2.0);
            }
            shifts_bar_parts[j * shifts_bar_parts_n1 + part] += shifts_bar;
        }
    }
}

/* layer_grad: a thread for each iteration of two loops, programs.py:47 */
static __global__ void __launch_bounds__(256) layer_grad_3(const double *__restrict__ bar, int64_t bar_n1,
        double *__restrict__ inputs_bar, int64_t inputs_bar_n1, int64_t inputs_n0, int64_t inputs_n1)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    const int64_t thread_y = (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t threads_y = (int64_t)gridDim.y * blockDim.y;
    /* programs.py:47  return np.sum(np.tanh(inputs @ weights + shifts) ** 2) */
    for (int64_t i = thread_y; i < inputs_n0; i += threads_y) {
        for (int64_t j = thread; j < inputs_n1; j += threads) {
            inputs_bar[i * inputs_bar_n1 + j] = bar[i * bar_n1 + j];
        }
    }
}

/* layer_grad, from programs.py:46
 *   in   double inputs[inputs_n0][inputs_n1]
 *   in   double weights[weights_n0][weights_n1]
 *   in   double shifts[shifts_n0]
 *   out  double inputs_bar[inputs_n0][inputs_n1]
 *   out  double weights_bar[inputs_n1][weights_n1]
 *   out  double shifts_bar[weights_n1]
 *   workspace: 8*(inputs_n0*inputs_n1 + 2*inputs_n0*weights_n1 + parts*weights_n1 + room(inputs_n0, inputs_n1, weights_n1) + room(inputs_n0, weights_n1, inputs_n1) + room(inputs_n1, weights_n1, inputs_n0)), parts = parts(inputs_n0, weights_n1, max(weights_n1, 1)) bytes
 *   operations: 1575, 2.6 times the function's (at inputs 5x6, weights 6x7, shifts 7)
 */
void layer_grad_sizes(const double *__restrict__ inputs, int64_t inputs_n0, int64_t inputs_n1,
        const double *__restrict__ weights, int64_t weights_n0, int64_t weights_n1,
        const double *__restrict__ shifts, int64_t shifts_n0, int64_t *sizes)
{
    (void)inputs;
    (void)weights;
    (void)shifts;
    (void)weights_n0;
    (void)shifts_n0;
    size_t used = 0;
    const int64_t t1 = adgen_room(inputs_n0, weights_n1, inputs_n1);
    const int64_t parts = adgen_parts(inputs_n0, weights_n1, ad_maximum_i64(weights_n1, 1));
    const int64_t t2 = adgen_room(inputs_n0, inputs_n1, weights_n1);
    const int64_t t3 = adgen_room(inputs_n1, weights_n1, inputs_n0);
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), inputs_n0), weights_n1));
    used = adgen_reserve(used, adgen_times(sizeof(double), t1));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), inputs_n0), weights_n1));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), weights_n1), parts));
    used = adgen_reserve(used, adgen_times(adgen_times(sizeof(double), inputs_n0), inputs_n1));
    used = adgen_reserve(used, adgen_times(sizeof(double), t2));
    used = adgen_reserve(used, adgen_times(sizeof(double), t3));
    sizes[0] = (int64_t)used;
    sizes[1] = inputs_n0;
    sizes[2] = inputs_n1;
    sizes[3] = inputs_n1;
    sizes[4] = weights_n1;
    sizes[5] = weights_n1;
}

int layer_grad(const double *__restrict__ inputs, int64_t inputs_n0, int64_t inputs_n1,
        const double *__restrict__ weights, int64_t weights_n0, int64_t weights_n1,
        const double *__restrict__ shifts, int64_t shifts_n0, double *__restrict__ inputs_bar,
        double *__restrict__ weights_bar, double *__restrict__ shifts_bar, void *work, int64_t *detail,
        int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t splits = adgen_splits(inputs_n0, weights_n1, inputs_n1);
    const int64_t t1 = adgen_room(inputs_n0, weights_n1, inputs_n1);
    const int64_t parts = adgen_parts(inputs_n0, weights_n1, ad_maximum_i64(weights_n1, 1));
    const int64_t splits_2 = adgen_splits(inputs_n0, inputs_n1, weights_n1);
    const int64_t t2 = adgen_room(inputs_n0, inputs_n1, weights_n1);
    const int64_t splits_3 = adgen_splits(inputs_n1, weights_n1, inputs_n0);
    const int64_t t3 = adgen_room(inputs_n1, weights_n1, inputs_n0);
    double *const buffer = (double *)adgen_take(&work, (size_t)(inputs_n0 * weights_n1) * sizeof(double));
    double *const product_parts = (double *)adgen_take(&work, (size_t)t1 * sizeof(double));
    double *const bar = (double *)adgen_take(&work, (size_t)(inputs_n0 * weights_n1) * sizeof(double));
    double *const shifts_bar_parts = (double *)adgen_take(&work, (size_t)(weights_n1 * parts) * sizeof(double));
    double *const bar_2 = (double *)adgen_take(&work, (size_t)(inputs_n0 * inputs_n1) * sizeof(double));
    double *const product_parts_2 = (double *)adgen_take(&work, (size_t)t2 * sizeof(double));
    double *const product_parts_3 = (double *)adgen_take(&work, (size_t)t3 * sizeof(double));
    /* programs.py:46  def layer(inputs: "f64[n,d]", weights: "f64[d,k]", shifts: "f64[k]") -> float: */
    if (inputs_n1 != weights_n0) return adgen_fail(detail, inputs_n1, weights_n0, 24);
    if (weights_n1 != shifts_n0) return adgen_fail(detail, weights_n1, shifts_n0, 25);
    /* programs.py:47  return np.sum(np.tanh(inputs @ weights + shifts) ** 2) */
    cudaMemsetAsync(buffer, 0, (size_t)(inputs_n0 * weights_n1) * sizeof *buffer, stream);
    adgen_product_double(inputs_n0, weights_n1, inputs_n1, 1.0, nullptr, inputs, inputs_n1, false, weights,
            weights_n1, false, buffer, weights_n1, product_parts, splits, stream);
    /* programs.py:46  def layer(inputs: "f64[n,d]", weights: "f64[d,k]", shifts: "f64[k]") -> float: */
    cudaMemsetAsync(weights_bar, 0, (size_t)(inputs_n1 * weights_n1) * sizeof *weights_bar, stream);
    cudaMemsetAsync(shifts_bar, 0, (size_t)weights_n1 * sizeof *shifts_bar, stream);
    /* programs.py:47  return np.sum(np.tanh(inputs @ weights + shifts) ** 2) */
    layer_grad_1<<<adgen_plane(inputs_n0, weights_n1), adgen_threads(weights_n1), 0, stream>>>(buffer,
            weights_n1, shifts, bar, weights_n1, inputs_n0, weights_n1);
    cudaMemsetAsync(shifts_bar_parts, 0, (size_t)(weights_n1 * parts) * sizeof *shifts_bar_parts, stream);
    layer_grad_2<<<adgen_plane(parts, weights_n1), adgen_threads(weights_n1), 0, stream>>>(buffer, weights_n1,
            shifts, shifts_bar_parts, parts, parts, weights_n1, inputs_n0);
    adgen_add_up_double<<<adgen_blocks(weights_n1, 1, 2147483647), adgen_width(parts), 0, stream>>>(shifts_bar,
            weights_n1, shifts_bar_parts, parts);
    cudaMemsetAsync(bar_2, 0, (size_t)(inputs_n0 * inputs_n1) * sizeof *bar_2, stream);
    adgen_product_double(inputs_n0, inputs_n1, weights_n1, 1.0, nullptr, bar, weights_n1, false, weights,
            weights_n1, true, bar_2, inputs_n1, product_parts_2, splits_2, stream);
    layer_grad_3<<<adgen_plane(inputs_n0, inputs_n1), adgen_threads(inputs_n1), 0, stream>>>(bar_2, inputs_n1,
            inputs_bar, inputs_n1, inputs_n0, inputs_n1);
    adgen_product_double(inputs_n1, weights_n1, inputs_n0, 1.0, nullptr, inputs, inputs_n1, true, bar,
            weights_n1, false, weights_bar, weights_n1, product_parts_3, splits_3, stream);
    return adgen_launched(detail);
}

