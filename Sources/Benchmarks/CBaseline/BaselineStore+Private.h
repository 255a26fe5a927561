#ifndef BASELINE_STORE_PRIVATE_H
#define BASELINE_STORE_PRIVATE_H

#include <sqlite3.h>

#include "BaselineCipher.h"
#include "BaselineStore.h"

enum {
    BASELINE_STATEMENT_LOOKUP,
    BASELINE_STATEMENT_BEGIN,
    BASELINE_STATEMENT_COMMIT,
    BASELINE_STATEMENT_ACCOUNT,
    BASELINE_STATEMENT_PROFILE,
    BASELINE_STATEMENT_ID_TOKEN,
    BASELINE_STATEMENT_CLAIM,
    BASELINE_STATEMENT_STATE,
    BASELINE_STATEMENT_REFRESH_TOKEN,
    BASELINE_STATEMENT_ACCESS_TOKEN,
    BASELINE_STATEMENT_EVENT,
    BASELINE_STATEMENT_FORGET_EVENTS,
    BASELINE_STATEMENT_COUNT
};

struct BaselineStore {
    sqlite3 *connection;
    BaselineCipher cipher;
    sqlite3_stmt *statements[BASELINE_STATEMENT_COUNT];
    /// The greatest ids in use; the floor is the only writer while it writes.
    sqlite3_int64 account, profile, id_token, refresh_token, access_token, state;
};

extern const char *const baseline_statements[BASELINE_STATEMENT_COUNT];

sqlite3_int64 baseline_integer(BaselineStore *store, const char *sql);

#endif
