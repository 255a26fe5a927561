#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "BaselineServer+Private.h"

void baseline_put_number(char bytes[8], int64_t number) {
    for (int i = 0; i < 8; i++) bytes[i] = (char)((uint64_t)number >> (56 - 8 * i));
}

int64_t baseline_number_of(const char *bytes) {
    uint64_t number = 0;
    for (int i = 0; i < 8; i++) number = number << 8 | (uint8_t)bytes[i];
    return (int64_t)number;
}

void baseline_add_number(BaselineParameters *parameters, int64_t number) {
    baseline_put_number(parameters->numbers[parameters->count], number);
    baseline_add_bytes(parameters, parameters->numbers[parameters->count], 8);
}

void baseline_add_bytes(BaselineParameters *parameters, const void *bytes, int count) {
    parameters->values[parameters->count] = bytes;
    parameters->lengths[parameters->count++] = count;
}

int baseline_server_prepare(BaselineServer *server, const char *name, const char *sql) {
    return server->call.PQsendPrepare(server->connection, name, sql, 0, NULL) == 1;
}

int baseline_server_send(BaselineServer *server, const char *name, const BaselineParameters *parameters) {
    static const int binary[BASELINE_PARAMETER_LIMIT] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    int count = parameters ? parameters->count : 0;
    return server->call.PQsendQueryPrepared(
               server->connection, name, count, count ? parameters->values : NULL, count ? parameters->lengths : NULL,
               binary, 1
           ) == 1;
}

