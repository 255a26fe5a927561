#include "BaselineCipher.h"

#include <CCryptoBoringSSL_digest.h>
#include <CCryptoBoringSSL_rand.h>
#include <sqlite3.h>
#include <string.h>

int baseline_cipher_init(BaselineCipher *cipher) {
    uint8_t key[32];
    RAND_bytes(key, sizeof key);
    cipher->sealing = EVP_AEAD_CTX_new(EVP_aead_aes_256_gcm(), key, sizeof key, BASELINE_TAG);
    cipher->hashing = HMAC_CTX_new();
    return cipher->sealing && cipher->hashing && HMAC_Init_ex(cipher->hashing, key, sizeof key, EVP_sha256(), NULL);
}

void baseline_cipher_free(BaselineCipher *cipher) {
    EVP_AEAD_CTX_free(cipher->sealing);
    HMAC_CTX_free(cipher->hashing);
}

static uint8_t *put_number(uint8_t *out, uint64_t number, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) *out++ = (uint8_t)(number >> (8 * i));
    return out;
}

static uint8_t *put_text(uint8_t *out, const char *text) {
    size_t count = strlen(text);
    out = put_number(out, count, 4);
    memcpy(out, text, count);
    return out + count;
}

void baseline_add_text(BaselineColumns *columns, const char *text) {
    size_t count = text ? strlen(text) : 0;
    if (columns->count + 9 + count > sizeof columns->bytes) return;
    uint8_t *start = columns->bytes + columns->count, *end = start;
    *end++ = text ? SQLITE_TEXT : SQLITE_NULL;
    if (text) {
        end = put_number(end, count, 8);
        memcpy(end, text, count);
        end += count;
    }
    columns->count += (size_t)(end - start);
}

void baseline_add_integer(BaselineColumns *columns, int64_t number) {
    if (columns->count + 9 > sizeof columns->bytes) return;
    uint8_t *start = columns->bytes + columns->count;
    *start = SQLITE_INTEGER;
    put_number(start + 1, (uint64_t)number, 8);
    columns->count += 9;
}

enum { ASSOCIATED_ROOM = 128 + sizeof(BaselineColumns) };

static size_t associated_data(uint8_t out[ASSOCIATED_ROOM], const uint8_t *header, BaselinePlace place) {
    memcpy(out, header, BASELINE_HEADER);
    uint8_t *end = put_text(put_text(out + BASELINE_HEADER, place.table), place.column);
    end = put_number(put_number(end, (uint64_t)place.owner, 8), (uint64_t)place.row, 8);
    if (place.columns) {
        memcpy(end, place.columns->bytes, place.columns->count);
        end += place.columns->count;
    }
    return (size_t)(end - out);
}

size_t baseline_seal(BaselineCipher *cipher, uint8_t *sealed, const void *text, size_t count, BaselinePlace place) {
    uint8_t associated[ASSOCIATED_ROOM];
    sealed[0] = 2;
    put_number(sealed + 1, 1, 4);
    size_t associated_count = associated_data(associated, sealed, place);
    uint8_t *nonce = sealed + BASELINE_HEADER, *box = nonce + BASELINE_NONCE;
    RAND_bytes(nonce, BASELINE_NONCE);
    size_t written = 0;
    int ok = EVP_AEAD_CTX_seal(
        cipher->sealing, box, &written, count + BASELINE_TAG, nonce, BASELINE_NONCE, text, count, associated,
        associated_count
    );
    return ok ? BASELINE_HEADER + BASELINE_NONCE + written : 0;
}

int baseline_open_sealed(
    BaselineCipher *cipher, uint8_t *text, size_t room, const uint8_t *sealed, size_t count, BaselinePlace place
) {
    if (count < BASELINE_OVERHEAD) return -1;
    uint8_t associated[ASSOCIATED_ROOM];
    size_t associated_count = associated_data(associated, sealed, place);
    const uint8_t *nonce = sealed + BASELINE_HEADER, *box = nonce + BASELINE_NONCE;
    size_t written = 0;
    int ok = EVP_AEAD_CTX_open(
        cipher->sealing, text, &written, room, nonce, BASELINE_NONCE, box, count - BASELINE_HEADER - BASELINE_NONCE,
        associated, associated_count
    );
    return ok ? (int)written : -1;
}

void baseline_hash(BaselineCipher *cipher, uint8_t hash[32], const char *name, const char *value) {
    HMAC_CTX code;
    HMAC_CTX_init(&code);
    HMAC_CTX_copy(&code, cipher->hashing);
    if (value) {
        uint8_t count[4];
        put_number(count, strlen(name), 4);
        HMAC_Update(&code, count, sizeof count);
    }
    HMAC_Update(&code, (const uint8_t *)name, strlen(name));
    if (value) HMAC_Update(&code, (const uint8_t *)value, strlen(value));
    unsigned size = 32;
    HMAC_Final(&code, hash, &size);
    HMAC_CTX_cleanup(&code);
}
