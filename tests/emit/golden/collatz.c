/* collatz, from collatz.py:1
 *   in   int64_t n
 *   in   double weights[weights_n0]
 *   out  double *total_out
 *   workspace: none, and heap memory that grows with what is computed
 */
void collatz_sizes(int64_t n, const double *restrict weights, int64_t weights_n0, int64_t *sizes)
{
    (void)n;
    (void)weights;
    (void)weights_n0;
    sizes[0] = 0;
}

int collatz(int64_t n, const double *restrict weights, int64_t weights_n0, double *restrict total_out,
        void *work, int64_t *detail)
{
    (void)work;
    adgen_stack_double values = {NULL, 0, 0};
    int status = 0;
    /* collatz.py:2  values = [] */
    values.size = 0;
    /* collatz.py:3  while n > 1: */
    int64_t n_2 = n;
    int64_t count = 0;
    while (n_2 > 1) {
        /* collatz.py:4  values.append(weights[n % 4]) */
        const int64_t place = ad_mod_i64(n_2, 4);
        if (place >= weights_n0) { status = adgen_fail(detail, place, 0, 1); goto done; }
        if (!adgen_push_double(&values, weights[place])) { status = -1; goto done; }
        count += 1;
        /* collatz.py:5  n = n // 2 if n % 2 == 0 else 3 * n + 1 */
        n_2 = ad_mod_i64(n_2, 2) == 0 ? ad_floordiv_i64(n_2, 2) : 3 * n_2 + 1;
    }
    /* collatz.py:7  for value in reversed(values): */
    double total = 0.0;
    for (int64_t k = 0; k < count; ++k) {
        const double value = values.data[--values.size];
        /* collatz.py:8  total = total * 0.5 + value */
        total = total * 0.5 + value;
    }
    *total_out = total;
done:
    free(values.data);
    return status;
}

