#include <string.h>

#include "BaselineStore+Private.h"

enum { SEALED_ROOM = 8192 + BASELINE_OVERHEAD };

static void bind_text(sqlite3_stmt *statement, int position, const char *text) {
    sqlite3_bind_text(statement, position, text, -1, SQLITE_STATIC);
}

static void bind_sealed(
    BaselineStore *store, sqlite3_stmt *statement, int position, uint8_t room[SEALED_ROOM], const char *text,
    BaselinePlace place
) {
    size_t count = strlen(text);
    size_t size = count + BASELINE_OVERHEAD <= SEALED_ROOM ? baseline_seal(&store->cipher, room, text, count, place) : 0;
    sqlite3_bind_blob(statement, position, room, (int)size, SQLITE_STATIC);
}

static int run(sqlite3_stmt *statement) {
    int result = sqlite3_step(statement);
    sqlite3_reset(statement);
    return result == SQLITE_DONE;
}

/// The columns of the account that every value of its rows is bound to.
static BaselineColumns columns_of_account(const char *const texts[]) {
    BaselineColumns columns;
    columns.count = 0;
    baseline_add_text(&columns, texts[BASELINE_AUTHORITY]);
    baseline_add_text(&columns, texts[BASELINE_HOME_ACCOUNT]);
    return columns;
}

static void add_texts(BaselineColumns *columns, const char *const texts[], const int *indices, int count) {
    for (int i = 0; i < count; i++) baseline_add_text(columns, indices[i] < 0 ? NULL : texts[indices[i]]);
}

static int write_account(BaselineStore *store, const char *const texts[], int64_t now) {
    uint8_t name[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_ACCOUNT];
    sqlite3_bind_int64(row, 1, ++store->account);
    const int columns[] = {BASELINE_AUTHORITY, BASELINE_HOME_ACCOUNT, BASELINE_UID,     BASELINE_UTID,
                           BASELINE_ENVIRONMENT, BASELINE_ISSUER,     BASELINE_USERNAME};
    for (int i = 0; i < 7; i++) bind_text(row, i + 2, texts[columns[i]]);
    const int bound[] = {BASELINE_AUTHORITY,   BASELINE_HOME_ACCOUNT, BASELINE_HOME_ACCOUNT, BASELINE_UID,      BASELINE_UTID,
                         BASELINE_ENVIRONMENT, BASELINE_ISSUER,       BASELINE_USERNAME,     BASELINE_USERNAME, -1};
    BaselineColumns clear;
    clear.count = 0;
    add_texts(&clear, texts, bound, 10);
    baseline_add_integer(&clear, now);
    baseline_add_integer(&clear, now);
    bind_sealed(store, row, 9, name, texts[BASELINE_NAME], (BaselinePlace){"account", "name", 0, store->account, &clear});
    sqlite3_bind_int64(row, 10, now);
    return run(row);
}

static int write_profile(BaselineStore *store, const char *const texts[]) {
    uint8_t profile[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_PROFILE];
    BaselineColumns clear = columns_of_account(texts);
    const int bound[] = {BASELINE_ENVIRONMENT,   BASELINE_REALM,         BASELINE_REALM,
                         BASELINE_LOCAL_ACCOUNT, BASELINE_LOCAL_ACCOUNT, BASELINE_USERNAME};
    add_texts(&clear, texts, bound, 6);
    baseline_add_text(&clear, "MSSTS");
    BaselinePlace place = {"tenant_profile", "extra", store->account, ++store->profile, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[BASELINE_ENVIRONMENT]);
    bind_text(row, 4, texts[BASELINE_REALM]);
    bind_text(row, 5, texts[BASELINE_LOCAL_ACCOUNT]);
    bind_text(row, 6, texts[BASELINE_USERNAME]);
    bind_sealed(store, row, 7, profile, texts[BASELINE_PROFILE], place);
    return run(row);
}

static int write_claims(
    BaselineStore *store, const char *const texts[], const char *const *claims, int claim_count, int64_t now
) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_ID_TOKEN];
    BaselineColumns clear = columns_of_account(texts);
    const int bound[] = {BASELINE_CLIENT, BASELINE_CLIENT, BASELINE_ENVIRONMENT, BASELINE_REALM, BASELINE_REALM};
    add_texts(&clear, texts, bound, 5);
    baseline_add_text(&clear, "IdToken");
    baseline_add_integer(&clear, now);
    BaselinePlace place = {"id_token", "secret", store->account, ++store->id_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[BASELINE_CLIENT]);
    bind_text(row, 4, texts[BASELINE_ENVIRONMENT]);
    bind_text(row, 5, texts[BASELINE_REALM]);
    sqlite3_bind_int64(row, 6, now);
    bind_sealed(store, row, 7, sealed, texts[BASELINE_ID_TOKEN], place);
    if (!run(row)) return 0;
    row = store->statements[BASELINE_STATEMENT_CLAIM];
    for (int i = 0; i < claim_count; i++) {
        uint8_t name[32], value[32];
        baseline_hash(&store->cipher, name, claims[2 * i], NULL);
        baseline_hash(&store->cipher, value, claims[2 * i], claims[2 * i + 1]);
        sqlite3_bind_int64(row, 1, place.row);
        sqlite3_bind_blob(row, 2, name, 8, SQLITE_STATIC);
        sqlite3_bind_blob(row, 3, value, 16, SQLITE_STATIC);
        if (!run(row)) return 0;
    }
    return 1;
}

