/* decays_grad: a thread for each iteration, programs.py:38 */
static __global__ void __launch_bounds__(256) decays_grad_1(const double *__restrict__ start, int64_t start_n0,
        const double *__restrict__ rates, double *__restrict__ rates_bar, double *__restrict__ start_bar,
        int64_t steps, bool condition, double *__restrict__ x_saved_slices)
{
    const int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x;
    double *const x_saved = x_saved_slices + thread;
    /* programs.py:38  for k in range(len(start)): */
    for (int64_t k = thread; k < start_n0; k += threads) {
        /* programs.py:39  x = start[k] */
        double x = start[k];
        /* programs.py:40  for _ in range(steps): */
        for (int64_t i = 0; i < steps; ++i) {
            x_saved[i * threads] = x;
            /* programs.py:41  x = x - rates[k] * x * x */
            x -= rates[k] * x * x;
        }
        /* programs.py:40  for _ in range(steps): */
        double x_bar = 1.0;
        double rates_bar_2 = 0.0;
        for (int64_t i = steps - 1; i >= 0; --i) {
            /* programs.py:41  x = x - rates[k] * x * x */
            const double x_2 = x_saved[i * threads];
            const double rates_k = rates[k];
            const double t1 = x_2 * x_bar;
            x_bar -= rates_k * x_2 * x_bar;
            x_bar -= rates_k * t1;
            rates_bar_2 -= x_2 * t1;
        }
        /* programs.py:40  for _ in range(steps): */
        if (condition) {
            rates_bar[k] = rates_bar_2;
        }
        /* programs.py:39  x = start[k] */
        start_bar[k] = x_bar;
    }
}

/* decays_grad, from programs.py:36
 *   in   double start[start_n0]
 *   in   double rates[rates_n0]
 *   in   int64_t steps
 *   out  double start_bar[start_n0]
 *   out  double rates_bar[start_n0]
 *   workspace: 8*slices(start_n0)*steps bytes
 *   operations: 55, 2.8 times the function's (at start 5, rates 5, steps 1)
 */
void decays_grad_sizes(const double *__restrict__ start, int64_t start_n0, const double *__restrict__ rates,
        int64_t rates_n0, int64_t steps, int64_t *sizes)
{
    (void)start;
    (void)rates;
    (void)rates_n0;
    size_t used = 0;
    const int64_t sliced = adgen_slices(start_n0);
    used = adgen_reserve(used, adgen_times(sizeof(double), sliced * ad_maximum_i64(steps, 0)));
    sizes[0] = (int64_t)used;
    sizes[1] = start_n0;
    sizes[2] = start_n0;
}

int decays_grad(const double *__restrict__ start, int64_t start_n0, const double *__restrict__ rates,
        int64_t rates_n0, int64_t steps, double *__restrict__ start_bar, double *__restrict__ rates_bar,
        void *work, int64_t *detail, int64_t *failure, cudaStream_t stream)
{
    (void)failure;
    const int64_t t1 = ad_maximum_i64(steps, 0);
    const int64_t sliced = adgen_slices(start_n0);
    double *const x_saved_slices = (double *)adgen_take(&work, (size_t)(sliced * t1) * sizeof(double));
    /* programs.py:36  def decays(start: "f64[n]", rates: "f64[n]", steps: int) -> float: */
    if (start_n0 != rates_n0) return adgen_fail(detail, start_n0, rates_n0, 20);
    cudaMemsetAsync(rates_bar, 0, (size_t)start_n0 * sizeof *rates_bar, stream);
    const bool t2 = steps - 1 > -1;
    /* programs.py:38  for k in range(len(start)): */
    decays_grad_1<<<adgen_blocks(start_n0, 256, 256), 256, 0, stream>>>(start, start_n0, rates, rates_bar,
            start_bar, steps, t2, x_saved_slices);
    return adgen_launched(detail);
}

