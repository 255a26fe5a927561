#pragma once

// The part of libpq that the binding uses, declared here so that neither a build nor a start needs libpq.

typedef unsigned int Oid;
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

/// A message of a channel, as `PQnotifies` returns it.
typedef struct pgNotify {
    char *_Nonnull relname;
    int be_pid;
    char *_Nonnull extra;
    struct pgNotify *_Nullable next;
} PGnotify;

// Only what decides how Swift sees the functions says whether it may be null.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"

// Enumerations of libpq, none of which has a negative value.
typedef unsigned int ConnStatusType;
typedef unsigned int ExecStatusType;
typedef unsigned int PGTransactionStatusType;
typedef unsigned int PGVerbosity;
typedef unsigned int PostgresPollingStatusType;

typedef void (*PQnoticeReceiver)(void *argument, const PGresult *result);

#include "Functions.h"

/// The functions of a loaded libpq.
typedef struct {
#define CPOSTGRESQL_FIELD(result, name, arguments) result(*_Nonnull name) arguments;
    CPOSTGRESQL_FUNCTIONS(CPOSTGRESQL_FIELD)
#undef CPOSTGRESQL_FIELD
    /// The library itself.
    void *_Nullable handle;
} CPostgreSQLFunctions;

#define CPOSTGRESQL_CONSTANT(name, value) static const unsigned int name = value;
CPOSTGRESQL_CONSTANTS(CPOSTGRESQL_CONSTANT)
#undef CPOSTGRESQL_CONSTANT

/// What came of loading a library.
typedef enum {
    CPostgreSQLLoaded,
    CPostgreSQLMissing,
    /// The library lacks a function: it is not libpq, or older than version 14.
    CPostgreSQLIncomplete,
} CPostgreSQLLoading;

/// Loads the library `file` for good and fills `functions` with its addresses.
CPostgreSQLLoading CPostgreSQLLoad(const char *_Nonnull file, CPostgreSQLFunctions *_Nonnull functions);

/// Whether OpenSSL, as this libpq uses it, loads a file of certificates or of lists of revoked ones: 1 or 0; -1 where it
/// cannot be asked.
int CPostgreSQLLoadsRevocationList(const CPostgreSQLFunctions *_Nonnull functions, const char *_Nonnull file);

#pragma clang diagnostic pop
