#include <stdbool.h>
#include <stdint.h>

/* y[i] = sin(a * x[i]), or twice that */
void wave(double a, const double *x, int64_t n, bool twice, double *y);
void wave_vjp(double a, const double *x, int64_t n, bool twice, const double *y, const double *y_bar, double *a_bar,
              double *x_bar);
void wave_jvp(double a, const double *x, int64_t n, bool twice, const double *y, double a_dot, const double *x_dot,
              double *y_dot);

/* How many are positive, all products of two, and the sum with weights that are used in turn. */
void pairs(const double *x, int64_t n, const int32_t *w, int64_t w_n, int64_t *count, double *products, double *sum);
void pairs_vjp(const double *x, int64_t n, const int32_t *w, int64_t w_n, int64_t count, const double *products,
               double sum, const double *products_bar, double sum_bar, double *x_bar);

/* The sums of the elements and of their squares. */
void moments(const double *m, int64_t rows, int64_t columns, double *out);
void moments_vjp(const double *m, int64_t rows, int64_t columns, const double *out, const double *out_bar,
                 double *m_bar);
