-- The account that a person chose for when several fit; one row at most.
CREATE TABLE default_account (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    account_id INTEGER NOT NULL UNIQUE REFERENCES account (id) ON DELETE CASCADE,
    chosen_at  INTEGER NOT NULL,                -- Unix seconds
    mac        BLOB NOT NULL                    -- sealed and empty: binds the row to its account
) STRICT;
