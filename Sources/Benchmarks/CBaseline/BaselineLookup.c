#include <string.h>

#include "BaselineStore+Private.h"

static void copy_text(char *out, size_t room, sqlite3_stmt *row, int column) {
    const void *text = sqlite3_column_text(row, column);
    size_t count = (size_t)sqlite3_column_bytes(row, column);
    if (count >= room) count = room - 1;
    if (text) memcpy(out, text, count);
    out[text ? count : 0] = 0;
}

static int copy_row(BaselineStore *store, sqlite3_stmt *row, BaselineToken *token) {
    BaselinePlace place = {"access_token", "secret", sqlite3_column_int64(row, 6), sqlite3_column_int64(row, 0)};
    token->row = place.row;
    token->expires_on = sqlite3_column_int64(row, 1);
    token->cached_at = sqlite3_column_int64(row, 2);
    token->extended_expires_on = sqlite3_column_int64(row, 3);
    token->refresh_on = sqlite3_column_int64(row, 4);
    copy_text(token->client, sizeof token->client, row, 7);
    copy_text(token->target, sizeof token->target, row, 8);
    copy_text(token->token_type, sizeof token->token_type, row, 9);
    copy_text(token->key_id, sizeof token->key_id, row, 10);
    copy_text(token->realm, sizeof token->realm, row, 11);
    const uint8_t *sealed = sqlite3_column_blob(row, 12);
    size_t count = (size_t)sqlite3_column_bytes(row, 12);
    token->secret_count =
        baseline_open_sealed(&store->cipher, token->secret, sizeof token->secret, sealed, count, place);
    return token->secret_count >= 0;
}

int baseline_lookup(
    BaselineStore *store, const char *home_account, const char *authority, const char *client, const char *realm,
    const char *scope, BaselineToken *token
) {
    sqlite3_stmt *row = store->statements[BASELINE_STATEMENT_LOOKUP];
    const char *values[] = {home_account, authority, client, realm, "bearer", "", ""};
    for (int i = 0; i < 7; i++) sqlite3_bind_text(row, i + 1, values[i], -1, SQLITE_STATIC);
    size_t scope_count = strlen(scope);
    int found = 0;
    // All candidates are looked at, as a better one may follow.
    while (sqlite3_step(row) == SQLITE_ROW) {
        const void *stored = sqlite3_column_text(row, 5);
        if ((size_t)sqlite3_column_bytes(row, 5) != scope_count || memcmp(stored, scope, scope_count)) continue;
        found = copy_row(store, row, token);
    }
    sqlite3_reset(row);
    return found;
}

/// The access tokens of one account, as far as they are needed to seal them anew.
enum { ADOPTED_LIMIT = 64 };

int baseline_adopt(BaselineStore *store, const char *home_account, const char *authority) {
    static const char select[] =
        "SELECT id, account_id, length(secret) FROM access_token"
        " WHERE account_id = (SELECT id FROM account WHERE account_key = ?1 AND authority = ?2)";
    sqlite3_stmt *rows = NULL, *update = NULL;
    struct { sqlite3_int64 id, owner; int count; } found[ADOPTED_LIMIT];
    int count = 0, ok = 1;
    sqlite3_prepare_v2(store->connection, select, -1, &rows, NULL);
    sqlite3_bind_text(rows, 1, home_account, -1, SQLITE_STATIC);
    sqlite3_bind_text(rows, 2, authority, -1, SQLITE_STATIC);
    for (; count < ADOPTED_LIMIT && sqlite3_step(rows) == SQLITE_ROW; count++) {
        found[count].id = sqlite3_column_int64(rows, 0);
        found[count].owner = sqlite3_column_int64(rows, 1);
        found[count].count = sqlite3_column_int(rows, 2) - BASELINE_OVERHEAD;
    }
    sqlite3_finalize(rows);
    sqlite3_prepare_v2(store->connection, "UPDATE access_token SET secret = ?1 WHERE id = ?2", -1, &update, NULL);
    for (int i = 0; i < count && ok; i++) {
        uint8_t text[8192] = {0}, sealed[sizeof text + BASELINE_OVERHEAD];
        BaselinePlace place = {"access_token", "secret", found[i].owner, found[i].id};
        ok = found[i].count >= 0 && (size_t)found[i].count <= sizeof text;
        if (!ok) break;
        size_t size = baseline_seal(&store->cipher, sealed, text, (size_t)found[i].count, place);
        sqlite3_bind_blob(update, 1, sealed, (int)size, SQLITE_TRANSIENT);
        sqlite3_bind_int64(update, 2, found[i].id);
        ok = sqlite3_step(update) == SQLITE_DONE;
        sqlite3_reset(update);
    }
    sqlite3_finalize(update);
    return ok && count > 0;
}
