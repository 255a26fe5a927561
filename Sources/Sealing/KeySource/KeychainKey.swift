import OAuth

#if canImport(Security)
import Foundation
import Security
#endif

/// A key in the keychain of Apple's systems: on this device alone, and readable once the device was unlocked after a
/// start.
///
/// It is an item of the data protection keychain, which keeps apart the programs of different teams. On macOS only a
/// signed program with a keychain access group can use that.
struct KeychainKey {
    /// The group whose programs share the key; nil: the program's own.
    let accessGroup: String?
    let context: KeySourceContext

    #if canImport(Security)
    private static let service = "tokenstore"

    func load() throws(SealingError) -> KeyEncryptionKey {
        guard let key = try find() else {
            throw .keyAbsent(
                "the keychain holds no key of this store (service \(Self.service), account \(store))",
                Remedy(.restore, "restore the device from an encrypted backup of its own, nothing else opens the store")
            )
        }
        return key
    }

    /// The key in the keychain, or a new one that was read back.
    func create() throws(SealingError) -> KeyEncryptionKey {
        if let key = try find() { return key }
        let bytes = Secret.random(count: KeyEncryptionKey.byteCount)
        var value = bytes.withUnsafeBytes { Data($0) }
        defer { value.resetBytes(in: 0..<value.count) }
        var item = query
        item[kSecValueData] = value
        item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        item[kSecAttrLabel] = "tokenstore"
        let status = SecItemAdd(item as CFDictionary, nil)
        // Another process made one first, which is found below.
        guard status == errSecSuccess || status == errSecDuplicateItem else { throw Self.failure(status) }
        guard let key = try find(), status == errSecDuplicateItem || key.id == KeyEncryptionKey(bytes: bytes).id else {
            throw .keyUnavailable(
                "the keychain did not keep the key it was given",
                .changeKey("choose another key source")
            )
        }
        return key
    }

    private var store: String { context.storeID.hexadecimal }

    /// What names the item of a store.
    private var query: [CFString: Any] {
        var query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: Self.service, kSecAttrAccount: store,
            kSecUseDataProtectionKeychain: true, kSecAttrSynchronizable: false,
        ]
        if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
        return query
    }

    /// nil if the keychain answers and has no such item.
    private func find() throws(SealingError) -> KeyEncryptionKey? {
        var request = query
        request[kSecReturnData] = true
        request[kSecMatchLimit] = kSecMatchLimitOne
        var found: CFTypeRef?
        let status = SecItemCopyMatching(request as CFDictionary, &found)
        guard status != errSecItemNotFound else { return nil }
        guard status == errSecSuccess else { throw Self.failure(status) }
        guard var value = found as? Data, value.count == KeyEncryptionKey.byteCount else {
            throw .keyMalformed(
                "the keychain's item for this store (\(store)) is not a key",
                Remedy(.restore, "restore the device from an encrypted backup of its own")
            )
        }
        defer { value.resetBytes(in: 0..<value.count) }
        return KeyEncryptionKey(bytes: value.withUnsafeBytes { Secret(copying: $0) })
    }

    private static func failure(_ status: OSStatus) -> SealingError {
        switch status {
        case errSecInteractionNotAllowed:
            .keyLocked("the keychain is locked until the device was unlocked once", .provideKey("unlock the device"))
        case errSecMissingEntitlement:
            .keyUnavailable(
                "the program may not use the keychain, or not this access group",
                .changeKey("sign it with a keychain access group, or choose another key source", to: "file")
            )
        default:
            .keyUnavailable(
                "the keychain answered \(SecCopyErrorMessageString(status, nil) as String? ?? "error \(status)")",
                .provideKey("try again, or choose another key source")
            )
        }
    }
    #else
    func load() throws(SealingError) -> KeyEncryptionKey { throw Self.forApple }

    func create() throws(SealingError) -> KeyEncryptionKey { throw Self.forApple }

    private static let forApple = SealingError.keyUnavailable(
        "the key source keychain is for Apple's systems",
        .changeKey("choose another one", to: "file")
    )
    #endif
}
