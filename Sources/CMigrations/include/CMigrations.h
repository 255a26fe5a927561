#pragma once

/// One step of the schema: a file of `Migrations/`, compiled in.
typedef struct {
    const char *_Nonnull name;
    const char *_Nonnull sql;
    /// The oldest schema version whose programs may still read, and write, a store that has taken this step.
    int reader_floor;
    int writer_floor;
    /// Whether the step cannot be undone, so that a copy of the store is kept before it.
    int is_irreversible;
} CMigration;

/// The step at `index`, oldest first, or `NULL` past the newest.
const CMigration *_Nullable CMigrationAt(int index);

/// The schema version that the first step on a server makes.
#define C_FIRST_SERVER_VERSION 14

/// The same for a server, whose series begins with `C_FIRST_SERVER_VERSION`.
const CMigration *_Nullable CServerMigrationAt(int index);
