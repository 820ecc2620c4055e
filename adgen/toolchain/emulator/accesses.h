/* What was done to each word of memory in a launch: a table by address.  */
#pragma once

namespace adgen_emulated __attribute__((visibility("hidden"))) {
enum Kind { READ, WRITE, ATOMIC_READ, ATOMIC };
constexpr int KINDS = 4;

/* Whether two accesses that nothing orders are a race.  */
ADGEN_EMULATOR bool conflict(int one, int other)
{
    const bool writes = one == WRITE || one == ATOMIC || other == WRITE || other == ATOMIC;
    return writes && !(one >= ATOMIC_READ && other >= ATOMIC_READ);
}

/* Who accessed memory, and when.  */
struct Access {
    uint32_t block;
    uint32_t thread;  // of the block, from 1: 0 is no access
    uint32_t barrier; // how many the block had passed
    uint32_t time;    // of the thread within its warp
};

/* Two accesses of each kind stand for all: the latest, and the one of those before that is furthest from it.  Whatever
   comes later and is unordered with any of them is unordered with one of the two, since those of different blocks are
   unordered with every third thread, and so are those of different warps between two barriers.  */
struct Cell {
    Access made[KINDS][2];
};

/* Eight bytes; those that are once accessed in parts are looked at one by one from then on.  */
struct Word {
    uintptr_t address;
    Cell whole;
    Cell *bytes;
};

/* Open addressing: a word is where its address says or in the next free place.  */
struct Accesses {
    Word *words;
    size_t size, used;
};

[[noreturn]] ADGEN_EMULATOR void out_of_memory()
{
    fprintf(stderr, "adgen: no memory for the race check\n");
    abort();
}

ADGEN_EMULATOR void *zeros(size_t number, size_t size)
{
    void *found = calloc(number, size);
    if (!found)
        out_of_memory();
    return found;
}

ADGEN_EMULATOR void forget(Accesses &a)
{
    for (size_t i = 0; i < a.size && a.used; i++)
        free(a.words[i].bytes);
    if (a.size > 1 << 16) { // a large table would have to be cleared for every small launch after it
        free(a.words);
        a.words = nullptr;
        a.size = 0;
    }
    if (a.used && a.words)
        memset(static_cast<void *>(a.words), 0, a.size * sizeof *a.words);
    a.used = 0;
}

ADGEN_EMULATOR Word &place_of(Word *words, size_t size, uintptr_t address)
{
    size_t i = (address >> 3) * 0x9e3779b97f4a7c15u >> 20 & (size - 1);
    while (words[i].address && words[i].address != address)
        i = (i + 1) & (size - 1);
    return words[i];
}

ADGEN_EMULATOR Word &find_word(Accesses &a, uintptr_t address)
{
    if (2 * a.used >= a.size) {
        const size_t size = a.size ? 2 * a.size : 1024;
        Word *words = static_cast<Word *>(zeros(size, sizeof *words));
        for (size_t i = 0; i < a.size; i++)
            if (a.words[i].address)
                place_of(words, size, a.words[i].address) = a.words[i];
        free(a.words);
        a.words = words;
        a.size = size;
    }
    Word &word = place_of(a.words, a.size, address);
    if (!word.address) {
        word.address = address;
        a.used++;
    }
    return word;
}

ADGEN_EMULATOR void split(Word &word)
{
    if (word.bytes)
        return;
    word.bytes = static_cast<Cell *>(zeros(8, sizeof(Cell)));
    for (int i = 0; i < 8; i++)
        word.bytes[i] = word.whole;
}

/* How much more an access tells beside another.  */
ADGEN_EMULATOR int distance(const Access &one, const Access &other, bool shared)
{
    if (!one.thread || (shared && one.block != other.block))
        return -1;
    if (one.block != other.block)
        return 3;
    if (one.barrier != other.barrier || one.thread == other.thread)
        return 0;
    return (one.thread - 1) / WARP != (other.thread - 1) / WARP ? 2 : 1;
}

/* Note an access.  A write comes after all that was: what is ordered after it is ordered after that as well.  */
ADGEN_EMULATOR void note(Cell &cell, const Access &now, Kind kind, bool shared)
{
    if (kind == WRITE)
        memset(&cell, 0, sizeof cell);
    Access *made = cell.made[kind];
    if (distance(made[0], now, shared) >= distance(made[1], now, shared))
        made[1] = made[0];
    made[0] = now;
}
} // namespace adgen_emulated
