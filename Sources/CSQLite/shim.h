#pragma once
#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/// The files of SQLite as they are, but for super-journals.
struct SQLiteFiles {
    /// First, as SQLite passes its address.
    sqlite3_vfs own;
    sqlite3_vfs *original;
};

/// Opens a file in the way of the original, but no super-journal.
///
/// A rollback journal can name one, for a transaction on several databases at once, which this program never makes.
/// SQLite would open whatever file has that name, and delete it.
static inline int SQLiteOpenFile(sqlite3_vfs *own, const char *name, sqlite3_file *file, int flags, int *given) {
    sqlite3_vfs *original = ((struct SQLiteFiles *)own)->original;
    file->pMethods = 0;
    if (flags & SQLITE_OPEN_SUPER_JOURNAL) return SQLITE_CANTOPEN;
    return original->xOpen(original, name, file, flags, given);
}

/// Makes the files of `original`, or of the default where that is null, known to SQLite under a name, which has to last.
///
/// Only once for a name.
static inline void SQLiteRegisterFiles(const char *name, const char *original) {
    sqlite3_vfs *found = sqlite3_vfs_find(original);
    struct SQLiteFiles *files = found ? calloc(1, sizeof *files) : 0;
    if (!files) return;
    // An older structure ends before the methods of later versions, and a newer one has more of them.
    size_t size = found->iVersion >= 3   ? sizeof files->own
                  : found->iVersion == 2 ? offsetof(sqlite3_vfs, xSetSystemCall)
                                         : offsetof(sqlite3_vfs, xCurrentTimeInt64);
    memcpy(&files->own, found, size);
    if (files->own.iVersion > 3) files->own.iVersion = 3;
    files->own.zName = name;
    files->own.pNext = 0;
    files->own.xOpen = SQLiteOpenFile;
    files->original = found;
    if (sqlite3_vfs_register(&files->own, 0) != SQLITE_OK) free(files);
}