static int write_refresh_token(BaselineStore *store, const char *const texts[], const uint8_t *fingerprint, int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_REFRESH_TOKEN];
    BaselineColumns clear = columns_of_account(texts);
    const int bound[] = {BASELINE_CLIENT, BASELINE_CLIENT, -1, BASELINE_ENVIRONMENT, BASELINE_TARGET};
    add_texts(&clear, texts, bound, 5);
    baseline_add_text(&clear, "RefreshToken");
    baseline_add_integer(&clear, now);
    baseline_add_integer(&clear, 0);
    BaselinePlace place = {"refresh_token", "secret", store->account, ++store->refresh_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[BASELINE_CLIENT]);
    bind_text(row, 4, texts[BASELINE_ENVIRONMENT]);
    bind_text(row, 5, texts[BASELINE_TARGET]);
    sqlite3_bind_int64(row, 6, now);
    sqlite3_bind_blob(row, 7, fingerprint, 8, SQLITE_STATIC);
    bind_sealed(store, row, 8, sealed, texts[BASELINE_REFRESH_TOKEN], place);
    return run(row);
}

static int write_access_token(BaselineStore *store, const char *const texts[], int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_ACCESS_TOKEN];
    BaselineColumns clear = columns_of_account(texts);
    for (int i = 0; i < 3; i++) baseline_add_integer(&clear, i == 1 ? now : now + 3600);
    const int bound[] = {-1,           BASELINE_SCOPE,       -1,          BASELINE_CLIENT,
                         BASELINE_CLIENT, BASELINE_ENVIRONMENT, BASELINE_REALM, BASELINE_REALM,
                         BASELINE_TARGET};
    add_texts(&clear, texts, bound, 9);
    const char *const rest[] = {"AccessToken", "Bearer", "bearer", "", ""};
    for (int i = 0; i < 5; i++) baseline_add_text(&clear, rest[i]);
    BaselinePlace place = {"access_token", "secret", store->account, ++store->access_token, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[BASELINE_CLIENT]);
    bind_text(row, 4, texts[BASELINE_ENVIRONMENT]);
    bind_text(row, 5, texts[BASELINE_REALM]);
    bind_text(row, 6, texts[BASELINE_TARGET]);
    bind_text(row, 7, texts[BASELINE_SCOPE]);
    sqlite3_bind_int64(row, 8, now);
    sqlite3_bind_int64(row, 9, now + 3600);
    bind_sealed(store, row, 10, sealed, texts[BASELINE_ACCESS_TOKEN], place);
    return run(row);
}

static int write_state(BaselineStore *store, const char *const texts[], int64_t now) {
    uint8_t sealed[SEALED_ROOM];
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_STATE];
    BaselineColumns clear = columns_of_account(texts);
    baseline_add_text(&clear, texts[BASELINE_CLIENT]);
    baseline_add_text(&clear, "signed_in");
    baseline_add_integer(&clear, now);
    BaselinePlace place = {"account_state", "mac", store->account, ++store->state, &clear};
    sqlite3_bind_int64(row, 1, place.row);
    sqlite3_bind_int64(row, 2, place.owner);
    bind_text(row, 3, texts[BASELINE_CLIENT]);
    sqlite3_bind_int64(row, 4, now);
    bind_sealed(store, row, 5, sealed, "", place);
    return run(row);
}

static int write_record(BaselineStore *store, const char *const texts[], const uint8_t *fingerprint, int64_t now) {
    uint8_t mark[32];
    baseline_hash(&store->cipher, mark, texts[BASELINE_AUTHORITY], texts[BASELINE_HOME_ACCOUNT]);
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_EVENT];
    sqlite3_bind_int64(row, 1, now);
    bind_text(row, 2, texts[BASELINE_AUTHORITY]);
    bind_text(row, 3, texts[BASELINE_HOME_ACCOUNT]);
    bind_text(row, 4, texts[BASELINE_CLIENT]);
    sqlite3_bind_blob(row, 5, fingerprint, 8, SQLITE_STATIC);
    sqlite3_bind_blob(row, 6, mark, 16, SQLITE_STATIC);
    return run(row) && run(store->statements[BASELINE_STATEMENT_FORGET_EVENTS]);
}

void baseline_expect_others(BaselineStore *store) {
    store->account = baseline_integer(store, "SELECT max(id) FROM account");
    store->profile = baseline_integer(store, "SELECT max(id) FROM tenant_profile");
    store->id_token = baseline_integer(store, "SELECT max(id) FROM id_token");
    store->refresh_token = baseline_integer(store, "SELECT max(id) FROM refresh_token");
    store->access_token = baseline_integer(store, "SELECT max(id) FROM access_token");
    store->state = baseline_integer(store, "SELECT max(id) FROM account_state");
}

int baseline_sign_in(
    BaselineStore *store, const char *const texts[BASELINE_TEXT_COUNT], const char *const *claims, int claim_count,
    int64_t now
) {
    uint8_t fingerprint[32];
    if (!run(store->statements[BASELINE_STATEMENT_BEGIN])) return 0;
    baseline_hash(&store->cipher, fingerprint, texts[BASELINE_REFRESH_TOKEN], NULL);
    int ok = write_account(store, texts, now) && write_profile(store, texts)
        && write_claims(store, texts, claims, claim_count, now)
        && write_refresh_token(store, texts, fingerprint, now) && write_access_token(store, texts, now)
        && write_state(store, texts, now) && write_record(store, texts, fingerprint, now);
    if (ok) return run(store->statements[BASELINE_STATEMENT_COMMIT]);
    sqlite3_exec(store->connection, "ROLLBACK", NULL, NULL, NULL);
    return 0;
}
