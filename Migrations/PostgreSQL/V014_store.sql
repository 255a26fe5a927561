-- The schema of version 14 on a server, in one step: the tables and columns of V001 to V014, so that statements are
-- shared. What differs, and why:
--   three types only (bigint, text, bytea), which are the three that a statement's values have; texts compare by bytes;
--   every row of an account has account_id in its primary key, by which tables can be spread over machines;
--   ids are made by the client, an account's from its identity: nobody asks for the greatest one;
--   what belongs to no account has the owner 0, and no reference: it is deleted by statements of its own;
--   sealed columns stay in their row (STORAGE MAIN): a token of 2.5 KB would go to another table;
--   an entry of the record of use tells whether a commit happened whose answer was lost.
CREATE TABLE store (
    id             bigint PRIMARY KEY CHECK (id = 1),
    store_id       bytea NOT NULL,
    schema_version bigint NOT NULL,
    reader_floor   bigint NOT NULL,
    writer_floor   bigint NOT NULL,
    written_by     text COLLATE "C" NOT NULL,
    key_source     text COLLATE "C" NOT NULL,
    key_parameters text COLLATE "C" NOT NULL,
    created_at     bigint NOT NULL,
    moved_to       text COLLATE "C"             -- where a copy has taken the store: nobody writes here any more
);

CREATE TABLE data_key (
    id                    bigint PRIMARY KEY,
    wrapped               bytea NOT NULL,
    key_encryption_key_id text COLLATE "C" NOT NULL,
    is_current            bigint NOT NULL,
    created_at            bigint NOT NULL
);

CREATE UNIQUE INDEX data_key_current ON data_key (is_current) WHERE is_current = 1;

CREATE TABLE account (
    id              bigint PRIMARY KEY,         -- 63 bits of SHA-256 of the identity
    authority       text COLLATE "C" NOT NULL,
    home_account_id text COLLATE "C" NOT NULL,
    account_key     text COLLATE "C" NOT NULL,
    uid             text COLLATE "C",
    utid            text COLLATE "C",
    environment     text COLLATE "C" NOT NULL,
    issuer          text COLLATE "C",
    username        text COLLATE "C" NOT NULL,
    username_fold   text COLLATE "C" NOT NULL,
    policy          text COLLATE "C",
    name            bytea,                      -- sealed
    created_at      bigint NOT NULL,            -- Unix seconds
    last_used_at    bigint NOT NULL
) WITH (fillfactor = 80);

CREATE INDEX account_identity ON account (account_key, authority);
CREATE INDEX account_username ON account (username_fold);
CREATE INDEX account_policy ON account (policy) WHERE policy IS NOT NULL;

CREATE TABLE tenant_profile (
    account_id         bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id                 bigint NOT NULL,
    environment        text COLLATE "C" NOT NULL,
    realm              text COLLATE "C" NOT NULL,
    realm_fold         text COLLATE "C" NOT NULL,
    local_account_id   text COLLATE "C",
    local_account_fold text COLLATE "C",
    username           text COLLATE "C" NOT NULL,
    authority_type     text COLLATE "C" NOT NULL,
    extra              bytea,                   -- sealed JSON
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, realm_fold, environment)
);

CREATE INDEX tenant_profile_local ON tenant_profile (local_account_fold);
CREATE INDEX tenant_profile_realm ON tenant_profile (realm_fold);

CREATE TABLE account_tag (
    account_id bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id         bigint NOT NULL,
    secret     bytea NOT NULL,                  -- sealed JSON: name, value
    name_hash  bytea NOT NULL,
    value_hash bytea NOT NULL,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, name_hash)
);

CREATE INDEX account_tag_value ON account_tag (name_hash, value_hash);

-- The account that a person chose for when several fit; one row at most.
CREATE TABLE default_account (
    account_id bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id         bigint NOT NULL UNIQUE CHECK (id = 1),
    chosen_at  bigint NOT NULL,
    mac        bytea NOT NULL,
    PRIMARY KEY (account_id, id)
);

CREATE TABLE account_state (
    account_id  bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id          bigint NOT NULL,
    client_fold text COLLATE "C" NOT NULL,
    state       text COLLATE "C" NOT NULL,
    changed_at  bigint NOT NULL,
    mac         bytea,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, client_fold)
);

