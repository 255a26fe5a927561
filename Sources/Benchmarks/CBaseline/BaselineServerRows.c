#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "BaselineServer+Private.h"

enum { BYTEA = 17, SEALED_ROOM = 8192 + BASELINE_OVERHEAD };

int baseline_server_adopt(BaselineServer *server, int64_t account) {
    const CPostgreSQLFunctions *call = &server->call;
    BaselineParameters parameters = {0};
    baseline_add_number(&parameters, account);
    PGresult *rows = NULL;
    baseline_server_prepare(server, "", "SELECT id, secret FROM access_token WHERE account_id = $1");
    if (!baseline_server_send(server, "", &parameters) || !baseline_server_settle(server, &rows) || !rows) return 0;
    int count = call->PQntuples(rows), ok = count > 0;
    baseline_server_prepare(server, "", "UPDATE access_token SET secret = $3 WHERE account_id = $1 AND id = $2");
    for (int i = 0; i < count && ok; i++) {
        uint8_t text[8192] = {0}, sealed[SEALED_ROOM];
        int64_t row = baseline_number_of(call->PQgetvalue(rows, i, 0));
        int size = call->PQgetlength(rows, i, 1) - BASELINE_OVERHEAD;
        if (size < 0 || (size_t)size > sizeof text) ok = 0;
        if (!ok) break;
        BaselinePlace place = {"access_token", "secret", account, row, NULL};
        BaselineParameters values = {0};
        baseline_add_number(&values, account);
        baseline_add_number(&values, row);
        baseline_add_bytes(&values, sealed, (int)baseline_seal(&server->cipher, sealed, text, (size_t)size, place));
        ok = baseline_server_send(server, "", &values);
    }
    call->PQclear(rows);
    return baseline_server_settle(server, NULL) && ok;
}

static int is_one_of(const char *name, const char *const names[]) {
    for (int i = 0; names[i]; i++)
        if (strcmp(name, names[i]) == 0) return 1;
    return 0;
}

static BaselineKind kind_of(const char *key, const char *column, Oid type) {
    static const char *const sealed[] = {"secret", "name", "extra", "mac", NULL};
    static const char *const names[] = {"home_account_id", "account_key", "uid", "username", "username_fold", NULL};
    if (strcmp(column, key) == 0) return BASELINE_ACCOUNT_NUMBER;
    if (type == BYTEA) return is_one_of(column, sealed) ? BASELINE_SEALED : BASELINE_HASHED;
    return is_one_of(column, names) ? BASELINE_NAME_OF_ACCOUNT : BASELINE_KEPT;
}

/// Whether other accounts have the value of a column.
static int is_shared(
    BaselineServer *server, const char *table, const char *key, int64_t account, const char *column,
    const BaselineValue *value
) {
    const CPostgreSQLFunctions *call = &server->call;
    char sql[256];
    snprintf(sql, sizeof sql, "SELECT 1 FROM %s WHERE %s <> $1 AND %s = $2 LIMIT 1", table, key, column);
    BaselineParameters parameters = {0};
    baseline_add_number(&parameters, account);
    baseline_add_bytes(&parameters, value->bytes, value->count);
    PGresult *rows = NULL;
    if (!baseline_server_prepare(server, "", sql) || !baseline_server_send(server, "", &parameters)) return 0;
    int is_shared = baseline_server_settle(server, &rows) && rows && call->PQntuples(rows) > 0;
    if (rows) call->PQclear(rows);
    return is_shared;
}

/// Remembers one row; a transaction's number is the server's to give.
static int remember(
    BaselineServer *server, PGresult *rows, int index, const char *table, const char *key, int64_t account
) {
    const CPostgreSQLFunctions *call = &server->call;
    if (server->row_count == BASELINE_ROW_LIMIT) return 0;
    BaselineRow *row = &server->rows[server->row_count++];
    row->count = 0;
    snprintf(row->statement, sizeof row->statement, "%s", table);
    for (int i = 0; i < call->PQnfields(rows); i++) {
        if (strcmp(call->PQfname(rows, i), "tx") == 0) continue;
        if (row->count == BASELINE_PARAMETER_LIMIT) return 0;
        BaselineValue *value = &row->values[row->count++];
        *value = (BaselineValue){NULL, 0, kind_of(key, call->PQfname(rows, i), call->PQftype(rows, i))};
        if (call->PQgetisnull(rows, index, i)) continue;
        value->count = call->PQgetlength(rows, index, i);
        value->bytes = malloc((size_t)value->count + 1);
        if (!value->bytes) return 0;
        memcpy(value->bytes, call->PQgetvalue(rows, index, i), (size_t)value->count);
        if (value->kind == BASELINE_HASHED && is_shared(server, table, key, account, call->PQfname(rows, i), value))
            value->kind = BASELINE_HASHED_ALIKE;
    }
    return 1;
}

