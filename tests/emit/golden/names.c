/* names, from names.py:1
 *   in   double theta
 *   in   int64_t double_
 *   in   float exp_
 *   in   double work_
 *   in   double x
 *   in   double Deltax
 *   out  double *out
 *   out  double *x_out
 *   workspace: none
 */
void names_sizes(double theta, int64_t double_, float exp_, double work_, double x, double Deltax,
        int64_t *sizes)
{
    (void)theta;
    (void)double_;
    (void)exp_;
    (void)work_;
    (void)x;
    (void)Deltax;
    sizes[0] = 0;
}

int names(double theta, int64_t double_, float exp_, double work_, double x, double Deltax,
        double *restrict out, double *restrict x_out, void *work, int64_t *detail)
{
    (void)work;
    (void)detail;
    /* names.py:2  x = x * math.exp(exp) # * / ends a comment, / * begins one */
    double x_2 = x * exp((double)exp_);
    /* names.py:3  x = x + TABLE[double] */
    x_2 += switch_[ad_mod_i64(double_, 3)];
    /* names.py:4  return math.sin(θ) * x - (θ - Δx) / work */
    *out = sin(theta) * x_2 - (theta - Deltax) / work_;
    *x_out = x_2;
    return 0;
}

