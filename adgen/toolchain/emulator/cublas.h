/* A stand-in for the functions of cuBLAS that emitted code calls: matrices lie in memory by columns. */
#ifndef ADGEN_EMULATED_CUBLAS_H
#define ADGEN_EMULATED_CUBLAS_H

#include <stdint.h>

namespace adgen_emulated {

constexpr int blas_invalid = 7;

template <class Type>
int gemm(void *handle, int left_form, int right_form, int rows, int columns, int depth, const Type *factor,
         const Type *left, int left_step, const Type *right, int right_step, const Type *keep, Type *target, int step)
{
    const bool forms = (left_form == 0 || left_form == 1) && (right_form == 0 || right_form == 1);
    const bool steps = left_step >= (left_form ? depth : rows) && right_step >= (right_form ? columns : depth);
    if (!handle || !forms || !steps || step < rows || rows < 0 || columns < 0 || depth < 0) return blas_invalid;
    for (int64_t j = 0; j < columns; ++j) {
        for (int64_t i = 0; i < rows; ++i) {
            Type total = 0;
            for (int64_t l = 0; l < depth; ++l) {
                const Type one = left_form ? left[i * left_step + l] : left[l * left_step + i];
                const Type other = right_form ? right[l * right_step + j] : right[j * right_step + l];
                total += one * other;
            }
            target[j * step + i] = *factor * total + *keep * target[j * step + i];
        }
    }
    ++*(int *)handle; /* products that it has been used for */
    return 0;
}

}

extern "C" inline int cublasCreate_v2(void **handle)
{
    static int known;
    *handle = &known;
    return 0;
}

extern "C" inline int cublasDestroy_v2(void *handle) { return handle ? 0 : adgen_emulated::blas_invalid; }

extern "C" inline int cublasSetStream_v2(void *handle, cudaStream_t) { return handle ? 0 : adgen_emulated::blas_invalid; }

extern "C" inline int cublasSgemm_v2(void *handle, int left_form, int right_form, int rows, int columns, int depth,
                                     const float *factor, const float *left, int left_step, const float *right,
                                     int right_step, const float *keep, float *target, int step)
{
    return adgen_emulated::gemm(handle, left_form, right_form, rows, columns, depth, factor, left, left_step, right,
                                right_step, keep, target, step);
}

extern "C" inline int cublasDgemm_v2(void *handle, int left_form, int right_form, int rows, int columns, int depth,
                                     const double *factor, const double *left, int left_step, const double *right,
                                     int right_step, const double *keep, double *target, int step)
{
    return adgen_emulated::gemm(handle, left_form, right_form, rows, columns, depth, factor, left, left_step, right,
                                right_step, keep, target, step);
}

#endif