static int prepare_insert(BaselineServer *server, PGresult *rows, const char *table) {
    char columns[1024] = "", places[256] = "", sql[1536];
    int number = 0;
    for (int i = 0; i < server->call.PQnfields(rows); i++) {
        const char *name = server->call.PQfname(rows, i);
        if (strcmp(name, "tx") == 0) continue;
        size_t used = strlen(columns);
        snprintf(columns + used, sizeof columns - used, "%s%s", number ? ", " : "", name);
        used = strlen(places);
        snprintf(places + used, sizeof places - used, "%s$%d", number ? ", " : "", number + 1);
        number++;
    }
    snprintf(sql, sizeof sql, "INSERT INTO %s (%s) VALUES (%s)", table, columns, places);
    return baseline_server_prepare(server, table, sql) && baseline_server_settle(server, NULL);
}

int baseline_server_learn(BaselineServer *server, const char *table, const char *key, int64_t account) {
    char sql[256];
    BaselineParameters parameters = {0};
    baseline_add_number(&parameters, account);
    snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s = $1", table, key);
    PGresult *rows = NULL;
    baseline_server_prepare(server, "", sql);
    if (!baseline_server_send(server, "", &parameters) || !baseline_server_settle(server, &rows) || !rows) return 0;
    int ok = 1, count = server->call.PQntuples(rows);
    for (int i = 0; i < count && ok; i++) ok = remember(server, rows, i, table, key, account);
    if (count > 0) ok = ok && prepare_insert(server, rows, table);
    server->call.PQclear(rows);
    return ok;
}

/// What is made anew for one row.
typedef struct {
    uint8_t bytes[2 * SEALED_ROOM];
    size_t used;
} Scratch;

static void add_value(
    BaselineServer *server, const BaselineRow *row, const BaselineValue *value, int64_t account, Scratch *scratch,
    BaselineParameters *parameters
) {
    uint8_t *room = scratch->bytes + scratch->used;
    size_t free_count = sizeof scratch->bytes - scratch->used, count = (size_t)value->count;
    BaselineKind kind = value->bytes && count + 32 <= free_count ? value->kind : BASELINE_KEPT;
    BaselinePlace place = {row->statement, "secret", account, 1, NULL};
    uint8_t hash[32];
    char name[24];
    switch (kind) {
    case BASELINE_KEPT: baseline_add_bytes(parameters, value->bytes, value->count); return;
    case BASELINE_ACCOUNT_NUMBER: baseline_add_number(parameters, account); return;
    case BASELINE_NAME_OF_ACCOUNT:
        memcpy(room, value->bytes, count);
        for (size_t i = 0; i < 8 && i < count; i++) room[i] = (uint8_t)"0123456789abcdef"[(account >> (4 * i)) & 15];
        break;
    case BASELINE_SEALED:
        if (count >= BASELINE_OVERHEAD)
            baseline_seal(&server->cipher, room, value->bytes, count - BASELINE_OVERHEAD, place);
        else
            memcpy(room, value->bytes, count);
        break;
    case BASELINE_HASHED_ALIKE:
        baseline_hash(&server->cipher, hash, row->statement, "value");
        memcpy(room, value->bytes, count);
        break;
    case BASELINE_HASHED:
        // An index gets it at another place for each account, as of what one person has alone.
        snprintf(name, sizeof name, "%lld", (long long)account);
        baseline_hash(&server->cipher, hash, row->statement, name);
        memcpy(room, value->bytes, count);
        memcpy(room, hash, count < sizeof hash ? count : sizeof hash);
        // Rows of one table that differ have hashes that do.
        for (size_t i = 0; i < count && i < 8; i++) room[i] ^= (uint8_t)value->bytes[i];
        break;
    }
    baseline_add_bytes(parameters, room, value->count);
    scratch->used += count;
}

/// Asks whether the account is there, and which key a value is to be sealed under, and waits for the answer.
static int ask_first(BaselineServer *server, int64_t account) {
    BaselineParameters parameters = {0};
    baseline_add_number(&parameters, account);
    return baseline_server_send(server, "key", NULL) && baseline_server_send(server, "lock", &parameters)
        && baseline_server_settle(server, NULL);
}

int baseline_server_sign_in(BaselineServer *server, int64_t account, int asks_first) {
    if (!baseline_server_send(server, "begin", NULL)) return 0;
    if (asks_first && !ask_first(server, account)) return 0;
    for (int index = 0; index < server->row_count; index++) {
        const BaselineRow *row = &server->rows[index];
        Scratch scratch = {.used = 0};
        BaselineParameters parameters = {0};
        for (int i = 0; i < row->count; i++)
            add_value(server, row, &row->values[i], account, &scratch, &parameters);
        if (!baseline_server_send(server, row->statement, &parameters)) return 0;
    }
    return baseline_server_send(server, "commit", NULL) && baseline_server_settle(server, NULL);
}
