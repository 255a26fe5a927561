#ifndef BASELINE_SERVER_PRIVATE_H
#define BASELINE_SERVER_PRIVATE_H

#include <CPostgreSQL.h>

#include "BaselineCipher.h"
#include "BaselineServer.h"

enum { BASELINE_PARAMETER_LIMIT = 32, BASELINE_TABLE_LIMIT = 24, BASELINE_ROW_LIMIT = 128 };

/// What a value of a remembered row becomes in another account's.
typedef enum {
    BASELINE_KEPT,
    BASELINE_ACCOUNT_NUMBER,
    BASELINE_NAME_OF_ACCOUNT,
    BASELINE_SEALED,
    BASELINE_HASHED,
    /// A hash that other accounts have too, as that of a claim which many people have.
    BASELINE_HASHED_ALIKE,
} BaselineKind;

typedef struct {
    char *bytes;
    int count;
    BaselineKind kind;
} BaselineValue;

typedef struct {
    char statement[64];
    int count;
    BaselineValue values[BASELINE_PARAMETER_LIMIT];
} BaselineRow;

struct BaselineServer {
    CPostgreSQLFunctions call;
    PGconn *connection;
    BaselineCipher cipher;
    int row_count;
    BaselineRow rows[BASELINE_ROW_LIMIT];
};

/// Values of a statement, all of them binary.
typedef struct {
    int count;
    const char *values[BASELINE_PARAMETER_LIMIT];
    int lengths[BASELINE_PARAMETER_LIMIT];
    char numbers[BASELINE_PARAMETER_LIMIT][8];
} BaselineParameters;

void baseline_put_number(char bytes[8], int64_t number);
int64_t baseline_number_of(const char *bytes);
void baseline_add_number(BaselineParameters *parameters, int64_t number);
void baseline_add_bytes(BaselineParameters *parameters, const void *bytes, int count);

int baseline_server_prepare(BaselineServer *server, const char *name, const char *sql);

/// Puts a prepared statement behind those that wait.
int baseline_server_send(BaselineServer *server, const char *name, const BaselineParameters *parameters);

/// Sends what waits and reads all answers; the last rows, which the caller clears, go to `rows` if it is not NULL.
int baseline_server_settle(BaselineServer *server, PGresult **rows);

#endif
