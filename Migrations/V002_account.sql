-- Who has signed in. Columns ending in _fold are lower-cased and trimmed for comparison.
CREATE TABLE account (
    id                INTEGER PRIMARY KEY,
    authority         TEXT NOT NULL,            -- group of hosts that share accounts, or the exact issuer
    home_account_id   TEXT NOT NULL,
    home_account_fold TEXT NOT NULL,
    uid               TEXT,
    utid              TEXT,
    environment       TEXT NOT NULL,            -- host, with its port unless 443
    issuer            TEXT,
    username          TEXT NOT NULL,
    username_fold     TEXT NOT NULL,
    policy            TEXT,                     -- B2C user flow, lower-cased
    name              BLOB,                     -- sealed
    created_at        INTEGER NOT NULL,
    last_used_at      INTEGER NOT NULL,         -- last sign-in, refresh or import
    UNIQUE (home_account_fold, authority)
) STRICT;

CREATE INDEX account_username ON account (username_fold);
CREATE INDEX account_policy ON account (policy) WHERE policy IS NOT NULL;

-- An account as one tenant knows it; one row per tenant and host it was seen at.
CREATE TABLE tenant_profile (
    id                 INTEGER PRIMARY KEY,
    account_id         INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    environment        TEXT NOT NULL,
    realm              TEXT NOT NULL,
    realm_fold         TEXT NOT NULL,           -- the tenant that words such as "common" stood for
    local_account_id   TEXT,
    local_account_fold TEXT,
    username           TEXT NOT NULL,
    authority_type     TEXT NOT NULL,
    extra              BLOB,                    -- sealed JSON: names, client_info and fields not known here
    UNIQUE (account_id, realm_fold, environment)
) STRICT;

CREATE INDEX tenant_profile_local ON tenant_profile (local_account_fold);
CREATE INDEX tenant_profile_realm ON tenant_profile (realm_fold);

-- Whether an account is signed in to a client; outlives the account, so that a sign-out is remembered.
CREATE TABLE account_state (
    home_account_fold TEXT NOT NULL,
    authority         TEXT NOT NULL,
    client_fold       TEXT NOT NULL,
    state             TEXT NOT NULL,            -- signed_in, signed_out
    changed_at        INTEGER NOT NULL,
    PRIMARY KEY (home_account_fold, authority, client_fold)
) STRICT, WITHOUT ROWID;

-- The authority that an authority such as ".../common" turned out to be for an account.
CREATE TABLE authority_map (
    home_account_fold TEXT NOT NULL,
    client_fold       TEXT NOT NULL,
    requested         TEXT NOT NULL,            -- URL, lower-cased
    resolved          TEXT NOT NULL,            -- URL
    PRIMARY KEY (home_account_fold, client_fold, requested)
) STRICT, WITHOUT ROWID;

-- Which family of clients a client belongs to.
CREATE TABLE app_metadata (
    id          INTEGER PRIMARY KEY,
    client_id   TEXT NOT NULL,
    client_fold TEXT NOT NULL,
    environment TEXT NOT NULL,
    family_id   TEXT,                           -- NULL: known to be in none
    extra       BLOB,                           -- sealed JSON
    UNIQUE (client_fold, environment)
) STRICT;
