/* walk, from walk.py:1
 *   in   double start
 *   in   double x
 *   out  double *best_out
 *   workspace: none, and heap memory that grows with what is computed
 */
void walk_sizes(double start, double x, int64_t *sizes)
{
    (void)start;
    (void)x;
    sizes[0] = 0;
}

int walk(double start, double x, double *restrict best_out, void *work, int64_t *detail)
{
    (void)work;
    (void)detail;
    double *trail = NULL;
    size_t trail_room = 0;
    int status = 0;
    /* walk.py:3  while True: */
    double best = start;
    while (true) {
        /* walk.py:4  limit = best * 2.0 + x */
        const double limit = best * 2.0 + x;
        /* walk.py:3  while True: */
        if (!(limit <= 100.0)) break;
        /* walk.py:4  limit = best * 2.0 + x */
        const double limit_2 = best * 2.0 + x;
        /* walk.py:7  size = int(limit) */
        const int64_t size = ad_maximum_i64(ad_to_i64(limit_2), 0);
        /* walk.py:8  trail = np.zeros(size + 1) */
        trail = adgen_grow(trail, &trail_room, adgen_times(sizeof(double), size + 1));
        if (!trail) { status = -1; goto done; }
        memset(trail, 0, (size_t)(size + 1) * sizeof *trail);
        /* walk.py:9  for k in range(size, -1, -2): */
        for (int64_t k = size; k >= 0; k -= 2) {
            /* walk.py:10  trail[k] = limit - k */
            trail[k] = limit_2 - (double)k;
        }
        /* walk.py:12  return best */
        best = trail[size] + limit_2;
    }
    *best_out = best;
done:
    free(trail);
    return status;
}

