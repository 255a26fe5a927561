#pragma once

// Apart from the types, so that a test can compare these lists with the header of an installed libpq.

#define CPOSTGRESQL_FUNCTIONS(F)                                                                                       \
    F(int, PQlibVersion, (void))                                                                                       \
    F(PGconn *, PQconnectStartParams, (const char *const *keywords, const char *const *values, int expand))            \
    F(PostgresPollingStatusType, PQconnectPoll, (PGconn *))                                                            \
    F(void, PQfinish, (PGconn *))                                                                                      \
    F(ConnStatusType, PQstatus, (const PGconn *))                                                                      \
    F(PGTransactionStatusType, PQtransactionStatus, (const PGconn *))                                                  \
    F(int, PQserverVersion, (const PGconn *))                                                                          \
    F(char *, PQerrorMessage, (const PGconn *))                                                                        \
    F(int, PQsocket, (const PGconn *))                                                                                 \
    F(int, PQbackendPID, (const PGconn *))                                                                             \
    F(int, PQsslInUse, (PGconn *))                                                                                     \
    F(PGVerbosity, PQsetErrorVerbosity, (PGconn *, PGVerbosity))                                                       \
    F(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *, PQnoticeReceiver, void *argument))                             \
    F(int, PQsetnonblocking, (PGconn *, int))                                                                          \
    F(int, PQenterPipelineMode, (PGconn *))                                                                            \
    F(int, PQpipelineSync, (PGconn *))                                                                                 \
    F(int, PQsendPrepare, (PGconn *, const char *name, const char *query, int count, const Oid *types))                \
    F(int, PQsendQueryPrepared,                                                                                        \
      (PGconn *, const char *name, int count, const char *const *values, const int *lengths, const int *formats,       \
       int resultFormat))                                                                                              \
    F(int, PQsendQueryParams,                                                                                          \
      (PGconn *, const char *query, int count, const Oid *types, const char *const *values, const int *lengths,        \
       const int *formats, int resultFormat))                                                                          \
    F(int, PQflush, (PGconn *))                                                                                        \
    F(int, PQisBusy, (PGconn *))                                                                                       \
    F(int, PQconsumeInput, (PGconn *))                                                                                 \
    F(PGresult *, PQgetResult, (PGconn *))                                                                             \
    F(PGnotify *, PQnotifies, (PGconn *))                                                                              \
    F(void, PQfreemem, (void *))                                                                                       \
    F(void, PQclear, (PGresult *))                                                                                     \
    F(ExecStatusType, PQresultStatus, (const PGresult *))                                                              \
    F(char *, PQresultErrorField, (const PGresult *, int field))                                                       \
    F(char *, PQcmdStatus, (PGresult *))                                                                               \
    F(char *, PQcmdTuples, (PGresult *))                                                                               \
    F(int, PQntuples, (const PGresult *))                                                                              \
    F(int, PQnfields, (const PGresult *))                                                                              \
    F(char *, PQfname, (const PGresult *, int column))                                                                 \
    F(Oid, PQftype, (const PGresult *, int column))                                                                    \
    F(int, PQgetisnull, (const PGresult *, int row, int column))                                                       \
    F(int, PQgetlength, (const PGresult *, int row, int column))                                                       \
    F(char *, PQgetvalue, (const PGresult *, int row, int column))

#define CPOSTGRESQL_CONSTANTS(C)                                                                                       \
    C(CONNECTION_OK, 0)                                                                                                \
    C(CONNECTION_BAD, 1)                                                                                               \
    C(PGRES_POLLING_READING, 1)                                                                                        \
    C(PGRES_POLLING_WRITING, 2)                                                                                        \
    C(PGRES_POLLING_OK, 3)                                                                                             \
    C(PGRES_EMPTY_QUERY, 0)                                                                                            \
    C(PGRES_COMMAND_OK, 1)                                                                                             \
    C(PGRES_TUPLES_OK, 2)                                                                                              \
    C(PGRES_FATAL_ERROR, 7)                                                                                            \
    C(PGRES_PIPELINE_SYNC, 10)                                                                                         \
    C(PGRES_PIPELINE_ABORTED, 11)                                                                                      \
    C(PQTRANS_IDLE, 0)                                                                                                 \
    C(PQERRORS_VERBOSE, 2)
