#ifndef BASELINE_STORE_H
#define BASELINE_STORE_H

#include <stdint.h>

/// A store's database, used with nothing around SQLite and the cipher: one connection with the store's settings,
/// statements prepared once, its own key. Not thread-safe.
///
/// What it leaves out, because only a store needs it: reading the present rows before it writes, merging with them,
/// locking against other threads, checking who owns the file, wiping memory.
typedef struct BaselineStore BaselineStore;

/// The version of the SQLite library that is in use.
const char *baseline_sqlite_version(void);

/// The texts of one sign-in, in this order.
enum {
    BASELINE_AUTHORITY,
    BASELINE_HOME_ACCOUNT,
    BASELINE_UID,
    BASELINE_UTID,
    BASELINE_ENVIRONMENT,
    BASELINE_ISSUER,
    BASELINE_USERNAME,
    BASELINE_NAME,
    BASELINE_CLIENT,
    BASELINE_REALM,
    BASELINE_LOCAL_ACCOUNT,
    BASELINE_TARGET,
    BASELINE_SCOPE,
    BASELINE_PROFILE,
    BASELINE_ID_TOKEN,
    BASELINE_REFRESH_TOKEN,
    BASELINE_ACCESS_TOKEN,
    BASELINE_TEXT_COUNT
};

/// What a lookup copies out of a row.
typedef struct {
    int64_t row, expires_on, cached_at, extended_expires_on, refresh_on;
    char client[64], target[256], token_type[16], key_id[64], realm[64];
    uint8_t secret[8192];
    int secret_count;
} BaselineToken;

/// NULL if the database cannot be opened.
BaselineStore *baseline_open(const char *path);
void baseline_close(BaselineStore *store);

/// Seals the access tokens of an account anew under the floor's key, so that it can open them; 1 on success.
int baseline_adopt(BaselineStore *store, const char *home_account, const char *authority);

/// Finds and opens the access token with exactly this scope; 1 if found.
int baseline_lookup(
    BaselineStore *store, const char *home_account, const char *authority, const char *client, const char *realm,
    const char *scope, BaselineToken *token
);

/// Finds out which row ids are free; needed before `baseline_sign_in` whenever another connection has written.
void baseline_expect_others(BaselineStore *store);

/// Writes the rows of a first sign-in in one durable commit; 1 on success. `claims` holds names and values in turn.
int baseline_sign_in(
    BaselineStore *store, const char *const texts[BASELINE_TEXT_COUNT], const char *const *claims, int claim_count,
    int64_t now
);

#endif
