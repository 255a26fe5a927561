#pragma once
#include <sqlite3.h>

#ifdef __linux__
// `statfs`, which Swift's Glibc module leaves out.
#include <sys/vfs.h>
#endif

/// Has the last connection leave the write-ahead log as it is when it closes; variadic, which Swift cannot call.
static inline int SQLiteKeepLogOnClose(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}
