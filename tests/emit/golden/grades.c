/* grades, from grades.py:1
 *   in   double x
 *   in   bool flag
 *   out  double *out
 *   workspace: none
 */
void grades_sizes(double x, bool flag, int64_t *sizes)
{
    (void)x;
    (void)flag;
    sizes[0] = 0;
}

int grades(double x, bool flag, double *restrict out, void *work, int64_t *detail)
{
    (void)work;
    (void)detail;
    double x_2;
    double y;
    /* grades.py:2  if x > 3.0: */
    if (x > 3.0) {
        /* grades.py:3  y = x * x */
        y = x * x;
        x_2 = x;
    } else if (x > 2.0) {
        /* grades.py:4  elif x > 2.0: */
        /* grades.py:5  x = x + 1.0 */
        x_2 = x + 1.0;
        /* grades.py:6  y = math.sin(x) */
        y = sin(x_2);
    } else {
        /* grades.py:7  elif flag: */
        if (flag) {
            /* grades.py:8  y = -x */
            y = -x;
        } else {
            y = 0.0;
        }
        x_2 = x;
    }
    /* grades.py:11  z = 1.0 / y if y > 0.5 else y */
    const double z = y > 0.5 ? 1.0 / y : y;
    /* grades.py:12  return z - -x */
    *out = z + x_2;
    return 0;
}

