/* dot, from dot.py:1
 *   in   double x[x_n0]
 *   in   double y[y_n0]
 *   out  double *out
 *   workspace: none
 */
void dot_sizes(const double *restrict x, int64_t x_n0, const double *restrict y, int64_t y_n0, int64_t *sizes)
{
    (void)x;
    (void)y;
    (void)x_n0;
    (void)y_n0;
    sizes[0] = 0;
}

int dot(const double *restrict x, int64_t x_n0, const double *restrict y, int64_t y_n0, double *restrict out,
        void *work, int64_t *detail)
{
    (void)work;
    /* dot.py:4  d = x[i] - y[i] */
    if (x_n0 > y_n0) return adgen_fail(detail, x_n0, y_n0, 1);
    /* dot.py:3  for i in range(len(x)): */
    double total = 0.0;
    for (int64_t i = 0; i < x_n0; ++i) {
        /* dot.py:4  d = x[i] - y[i] */
        const double d = x[i] - y[i];
        /* dot.py:5  total += d * d */
        total += d * d;
    }
    /* dot.py:6  return math.sqrt(total) */
    *out = sqrt(total);
    return 0;
}

