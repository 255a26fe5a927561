-- Values are sealed together with the clear columns of their rows from here on. A program that comes to a store of an
-- older version seals all of them anew under a new data key, and then deletes the old one.

-- What issuers publish: metadata and keys. Old rows carry no proof of where they come from, and are fetched again.
DROP TABLE issuer_document;

CREATE TABLE issuer_document (
    id         INTEGER PRIMARY KEY,
    url        TEXT NOT NULL UNIQUE,            -- of the authority, or of the keys
    document   TEXT NOT NULL,                   -- JSON
    fetched_at INTEGER NOT NULL,                -- Unix seconds
    ends_at    INTEGER NOT NULL,
    mac        BLOB                             -- nothing, sealed together with the row
) STRICT;

-- Whether an account is signed in to a client.
ALTER TABLE account_state RENAME TO old_account_state;

CREATE TABLE account_state (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    state       TEXT NOT NULL,                  -- signed_in, signed_out
    changed_at  INTEGER NOT NULL,
    mac         BLOB,                           -- as above
    UNIQUE (account_id, client_fold)
) STRICT;

INSERT INTO account_state (account_id, client_fold, state, changed_at)
SELECT account_id, client_fold, state, changed_at FROM old_account_state;

DROP TABLE old_account_state;

-- The authority that an authority such as ".../common" turned out to be for an account.
ALTER TABLE authority_map RENAME TO old_authority_map;

CREATE TABLE authority_map (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    requested   TEXT NOT NULL,                  -- URL, lower-cased
    resolved    TEXT NOT NULL,                  -- URL
    mac         BLOB,                           -- as above
    UNIQUE (account_id, client_fold, requested)
) STRICT;

INSERT INTO authority_map (account_id, client_fold, requested, resolved)
SELECT account_id, client_fold, requested, resolved FROM old_authority_map;

DROP TABLE old_authority_map;

-- What was done, who has signed out and what may have been spent decide what is kept and said.
ALTER TABLE event ADD COLUMN mac BLOB;

ALTER TABLE sign_out ADD COLUMN mac BLOB;

ALTER TABLE refresh_attempt RENAME COLUMN refresh_token_id TO id;

ALTER TABLE refresh_attempt ADD COLUMN mac BLOB;

-- Requests that are not to be repeated for a while, for every process.
ALTER TABLE throttle RENAME TO old_throttle;

CREATE TABLE throttle (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    key         BLOB NOT NULL UNIQUE,           -- SHA-256 of client, authority, account, scope and keyed hash of token
    client_fold TEXT NOT NULL,
    ends_at     INTEGER NOT NULL,               -- Unix seconds
    failure     TEXT NOT NULL,                  -- JSON of what the issuer answered, without its prose
    mac         BLOB                            -- as above
) STRICT;

INSERT INTO throttle (account_id, key, client_fold, ends_at, failure)
SELECT account_id, key, client_fold, ends_at, failure FROM old_throttle;

DROP TABLE old_throttle;

CREATE INDEX throttle_account ON throttle (account_id, client_fold);
