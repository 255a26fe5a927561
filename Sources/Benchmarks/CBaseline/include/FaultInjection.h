#ifndef FAULT_INJECTION_H
#define FAULT_INJECTION_H

/// Puts a file system between SQLite and the disk, for every connection opened from now on in this process, that
/// fails on demand. 1 on success.
int fault_install(void);

/// Lets the `n`-th write, sync, truncation or mapping of shared memory from now on fail with what `kind` says, and
/// with `lasting` all after it too.
void fault_arm(int n, int kind, int lasting);

/// Stops failing and returns how many operations there were since `fault_arm`.
int fault_disarm(void);

/// Whether an operation has failed since `fault_arm`.
int fault_has_struck(void);

enum {
    FAULT_DISK_FULL,
    FAULT_IO_ERROR,
    FAULT_READ_ONLY,
    FAULT_KIND_COUNT
};

#endif
