-- The last use of a refresh token, written before it is sent: after a crash the next caller knows that it may have
-- been spent. Goes with the row of the token, which a rotation writes anew.
CREATE TABLE refresh_attempt (
    refresh_token_id INTEGER PRIMARY KEY REFERENCES refresh_token (id) ON DELETE CASCADE,
    generation       INTEGER NOT NULL,          -- of the token that was sent
    started_at       INTEGER NOT NULL,          -- Unix seconds
    program          TEXT NOT NULL,
    process_id       INTEGER NOT NULL,
    outcome          TEXT                       -- NULL: no answer was seen; ended: the issuer says the token has ended
) STRICT;

-- Requests that are not to be repeated for a while, for every process.
CREATE TABLE throttle (
    key         BLOB PRIMARY KEY,               -- SHA-256 of client, authority, account, scope and keyed hash of token
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    ends_at     INTEGER NOT NULL,               -- Unix seconds
    failure     TEXT NOT NULL                   -- JSON of what the issuer answered, without its prose
) STRICT;

CREATE INDEX throttle_account ON throttle (account_id, client_fold);

-- What issuers publish: metadata and keys.
CREATE TABLE issuer_document (
    url        TEXT PRIMARY KEY,                -- of the authority, or of the keys
    document   TEXT NOT NULL,                   -- JSON
    fetched_at INTEGER NOT NULL,                -- Unix seconds
    ends_at    INTEGER NOT NULL
) STRICT;