CREATE TABLE authority_map (
    account_id  bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id          bigint NOT NULL,
    client_fold text COLLATE "C" NOT NULL,
    requested   text COLLATE "C" NOT NULL,
    resolved    text COLLATE "C" NOT NULL,
    mac         bytea,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, client_fold, requested)
);

-- What has to be remembered of accounts that are gone, under keyed hashes of their identities.
CREATE TABLE mark_key (id bigint PRIMARY KEY, secret bytea NOT NULL);

CREATE TABLE sign_out (
    id           bigint PRIMARY KEY,
    account_mark bytea NOT NULL,
    client_fold  text COLLATE "C" NOT NULL,
    changed_at   bigint NOT NULL,
    mac          bytea,
    UNIQUE (account_mark, client_fold)
);

CREATE TABLE app_metadata (
    id          bigint PRIMARY KEY,
    client_id   text COLLATE "C" NOT NULL,
    client_fold text COLLATE "C" NOT NULL,
    environment text COLLATE "C" NOT NULL,
    family_id   text COLLATE "C",
    extra       bytea,                          -- sealed JSON
    UNIQUE (client_fold, environment)
);

-- No reference to account: the client's own tokens have the owner 0.
CREATE TABLE access_token (
    account_id          bigint NOT NULL,
    id                  bigint NOT NULL,
    client_id           text COLLATE "C" NOT NULL,
    client_fold         text COLLATE "C" NOT NULL,
    environment         text COLLATE "C" NOT NULL,
    realm               text COLLATE "C" NOT NULL,
    realm_fold          text COLLATE "C" NOT NULL,
    target              text COLLATE "C" NOT NULL,
    scope_fold          text COLLATE "C" NOT NULL,
    asked_fold          text COLLATE "C",
    credential_type     text COLLATE "C" NOT NULL,
    token_type          text COLLATE "C",
    token_type_fold     text COLLATE "C" NOT NULL,
    key_id              text COLLATE "C" NOT NULL,
    variant             text COLLATE "C" NOT NULL,
    cached_at           bigint,
    expires_on          bigint NOT NULL,
    extended_expires_on bigint,
    refresh_on          bigint,
    extra               bytea,                  -- sealed JSON
    secret              bytea NOT NULL,         -- sealed
    PRIMARY KEY (account_id, id)
);

ALTER TABLE access_token ALTER COLUMN secret SET STORAGE MAIN, ALTER COLUMN extra SET STORAGE MAIN;
CREATE INDEX access_token_client ON access_token (account_id, client_fold, realm_fold, expires_on);
CREATE INDEX access_token_end ON access_token (expires_on);

CREATE TABLE refresh_token (
    account_id      bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id              bigint NOT NULL,
    client_id       text COLLATE "C" NOT NULL,
    client_fold     text COLLATE "C" NOT NULL,
    family_id       text COLLATE "C",
    environment     text COLLATE "C" NOT NULL,
    target          text COLLATE "C",
    credential_type text COLLATE "C" NOT NULL,
    modified_at     bigint NOT NULL,
    generation      bigint NOT NULL,
    fingerprint     bytea NOT NULL,
    extra           bytea,                      -- sealed JSON
    secret          bytea NOT NULL,             -- sealed
    PRIMARY KEY (account_id, id)
);

ALTER TABLE refresh_token ALTER COLUMN secret SET STORAGE MAIN;
CREATE INDEX refresh_token_client ON refresh_token (account_id, client_fold);

CREATE TABLE id_token (
    account_id      bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id              bigint NOT NULL,
    client_id       text COLLATE "C" NOT NULL,
    client_fold     text COLLATE "C" NOT NULL,
    environment     text COLLATE "C" NOT NULL,
    realm           text COLLATE "C" NOT NULL,
    realm_fold      text COLLATE "C" NOT NULL,
    credential_type text COLLATE "C" NOT NULL,
    updated_at      bigint NOT NULL,
    extra           bytea,                      -- sealed JSON
    secret          bytea NOT NULL,             -- sealed compact JWT
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, client_fold, realm_fold, environment)
);

ALTER TABLE id_token ALTER COLUMN secret SET STORAGE MAIN;

