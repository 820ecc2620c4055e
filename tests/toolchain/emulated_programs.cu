/* Kernels for the tests of the emulator: what CUDA means, and what a program must not do.  */
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>

#define ALL 0xffffffffu

static int outcome() { return cudaGetLastError(); }

/* right programs */

static __global__ void __launch_bounds__(256) sum_1(int64_t n, const double *__restrict__ x, double *__restrict__ y)
{
    __shared__ double part[8];
    double sum = 0.0;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        sum += x[i];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(ALL, sum, by);
    if (threadIdx.x % warpSize == 0)
        part[threadIdx.x / warpSize] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? part[threadIdx.x] : 0.0;
        for (int with = 4; with > 0; with /= 2)
            sum += __shfl_xor_sync(ALL, sum, with);
        if (threadIdx.x == 0)
            y[blockIdx.x] = sum;
    }
}
extern "C" int sum(int64_t n, const double *x, double *y, int64_t blocks, cudaStream_t stream)
{
    sum_1<<<blocks, 256, 0, stream>>>(n, x, y);
    return outcome();
}

static __global__ void rotate_1(int times, int64_t *x)
{
    __shared__ int64_t place[96];
    int64_t mine = x[threadIdx.x];
    for (int k = 0; k < times; k++) {
        place[threadIdx.x] = mine;
        __syncthreads();
        mine = place[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
    }
    x[threadIdx.x] = mine;
}
extern "C" int rotate(int times, int64_t *x)
{
    rotate_1<<<1, 96>>>(times, x);
    return outcome();
}

static __global__ void locked_1(unsigned *lock, volatile int64_t *counter)
{
    while (atomicCAS(lock, 0u, 1u) != 0u) {
    }
    __threadfence();
    *counter = *counter + 1;
    if (threadIdx.x % 2)
        __shfl_sync(1u << threadIdx.x % 32, 0, threadIdx.x % 32);
    __threadfence();
    atomicExch(lock, 0u);
}
extern "C" int locked(unsigned *lock, int64_t *counter)
{
    locked_1<<<3, 100>>>(lock, counter);
    return outcome();
}

/* The first thread of a block waits for the last one's word.  */
static __global__ void handed_1(int *word)
{
    if (threadIdx.x == 0)
        while (atomicCAS(word, 1, 2) != 1) {
        }
    if (threadIdx.x == blockDim.x - 1)
        atomicAdd(word, 1);
}
extern "C" int handed(int *word)
{
    handed_1<<<1, 64>>>(word);
    return outcome();
}

struct Totals {
    double sum;
    float single;
    int number, least, most;
    unsigned count;
    unsigned long long large;
};
static __global__ void totals_1(Totals *t)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&t->sum, 0.5);
    atomicAdd(&t->single, 0.25f);
    atomicAdd(&t->number, 1);
    atomicMin(&t->least, -i);
    atomicMax(&t->most, i);
    atomicAdd(&t->count, 2u);
    atomicAdd(&t->large, 1ull << 33);
}
extern "C" int totals(Totals *t)
{
    totals_1<<<4, 50>>>(t);
    return outcome();
}

template <class T, int COUNT> static __global__ void places_1(T *x)
{
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    x[block * COUNT + thread] = (T)(100 * block + 10 * threadIdx.z + threadIdx.y);
}
extern "C" int places(int64_t *x)
{
    places_1<int64_t, 24><<<dim3(2, 3, 2), dim3(4, 3, 2)>>>(x);
    return outcome();
}

/* Each kind of shuffle, in parts of eight lanes: the last three lanes of a part have nobody three further on.  */
static __global__ void shuffled_1(int *x)
{
    const int lane = (int)threadIdx.x;
    x[lane] = __shfl_down_sync(ALL, lane, 3, 8);
    x[32 + lane] = __shfl_sync(ALL, lane, 2, 8);
    x[64 + lane] = __shfl_xor_sync(ALL, lane, 5);
    const unsigned long long large = __shfl_sync(ALL, 1ull << lane, 31);
    x[96 + lane] = (int)(large >> 31);
    const float half = __shfl_down_sync(ALL, 0.5f * lane, 1);
    x[128 + lane] = (int)(2.0f * half);
}
extern "C" int shuffled(int *x)
{
    shuffled_1<<<1, 32>>>(x);
    return outcome();
}

static __global__ void nothing_1() {}
extern "C" int empty(int64_t blocks, int64_t threads)
{
    nothing_1<<<blocks, threads>>>();
    return outcome();
}

extern "C" int memory(int64_t n, double *x)
{
    double *copy;
    if (cudaMalloc(&copy, (size_t)n * sizeof *copy) != cudaSuccess)
        return outcome();
    cudaMemsetAsync(copy, 0, (size_t)n * sizeof *copy, nullptr);
    cudaMemcpyAsync(copy, x, sizeof *copy, cudaMemcpyHostToDevice, nullptr);
    cudaMemcpyAsync(x, copy, (size_t)n * sizeof *copy, cudaMemcpyDefault, nullptr);
    cudaFree(copy);
    return cudaPeekAtLastError();
}

