-- The scope that a token was asked for, folded and sorted, where the issuer granted another: the same question is
-- answered with it as long as it is good, and not with a refresh each time. NULL: all of it was granted, or an import
-- brought the token.
ALTER TABLE access_token ADD COLUMN asked_fold TEXT;
