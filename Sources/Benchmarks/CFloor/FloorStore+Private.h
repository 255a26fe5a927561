#ifndef FLOOR_STORE_PRIVATE_H
#define FLOOR_STORE_PRIVATE_H

#include <sqlite3.h>

#include "FloorCipher.h"
#include "FloorStore.h"

enum {
    FLOOR_STATEMENT_LOOKUP,
    FLOOR_STATEMENT_BEGIN,
    FLOOR_STATEMENT_COMMIT,
    FLOOR_STATEMENT_ACCOUNT,
    FLOOR_STATEMENT_PROFILE,
    FLOOR_STATEMENT_ID_TOKEN,
    FLOOR_STATEMENT_CLAIM,
    FLOOR_STATEMENT_STATE,
    FLOOR_STATEMENT_REFRESH_TOKEN,
    FLOOR_STATEMENT_ACCESS_TOKEN,
    FLOOR_STATEMENT_EVENT,
    FLOOR_STATEMENT_FORGET_EVENTS,
    FLOOR_STATEMENT_COUNT
};

struct FloorStore {
    sqlite3 *connection;
    FloorCipher cipher;
    sqlite3_stmt *statements[FLOOR_STATEMENT_COUNT];
    /// The greatest ids in use; the floor is the only writer while it writes.
    sqlite3_int64 account, profile, id_token, refresh_token, access_token, state;
};

extern const char *const floor_statements[FLOOR_STATEMENT_COUNT];

sqlite3_int64 floor_integer(FloorStore *store, const char *sql);

#endif
