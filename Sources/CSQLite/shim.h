#pragma once
#include <sqlite3.h>
#include <stdint.h>

#ifdef __linux__
// `statfs`, which Swift's Glibc module leaves out.
#include <sys/vfs.h>
#endif

/// Has the last connection leave the write-ahead log as it is when it closes; variadic, which Swift cannot call.
static inline int SQLiteKeepLogOnClose(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Has the triggers and views of a file that somebody edited do nothing; variadic, which Swift cannot call.
static inline void SQLiteIgnoreTriggersAndViews(sqlite3 *connection) {
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

/// Has the whole process not count the memory that SQLite takes; variadic, which Swift cannot call.
static inline void SQLiteLeaveMemoryUncounted(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/// Reads a word of memory that other processes write to meanwhile.
static inline uint64_t SQLiteSharedWord(const void *memory, int index) {
    return __atomic_load_n((const uint64_t *)memory + index, __ATOMIC_ACQUIRE);
}
