/* CUDA on the processor: what emitted CUDA needs of <cuda_runtime.h>, so that g++ compiles its kernels as C++17.

   Comes in: a .cu file in which only launches are rewritten, `f<<<blocks, threads>>>(x)` to
   `ADGEN_LAUNCH(f, blocks, threads)(x)`.  Goes out: the same functions, which compute on the calling thread; device
   memory is host memory and every call has finished when it returns.  Guaranteed: barriers, shuffles, shared memory
   and atomics mean what they mean on a device; what would hang or be undefined there is a launch failure with a
   message; calls from several threads do not meet.  */
#pragma once

#if defined(__SANITIZE_THREAD__)
#define ADGEN_RACES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ADGEN_RACES 1
#endif
#endif
/* what the emulator itself does is nothing that a race check should see */
#if !defined(ADGEN_RACES)
#define ADGEN_UNSEEN
#elif defined(__clang__)
/* the first keeps it from becoming part of what is seen, the second is for its atomics */
#define ADGEN_UNSEEN __attribute__((no_sanitize("thread"), disable_sanitizer_instrumentation))
#else
#define ADGEN_UNSEEN __attribute__((no_sanitize("thread")))
#endif
#define ADGEN_EMULATOR inline ADGEN_UNSEEN

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static thread_local /* blocks of one thread run one after another */
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

#include "device_memory.h"
#include "fibers.h"
#include "block.h"
#include "races.h"
#include "schedule.h"
#include "launch.h"
#include "warps.h"
#include "atomics.h"
#ifdef ADGEN_CUBLAS
#include "cublas.h"
#endif
