-- What programs note of an account, such as the team that it works for.
CREATE TABLE account_tag (
    id         INTEGER PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES account (id) ON DELETE CASCADE,
    secret     BLOB NOT NULL,                   -- sealed JSON: name, value
    name_hash  BLOB NOT NULL,                   -- keyed hashes, by which accounts are found without opening their tags
    value_hash BLOB NOT NULL,
    UNIQUE (account_id, name_hash)
) STRICT;

CREATE INDEX account_tag_value ON account_tag (name_hash, value_hash);