CREATE TABLE claim_index (
    account_id  bigint NOT NULL,
    id_token_id bigint NOT NULL,
    name_hash   bytea NOT NULL,
    value_hash  bytea NOT NULL,
    PRIMARY KEY (account_id, id_token_id, name_hash, value_hash),
    FOREIGN KEY (account_id, id_token_id) REFERENCES id_token (account_id, id) ON DELETE CASCADE
);

CREATE INDEX claim_index_value ON claim_index (name_hash, value_hash);

CREATE TABLE dpop_key (
    account_id  bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id          bigint NOT NULL,
    client_fold text COLLATE "C" NOT NULL,
    thumbprint  text COLLATE "C" NOT NULL,
    created_at  bigint NOT NULL,
    secret      bytea NOT NULL,                 -- sealed private key
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, client_fold)
);

-- The last use of a refresh token, with its id.
CREATE TABLE refresh_attempt (
    account_id bigint NOT NULL,
    id         bigint NOT NULL,
    generation bigint NOT NULL,
    started_at bigint NOT NULL,
    program    text COLLATE "C" NOT NULL,
    process_id bigint NOT NULL,
    outcome    text COLLATE "C",
    mac        bytea,
    PRIMARY KEY (account_id, id),
    FOREIGN KEY (account_id, id) REFERENCES refresh_token (account_id, id) ON DELETE CASCADE
);

-- Who may refresh the tokens of an account for a client. Taken, renewed and given back in the transactions that write
-- the intent and the tokens, and replicated like them: a failover takes it from nobody.
CREATE TABLE refresh_lease (
    account_id  bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold text COLLATE "C" NOT NULL,
    holder      bytea NOT NULL,                 -- random, of one attempt
    fence       bigint NOT NULL,                -- rises with every holder
    ends_at     timestamptz NOT NULL,           -- by the server's clock alone
    host        text COLLATE "C" NOT NULL,
    program     text COLLATE "C" NOT NULL,
    process_id  bigint NOT NULL,
    started_at  bigint NOT NULL,                -- of the process, by its own machine
    PRIMARY KEY (account_id, client_fold)
) WITH (fillfactor = 50);

CREATE TABLE throttle (
    account_id  bigint NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    id          bigint NOT NULL,
    key         bytea NOT NULL,
    client_fold text COLLATE "C" NOT NULL,
    ends_at     bigint NOT NULL,
    failure     text COLLATE "C" NOT NULL,
    mac         bytea,
    PRIMARY KEY (account_id, id),
    UNIQUE (account_id, key)
);

CREATE INDEX throttle_end ON throttle (ends_at);

CREATE TABLE issuer_document (
    id         bigint PRIMARY KEY,
    url        text COLLATE "C" NOT NULL UNIQUE,
    document   text COLLATE "C" NOT NULL,
    fetched_at bigint NOT NULL,
    ends_at    bigint NOT NULL,
    mac        bytea
);

CREATE TABLE foreign_entry (
    id           bigint PRIMARY KEY,
    identity     bytea NOT NULL UNIQUE,
    rejection    text COLLATE "C",
    entry        bytea NOT NULL,                -- sealed JSON: bucket, key, value
    account_hash bytea
);

CREATE INDEX foreign_entry_account ON foreign_entry (account_hash);

-- What was done with the store. `id` is the client's own: after a commit whose answer was lost its presence is the
-- answer. `tx` orders what `id` cannot: a reader takes what is below the oldest transaction that is still open.
CREATE TABLE event (
    account_id   bigint NOT NULL,               -- 0: about no account; -1: one that is not there
    id           bigint NOT NULL,
    tx           xid8 NOT NULL DEFAULT pg_current_xact_id(),
    at           bigint NOT NULL,
    program      text COLLATE "C" NOT NULL,
    process_id   bigint NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    outcome      text COLLATE "C" NOT NULL,
    account_mark bytea,
    client_id    text COLLATE "C",
    fingerprint  bytea,
    mac          bytea,
    PRIMARY KEY (account_id, id)
);

CREATE INDEX event_order ON event (tx, id);
CREATE INDEX event_id ON event (id);
CREATE INDEX event_at ON event (at);            -- retention by age, never in a writer's transaction
CREATE INDEX event_mark ON event (account_mark) WHERE account_mark IS NOT NULL;
CREATE INDEX event_fingerprint ON event (fingerprint) WHERE fingerprint IS NOT NULL;
