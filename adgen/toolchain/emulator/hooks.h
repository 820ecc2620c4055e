/* What the compiler calls under -fsanitize=thread.  */
#pragma once

#define ADGEN_HOOK __attribute__((weak, used, visibility("hidden"))) ADGEN_UNSEEN
#define ADGEN_HOOKS_OF(SIZE)                                                                                     \
    ADGEN_HOOK void __tsan_read##SIZE(void *at) { adgen_emulated::access(at, SIZE, adgen_emulated::READ); }      \
    ADGEN_HOOK void __tsan_write##SIZE(void *at) { adgen_emulated::access(at, SIZE, adgen_emulated::WRITE); }    \
    ADGEN_HOOK void __tsan_volatile_read##SIZE(void *at)                                                         \
    {                                                                                                            \
        adgen_emulated::access(at, SIZE, adgen_emulated::ATOMIC_READ);                                           \
    }                                                                                                            \
    ADGEN_HOOK void __tsan_volatile_write##SIZE(void *at) { adgen_emulated::races_of_atomic(at, SIZE); }         \
    ADGEN_HOOK void __tsan_unaligned_volatile_read##SIZE(void *at) { __tsan_volatile_read##SIZE(at); }           \
    ADGEN_HOOK void __tsan_unaligned_volatile_write##SIZE(void *at) { __tsan_volatile_write##SIZE(at); }         \
    ADGEN_HOOK void __tsan_unaligned_read##SIZE(void *at) { __tsan_read##SIZE(at); }                             \
    ADGEN_HOOK void __tsan_unaligned_write##SIZE(void *at) { __tsan_write##SIZE(at); }                           \
    ADGEN_HOOK void __tsan_read_write##SIZE(void *at)                                                            \
    {                                                                                                            \
        __tsan_read##SIZE(at);                                                                                   \
        __tsan_write##SIZE(at);                                                                                  \
    }                                                                                                            \
    ADGEN_HOOK void __tsan_unaligned_read_write##SIZE(void *at) { __tsan_read_write##SIZE(at); }

extern "C" {
ADGEN_HOOK void __tsan_init(void) {}
ADGEN_HOOK void __tsan_func_entry(void *) {}
ADGEN_HOOK void __tsan_func_exit(void) {}
ADGEN_HOOKS_OF(1)
ADGEN_HOOKS_OF(2)
ADGEN_HOOKS_OF(4)
ADGEN_HOOKS_OF(8)
ADGEN_HOOKS_OF(16)
ADGEN_HOOK void __tsan_vptr_update(void **at, void *) { __tsan_write8(at); }
ADGEN_HOOK void __tsan_vptr_read(void **at) { __tsan_read8(at); }
#ifdef __clang__
typedef unsigned long adgen_size;
#else
typedef long adgen_size; // as gcc declares these two
#endif
ADGEN_HOOK void __tsan_read_range(void *at, adgen_size size)
{
    adgen_emulated::access(at, static_cast<size_t>(size), adgen_emulated::READ);
}
ADGEN_HOOK void __tsan_write_range(void *at, adgen_size size)
{
    adgen_emulated::access(at, static_cast<size_t>(size), adgen_emulated::WRITE);
}
ADGEN_HOOK void *__tsan_memset(void *to, int byte, size_t size)
{
    adgen_emulated::access(to, size, adgen_emulated::WRITE);
    return memset(to, byte, size);
}
ADGEN_HOOK void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    adgen_emulated::access(from, size, adgen_emulated::READ);
    adgen_emulated::access(to, size, adgen_emulated::WRITE);
    return memcpy(to, from, size);
}
ADGEN_HOOK void *__tsan_memmove(void *to, const void *from, size_t size)
{
    adgen_emulated::access(from, size, adgen_emulated::READ);
    adgen_emulated::access(to, size, adgen_emulated::WRITE);
    return memmove(to, from, size);
}
}
#undef ADGEN_HOOKS_OF
#undef ADGEN_HOOK
