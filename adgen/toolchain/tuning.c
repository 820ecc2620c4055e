/* Which scheduling model is the fastest here?  This file is compiled once for each candidate, with MEASURED set to a name,
   and once as the program that times them in turns, with CANDIDATES and DECLARED set to those names.
   The loops are of the kinds that emitted code spends its time in. */
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
int64_t now(void); /* in nanoseconds */
enum { KERNELS = 3, SIZE = 1024, LANES = 64, COMPONENTS = 10, ROOM = 8192 };

#ifdef MEASURED
#include <math.h>
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
__attribute__((const, simd("notinbranch"))) double exp(double);
__attribute__((const, simd("notinbranch"))) double log(double);
#endif
#endif
int64_t MEASURED(int kernel, int64_t size, int64_t lanes, int64_t components, double *memory);

/* steps of a three-point stencil: loads that are not aligned */
static void stencil(int64_t size, double *restrict u, double *restrict v)
{
    for (int64_t step = 0; step < 10; ++step) {
        for (int64_t i = 1; i < size - 1; ++i) {
            v[i] = u[i] - 0.1 * u[i] * (u[i + 1] - u[i - 1]) + 0.2 * (u[i + 1] - 2.0 * u[i] + u[i - 1]);
        }
        for (int64_t i = 1; i < size - 1; ++i) {
            u[i] = v[i];
        }
    }
}

/* functions of libm: their vector forms, and how wide */
static void elementary(int64_t size, const double *restrict x, double *restrict y)
{
    #pragma omp simd
    for (int64_t i = 0; i < size; ++i) {
        y[i] = log(1.0 + exp(-x[i])) + x[i] * x[i];
    }
}

/* an update of a triangle, for a block of iterations side by side: short loops with a bound read at run time, and sums */
static void triangle(int64_t lanes, int64_t components, const double *restrict l, double *restrict l_bar,
        const double *restrict x, double *restrict x_bar, const double *restrict y_bar)
{
    for (int64_t i = 0; i < components; ++i) {
        for (int64_t j = i + 1; j < components; ++j) {
            const double l_i_j = l[i * components + j];
            double total = 0.0;
            #pragma omp simd reduction(+ : total)
            for (int64_t p = 0; p < lanes; ++p) {
                total += y_bar[j * LANES + p] * x[i * LANES + p];
                x_bar[i * LANES + p] += l_i_j * y_bar[j * LANES + p];
            }
            l_bar[i * components + j] += total;
        }
    }
}

/* the nanoseconds of one run of a kernel */
int64_t MEASURED(int kernel, int64_t size, int64_t lanes, int64_t components, double *memory)
{
    for (int64_t i = 0; i < ROOM; ++i) {
        memory[i] = 0.5 + 1e-6 * (double)i;
    }
    const int64_t start = now();
    if (kernel == 0) {
        stencil(size, memory, memory + size);
    } else if (kernel == 1) {
        elementary(size, memory, memory + size);
    } else {
        const int64_t block = LANES * components, square = components * components;
        double *const l = memory + 3 * block;
        for (int repeat = 0; repeat < 10; ++repeat) {
            triangle(lanes, components, l, l + square, memory, memory + block, memory + 2 * block);
        }
    }
    return now() - start;
}
#else
#include <stdio.h>
#include <time.h>
typedef int64_t candidate(int, int64_t, int64_t, int64_t, double *);
extern candidate DECLARED;
static candidate *const candidates[] = {CANDIDATES};
enum { COUNT = sizeof candidates / sizeof *candidates, ROUNDS = 400 };

int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* The least nanoseconds of each candidate, a line for each: what else the machine does only adds to them. */
int main(void)
{
    static _Alignas(64) double memory[ROOM];
    static int64_t least[COUNT][KERNELS];
    volatile int64_t size = SIZE, lanes = LANES, components = COMPONENTS;
    const int64_t end = now() + 250000000;
    for (int round = 0; round < ROUNDS && (round < 20 || now() < end); ++round) {
        for (int kernel = 0; kernel < KERNELS; ++kernel) {
            for (int i = 0; i < COUNT; ++i) {
                const int64_t taken = candidates[i](kernel, size, lanes, components, memory);
                if (round == 0 || taken < least[i][kernel]) {
                    least[i][kernel] = taken;
                }
            }
        }
    }
    for (int i = 0; i < COUNT; ++i) {
        for (int kernel = 0; kernel < KERNELS; ++kernel) {
            printf("%lld%c", (long long)least[i][kernel], kernel + 1 < KERNELS ? ' ' : '\n');
        }
    }
    return 0;
}
#endif
