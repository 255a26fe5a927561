#ifndef FLOOR_STORE_H
#define FLOOR_STORE_H

#include <stdint.h>

/// A store's database, used with nothing around SQLite and the cipher: one connection with the store's settings,
/// statements prepared once, a key of its own. Not thread-safe.
///
/// What it leaves out, because only a store needs it: finding out what is there before it writes, merging with it,
/// locking against other threads, checking who owns the file, wiping memory.
typedef struct FloorStore FloorStore;

/// The texts of one sign-in, in this order.
enum {
    FLOOR_AUTHORITY,
    FLOOR_HOME_ACCOUNT,
    FLOOR_UID,
    FLOOR_UTID,
    FLOOR_ENVIRONMENT,
    FLOOR_ISSUER,
    FLOOR_USERNAME,
    FLOOR_NAME,
    FLOOR_CLIENT,
    FLOOR_REALM,
    FLOOR_LOCAL_ACCOUNT,
    FLOOR_TARGET,
    FLOOR_SCOPE,
    FLOOR_PROFILE,
    FLOOR_ID_TOKEN,
    FLOOR_REFRESH_TOKEN,
    FLOOR_ACCESS_TOKEN,
    FLOOR_TEXT_COUNT
};

/// What a lookup copies out of a row.
typedef struct {
    int64_t row, expires_on, cached_at, extended_expires_on, refresh_on;
    char client[64], target[256], token_type[16], key_id[64], realm[64];
    uint8_t secret[8192];
    int secret_count;
} FloorToken;

/// NULL if the database cannot be opened.
FloorStore *floor_open(const char *path);
void floor_close(FloorStore *store);

/// Seals the access tokens of an account anew under the floor's key, so that it can open them; 1 on success.
int floor_adopt(FloorStore *store, const char *home_account, const char *authority);

/// Finds and opens the access token with exactly this scope; 1 if found.
int floor_lookup(
    FloorStore *store, const char *home_account, const char *authority, const char *client, const char *realm,
    const char *scope, FloorToken *token
);

/// Finds out which row ids are free; needed before `floor_sign_in` whenever another connection has written.
void floor_expect_others(FloorStore *store);

/// Writes the rows of a first sign-in in one durable commit; 1 on success. `claims` holds names and values in turn.
int floor_sign_in(
    FloorStore *store, const char *const texts[FLOOR_TEXT_COUNT], const char *const *claims, int claim_count,
    int64_t now
);

#endif
