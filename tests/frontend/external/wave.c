#include "wave.h"

#include <math.h>

void wave(double a, const double *x, int64_t n, bool twice, double *y)
{
    for (int64_t i = 0; i < n; ++i) y[i] = (twice ? 2.0 : 1.0) * sin(a * x[i]);
}

/* adds to what is zero before */
void wave_vjp(double a, const double *x, int64_t n, bool twice, const double *y, const double *y_bar, double *a_bar,
              double *x_bar)
{
    for (int64_t i = 0; i < n; ++i) {
        const double bar = (twice ? 2.0 : 1.0) * cos(a * x[i]) * y_bar[i];
        *a_bar += bar * x[i];
        x_bar[i] += bar * a;
    }
}

void wave_jvp(double a, const double *x, int64_t n, bool twice, const double *y, double a_dot, const double *x_dot,
              double *y_dot)
{
    for (int64_t i = 0; i < n; ++i) y_dot[i] = (twice ? 2.0 : 1.0) * cos(a * x[i]) * (a_dot * x[i] + a * x_dot[i]);
}

void pairs(const double *x, int64_t n, const int32_t *w, int64_t w_n, int64_t *count, double *products, double *sum)
{
    for (int64_t i = 0; i < n; ++i) {
        *count += x[i] > 0.0;
        *sum += w[i % w_n] * x[i];
        for (int64_t j = 0; j < n; ++j) products[i * n + j] = x[i] * x[j];
    }
}

void pairs_vjp(const double *x, int64_t n, const int32_t *w, int64_t w_n, int64_t count, const double *products,
               double sum, const double *products_bar, double sum_bar, double *x_bar)
{
    for (int64_t i = 0; i < n; ++i) {
        x_bar[i] += w[i % w_n] * sum_bar;
        for (int64_t j = 0; j < n; ++j) {
            x_bar[i] += products_bar[i * n + j] * x[j];
            x_bar[j] += products_bar[i * n + j] * x[i];
        }
    }
}

void moments(const double *m, int64_t rows, int64_t columns, double *out)
{
    for (int64_t k = 0; k < rows * columns; ++k) {
        out[0] += m[k];
        out[1] += m[k] * m[k];
    }
}

void moments_vjp(const double *m, int64_t rows, int64_t columns, const double *out, const double *out_bar,
                 double *m_bar)
{
    for (int64_t k = 0; k < rows * columns; ++k) m_bar[k] = out_bar[0] + 2.0 * m[k] * out_bar[1];
}
