#include "drag.h"

#include "power.h"

double drag(double v, const double *c, int64_t n)
{
    double total = 0.0;
    for (int64_t k = 0; k < n; ++k) total += c[k] * power(v, k);
    return total;
}

double slope(double v, const double *c, int64_t n)
{
    double total = 0.0;
    for (int64_t k = 1; k < n; ++k) total += c[k] * (double)k * power(v, k - 1);
    return total;
}

double bend(double v, const double *c, int64_t n)
{
    double total = 0.0;
    for (int64_t k = 2; k < n; ++k) total += c[k] * (double)(k * (k - 1)) * power(v, k - 2);
    return total;
}

void drag_vjp(double v, const double *c, int64_t n, double out, double out_bar, double *v_bar, double *c_bar)
{
    *v_bar = out_bar * slope(v, c, n);
    for (int64_t k = 0; k < n; ++k) c_bar[k] = out_bar * power(v, k);
}

double drag_jvp(double v, const double *c, int64_t n, double out, double v_dot, const double *c_dot)
{
    return v_dot * slope(v, c, n) + drag(v, c_dot, n);
}

void wrong_vjp(double v, const double *c, int64_t n, double out, double out_bar, double *v_bar, double *c_bar)
{
    drag_vjp(v, c, n, out, out_bar, v_bar, c_bar);
    *v_bar *= 1.01;
}
