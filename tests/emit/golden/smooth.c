/* smooth, from smooth.py:1
 *   in   double A[A_n0][A_n1], which it writes
 *   in   int64_t rows
 *   out  double out[A_n0][A_n1]
 *   workspace: 8*rows bytes
 */
void smooth_sizes(double *restrict A, int64_t A_n0, int64_t A_n1, int64_t rows, int64_t *sizes)
{
    (void)A;
    size_t used = 0;
    used = adgen_reserve(used, adgen_times(sizeof(double), rows));
    sizes[0] = (int64_t)used;
    sizes[1] = A_n0;
    sizes[2] = A_n1;
}

int smooth(double *restrict A, int64_t A_n0, int64_t A_n1, int64_t rows, double *restrict out, void *work,
        int64_t *detail)
{
    double *const restrict scratch = adgen_take(&work, (size_t)adgen_extent(rows) * sizeof *scratch);
    /* smooth.py:7  old = A[i, j] */
    if (rows > A_n0) return adgen_fail(detail, rows, A_n0, 1);
    /* smooth.py:2  out = np.zeros_like(A) */
    memset(out, 0, (size_t)(A_n0 * A_n1) * sizeof *out);
    /* smooth.py:3  for i in range(rows): */
    for (int64_t i = 0; i < rows; ++i) {
        /* smooth.py:4  line = np.zeros(3) */
        double line[3] = {0};
        /* smooth.py:5  scratch = np.zeros(i + 1) */
        memset(scratch, 0, (size_t)adgen_extent(i + 1) * sizeof *scratch);
        /* smooth.py:6  for j in range(A.shape[1] - 1): */
        for (int64_t j = 0; j < A_n1 - 1; ++j) {
            /* smooth.py:7  old = A[i, j] */
            const double old = A[i * A_n1 + j];
            /* smooth.py:8  A[i, j] = old + A[i, j + 1] */
            A[i * A_n1 + j] = old + A[i * A_n1 + j + 1];
            /* smooth.py:9  line[0] = line[0] - old * old */
            line[0] -= old * old;
            /* smooth.py:10  scratch[i] += -old */
            scratch[i] -= old;
            /* smooth.py:11  out[i, j] += line[0] * scratch[i] */
            out[i * A_n1 + j] += line[0] * scratch[i];
        }
    }
    return 0;
}

