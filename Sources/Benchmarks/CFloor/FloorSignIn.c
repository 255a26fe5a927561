#include <string.h>

#include "FloorStore+Private.h"

enum { SEALED_ROOM = 8192 + FLOOR_OVERHEAD };

static void bind_text(sqlite3_stmt *statement, int position, const char *text) {
    sqlite3_bind_text(statement, position, text, -1, SQLITE_STATIC);
}

static void bind_sealed(
    FloorStore *store, sqlite3_stmt *statement, int position, uint8_t room[SEALED_ROOM], const char *text,
    FloorPlace place
) {
    size_t count = strlen(text);
    size_t size = count + FLOOR_OVERHEAD <= SEALED_ROOM ? floor_seal(&store->cipher, room, text, count, place) : 0;
    sqlite3_bind_blob(statement, position, room, (int)size, SQLITE_STATIC);
}

static int run(sqlite3_stmt *statement) {
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE;
}

/// The columns of the account that every value of its rows is bound to.
static FloorColumns columns_of_account(const char *const texts[]) {
    FloorColumns columns;
    columns.count = 0;
    floor_add_text(&columns, texts[FLOOR_AUTHORITY]);
    floor_add_text(&columns, texts[FLOOR_HOME_ACCOUNT]);
    return columns;
}

static void add_texts(FloorColumns *columns, const char *const texts[], const int *indices, int count) {
    for (int i = 0; i < count; i++) floor_add_text(columns, indices[i] < 0 ? NULL : texts[indices[i]]);
}

static int write_account(FloorStore *store, const char *const texts[], int64_t now) {
    uint8_t name[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_ACCOUNT];
    sqlite3_bind_int64(row, 1, ++store->account);
    const int columns[] = {FLOOR_AUTHORITY, FLOOR_HOME_ACCOUNT, FLOOR_UID,     FLOOR_UTID,
                           FLOOR_ENVIRONMENT, FLOOR_ISSUER,     FLOOR_USERNAME};
    for (int i = 0; i < 7; i++) bind_text(row, i + 2, texts[columns[i]]);
    const int bound[] = {FLOOR_AUTHORITY,   FLOOR_HOME_ACCOUNT, FLOOR_HOME_ACCOUNT, FLOOR_UID,      FLOOR_UTID,
                         FLOOR_ENVIRONMENT, FLOOR_ISSUER,       FLOOR_USERNAME,     FLOOR_USERNAME, -1};
    FloorColumns clear;
    clear.count = 0;
    add_texts(&clear, texts, bound, 10);
    floor_add_integer(&clear, now);
    floor_add_integer(&clear, now);
    bind_sealed(store, row, 9, name, texts[FLOOR_NAME], (FloorPlace){"account", "name", 0, store->account, &clear});
    sqlite3_bind_int64(row, 10, now);
    return run(row);
}

static int write_profile(FloorStore *store, const char *const texts[]) {
    uint8_t profile[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_PROFILE];
    FloorColumns clear = columns_of_account(texts);
    const int bound[] = {FLOOR_ENVIRONMENT,   FLOOR_REALM,         FLOOR_REALM,
                         FLOOR_LOCAL_ACCOUNT, FLOOR_LOCAL_ACCOUNT, FLOOR_USERNAME};
    add_texts(&clear, texts, bound, 6);
    floor_add_text(&clear, "MSSTS");
    FloorPlace place = {"tenant_profile", "extra", store->account, ++store->profile, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[FLOOR_ENVIRONMENT]);
    bind_text(row, 4, texts[FLOOR_REALM]);
    bind_text(row, 5, texts[FLOOR_LOCAL_ACCOUNT]);
    bind_text(row, 6, texts[FLOOR_USERNAME]);
    bind_sealed(store, row, 7, profile, texts[FLOOR_PROFILE], place);
    return run(row);
}

static int write_claims(
    FloorStore *store, const char *const texts[], const char *const *claims, int claim_count, int64_t now
) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_ID_TOKEN];
    FloorColumns clear = columns_of_account(texts);
    const int bound[] = {FLOOR_CLIENT, FLOOR_CLIENT, FLOOR_ENVIRONMENT, FLOOR_REALM, FLOOR_REALM};
    add_texts(&clear, texts, bound, 5);
    floor_add_text(&clear, "IdToken");
    floor_add_integer(&clear, now);
    FloorPlace place = {"id_token", "secret", store->account, ++store->id_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[FLOOR_CLIENT]);
    bind_text(row, 4, texts[FLOOR_ENVIRONMENT]);
    bind_text(row, 5, texts[FLOOR_REALM]);
    sqlite3_bind_int64(row, 6, now);
    bind_sealed(store, row, 7, sealed, texts[FLOOR_ID_TOKEN], place);
    if (!run(row)) return 0;
    row = store->statements[FLOOR_STATEMENT_CLAIM];
    for (int i = 0; i < claim_count; i++) {
        uint8_t name[32], value[32];
        floor_hash(&store->cipher, name, claims[2 * i], NULL);
        floor_hash(&store->cipher, value, claims[2 * i], claims[2 * i + 1]);
        sqlite3_bind_int64(row, 1, place.row);
        sqlite3_bind_blob(row, 2, name, 8, SQLITE_STATIC);
        sqlite3_bind_blob(row, 3, value, 16, SQLITE_STATIC);
        if (!run(row)) return 0;
    }
    return 1;
}

