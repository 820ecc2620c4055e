/* The unused function would be a warning, and so an error, in emitted C; in the user's it is not. */
static int unused(int x) { return x / 2.5; }

static double power(double base, int64_t exponent)
{
    double result = 1.0;
    for (int64_t k = 0; k < exponent; ++k) result *= base;
    return result;
}
