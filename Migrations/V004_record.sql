-- What was done with the store, the newest few thousand entries. Never a secret.
CREATE TABLE event (
    id              INTEGER PRIMARY KEY,
    at              INTEGER NOT NULL,           -- Unix seconds
    program         TEXT NOT NULL,
    process_id      INTEGER NOT NULL,
    kind            TEXT NOT NULL,              -- sign_in, refresh, sign_out, purge, import, refused, rekey
    outcome         TEXT NOT NULL,
    authority       TEXT,
    home_account_id TEXT,
    client_id       TEXT,
    fingerprint     BLOB                        -- of the refresh token concerned
) STRICT;

-- What an import brought and we could not, or must not, interpret. It goes back out unchanged.
CREATE TABLE foreign_entry (
    id        INTEGER PRIMARY KEY,
    identity  BLOB NOT NULL UNIQUE,             -- keyed hash of bucket and key
    rejection TEXT,                             -- why it is in quarantine; NULL: it is merely unknown
    entry     BLOB NOT NULL                     -- sealed JSON: bucket, key, value
) STRICT;
