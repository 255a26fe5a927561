#include "CSealing.h"

// The BoringSSL inside swift-crypto, whose own interface makes the schedule of a key anew for each value.
#if __has_include(<CCryptoBoringSSL_aead.h>)

#include <CCryptoBoringSSL_aead.h>
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

#endif
