-- The key that the tokens of an account at a client are bound to (RFC 9449), if they are bound to one.
CREATE TABLE dpop_key (
    id          INTEGER PRIMARY KEY,
    account_id  INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    client_fold TEXT NOT NULL,
    thumbprint  TEXT NOT NULL,                  -- RFC 7638, by which access tokens name it in key_id
    created_at  INTEGER NOT NULL,               -- Unix seconds
    secret      BLOB NOT NULL,                  -- sealed private key
    UNIQUE (account_id, client_fold)
) STRICT;
