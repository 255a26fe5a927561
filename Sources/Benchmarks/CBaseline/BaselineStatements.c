#include "BaselineStore+Private.h"

const char *const baseline_statements[BASELINE_STATEMENT_COUNT] = {
    [BASELINE_STATEMENT_LOOKUP] =
        "SELECT t.id, t.expires_on, t.cached_at, t.extended_expires_on, t.refresh_on, t.scope_fold, t.account_id,"
        " t.client_id, t.target, t.token_type, t.key_id, t.realm, t.secret FROM access_token t"
        " WHERE t.account_id = (SELECT id FROM account WHERE account_key = ?1 AND authority = ?2)"
        " AND t.client_fold = ?3 AND (?4 IS NULL OR t.realm_fold = ?4) AND t.token_type_fold = ?5"
        " AND t.key_id = ?6 AND t.variant = ?7",
    [BASELINE_STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [BASELINE_STATEMENT_COMMIT] = "COMMIT",
    [BASELINE_STATEMENT_ACCOUNT] =
        "INSERT INTO account (id, authority, home_account_id, account_key, uid, utid, environment, issuer,"
        " username, username_fold, name, created_at, last_used_at)"
        " VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, ?10, ?10)",
    [BASELINE_STATEMENT_PROFILE] =
        "INSERT INTO tenant_profile (id, account_id, environment, realm, realm_fold, local_account_id,"
        " local_account_fold, username, authority_type, extra) VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?5, ?6, 'MSSTS', ?7)",
    [BASELINE_STATEMENT_ID_TOKEN] =
        "INSERT INTO id_token (id, account_id, client_id, client_fold, environment, realm, realm_fold,"
        " credential_type, updated_at, secret) VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?5, 'IdToken', ?6, ?7)",
    [BASELINE_STATEMENT_CLAIM] = "INSERT INTO claim_index (id_token_id, name_hash, value_hash) VALUES (?1, ?2, ?3)",
    [BASELINE_STATEMENT_STATE] =
        "INSERT INTO account_state (id, account_id, client_fold, state, changed_at, mac)"
        " VALUES (?1, ?2, ?3, 'signed_in', ?4, ?5)",
    [BASELINE_STATEMENT_REFRESH_TOKEN] =
        "INSERT INTO refresh_token (id, account_id, client_id, client_fold, environment, target, credential_type,"
        " modified_at, generation, fingerprint, secret)"
        " VALUES (?1, ?2, ?3, ?3, ?4, ?5, 'RefreshToken', ?6, 0, ?7, ?8)",
    [BASELINE_STATEMENT_ACCESS_TOKEN] =
        "INSERT INTO access_token (id, account_id, client_id, client_fold, environment, realm, realm_fold, target,"
        " scope_fold, credential_type, token_type, token_type_fold, key_id, variant, cached_at, expires_on,"
        " extended_expires_on, secret) VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?5, ?6, ?7, 'AccessToken', 'Bearer', 'bearer',"
        " '', '', ?8, ?9, ?9, ?10)",
    [BASELINE_STATEMENT_EVENT] =
        "INSERT INTO event (at, program, process_id, kind, outcome, account_id, account_mark,"
        " client_id, fingerprint) VALUES (?1, 'tokenstore-bench', 1, 'sign_in', 'done',"
        " (SELECT id FROM account WHERE account_key = ?3 AND authority = ?2), ?6, ?4, ?5)",
    [BASELINE_STATEMENT_FORGET_EVENTS] = "DELETE FROM event WHERE id <= (SELECT max(id) FROM event) - 2000",
};
