#ifndef ALLOCATION_COUNT_H
#define ALLOCATION_COUNT_H

/// Begins to count the blocks of memory that all threads ask the C library for.
void baseline_count_allocations(void);

/// Ends the counting. Returns how many there were; negative where they cannot be counted.
long baseline_counted_allocations(void);

#endif
