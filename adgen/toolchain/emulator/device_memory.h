/* Errors, streams and memory.  A stream has nothing left to do, ever; device memory is host memory.  */
#pragma once

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidDevice = 101,
    cudaErrorLaunchFailure = 719
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
typedef struct CUstream_st *cudaStream_t;

namespace adgen_emulated __attribute__((visibility("hidden"))) {
inline thread_local cudaError_t last_error = cudaSuccess;

ADGEN_EMULATOR cudaError_t with_error(cudaError_t error)
{
    if (error != cudaSuccess)
        last_error = error;
    return error;
}
} // namespace adgen_emulated

ADGEN_EMULATOR cudaError_t cudaPeekAtLastError() { return adgen_emulated::last_error; }

ADGEN_EMULATOR cudaError_t cudaGetLastError()
{
    const cudaError_t error = adgen_emulated::last_error;
    adgen_emulated::last_error = cudaSuccess;
    return error;
}

ADGEN_EMULATOR const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorInvalidConfiguration:
        return "invalid configuration argument";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    case cudaErrorLaunchFailure:
        return "unspecified launch failure";
    }
    return "unrecognized error code";
}

ADGEN_EMULATOR const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "cudaSuccess";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
        return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDevice:
        return "cudaErrorInvalidDevice";
    case cudaErrorLaunchFailure:
        return "cudaErrorLaunchFailure";
    }
    return "unrecognized error code";
}

/* The one device is number 0, and all memory is its.  */
ADGEN_EMULATOR cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

ADGEN_EMULATOR cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}

ADGEN_EMULATOR cudaError_t cudaSetDevice(int device)
{
    return adgen_emulated::with_error(device ? cudaErrorInvalidDevice : cudaSuccess);
}

enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
};

ADGEN_EMULATOR cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *found, const void *)
{
    *found = {cudaMemoryTypeDevice, 0};
    return cudaSuccess;
}

enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive
};

ADGEN_EMULATOR cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

ADGEN_EMULATOR cudaError_t cudaStreamSynchronize(cudaStream_t) { return adgen_emulated::last_error; }
ADGEN_EMULATOR cudaError_t cudaDeviceSynchronize() { return adgen_emulated::last_error; }

ADGEN_EMULATOR cudaError_t cudaMemsetAsync(void *to, int byte, size_t size, cudaStream_t = nullptr)
{
    if (size)
        memset(to, byte, size);
    return cudaSuccess;
}

ADGEN_EMULATOR cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind,
                                           cudaStream_t = nullptr)
{
    if (size)
        memcpy(to, from, size);
    return cudaSuccess;
}

ADGEN_EMULATOR cudaError_t cudaMemset(void *to, int byte, size_t size) { return cudaMemsetAsync(to, byte, size); }

ADGEN_EMULATOR cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind)
{
    return cudaMemcpyAsync(to, from, size, kind);
}

/* Fresh memory is full of not-a-numbers, so that a result shows what was read before it was written. */
template <class T> ADGEN_EMULATOR cudaError_t cudaMalloc(T **memory, size_t size)
{
    void *found = nullptr;
    const bool failed = size && posix_memalign(&found, 256, size); // as aligned as a device's
    *memory = failed ? nullptr : static_cast<T *>(found);
    if (found && !failed)
        memset(found, 0xff, size);
    return adgen_emulated::with_error(failed ? cudaErrorMemoryAllocation : cudaSuccess);
}

ADGEN_EMULATOR cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}

template <class T> ADGEN_EMULATOR cudaError_t cudaMallocAsync(T **memory, size_t size, cudaStream_t)
{
    return cudaMalloc(memory, size);
}
ADGEN_EMULATOR cudaError_t cudaFreeAsync(void *memory, cudaStream_t) { return cudaFree(memory); }