int baseline_server_settle(BaselineServer *server, PGresult **rows) {
    const CPostgreSQLFunctions *call = &server->call;
    if (call->PQpipelineSync(server->connection) != 1) return 0;
    int ok = 1, ends = 0;
    if (rows) *rows = NULL;
    // An end after each statement's answer; two in a row come from a connection that is lost.
    while (ends < 2) {
        PGresult *result = call->PQgetResult(server->connection);
        if (!result) {
            ends++;
            continue;
        }
        ends = 0;
        ExecStatusType status = call->PQresultStatus(result);
        if (status == PGRES_TUPLES_OK && rows) {
            if (*rows) call->PQclear(*rows);
            *rows = result;
            continue;
        }
        call->PQclear(result);
        if (status == PGRES_PIPELINE_SYNC) return ok;
        ok = ok && (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    }
    return 0;
}

static int is_connected(BaselineServer *server) {
    const CPostgreSQLFunctions *call = &server->call;
    while (call->PQstatus(server->connection) != CONNECTION_BAD) {
        PostgresPollingStatusType next = call->PQconnectPoll(server->connection);
        if (next == PGRES_POLLING_OK) return call->PQenterPipelineMode(server->connection) == 1;
        struct pollfd socket = {call->PQsocket(server->connection), next == PGRES_POLLING_WRITING ? POLLOUT : POLLIN, 0};
        if (poll(&socket, 1, 10000) <= 0) return 0;
    }
    return 0;
}

BaselineServer *baseline_server_open(const char *settings) {
#define COLUMNS                                                                                                       \
    "t.id, t.expires_on, t.cached_at, t.extended_expires_on, t.refresh_on, t.client_id, t.target, t.token_type,"        \
    " t.key_id, t.realm, t.secret"
#define CONDITION                                                                                                      \
    " WHERE t.account_id = $1 AND t.client_fold = $2 AND t.realm_fold = $3 AND t.scope_fold = $4"                       \
    " AND t.token_type_fold = 'bearer' AND t.key_id = '' AND t.variant = ''"
    static const char lookup[] = "SELECT " COLUMNS " FROM access_token t" CONDITION;
    static const char session[] =
        "SELECT " COLUMNS ", s.state, s.changed_at, s.mac FROM access_token t LEFT JOIN account_state s"
        " ON s.account_id = t.account_id AND s.client_fold = $2" CONDITION;
    static const char key[] =
        "SELECT k.id, s.writer_floor, s.schema_version, s.written_by, s.moved_to FROM data_key k CROSS JOIN store s"
        " WHERE k.is_current = 1 FOR SHARE OF k FOR KEY SHARE OF s";
    static const char lock[] = "SELECT id FROM account WHERE id = $1 FOR NO KEY UPDATE";
    BaselineServer *server = calloc(1, sizeof *server);
    const char *const names[] = {"dbname", NULL}, *const values[] = {settings, NULL};
    if (!server) return NULL;
    if (CPostgreSQLLoad("libpq.so.5", &server->call) == CPostgreSQLLoaded && baseline_cipher_init(&server->cipher)) {
        server->connection = server->call.PQconnectStartParams(names, values, 1);
        if (server->connection && is_connected(server) && baseline_server_prepare(server, "begin", "BEGIN")
            && baseline_server_prepare(server, "commit", "COMMIT") && baseline_server_prepare(server, "lookup", lookup)
            && baseline_server_prepare(server, "session", session)
            && baseline_server_prepare(server, "key", key) && baseline_server_prepare(server, "lock", lock)
            && baseline_server_settle(server, NULL))
            return server;
    }
    baseline_server_close(server);
    return NULL;
}

void baseline_server_close(BaselineServer *server) {
    if (server->connection) server->call.PQfinish(server->connection);
    for (int row = 0; row < server->row_count; row++)
        for (int i = 0; i < server->rows[row].count; i++) free(server->rows[row].values[i].bytes);
    baseline_cipher_free(&server->cipher);
    free(server);
}

static void copy_text(const CPostgreSQLFunctions *call, char *out, size_t room, PGresult *row, int column) {
    size_t count = (size_t)call->PQgetlength(row, 0, column);
    if (count >= room) count = room - 1;
    memcpy(out, call->PQgetvalue(row, 0, column), count);
    out[count] = 0;
}

static int64_t number(const CPostgreSQLFunctions *call, PGresult *row, int column) {
    return call->PQgetisnull(row, 0, column) ? 0 : baseline_number_of(call->PQgetvalue(row, 0, column));
}

int baseline_server_lookup(
    BaselineServer *server, int64_t account, const char *client, const char *realm, const char *scope,
    int asks_state, BaselineToken *token
) {
    const CPostgreSQLFunctions *call = &server->call;
    BaselineParameters parameters = {0};
    baseline_add_number(&parameters, account);
    const char *texts[] = {client, realm, scope};
    for (int i = 0; i < 3; i++) baseline_add_bytes(&parameters, texts[i], (int)strlen(texts[i]));
    PGresult *row = NULL;
    if (!baseline_server_send(server, asks_state ? "session" : "lookup", &parameters) || !baseline_server_settle(server, &row)) return 0;
    int found = row && call->PQntuples(row) == 1;
    if (found && asks_state) found = strcmp(call->PQgetvalue(row, 0, 11), "signed_out") != 0;
    if (found) {
        token->row = number(call, row, 0);
        token->expires_on = number(call, row, 1);
        token->cached_at = number(call, row, 2);
        token->extended_expires_on = number(call, row, 3);
        token->refresh_on = number(call, row, 4);
        copy_text(call, token->client, sizeof token->client, row, 5);
        copy_text(call, token->target, sizeof token->target, row, 6);
        copy_text(call, token->token_type, sizeof token->token_type, row, 7);
        copy_text(call, token->key_id, sizeof token->key_id, row, 8);
        copy_text(call, token->realm, sizeof token->realm, row, 9);
        token->secret_count = baseline_open_sealed(
            &server->cipher, token->secret, sizeof token->secret, (const uint8_t *)call->PQgetvalue(row, 0, 10),
            (size_t)call->PQgetlength(row, 0, 10), (BaselinePlace){"access_token", "secret", account, token->row, NULL}
        );
        found = token->secret_count >= 0;
    }
    if (row) call->PQclear(row);
    return found;
}
