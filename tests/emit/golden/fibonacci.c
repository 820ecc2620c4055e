/* fibonacci, from fibonacci.py:1
 *   in   double a
 *   in   double b
 *   in   int64_t n
 *   in   double limit
 *   out  double *a_out
 *   out  double *b_out
 *   workspace: none
 */
void fibonacci_sizes(double a, double b, int64_t n, double limit, int64_t *sizes)
{
    (void)a;
    (void)b;
    (void)n;
    (void)limit;
    sizes[0] = 0;
}

int fibonacci(double a, double b, int64_t n, double limit, double *restrict a_out, double *restrict b_out,
        void *work, int64_t *detail)
{
    (void)work;
    (void)detail;
    /* fibonacci.py:2  for _ in range(n): */
    double a_2 = a;
    double b_2 = b;
    for (int64_t i = 0; i < n; ++i) {
        /* fibonacci.py:3  a, b = b, a + b */
        const double t1 = a_2 + b_2;
        a_2 = b_2;
        b_2 = t1;
        /* fibonacci.py:4  if b > limit: */
        if (!(t1 <= limit)) break;
    }
    *a_out = a_2;
    *b_out = b_2;
    return 0;
}