static int write_refresh_token(FloorStore *store, const char *const texts[], const uint8_t *fingerprint, int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_REFRESH_TOKEN];
    FloorColumns clear = columns_of_account(texts);
    const int bound[] = {FLOOR_CLIENT, FLOOR_CLIENT, -1, FLOOR_ENVIRONMENT, FLOOR_TARGET};
    add_texts(&clear, texts, bound, 5);
    floor_add_text(&clear, "RefreshToken");
    floor_add_integer(&clear, now);
    floor_add_integer(&clear, 0);
    FloorPlace place = {"refresh_token", "secret", store->account, ++store->refresh_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[FLOOR_CLIENT]);
    bind_text(row, 4, texts[FLOOR_ENVIRONMENT]);
    bind_text(row, 5, texts[FLOOR_TARGET]);
    sqlite3_bind_int64(row, 6, now);
    sqlite3_bind_blob(row, 7, fingerprint, 8, SQLITE_STATIC);
    bind_sealed(store, row, 8, sealed, texts[FLOOR_REFRESH_TOKEN], place);
    return run(row);
}

static int write_access_token(FloorStore *store, const char *const texts[], int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_ACCESS_TOKEN];
    FloorColumns clear = columns_of_account(texts);
    for (int i = 0; i < 3; i++) floor_add_integer(&clear, i == 1 ? now : now + 3600);
    const int bound[] = {-1,           FLOOR_SCOPE,       -1,          FLOOR_CLIENT,
                         FLOOR_CLIENT, FLOOR_ENVIRONMENT, FLOOR_REALM, FLOOR_REALM,
                         FLOOR_TARGET};
    add_texts(&clear, texts, bound, 9);
    const char *const rest[] = {"AccessToken", "Bearer", "bearer", "", ""};
    for (int i = 0; i < 5; i++) floor_add_text(&clear, rest[i]);
    FloorPlace place = {"access_token", "secret", store->account, ++store->access_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[FLOOR_CLIENT]);
    bind_text(row, 4, texts[FLOOR_ENVIRONMENT]);
    bind_text(row, 5, texts[FLOOR_REALM]);
    bind_text(row, 6, texts[FLOOR_TARGET]);
    bind_text(row, 7, texts[FLOOR_SCOPE]);
    sqlite3_bind_int64(row, 8, now);
    sqlite3_bind_int64(row, 9, now + 3600);
    bind_sealed(store, row, 10, sealed, texts[FLOOR_ACCESS_TOKEN], place);
    return run(row);
}

static int write_state(FloorStore *store, const char *const texts[], int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_STATE];
    FloorColumns clear = columns_of_account(texts);
    floor_add_text(&clear, texts[FLOOR_CLIENT]);
    floor_add_text(&clear, "signed_in");
    floor_add_integer(&clear, now);
    FloorPlace place = {"account_state", "mac", store->account, ++store->state, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[FLOOR_CLIENT]);
    sqlite3_bind_int64(row, 4, now);
    bind_sealed(store, row, 5, sealed, "", place);
    return run(row);
}

static int write_record(FloorStore *store, const char *const texts[], const uint8_t *fingerprint, int64_t now) {
    uint8_t mark[32];
    floor_hash(&store->cipher, mark, texts[FLOOR_AUTHORITY], texts[FLOOR_HOME_ACCOUNT]);
    sqlite3_stmt *row = store->statements[FLOOR_STATEMENT_EVENT];
    sqlite3_bind_int64(row, 1, now);
    bind_text(row, 2, texts[FLOOR_AUTHORITY]);
    bind_text(row, 3, texts[FLOOR_HOME_ACCOUNT]);
    bind_text(row, 4, texts[FLOOR_CLIENT]);
    sqlite3_bind_blob(row, 5, fingerprint, 8, SQLITE_STATIC);
    sqlite3_bind_blob(row, 6, mark, 16, SQLITE_STATIC);
    return run(row) && run(store->statements[FLOOR_STATEMENT_FORGET_EVENTS]);
}

void floor_expect_others(FloorStore *store) {
    store->account = floor_integer(store, "SELECT max(id) FROM account");
    store->profile = floor_integer(store, "SELECT max(id) FROM tenant_profile");
    store->id_token = floor_integer(store, "SELECT max(id) FROM id_token");
    store->refresh_token = floor_integer(store, "SELECT max(id) FROM refresh_token");
    store->access_token = floor_integer(store, "SELECT max(id) FROM access_token");
    store->state = floor_integer(store, "SELECT max(id) FROM account_state");
}

int floor_sign_in(
    FloorStore *store, const char *const texts[FLOOR_TEXT_COUNT], const char *const *claims, int claim_count,
    int64_t now
) {
    uint8_t fingerprint[32];
    if (!run(store->statements[FLOOR_STATEMENT_BEGIN])) return 0;
    floor_hash(&store->cipher, fingerprint, texts[FLOOR_REFRESH_TOKEN], NULL);
    int ok = write_account(store, texts, now) && write_profile(store, texts)
        && write_claims(store, texts, claims, claim_count, now)
        && write_refresh_token(store, texts, fingerprint, now) && write_access_token(store, texts, now)
        && write_state(store, texts, now) && write_record(store, texts, fingerprint, now);
    if (ok) return run(store->statements[FLOOR_STATEMENT_COMMIT]);
    sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
    return 0;
}
