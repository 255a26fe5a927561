-- Issuers other than Microsoft tell subjects apart by case (OpenID Connect Core, section 2). From here on the exact id
-- stands behind the folded one, by which a typed one is found, with a unit separator between; where both are the same,
-- and for Microsoft's ids, there is the folded one alone.
UPDATE account_state
SET home_account_fold = (
    SELECT a.home_account_fold || char(31) || a.home_account_id FROM account a
    WHERE a.home_account_fold = account_state.home_account_fold AND a.authority = account_state.authority
)
WHERE authority LIKE '%://%' AND EXISTS (
    SELECT 1 FROM account a
    WHERE a.home_account_fold = account_state.home_account_fold AND a.authority = account_state.authority
        AND a.home_account_id <> a.home_account_fold
);

UPDATE account SET home_account_fold = home_account_fold || char(31) || home_account_id
WHERE authority LIKE '%://%' AND home_account_id <> home_account_fold;
