/* What the 32 threads of a warp do together.  As on a device, an operation is complete when every lane that its mask
   names has come to it or has ended; here all must have come to the same line.  */
#pragma once

namespace adgen_emulated __attribute__((visibility("hidden"))) {

/* Complete the operation at which a thread waits, if everybody is there.  */
ADGEN_EMULATOR void finish_warp(Machine &m, unsigned one)
{
    const unsigned warp = one / WARP * WARP;
    const Thread &asked = m.threads[one];
    unsigned there = 0;
    uint64_t given[WARP];
    for (unsigned lane = 0; lane < WARP && warp + lane < m.size; lane++) {
        const Thread &thread = m.threads[warp + lane];
        if (!(asked.mask >> lane & 1) || thread.state == State::ended)
            continue;
        if (thread.state != State::at_warp || thread.at != asked.at || thread.line != asked.line
            || thread.mask != asked.mask)
            return;
        there |= 1u << lane;
        given[lane] = thread.value;
    }
    const bool orders = !strcmp(asked.at, "__syncwarp"); // a shuffle orders no memory
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!(there >> lane & 1))
            continue;
        Thread &thread = m.threads[warp + lane];
        if (!(there >> thread.source & 1))
            fail(m, "the value of a lane is asked for that takes no part or has ended");
        thread.value = given[thread.source];
        m.waiting_warp--;
        make_ready(m, warp + lane);
    }
    if (orders)
        races_of_warp(warp, there);
}

ADGEN_EMULATOR uint64_t exchange(const char *at, int line, unsigned mask, uint64_t value, int source)
{
    Machine &m = *machine;
    Thread &self = m.threads[m.running];
    self.at = at;
    self.line = line;
    self.mask = mask;
    self.source = source;
    self.value = value;
    if (!(mask >> m.running % WARP & 1))
        fail(m, "the mask does not name the calling lane");
    self.state = State::at_warp;
    m.waiting_warp++;
    finish_warp(m, m.running);
    if (self.state == State::at_warp)
        wait(m);
    return self.value;
}

template <class T> ADGEN_EMULATOR T shuffle(const char *at, int line, unsigned mask, T value, int source)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = exchange(at, line, mask, bits, source);
    memcpy(&value, &bits, sizeof value);
    return value;
}

ADGEN_EMULATOR int own_lane() { return static_cast<int>(machine->running % WARP); }
} // namespace adgen_emulated

ADGEN_EMULATOR void __syncwarp(unsigned mask = 0xffffffffu, int line = __builtin_LINE())
{
    adgen_emulated::exchange("__syncwarp", line, mask, 0, adgen_emulated::own_lane());
}

/* A lane outside of its part of `width` lanes is not asked: the caller keeps its own value.  */
template <class T>
ADGEN_EMULATOR T __shfl_sync(unsigned mask, T value, int source, int width = 32, int line = __builtin_LINE())
{
    const int first = adgen_emulated::own_lane() & ~(width - 1);
    return adgen_emulated::shuffle("__shfl_sync", line, mask, value, first + (source & (width - 1)));
}

template <class T>
ADGEN_EMULATOR T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, int line = __builtin_LINE())
{
    const int lane = adgen_emulated::own_lane(), end = (lane & ~(width - 1)) + width;
    const int source = lane + static_cast<int>(by);
    return adgen_emulated::shuffle("__shfl_down_sync", line, mask, value, source < end ? source : lane);
}

template <class T>
ADGEN_EMULATOR T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, int line = __builtin_LINE())
{
    const int lane = adgen_emulated::own_lane(), first = lane & ~(width - 1);
    const int source = lane - static_cast<int>(by);
    return adgen_emulated::shuffle("__shfl_up_sync", line, mask, value, source >= first ? source : lane);
}

template <class T>
ADGEN_EMULATOR T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, int line = __builtin_LINE())
{
    const int lane = adgen_emulated::own_lane(), end = (lane & ~(width - 1)) + width;
    const int source = lane ^ with;
    return adgen_emulated::shuffle("__shfl_xor_sync", line, mask, value, source < end ? source : lane);
}
