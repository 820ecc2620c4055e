/* Fibers: stacks that can be left in the middle of a function and entered again.  */
#pragma once

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define ADGEN_ADDRESSES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADGEN_ADDRESSES 1
#endif
#endif
#ifdef ADGEN_ADDRESSES
#include <sanitizer/common_interface_defs.h>
#endif

namespace adgen_emulated __attribute__((visibility("hidden"))) {
constexpr size_t STACK = 640 << 10; // more than a device gives a thread; pages that are never touched cost nothing

struct Fiber {
    ucontext_t context;
    jmp_buf place; // where it was left, if it has begun
    bool begun;
    const void *stack; // its lowest address; of the host's fiber it is known to the address sanitizer alone
    size_t size;
    void *fake; // where the address sanitizer keeps the locals of a fiber that is left
    Fiber *next_idle;
};

/* A context is for beginning; after that a jump is twenty times as fast, which asks no kernel for a signal mask.  The
   address sanitizer understands contexts alone.  */
ADGEN_EMULATOR void switch_fibers(Fiber &from, Fiber &to)
{
#ifdef ADGEN_ADDRESSES
    __sanitizer_start_switch_fiber(&from.fake, to.stack, to.size);
    swapcontext(&from.context, &to.context);
    __sanitizer_finish_switch_fiber(from.fake, nullptr, nullptr);
#else
    from.begun = true;
    if (_setjmp(from.place))
        return;
    if (to.begun)
        _longjmp(to.place, 1);
    setcontext(&to.context);
#endif
}

/* The first thing that a fiber does: who comes first of all comes from the host.  */
ADGEN_EMULATOR void entered(Fiber &host)
{
#ifdef ADGEN_ADDRESSES
    const void *stack;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &stack, &size);
    if (!host.stack)
        host.stack = stack, host.size = size;
#else
    (void)host;
#endif
}

/* Have a fiber begin anew, wherever it was.  */
ADGEN_EMULATOR void restart_fiber(Fiber &fiber, void (*begin)())
{
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = const_cast<void *>(fiber.stack);
    fiber.context.uc_stack.ss_size = fiber.size;
    fiber.context.uc_link = nullptr;
    fiber.fake = nullptr;
    fiber.begun = false;
    makecontext(&fiber.context, begin, 0);
}

/* A new fiber with an unreadable page below its stack; null when there is no memory.  */
ADGEN_EMULATOR Fiber *make_fiber(void (*begin)())
{
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void *memory = mmap(nullptr, page + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Fiber *fiber = static_cast<Fiber *>(calloc(1, sizeof(Fiber)));
    if (memory == MAP_FAILED || !fiber || mprotect(memory, page, PROT_NONE)) {
        if (memory != MAP_FAILED)
            munmap(memory, page + STACK);
        free(fiber);
        return nullptr;
    }
    fiber->stack = static_cast<char *>(memory) + page;
    fiber->size = STACK;
    restart_fiber(*fiber, begin);
    return fiber;
}

ADGEN_EMULATOR void free_fiber(Fiber *fiber)
{
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    munmap(static_cast<char *>(const_cast<void *>(fiber->stack)) - page, page + STACK);
    free(fiber);
}
} // namespace adgen_emulated
