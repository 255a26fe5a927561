-- What this file is, and who may use it. One row.
CREATE TABLE store (
    id             INTEGER PRIMARY KEY CHECK (id = 1),
    store_id       BLOB NOT NULL,               -- 16 random bytes; wrapped keys and keyring items are bound to it
    schema_version INTEGER NOT NULL,            -- always PRAGMA user_version; a file where they differ is not trusted
    reader_floor   INTEGER NOT NULL,            -- oldest schema version whose programs may read
    writer_floor   INTEGER NOT NULL,            -- oldest schema version whose programs may write
    written_by     TEXT NOT NULL,               -- version of the program that brought the schema here
    key_source     TEXT NOT NULL,               -- where the key-encryption key comes from
    key_parameters TEXT NOT NULL,               -- JSON: what the source needs besides, such as a salt
    created_at     INTEGER NOT NULL             -- Unix seconds
) STRICT;

-- Keys that seal values, themselves sealed by the key-encryption key. Two while a rekey is under way.
CREATE TABLE data_key (
    id                    INTEGER PRIMARY KEY,  -- stands in front of every value it sealed
    wrapped               BLOB NOT NULL,
    key_encryption_key_id TEXT NOT NULL,        -- so that an error can name the missing key
    is_current            INTEGER NOT NULL,     -- 1: seals new values, 0: being replaced
    created_at            INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX data_key_current ON data_key (is_current) WHERE is_current = 1;
