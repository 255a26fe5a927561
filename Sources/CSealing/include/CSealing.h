#pragma once

#include <stddef.h>

/// A 256-bit key of AES-GCM (NIST SP 800-38D) whose schedule was made once.
///
/// Any number of threads may seal and open with one key at once, as BoringSSL promises of its own.
typedef struct CSealingKey CSealingKey;

enum { CSealingNonceCount = 12, CSealingTagCount = 16 };

/// The key of these 32 bytes, in memory that is not swapped out as far as the system allows.
///
/// Returns NULL where swift-crypto brings no BoringSSL along, as on Apple's systems.
CSealingKey *CSealingKeyCreate(const void *bytes);

/// Overwrites the key.
void CSealingKeyDestroy(CSealingKey *key);

/// Writes the ciphertext and the tag of `count` bytes. Returns 1, or 0 for a value that is too large.
int CSealingSeal(
    const CSealingKey *key, void *sealed, const void *nonce, const void *plaintext, size_t count,
    const void *associated, size_t associatedCount
);

/// Writes the plaintext of a ciphertext of `count` bytes with the tag behind it. Returns 1, or 0 if it does not open.
int CSealingOpen(
    const CSealingKey *key, void *plaintext, const void *nonce, const void *sealed, size_t count,
    const void *associated, size_t associatedCount
);

/// HMAC with SHA-256 (RFC 2104) under a key whose two blocks were hashed once.
///
/// Any number of threads may hash with one key at once.
typedef struct CSealingHash CSealingHash;

enum { CSealingHashCount = 32 };

/// The hash under this key of at most 64 bytes, in memory that is not swapped out as far as the system allows.
///
/// Returns NULL where swift-crypto brings no BoringSSL along, as on Apple's systems.
CSealingHash *CSealingHashCreate(const void *key, size_t keyCount);

/// Overwrites the key.
void CSealingHashDestroy(CSealingHash *hash);

/// Writes the first `codeCount` bytes, at most 32, of the code of `count` bytes.
void CSealingHashBytes(const CSealingHash *hash, void *code, size_t codeCount, const void *bytes, size_t count);
