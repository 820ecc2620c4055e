/* A block of threads, and the launch that it belongs to.  */
#pragma once

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace adgen_emulated __attribute__((visibility("hidden"))) {
constexpr unsigned THREADS = 1024, WARP = 32;

enum class State : uint8_t { unstarted, running, at_barrier, at_warp, ended };

struct Thread {
    State state;
    Fiber *fiber;    // the one that it was left in
    const char *at;  // what it waits at
    int line;        // and the line of that
    unsigned mask;   // the lanes that take part
    int source;      // the lane whose value it is to get
    uint64_t value;  // what it gives; what it got
    uint3 index;
};

/* The numbers from 0 to n-1 in some order: each is a step further than the one before it, around the end.  */
struct Sequence {
    uint64_t next, step, number;

    ADGEN_EMULATOR uint64_t take()
    {
        const uint64_t taken = next;
        next += step;
        next -= next < number ? 0 : number;
        return taken;
    }
};

/* Everything that one thread of the host computes with; it computes one launch at a time.  */
struct Machine {
    const char *kernel;
    void (*body)(const void *); // one thread's work
    const void *arguments;
    uint64_t blocks, begun;               // of the grid; how many have begun
    uint64_t block;                       // the number of the present one
    Sequence block_order;                 // the blocks that have not begun
    Sequence thread_order, threads_left;  // the threads of a block; those that have not begun
    unsigned size, started, ended;        // threads of the block
    unsigned waiting_block, waiting_warp; // threads that wait at a barrier, or at their warp's operation
    unsigned running;                     // the thread that runs
    unsigned spins;                       // attempts in a row that came to nothing
    bool failed;
    Thread threads[THREADS];
    unsigned ready[THREADS], first_ready, number_ready; // a ring of threads that may go on
    Fiber host, *fiber, *idle;                          // the present fiber; those that run no thread
    Fiber *fibers[THREADS + 1];
    unsigned number_fibers;
};

inline thread_local Machine *machine = nullptr;

/* What a kernel may read of its place.  */
struct Place {
    uint3 thread, block;
    dim3 blocks, threads;
};
inline thread_local Place place = {};
} // namespace adgen_emulated

#define threadIdx (::adgen_emulated::place.thread)
#define blockIdx (::adgen_emulated::place.block)
#define blockDim (::adgen_emulated::place.threads)
#define gridDim (::adgen_emulated::place.blocks)
constexpr int warpSize = 32;