/* Neighbouring bytes are not one place; the lanes of a warp meet between two accesses.  */
static __global__ void bytes_1(uint8_t *x) { x[threadIdx.x] = (uint8_t)threadIdx.x; }
static __global__ void warp_1(int meet, int *x)
{
    __shared__ int place[64];
    place[threadIdx.x] = (int)threadIdx.x;
    if (meet)
        __syncwarp();
    x[threadIdx.x] = place[threadIdx.x ^ 1];
}
extern "C" int bytes(uint8_t *x)
{
    bytes_1<<<1, 64>>>(x);
    return outcome();
}
extern "C" int warps(int meet, int *x)
{
    warp_1<<<1, 64>>>(meet, x);
    return outcome();
}

/* wrong programs */

static __global__ void half_1(int *x)
{
    if (threadIdx.x < 16)
        __syncthreads();
    x[threadIdx.x] = 1;
}
static __global__ void two_barriers_1(int *x)
{
    if (threadIdx.x < 16)
        __syncthreads();
    else
        __syncthreads();
    x[threadIdx.x] = 1;
}
static __global__ void two_shuffles_1(int *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_down_sync(ALL, 1, 1);
    else if (threadIdx.x < 24)
        x[threadIdx.x] = __shfl_down_sync(ALL, 1, 1);
}
static __global__ void ended_lane_1(int *x)
{
    if (threadIdx.x < 16)
        x[threadIdx.x] = __shfl_down_sync(ALL, 1, 1);
}
static __global__ void deadlock_1(int *x)
{
    while (atomicCAS(x, 1, 1) != 1) {
    }
}
extern "C" int wrong(int which, int *x)
{
    if (which == 0)
        half_1<<<1, 32>>>(x);
    if (which == 1)
        two_barriers_1<<<1, 32>>>(x);
    if (which == 2)
        two_shuffles_1<<<1, 32>>>(x);
    if (which == 3)
        ended_lane_1<<<1, 32>>>(x);
    if (which == 4)
        deadlock_1<<<1, 2>>>(x);
    return outcome();
}

static __global__ void same_place_1(int64_t *x) { x[0] = threadIdx.x; }
static __global__ void same_byte_1(uint8_t *x) { x[threadIdx.x / 2] = (uint8_t)threadIdx.x; }
static __global__ void unmet_1(const double *x, double *y)
{
    __shared__ double place[64];
    place[threadIdx.x] = x[threadIdx.x];
    for (unsigned by = 32; by > 0; by /= 2) { // no barrier between the rounds
        if (threadIdx.x < by)
            place[threadIdx.x] += place[threadIdx.x + by];
    }
    if (threadIdx.x == 0)
        y[0] = place[0];
}
static __global__ void blocks_1(int64_t *x)
{
    if (blockIdx.x == 0 && threadIdx.x == 0)
        x[0] = 1;
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 0)
        x[1] = x[0];
}
static __global__ void half_atomic_1(int *x)
{
    if (threadIdx.x == 0)
        x[0] = 1;
    else
        atomicAdd(x, 1);
}
/* Two threads read, and in one block one of them writes thereafter.  */
static __global__ void one_block_1(int *x)
{
    __shared__ int place[1];
    const int found = place[0];
    if (blockIdx.x == 1 && threadIdx.x == 1)
        place[0] = found + 1;
    atomicAdd(x, found);
}
extern "C" int racy(int which, void *x, void *y)
{
    if (which == 0)
        same_place_1<<<1, 2>>>((int64_t *)x);
    if (which == 1)
        same_byte_1<<<1, 4>>>((uint8_t *)x);
    if (which == 2)
        unmet_1<<<1, 64>>>((const double *)x, (double *)y);
    if (which == 3)
        blocks_1<<<2, 32>>>((int64_t *)x);
    if (which == 4)
        half_atomic_1<<<1, 32>>>((int *)x);
    if (which == 5)
        one_block_1<<<3, 2>>>((int *)x);
    return outcome();
}

/* A table of what each thread does in each step, and of what ends the step for all.  */
static __global__ void steps_1(int steps, const int *__restrict__ kinds, const int *__restrict__ places,
        const int *__restrict__ ends, int shared, int *x)
{
    __shared__ int own[4];
    int *const all = shared ? own : x;
    for (int k = 0; k < steps; k++) {
        const unsigned mine = (k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        int *const word = all + places[mine] / 4;
        uint8_t *const byte = (uint8_t *)all + places[mine];
        if (kinds[mine] == 1)
            *word = k;
        else if (kinds[mine] == 2)
            atomicAdd(word, 1);
        else if (kinds[mine] == 3)
            *(volatile int *)word = k;
        else if (kinds[mine] == 4)
            *byte = (uint8_t)k;
        else if (kinds[mine] == 5 && *word == -1)
            return;
        else if (kinds[mine] == 6 && *(volatile int *)word == -1)
            return;
        else if (kinds[mine] == 7 && *byte == 255)
            return;
        if (ends[k] == 1)
            __syncthreads();
        if (ends[k] == 2)
            __syncwarp();
    }
}
extern "C" int steps(int count, const int *kinds, const int *places, const int *ends, int shared, int *x)
{
    steps_1<<<2, 64>>>(count, kinds, places, ends, shared, x);
    return outcome();
}

static __global__ void behind_1(const double *x, double *y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" int behind(int n)
{
    double *x;
    double *y;
    cudaMalloc(&x, (size_t)n * sizeof *x);
    cudaMalloc(&y, (size_t)(n + 1) * sizeof *y);
    behind_1<<<1, n + 1>>>(x, y);
    cudaFree(x);
    cudaFree(y);
    return outcome();
}
