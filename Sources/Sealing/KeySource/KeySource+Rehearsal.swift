import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// What is found out before a person signs in to a store that is yet to be made, where a key that cannot be had
// afterwards would cost the session, and in a trial of a move to another source.

extension KeySource {
    /// Makes sure, as far as it can be known, that ``create(_:)`` will have a key; makes none, asks nobody, and reads
    /// nothing that can be read only once.
    package func requireUsable(_ context: KeySourceContext) throws(SealingError) {
        switch location {
        case .file(let path):
            try keyFile(path, context, isNew: true).requireUsable(besideStoreIn: context.directory)
        case .passphrase(let descriptor): try passphraseKey(descriptor, context).passphrase.requireGiven()
        case .secretService, .keychain:
            do throws(SealingError) {
                _ = try load(context)
            } catch let error where error.code == .keyAbsent {
                // It is open, and has no key of a store that is not there.
            }
        case .credential, .environment: _ = try create(context)
        case .command(let path): try CommandKey(path: path, context: context).requireProgram()
        }
    }
}

extension KeyFile {
    /// Makes sure that there is a key, or a directory to make one in; that of the store is made with the store.
    fileprivate func requireUsable(besideStoreIn directory: String) throws(SealingError) {
        do throws(SealingError) {
            _ = try load()
        } catch let error where error.code == .keyAbsent {
            let parent = PathParts(path).directory
            let place = PathParts.partlyResolved(parent)
            // What is missing of the store's path is made with the store.
            let isOfStore = (directory + "/").utf8.starts(with: (place == "/" ? place : place + "/").utf8)
            if isOfStore, access(place, F_OK) != 0 { return }
            let absent = SealingError.keyAbsent("the directory \(parent) is missing", .createDirectory(parent))
            _ = try OpenFile(parent, O_RDONLY | O_DIRECTORY, absent: absent)
            // Gone again at once.
            _ = try draft()
        }
    }
}
