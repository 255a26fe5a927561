#include <stdlib.h>

#include "BaselineStore+Private.h"

static const char settings[] =
    "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 0;"
    "PRAGMA cache_size = -16384;";

const char *baseline_sqlite_version(void) { return sqlite3_libversion(); }

sqlite3_int64 baseline_integer(BaselineStore *store, const char *sql) {
    sqlite3_stmt *statement = NULL;
    sqlite3_int64 value = 0;
    if (sqlite3_prepare_v2(store->connection, sql, -1, &statement, NULL) == SQLITE_OK) {
        if (sqlite3_step(statement) == SQLITE_ROW) value = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
    return value;
}

static int prepare(BaselineStore *store) {
    for (int i = 0; i < BASELINE_STATEMENT_COUNT; i++) {
        int result = sqlite3_prepare_v3(
            store->connection, baseline_statements[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i], NULL
        );
        if (result != SQLITE_OK) return 0;
    }
    return 1;
}

BaselineStore *baseline_open(const char *path) {
    BaselineStore *store = calloc(1, sizeof *store);
    if (!store) return NULL;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &store->connection, flags, NULL) != SQLITE_OK
        || sqlite3_busy_timeout(store->connection, 30000) != SQLITE_OK
        || sqlite3_exec(store->connection, settings, NULL, NULL, NULL) != SQLITE_OK || !prepare(store)
        || !baseline_cipher_init(&store->cipher)) {
        baseline_close(store);
        return NULL;
    }
    int persistent = 1;
    sqlite3_file_control(store->connection, NULL, SQLITE_FCNTL_PERSIST_WAL, &persistent);
    return store;
}

void baseline_close(BaselineStore *store) {
    for (int i = 0; i < BASELINE_STATEMENT_COUNT; i++) sqlite3_finalize(store->statements[i]);
    sqlite3_close_v2(store->connection);
    baseline_cipher_free(&store->cipher);
    free(store);
}
