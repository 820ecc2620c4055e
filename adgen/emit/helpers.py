"""The C helper functions that emitted files contain when they need them."""

from __future__ import annotations

from collections.abc import Collection

from adgen.ops.spelling import C_TYPES
from adgen.ops.vectors import VECTORISED

FAIL = """/* A check failed: note two numbers about it and give its number. */
static inline int adgen_fail(int64_t *detail, int64_t first, int64_t second, int site)
{
    detail[0] = first;
    detail[1] = second;
    return site;
}"""

FAIL_FOUR = """/* The same with four numbers about it. */
static inline int adgen_fail_four(int64_t *detail, int64_t first, int64_t second, int64_t third, int64_t fourth,
                                  int site)
{
    detail[2] = third;
    detail[3] = fourth;
    return adgen_fail(detail, first, second, site);
}"""

TIMES = """/* Bytes times an extent; a product that does not fit becomes the largest size, which no memory has. */
static inline size_t adgen_times(size_t bytes, int64_t extent)
{
    const size_t count = extent > 0 ? (size_t)extent : 0;
    return count && bytes > (SIZE_MAX >> 1) / count ? SIZE_MAX >> 1 : bytes * count;
}"""

EXTENT = """/* An extent: never negative. */
static inline int64_t adgen_extent(int64_t extent)
{
    return extent > 0 ? extent : 0;
}"""

RESERVE = """/* What is used once another part is reserved, in whole cache lines. */
static inline size_t adgen_reserve(size_t used, size_t bytes)
{
    const size_t lines = bytes / 64 + 1;
    return lines > (SIZE_MAX >> 2) / 64 || used > SIZE_MAX >> 2 ? SIZE_MAX >> 1 : used + lines * 64;
}"""

TAKE = """/* The next part of the workspace, as adgen_reserve counted it. */
static inline void *adgen_take(void **work, size_t bytes)
{
    unsigned char *part = *work;
    *work = part + (bytes / 64 + 1) * 64;
    return part;
}"""

GROW = """/* Room for a buffer whose size was not known before; its old contents are gone. */
static inline void *adgen_grow(void *block, size_t *room, size_t bytes)
{
    if (block && bytes <= *room) return block;
    free(block);
    *room = bytes;
    return malloc(bytes ? bytes : 1);
}"""

STACK = """typedef struct {
    %(type)s *data;
    size_t size, room;
} adgen_stack_%(type)s;

static inline bool adgen_push_%(type)s(adgen_stack_%(type)s *stack, %(type)s value)
{
    if (stack->size == stack->room) {
        const size_t room = stack->room ? 2 * stack->room : 64;
        %(type)s *data = realloc(stack->data, room * sizeof *data);
        if (!data) return false;
        stack->data = data;
        stack->room = room;
    }
    stack->data[stack->size++] = value;
    return true;
}"""


VECTOR_FORMS = """/* Functions that glibc has for vectors too: loops over arrays may call those. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
%s
#endif
#endif"""


def vector_forms(words: Collection[str]) -> list[str]:
    """The declarations of the vector forms of those words that are mathematical functions."""
    found = []
    for name, count in VECTORISED.items():
        for c_name, kind in ((name, "double"), (f"{name}f", "float")):
            if c_name in words:
                arguments = ", ".join([kind] * count)
                found.append(f'__attribute__((const, simd("notinbranch"))) {kind} {c_name}({arguments});')
    return [VECTOR_FORMS % "\n".join(found)] if found else []


def memory_helpers(lines: list[str]) -> list[str]:
    """The helpers that some lines of C call, in an order that compiles."""
    text = "\n".join(lines)
    found = []
    if "adgen_fail(" in text or "adgen_fail_four(" in text:
        found.append(FAIL)
    if "adgen_fail_four(" in text:
        found.append(FAIL_FOUR)
    if "adgen_times(" in text:
        found.append(TIMES)
    if "adgen_extent(" in text:
        found.append(EXTENT)
    if "adgen_reserve(" in text:
        found.append(RESERVE)
    if "adgen_take(" in text:
        found.append(TAKE)
    if "adgen_grow(" in text:
        found.append(GROW)
    for kind in C_TYPES.values():
        if f"adgen_stack_{kind} " in text:
            found.append(STACK % {"type": kind})
    return found
