/* Launching a kernel: `ADGEN_LAUNCH(kernel, blocks, threads, shared, stream)(arguments)`.  */
#pragma once

namespace adgen_emulated __attribute__((visibility("hidden"))) {

/* Frees a thread's machine and its stacks when the thread of the host ends.  */
struct Owner {
    ADGEN_EMULATOR ~Owner()
    {
        for (unsigned i = 0; i < machine->number_fibers; i++)
            free_fiber(machine->fibers[i]);
        races_end();
        free(machine);
        machine = nullptr;
    }
};

ADGEN_EMULATOR Machine *find_machine()
{
    if (machine)
        return machine;
    machine = static_cast<Machine *>(calloc(1, sizeof(Machine)));
    if (machine) {
        static thread_local Owner owner;
        (void)owner;
    }
    return machine;
}

ADGEN_EMULATOR uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* The numbers below n in the order that the environment names; of no numbers where that is no order.  */
ADGEN_EMULATOR Sequence find_order(uint64_t n)
{
    const char *name = getenv("ADGEN_EMULATED_ORDER");
    if (!name || !*name || !strcmp(name, "forward"))
        return {0, 1, n};
    if (!strcmp(name, "backward"))
        return {n - 1, n - 1, n};
    if (!strcmp(name, "shuffled")) {
        uint64_t step = 2654435761u % n + 1; // reaches every number when it has no divisor in common with n
        while (common_divisor(step, n) != 1)
            step++;
        return {n / 3, step % n, n};
    }
    fprintf(stderr, "adgen: ADGEN_EMULATED_ORDER is `%s`; it may be forward, backward or shuffled\n", name);
    return {0, 0, 0};
}

/* What a device would refuse.  */
ADGEN_EMULATOR bool possible(const dim3 &grid, const dim3 &block)
{
    const uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
    return grid.x && grid.x <= INT32_MAX && grid.y && grid.y <= 65535 && grid.z && grid.z <= 65535 && block.x <= THREADS
        && block.y <= THREADS && block.z <= 64 && threads && threads <= THREADS;
}

/* Say who waits for ever, and have all fibers begin anew.  */
ADGEN_EMULATOR void give_up(Machine &m)
{
    for (unsigned i = 0; i < m.size && !m.failed; i++) {
        const Thread &thread = m.threads[i];
        if (thread.state != State::at_barrier && thread.state != State::at_warp)
            continue;
        fprintf(stderr,
                "adgen: kernel %s, block %llu: thread %u waits at %s, line %d, which others never reach "
                "(%u of %u threads have ended)\n",
                m.kernel, static_cast<unsigned long long>(m.block), i, thread.at, thread.line, m.ended, m.size);
        m.failed = true;
    }
    m.idle = nullptr;
    for (unsigned i = 0; i < m.number_fibers; i++) {
        restart_fiber(*m.fibers[i], fiber_begins);
        m.fibers[i]->next_idle = m.idle;
        m.idle = m.fibers[i];
    }
}

ADGEN_EMULATOR cudaError_t run(const char *kernel, const dim3 &grid, const dim3 &block, void (*body)(const void *),
                               const void *arguments)
{
    if (!possible(grid, block))
        return cudaErrorInvalidConfiguration;
    Machine *found = find_machine();
    if (!found)
        return cudaErrorMemoryAllocation;
    Machine &m = *found;
    m.kernel = kernel;
    m.body = body;
    m.arguments = arguments;
    m.blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
    m.size = m.started = m.ended = block.x * block.y * block.z;
    m.thread_order = find_order(m.size);
    if (!m.thread_order.number)
        return cudaErrorInvalidValue;
    m.block_order = find_order(m.blocks);
    m.begun = 0;
    m.waiting_block = m.waiting_warp = m.number_ready = m.spins = 0;
    m.failed = false;
    for (unsigned i = 0; i < m.size; i++)
        m.threads[i].index = {i % block.x, i / block.x % block.y, i / block.x / block.y};
    place.blocks = grid;
    place.threads = block;
    Fiber *fiber = idle_fiber(m);
    if (!fiber)
        return cudaErrorMemoryAllocation;
    races_of_launch(m);
    m.fiber = &m.host;
    enter_fiber(m, *fiber);
    races_pause();
    if (!m.failed && m.ended == m.size)
        return cudaSuccess;
    give_up(m);
    return cudaErrorLaunchFailure;
}

struct Configuration {
    const char *kernel;
    dim3 grid, block;
    ADGEN_EMULATOR Configuration(const char *kernel_, dim3 grid_, dim3 block_, size_t = 0, cudaStream_t = nullptr)
        : kernel(kernel_), grid(grid_), block(block_)
    {
    }
};

template <class... Parameters> struct Launch {
    Configuration configuration;
    void (*kernel)(Parameters...);

    ADGEN_EMULATOR void operator()(Parameters... arguments) const
    {
        const auto call = [&]() ADGEN_UNSEEN { kernel(arguments...); };
        using Call = decltype(call);
        const auto body = [](const void *one) ADGEN_UNSEEN { (*static_cast<Call *>(one))(); };
        with_error(run(configuration.kernel, configuration.grid, configuration.block, body, &call));
    }
};

template <class... Parameters>
ADGEN_EMULATOR Launch<Parameters...> launch(const Configuration &configuration, void (*kernel)(Parameters...))
{
    return {configuration, kernel};
}
} // namespace adgen_emulated

#define ADGEN_LAUNCH(kernel, ...) \
    ::adgen_emulated::launch(::adgen_emulated::Configuration(#kernel, __VA_ARGS__), kernel)
