-- The column holds the key that accounts are told apart by, which is more than the lower-cased home account id.
ALTER TABLE account RENAME COLUMN home_account_fold TO account_key;
