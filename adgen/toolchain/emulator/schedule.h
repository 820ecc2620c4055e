/* Which thread of a block runs.

   A fiber takes one thread after another and a thread that never waits costs a call.  One that waits leaves its fiber
   for a thread that may go on, else for a new fiber, which takes the next threads.  When neither is left and threads
   still wait, they wait for ever: the launch has failed.  */
#pragma once

namespace adgen_emulated __attribute__((visibility("hidden"))) {
constexpr unsigned SPINS = 1 << 20; // a thousand rounds of a full block

ADGEN_EMULATOR void enter_fiber(Machine &m, Fiber &to)
{
    Fiber &from = *m.fiber;
    m.fiber = &to;
    switch_fibers(from, to);
}

/* Give the launch up, from inside a thread.  */
[[noreturn]] ADGEN_EMULATOR void fail(Machine &m, const char *what)
{
    const Thread &thread = m.threads[m.running];
    fprintf(stderr, "adgen: kernel %s, block %llu, thread %u: %s (%s, line %d)\n", m.kernel,
            static_cast<unsigned long long>(m.block), m.running, what, thread.at, thread.line);
    m.failed = true;
    enter_fiber(m, m.host);
    abort(); // nobody comes back
}

ADGEN_EMULATOR void run_as(Machine &m, unsigned thread)
{
    m.running = thread;
    place.thread = m.threads[thread].index;
}

ADGEN_EMULATOR void make_ready(Machine &m, unsigned thread)
{
    m.spins = 0;
    m.threads[thread].state = State::running;
    if (thread != m.running)
        m.ready[(m.first_ready + m.number_ready++) % THREADS] = thread;
}

ADGEN_EMULATOR bool next_block(Machine &m)
{
    if (m.begun == m.blocks)
        return false;
    m.begun++;
    m.block = m.block_order.take();
    const dim3 &grid = place.blocks;
    const uint64_t rows = m.block / grid.x;
    place.block = {static_cast<unsigned>(m.block % grid.x), static_cast<unsigned>(rows % grid.y),
                   static_cast<unsigned>(rows / grid.y)};
    for (unsigned i = 0; i < m.size; i++)
        m.threads[i].state = State::unstarted;
    m.started = m.ended = 0;
    m.threads_left = m.thread_order;
    races_of_block(m);
    return true;
}

/* Begin the next thread; with the last one of a block at its end, the next block's first.  */
ADGEN_EMULATOR bool next_thread(Machine &m)
{
    if (m.started == m.size && (m.ended < m.size || !next_block(m)))
        return false;
    m.started++;
    const unsigned thread = static_cast<unsigned>(m.threads_left.take());
    m.threads[thread].state = State::running;
    run_as(m, thread);
    return true;
}

void finish_warp(Machine &m, unsigned lane);

ADGEN_EMULATOR void end_thread(Machine &m)
{
    m.threads[m.running].state = State::ended;
    m.ended++;
    m.spins = 0;
    if (!m.waiting_warp)
        return;
    const unsigned warp = m.running / WARP * WARP; // the others of its warp may have waited for nobody else
    for (unsigned i = warp; i < warp + WARP && i < m.size; i++)
        if (m.threads[i].state == State::at_warp)
            finish_warp(m, i);
}

ADGEN_EMULATOR Fiber &ready_fiber(Machine &m)
{
    const unsigned thread = m.ready[m.first_ready];
    m.first_ready = (m.first_ready + 1) % THREADS;
    m.number_ready--;
    return *m.threads[thread].fiber;
}

ADGEN_EMULATOR void fiber_begins()
{
    Machine &m = *machine;
    entered(m.host);
    for (Fiber *self = m.fiber;;) {
        while (next_thread(m)) {
            m.body(m.arguments);
            end_thread(m);
        }
        self->next_idle = m.idle;
        m.idle = self;
        enter_fiber(m, m.number_ready ? ready_fiber(m) : m.host);
    }
}

ADGEN_EMULATOR Fiber *idle_fiber(Machine &m)
{
    if (Fiber *found = m.idle) {
        m.idle = found->next_idle;
        return found;
    }
    Fiber *made = make_fiber(fiber_begins);
    if (made)
        m.fibers[m.number_fibers++] = made;
    return made;
}

ADGEN_EMULATOR Fiber &new_fiber(Machine &m)
{
    Fiber *found = idle_fiber(m);
    if (!found)
        fail(m, "no memory for another thread's stack");
    return *found;
}

/* Leave the running thread until it is ready and its turn has come.  */
ADGEN_EMULATOR void leave_for(Machine &m, Fiber &to)
{
    const unsigned self = m.running;
    m.threads[self].fiber = m.fiber;
    enter_fiber(m, to);
    run_as(m, self);
}

ADGEN_EMULATOR void wait(Machine &m)
{
    leave_for(m, m.number_ready ? ready_fiber(m) : m.started < m.size ? new_fiber(m) : m.host);
}

/* An attempt that came to nothing, as at a lock that another thread holds: let the others run.  */
ADGEN_EMULATOR void spin(Machine &m, int line)
{
    Thread &self = m.threads[m.running];
    self.at = "atomicCAS";
    self.line = line;
    if (++m.spins > SPINS)
        fail(m, "waits for a value that no thread of its block writes");
    Fiber *other = m.started < m.size ? &new_fiber(m) : m.number_ready ? &ready_fiber(m) : nullptr;
    if (!other)
        return;
    m.ready[(m.first_ready + m.number_ready++) % THREADS] = m.running;
    leave_for(m, *other);
}
} // namespace adgen_emulated

ADGEN_EMULATOR void __syncthreads(int line = __builtin_LINE())
{
    using namespace adgen_emulated;
    Machine &m = *machine;
    Thread &self = m.threads[m.running];
    self.state = State::at_barrier;
    self.at = "__syncthreads";
    self.line = line;
    if (++m.waiting_block < m.size)
        return wait(m);
    m.waiting_block = 0;
    for (unsigned i = 0; i < m.size; i++)
        if (m.threads[i].line != line)
            fail(m, "other threads of the block are at another barrier");
    races_of_barrier();
    Sequence order = m.thread_order;
    for (unsigned k = 0; k < m.size; k++)
        make_ready(m, static_cast<unsigned>(order.take()));
}

ADGEN_EMULATOR void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
ADGEN_EMULATOR void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
