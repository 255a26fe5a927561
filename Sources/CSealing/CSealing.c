#include "CSealing.h"

// The BoringSSL inside swift-crypto, whose own interface makes the schedule of a key anew for each value,
// and passes each hash through several layers.
#if __has_include(<CCryptoBoringSSL_aead.h>)

#include <CCryptoBoringSSL_aead.h>
#include <CCryptoBoringSSL_mem.h>
#include <CCryptoBoringSSL_sha.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static EVP_AEAD_CTX *context(const CSealingKey *key) { return (EVP_AEAD_CTX *)key; }

CSealingKey *CSealingKeyCreate(const void *bytes) {
    EVP_AEAD_CTX *made = EVP_AEAD_CTX_new(EVP_aead_aes_256_gcm(), bytes, 32, CSealingTagCount);
    if (made) (void)mlock(made, sizeof *made);
    return (CSealingKey *)made;
}

void CSealingKeyDestroy(CSealingKey *key) { EVP_AEAD_CTX_free(context(key)); }

int CSealingSeal(
    const CSealingKey *key, void *sealed, const void *nonce, const void *plaintext, size_t count,
    const void *associated, size_t associatedCount
) {
    size_t written = 0;
    return EVP_AEAD_CTX_seal(
        context(key), sealed, &written, count + CSealingTagCount, nonce, CSealingNonceCount, plaintext, count,
        associated, associatedCount
    );
}

int CSealingOpen(
    const CSealingKey *key, void *plaintext, const void *nonce, const void *sealed, size_t count,
    const void *associated, size_t associatedCount
) {
    size_t written = 0;
    return EVP_AEAD_CTX_open(
        context(key), plaintext, &written, count, nonce, CSealingNonceCount, sealed, count + CSealingTagCount,
        associated, associatedCount
    );
}

struct CSealingHash {
    /// The hash of the key's inner and of its outer block.
    SHA256_CTX inner, outer;
};

static void start(SHA256_CTX *hash, const uint8_t *key, size_t keyCount, uint8_t pad) {
    uint8_t block[SHA256_CBLOCK] = {0};
    memcpy(block, key, keyCount);
    for (size_t i = 0; i < sizeof block; i++) block[i] ^= pad;
    SHA256_Init(hash);
    SHA256_Update(hash, block, sizeof block);
    OPENSSL_cleanse(block, sizeof block);
}

CSealingHash *CSealingHashCreate(const void *key, size_t keyCount) {
    if (keyCount > SHA256_CBLOCK) return NULL;
    CSealingHash *made = malloc(sizeof *made);
    if (!made) return NULL;
    (void)mlock(made, sizeof *made);
    start(&made->inner, key, keyCount, 0x36);
    start(&made->outer, key, keyCount, 0x5c);
    return made;
}

void CSealingHashDestroy(CSealingHash *hash) {
    OPENSSL_cleanse(hash, sizeof *hash);
    free(hash);
}

void CSealingHashBytes(const CSealingHash *hash, void *code, size_t codeCount, const void *bytes, size_t count) {
    uint8_t digest[CSealingHashCount];
    SHA256_CTX state = hash->inner;
    SHA256_Update(&state, bytes, count);
    SHA256_Final(digest, &state);
    // The first state's buffer has the end of the bytes, which may be a token.
    OPENSSL_cleanse(&state, sizeof state);
    state = hash->outer;
    SHA256_Update(&state, digest, sizeof digest);
    SHA256_Final(digest, &state);
    memcpy(code, digest, codeCount < sizeof digest ? codeCount : sizeof digest);
    OPENSSL_cleanse(&state, sizeof state);
    OPENSSL_cleanse(digest, sizeof digest);
}

#else

CSealingKey *CSealingKeyCreate(const void *bytes) {
    (void)bytes;
    return NULL;
}

void CSealingKeyDestroy(CSealingKey *key) { (void)key; }

int CSealingSeal(
    const CSealingKey *key, void *sealed, const void *nonce, const void *plaintext, size_t count,
    const void *associated, size_t associatedCount
) {
    return 0;
}

int CSealingOpen(
    const CSealingKey *key, void *plaintext, const void *nonce, const void *sealed, size_t count,
    const void *associated, size_t associatedCount
) {
    return 0;
}

CSealingHash *CSealingHashCreate(const void *key, size_t keyCount) {
    (void)key;
    (void)keyCount;
    return NULL;
}

void CSealingHashDestroy(CSealingHash *hash) { (void)hash; }

void CSealingHashBytes(const CSealingHash *hash, void *code, size_t codeCount, const void *bytes, size_t count) {}

#endif
