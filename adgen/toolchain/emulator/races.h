/* The race check.  Compiled with -fsanitize=thread the compiler calls a function before every access to memory; these
   are ours, so nothing has to be loaded before the process starts.

   Two accesses to the same byte within a launch are a race when different threads make them, one of them at least
   writes, not both are atomic, and nothing orders them: a barrier between them in the same block, or a __syncwarp in
   the same warp that both take part in.  What threads keep on their own stacks is theirs alone; a block's shared
   memory is not the next one's.  Volatile accesses count as atomic: on a device they are relaxed ones.  Not seen is what memcpy and memset touch.  Only the first races are printed.  */
#pragma once

#ifndef ADGEN_RACES

namespace adgen_emulated __attribute__((visibility("hidden"))) {
inline void races_of_launch(Machine &) {}
inline void races_of_block(Machine &) {}
inline void races_of_barrier() {}
inline void races_of_warp(unsigned, unsigned) {}
inline void races_of_atomic(const void *, size_t) {}
inline void races_pause() {}
inline void races_end() {}
} // namespace adgen_emulated

#else

#include "accesses.h"
#include <link.h>

namespace adgen_emulated __attribute__((visibility("hidden"))) {
constexpr int64_t PRINTED = 8;
inline int64_t races = 0;

/* What the check knows of the launch of one thread of the host.  */
struct Checker {
    bool active;
    uint32_t barrier;              // how many the present block has passed
    uint32_t seen[THREADS][WARP];  // the time of each lane of its warp up to which a thread has seen its accesses
    uintptr_t shared, shared_size; // where the shared variables of this thread of the host are
    Accesses accesses;
};
inline thread_local Checker *checker = nullptr;

/* The thread's own copy of this module's thread_local variables: shared memory among them.  */
ADGEN_EMULATOR int find_shared(dl_phdr_info *info, size_t, void *data)
{
    Checker &c = *static_cast<Checker *>(data);
    const uintptr_t here = reinterpret_cast<uintptr_t>(&checker);
    const uintptr_t begin = reinterpret_cast<uintptr_t>(info->dlpi_tls_data);
    for (int i = 0; begin && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && here - begin < info->dlpi_phdr[i].p_memsz)
            c.shared = begin, c.shared_size = info->dlpi_phdr[i].p_memsz;
    return c.shared_size != 0;
}

ADGEN_EMULATOR void races_of_launch(Machine &)
{
    if (!checker) {
        checker = static_cast<Checker *>(calloc(1, sizeof(Checker)));
        if (!checker)
            out_of_memory();
        dl_iterate_phdr(find_shared, checker);
    }
    forget(checker->accesses);
    checker->active = true;
}

ADGEN_EMULATOR void races_pause() { checker->active = false; }

ADGEN_EMULATOR void races_end()
{
    if (checker)
        free(checker->accesses.words);
    free(checker);
    checker = nullptr;
}

ADGEN_EMULATOR void races_of_block(Machine &m)
{
    Checker &c = *checker;
    c.barrier = 0;
    memset(c.seen, 0, m.size * sizeof *c.seen);
    for (unsigned i = 0; i < m.size; i++)
        c.seen[i][i % WARP] = 1;
}

ADGEN_EMULATOR void races_of_barrier() { checker->barrier++; }

/* Lanes that meet see all that any of them has seen; a new time begins for each.  */
ADGEN_EMULATOR void races_of_warp(unsigned warp, unsigned lanes)
{
    uint32_t met[WARP] = {0};
    for (unsigned i = 0; i < WARP; i++)
        for (unsigned other = 0; other < WARP && lanes >> i & 1; other++)
            if (checker->seen[warp + i][other] > met[other])
                met[other] = checker->seen[warp + i][other];
    for (unsigned i = 0; i < WARP; i++)
        if (lanes >> i & 1) {
            memcpy(checker->seen[warp + i], met, sizeof met);
            checker->seen[warp + i][i]++;
        }
}

/* Whether an access that was made is ordered before those that the running thread makes now.  */
ADGEN_EMULATOR bool before(const Access &made, const Access &now, bool shared)
{
    if (!made.thread || (shared && made.block != now.block))
        return true;
    if (made.block != now.block)
        return false;
    const uint32_t thread = made.thread - 1;
    return made.thread == now.thread || made.barrier < now.barrier
        || (thread / WARP == (now.thread - 1) / WARP && made.time <= checker->seen[now.thread - 1][thread % WARP]);
}

ADGEN_EMULATOR void report(const Access &made, Kind first, const Access &now, Kind second, const void *at, size_t size)
{
    static const char *const kinds[] = {"read", "written", "read atomically", "changed atomically"};
    if (__atomic_fetch_add(&races, 1, __ATOMIC_RELAXED) < PRINTED)
        fprintf(stderr,
                "adgen: race in kernel %s: %zu bytes at %p, %s by block %u, thread %u, are %s by block %u, thread %u\n",
                machine->kernel, size, at, kinds[first], made.block, made.thread - 1, kinds[second], now.block,
                now.thread - 1);
}

/* Look at what was done to some memory, and note what is done now.  True when it was a race.  */
ADGEN_EMULATOR bool check(Cell &cell, const Access &now, Kind kind, bool shared, const void *at, size_t size)
{
    for (int other = 0; other < KINDS; other++) {
        if (!conflict(other, kind))
            continue;
        for (const Access &made : cell.made[other])
            if (!before(made, now, shared)) {
                report(made, static_cast<Kind>(other), now, kind, at, size);
                note(cell, now, kind, shared);
                return true;
            }
    }
    note(cell, now, kind, shared);
    return false;
}

ADGEN_EMULATOR void access(const void *at, size_t size, Kind kind)
{
    Checker *c = checker;
    if (!c || !c->active)
        return;
    const Machine &m = *machine;
    const uintptr_t first = reinterpret_cast<uintptr_t>(at);
    if (first - reinterpret_cast<uintptr_t>(m.fiber->stack) < m.fiber->size
        || first - reinterpret_cast<uintptr_t>(&place) < sizeof place)
        return;
    const uint32_t time = c->seen[m.running][m.running % WARP];
    const Access now = {static_cast<uint32_t>(m.block), m.running + 1, c->barrier, time};
    const bool shared = first - c->shared < c->shared_size;
    for (uintptr_t byte = first, end = first + size; byte < end;) {
        const uintptr_t begin = byte / 8 * 8, stop = end < begin + 8 ? end : begin + 8;
        Word &word = find_word(c->accesses, begin);
        if (stop - byte == 8 && !word.bytes) {
            if (check(word.whole, now, kind, shared, at, size))
                return;
        } else {
            split(word);
            for (uintptr_t i = byte; i < stop; i++)
                if (check(word.bytes[i - begin], now, kind, shared, at, size))
                    return;
        }
        byte = stop;
    }
}

ADGEN_EMULATOR void races_of_atomic(const void *at, size_t size) { access(at, size, ATOMIC); }
} // namespace adgen_emulated

#include "hooks.h"

#endif

/* How many races there were in this process, and to begin anew; none are seen without the check.  */
extern "C" {
__attribute__((weak, used)) ADGEN_UNSEEN int64_t adgen_emulated_races(void)
{
#ifdef ADGEN_RACES
    return __atomic_load_n(&adgen_emulated::races, __ATOMIC_RELAXED);
#else
    return 0;
#endif
}

__attribute__((weak, used)) ADGEN_UNSEEN void adgen_emulated_races_reset(void)
{
#ifdef ADGEN_RACES
    __atomic_store_n(&adgen_emulated::races, 0, __ATOMIC_RELAXED);
#endif
}
}
