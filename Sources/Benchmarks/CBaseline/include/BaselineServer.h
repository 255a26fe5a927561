#ifndef BASELINE_SERVER_H
#define BASELINE_SERVER_H

#include <stdint.h>

#include "BaselineStore.h"

/// A server's database, used with nothing around libpq and the cipher: one connection in pipeline mode, statements
/// prepared once, binary values, its own key. Not thread-safe.
///
/// What it leaves out, because only a store needs it: time limits, ids that are worked out, and unless it is told to
/// ask, questions about the account.
typedef struct BaselineServer BaselineServer;

/// `settings` is a connection string of libpq; NULL if libpq is missing or the server does not take the connection.
BaselineServer *baseline_server_open(const char *settings);
void baseline_server_close(BaselineServer *server);

/// Seals the access tokens of an account anew under the floor's key, so that it can open them; 1 on success.
int baseline_server_adopt(BaselineServer *server, int64_t account);

/// Finds and opens the access token with exactly this scope; 1 if found. Where wanted, it asks in the same statement
/// whether the account has signed out of the client.
int baseline_server_lookup(
    BaselineServer *server, int64_t account, const char *client, const char *realm, const char *scope,
    int asks_state, BaselineToken *token
);

/// Remembers the rows of an account in `table`, whose column `key` holds the account; 1 on success.
int baseline_server_learn(BaselineServer *server, const char *table, const char *key, int64_t account);

/// Writes all remembered rows for a new account in one batch and one durable commit, each value sealed or hashed
/// anew; before it, where wanted, asks in a batch of its own what a store has to know first; 1 on success.
int baseline_server_sign_in(BaselineServer *server, int64_t account, int asks_first);

#endif
