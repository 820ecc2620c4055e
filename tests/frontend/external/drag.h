#include <stdint.h>

/* The polynomial of coefficients c at v. */
double drag(double v, const double *c, int64_t n);
void drag_vjp(double v, const double *c, int64_t n, double out, double out_bar, double *v_bar, double *c_bar);
double drag_jvp(double v, const double *c, int64_t n, double out, double v_dot, const double *c_dot);

/* Its slope for v alone, and the slope of that. */
double slope(double v, const double *c, int64_t n);
double bend(double v, const double *c, int64_t n);

/* As drag_vjp, but wrong. */
void wrong_vjp(double v, const double *c, int64_t n, double out, double out_bar, double *v_bar, double *c_bar);

/* Declared, and nowhere defined. */
double lost(double v);
