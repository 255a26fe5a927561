#ifndef BASELINE_CIPHER_H
#define BASELINE_CIPHER_H

#include <CCryptoBoringSSL_aead.h>
#include <CCryptoBoringSSL_hmac.h>
#include <stddef.h>
#include <stdint.h>

enum { BASELINE_HEADER = 5, BASELINE_NONCE = 12, BASELINE_TAG = 16, BASELINE_OVERHEAD = BASELINE_HEADER + BASELINE_NONCE + BASELINE_TAG };

/// AES-256-GCM and HMAC-SHA-256 of the library that the store itself uses, so that a ratio to this floor is about
/// the store and not about two cipher implementations.
typedef struct {
    EVP_AEAD_CTX *sealing;
    HMAC_CTX *hashing;
} BaselineCipher;

/// The clear columns of a row as the store binds its sealed values to them, with their types and lengths.
typedef struct {
    uint8_t bytes[4096];
    size_t count;
} BaselineColumns;

/// Adds a text, or NULL; a text that does not fit is left out.
void baseline_add_text(BaselineColumns *columns, const char *text);
void baseline_add_integer(BaselineColumns *columns, int64_t number);

/// Where a sealed value stands, as the store writes it into the associated data; `columns` may be NULL.
typedef struct {
    const char *table, *column;
    int64_t owner, row;
    const BaselineColumns *columns;
} BaselinePlace;

int baseline_cipher_init(BaselineCipher *cipher);
void baseline_cipher_free(BaselineCipher *cipher);

/// Seals into `sealed`, which has room for `count` + BASELINE_OVERHEAD bytes; returns their number, or 0.
size_t baseline_seal(BaselineCipher *cipher, uint8_t *sealed, const void *text, size_t count, BaselinePlace place);

/// Opens into `text`; returns the number of bytes, or -1.
int baseline_open_sealed(
    BaselineCipher *cipher, uint8_t *text, size_t room, const uint8_t *sealed, size_t count, BaselinePlace place
);

/// The keyed hash of up to two texts, the first with its length in front as in the claim index.
void baseline_hash(BaselineCipher *cipher, uint8_t hash[32], const char *name, const char *value);

#endif
