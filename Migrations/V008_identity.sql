-- What is known of an account goes with its row. What has to be remembered of one that is gone, that it signed out and
-- what was done with it, is kept under a keyed hash ("mark") of its id.

-- The key of the marks, itself sealed; made when it is first needed.
CREATE TABLE mark_key (
    id     INTEGER PRIMARY KEY,
    secret BLOB NOT NULL                        -- sealed
) STRICT;

-- Clients that an account signed out of before it was removed: an import of its old rows does not sign it in again.
CREATE TABLE sign_out (
    id           INTEGER PRIMARY KEY,
    account_mark BLOB NOT NULL,
    client_fold  TEXT NOT NULL,
    changed_at   INTEGER NOT NULL,
    UNIQUE (account_mark, client_fold)
) STRICT;

-- Whether an account is signed in to a client.
ALTER TABLE account_state RENAME TO old_account_state;

CREATE TABLE account_state (
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    state       TEXT NOT NULL,                  -- signed_in, signed_out
    changed_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, client_fold)
) STRICT, WITHOUT ROWID;

INSERT INTO account_state (account_id, client_fold, state, changed_at)
SELECT a.id, s.client_fold, s.state, s.changed_at
FROM old_account_state s JOIN account a ON a.home_account_fold = s.home_account_fold AND a.authority = s.authority;

DROP TABLE old_account_state;

-- The authority that an authority such as ".../common" turned out to be for an account.
ALTER TABLE authority_map RENAME TO old_authority_map;

CREATE TABLE authority_map (
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    requested   TEXT NOT NULL,                  -- URL, lower-cased
    resolved    TEXT NOT NULL,                  -- URL
    PRIMARY KEY (account_id, client_fold, requested)
) STRICT, WITHOUT ROWID;

-- An issuer outside Microsoft's clouds has no tenants, and so no such authorities.
INSERT INTO authority_map (account_id, client_fold, requested, resolved)
SELECT a.id, m.client_fold, m.requested, m.resolved
FROM old_authority_map m JOIN account a ON a.home_account_fold = m.home_account_fold
WHERE a.authority NOT LIKE '%://%';

DROP TABLE old_authority_map;

-- What was done with the store, the newest few thousand entries. Never a secret, nor a name of an account that is gone.
ALTER TABLE event RENAME TO old_event;

CREATE TABLE event (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,              -- Unix seconds
    program      TEXT NOT NULL,
    process_id   INTEGER NOT NULL,
    kind         TEXT NOT NULL,                 -- sign_in, refresh, sign_out, purge, import, refused, rekey
    outcome      TEXT NOT NULL,
    account_id   INTEGER REFERENCES account (id) ON DELETE SET NULL,
    account_mark BLOB,                          -- NULL: about no account, or from before there were marks
    client_id    TEXT,
    fingerprint  BLOB                           -- of the refresh token concerned
) STRICT;

INSERT INTO event (id, at, program, process_id, kind, outcome, account_id, client_id, fingerprint)
SELECT e.id, e.at, e.program, e.process_id, e.kind, e.outcome, (
    SELECT a.id FROM account a
    WHERE a.authority = e.authority AND a.home_account_fold IN (
        e.home_account_id, lower(e.home_account_id), lower(e.home_account_id) || char(31) || e.home_account_id
    )
), e.client_id, e.fingerprint
FROM old_event e;

DROP TABLE old_event;

CREATE INDEX event_account ON event (account_id);

-- A subject at a host of which no issuer is known is exact as well, as everywhere outside Microsoft's clouds; there an
-- id that ends in the GUID of a tenant is one of Microsoft's.
UPDATE account SET home_account_fold = home_account_fold || char(31) || home_account_id
WHERE authority NOT LIKE '%://%' AND home_account_id <> home_account_fold
    AND authority NOT IN (
        'login.windows.net', 'login.partner.microsoftonline.cn', 'login.microsoftonline.de', 'login.microsoftonline.us',
        'login-us.microsoftonline.com'
    )
    AND authority NOT LIKE '%.b2clogin.com' AND authority NOT LIKE '%.b2clogin.cn'
    AND authority NOT LIKE '%.b2clogin.us' AND authority NOT LIKE '%.b2clogin.de'
    AND authority NOT LIKE '%.ciamlogin.com'
    AND NOT (
        substr(home_account_id, -37) GLOB '.????????-????-????-????-????????????' AND length(home_account_id) > 37
        AND length(replace(substr(home_account_id, -36), '-', '')) = 32
        AND substr(home_account_id, -36) NOT GLOB '*[^0-9a-fA-F-]*'
    );
