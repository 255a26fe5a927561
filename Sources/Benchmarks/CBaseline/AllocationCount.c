#include "include/AllocationCount.h"

#include <stdatomic.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OTHER_ALLOCATOR 1
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_OTHER_ALLOCATOR)

static atomic_int is_counting;
static atomic_long allocations;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static void note(void) {
    if (atomic_load_explicit(&is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

// The program's own definitions take the place of the C library's.
void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    note();
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}

void baseline_count_allocations(void) {
    atomic_store(&allocations, 0);
    atomic_store(&is_counting, 1);
}

long baseline_counted_allocations(void) {
    atomic_store(&is_counting, 0);
    return atomic_load(&allocations);
}

#else

void baseline_count_allocations(void) {}

long baseline_counted_allocations(void) { return -1; }

#endif
