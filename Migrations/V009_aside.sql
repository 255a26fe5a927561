-- The account that a kept entry may be of: a keyed hash of how its id begins, so that a sign-out opens no other entry.
-- NULL: of several accounts, or written before there were hashes, and opened by every sign-out.
ALTER TABLE foreign_entry ADD COLUMN account_hash BLOB;

CREATE INDEX foreign_entry_account ON foreign_entry (account_hash);
