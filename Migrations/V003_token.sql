-- Tokens for APIs. Overlapping ones from an import stay; a new response evicts what it overlaps.
CREATE TABLE access_token (
    id                  INTEGER PRIMARY KEY,
    account_id          INTEGER REFERENCES account (id) ON DELETE CASCADE,  -- NULL: the client's own token
    client_id           TEXT NOT NULL,
    client_fold         TEXT NOT NULL,
    environment         TEXT NOT NULL,
    realm               TEXT NOT NULL,
    realm_fold          TEXT NOT NULL,
    target              TEXT NOT NULL,          -- scope tokens as granted
    scope_fold          TEXT NOT NULL,          -- the ones that match, folded and sorted
    credential_type     TEXT NOT NULL,
    token_type          TEXT,
    token_type_fold     TEXT NOT NULL,          -- "bearer" where token_type is missing or empty
    key_id              TEXT NOT NULL,          -- empty: not bound to a key
    variant             TEXT NOT NULL,          -- hash of requested claims and other partitions; empty: none
    cached_at           INTEGER,                -- Unix seconds, as all below
    expires_on          INTEGER NOT NULL,
    extended_expires_on INTEGER,
    refresh_on          INTEGER,
    extra               BLOB,                   -- sealed JSON
    secret              BLOB NOT NULL           -- sealed
) STRICT;

CREATE INDEX access_token_account
    ON access_token (account_id, client_fold, realm_fold, expires_on, cached_at, refresh_on);

-- Tokens that get tokens. The newest of a client (or its family) is used first.
CREATE TABLE refresh_token (
    id              INTEGER PRIMARY KEY,
    account_id      INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id       TEXT NOT NULL,
    client_fold     TEXT NOT NULL,
    family_id       TEXT,
    environment     TEXT NOT NULL,
    target          TEXT,
    credential_type TEXT NOT NULL,
    modified_at     INTEGER NOT NULL,           -- Unix seconds; 0: unknown
    generation      INTEGER NOT NULL,           -- how often it was rotated in this row
    fingerprint     BLOB NOT NULL,              -- keyed hash, to replace or remove exactly this token
    extra           BLOB,                       -- sealed JSON
    secret          BLOB NOT NULL               -- sealed
) STRICT;

CREATE INDEX refresh_token_account ON refresh_token (account_id, client_fold);

-- Who the account is, in the issuer's words. Kept when expired: it still describes the account.
CREATE TABLE id_token (
    id              INTEGER PRIMARY KEY,
    account_id      INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_id       TEXT NOT NULL,
    client_fold     TEXT NOT NULL,
    environment     TEXT NOT NULL,
    realm           TEXT NOT NULL,
    realm_fold      TEXT NOT NULL,
    credential_type TEXT NOT NULL,
    updated_at      INTEGER NOT NULL,
    extra           BLOB,                       -- sealed JSON
    secret          BLOB NOT NULL,              -- sealed compact JWT
    UNIQUE (account_id, client_fold, realm_fold, environment)
) STRICT;

-- Blind index of claims: keyed hashes, so that accounts are found by claim without opening a token.
CREATE TABLE claim_index (
    id_token_id INTEGER NOT NULL REFERENCES id_token (id) ON DELETE CASCADE,
    name_hash   BLOB NOT NULL,
    value_hash  BLOB NOT NULL,
    PRIMARY KEY (id_token_id, name_hash, value_hash)
) STRICT, WITHOUT ROWID;

CREATE INDEX claim_index_value ON claim_index (name_hash, value_hash);
