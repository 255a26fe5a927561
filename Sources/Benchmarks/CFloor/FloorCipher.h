#ifndef FLOOR_CIPHER_H
#define FLOOR_CIPHER_H

#include <CCryptoBoringSSL_aead.h>
#include <CCryptoBoringSSL_hmac.h>
#include <stddef.h>
#include <stdint.h>

enum { FLOOR_HEADER = 5, FLOOR_NONCE = 12, FLOOR_TAG = 16, FLOOR_OVERHEAD = FLOOR_HEADER + FLOOR_NONCE + FLOOR_TAG };

/// AES-256-GCM and HMAC-SHA-256 of the library that the store itself uses, so that a ratio to this floor is about
/// the store and not about two cipher implementations.
typedef struct {
    EVP_AEAD_CTX *sealing;
    HMAC_CTX *hashing;
} FloorCipher;

/// The clear columns of a row as the store binds its sealed values to them, with their types and lengths.
typedef struct {
    uint8_t bytes[4096];
    size_t count;
} FloorColumns;

/// Adds a text, or NULL; one for which there is no room is left out.
void floor_add_text(FloorColumns *columns, const char *text);
void floor_add_integer(FloorColumns *columns, int64_t number);

/// Where a sealed value stands, as the store writes it into the associated data; `columns` may be NULL.
typedef struct {
    const char *table, *column;
    int64_t owner, row;
    const FloorColumns *columns;
} FloorPlace;

int floor_cipher_init(FloorCipher *cipher);
void floor_cipher_free(FloorCipher *cipher);

/// Seals into `sealed`, which has room for `count` + FLOOR_OVERHEAD bytes; returns their number, or 0.
size_t floor_seal(FloorCipher *cipher, uint8_t *sealed, const void *text, size_t count, FloorPlace place);

/// Opens into `text`; returns the number of bytes, or -1.
int floor_open_sealed(
    FloorCipher *cipher, uint8_t *text, size_t room, const uint8_t *sealed, size_t count, FloorPlace place
);

/// The keyed hash of up to two texts, the first with its length in front as in the claim index.
void floor_hash(FloorCipher *cipher, uint8_t hash[32], const char *name, const char *value);

#endif
