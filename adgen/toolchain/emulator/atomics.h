/* Atomics, for the types that a device has them for.  They are real ones: other threads of the host may launch kernels
   on the same memory.  */
#pragma once

namespace adgen_emulated __attribute__((visibility("hidden"))) {

/* Replace a value by what a function makes of it; gives the old one.  */
template <class T, class Change> ADGEN_EMULATOR T update(T *address, Change change)
{
    races_of_atomic(address, sizeof(T));
    T old, made;
    __atomic_load(address, &old, __ATOMIC_RELAXED);
    do
        made = change(old);
    while (!__atomic_compare_exchange(address, &old, &made, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    return old;
}

/* One that fails lets other threads run: one of them may hold the lock.  */
template <class T> ADGEN_EMULATOR T compare_and_swap(T *address, T expected, T value, int line)
{
    const T found = update(address, [=](T old) ADGEN_UNSEEN { return old == expected ? value : old; });
    if (found == expected)
        machine->spins = 0;
    else
        spin(*machine, line);
    return found;
}
} // namespace adgen_emulated

#define ADGEN_UPDATE(NAME, T, MADE)                                                                  \
    ADGEN_EMULATOR T NAME(T *address, T value)                                                       \
    {                                                                                                \
        return adgen_emulated::update(address, [=](T old) ADGEN_UNSEEN->T { return MADE; });         \
    }
#define ADGEN_ATOMICS(T)                                                                             \
    ADGEN_UPDATE(atomicAdd, T, old + value)                                                          \
    ADGEN_UPDATE(atomicExch, T, (void(old), value))                                                  \
    ADGEN_UPDATE(atomicMin, T, old < value ? old : value)                                            \
    ADGEN_UPDATE(atomicMax, T, old > value ? old : value)                                            \
    ADGEN_EMULATOR T atomicCAS(T *address, T expected, T value, int line = __builtin_LINE())         \
    {                                                                                                \
        return adgen_emulated::compare_and_swap(address, expected, value, line);                     \
    }
ADGEN_ATOMICS(int)
ADGEN_ATOMICS(unsigned)
ADGEN_ATOMICS(unsigned long long)
ADGEN_UPDATE(atomicAdd, double, old + value)
ADGEN_UPDATE(atomicAdd, float, old + value)
ADGEN_UPDATE(atomicExch, float, (void(old), value))
#undef ADGEN_ATOMICS
#undef ADGEN_UPDATE
