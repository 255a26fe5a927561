import TokenStoreCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The ways into `tokenstore-fuzz`, which is two programs.
///
/// Built with libFuzzer it looks for bytes that break a promise, and keeps what it learns in the first folder:
///
/// ```sh
/// swift build -c release --sanitize fuzzer --scratch-path .build-fuzzer --product tokenstore-fuzz
/// FUZZ_INPUT=Redirect .build-fuzzer/release/tokenstore-fuzz -max_total_time=600 -timeout=2 \
///     -dict=Tests/FuzzingTests/Dictionaries/Redirect.dict corpus Tests/FuzzingTests/Corpus/Redirect
/// FUZZ_INPUT=Redirect .build-fuzzer/release/tokenstore-fuzz -merge=1 smallest corpus
/// ```
///
/// Built without it, it runs the files and folders that it is given, once:
/// `FUZZ_INPUT=Redirect tokenstore-fuzz crash-1`.
///
/// What breaks a promise is added to the corpus once it no longer does, and `FuzzingTests` run that in every test run.
enum FuzzTarget {
    fileprivate static let input: any FuzzInput = {
        let name = ProcessInfo.processInfo.environment["FUZZ_INPUT"] ?? ""
        guard let kind = InputKind(rawValue: name) else {
            end("FUZZ_INPUT is none of \(InputKind.allCases.map(\.rawValue).joined(separator: ", ")); set it", 64)
        }
        do { return try kind.input() } catch { end("\(name) cannot be prepared: \(error)", 1) }
    }()

    fileprivate static func end(_ sentence: String, _ status: CInt) -> Never {
        say("tokenstore-fuzz: \(sentence)")
        exit(status)
    }

    fileprivate static func say(_ sentence: String) {
        var line = sentence + "\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    fileprivate static func files(_ path: String) throws -> [String] {
        var isFolder = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder else { return [path] }
        return try FileManager.default.contentsOfDirectory(atPath: path).sorted().map { path + "/" + $0 }
    }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func runFuzzInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        let bytes = Array(UnsafeBufferPointer(start: bytes, count: count))
        try AsynchronousWork.run { try await FuzzTarget.input.run(bytes) }
    } catch {
        FuzzTarget.say("\(type(of: error)): \(error)")
        abort()
    }
    return 0
}

@_cdecl("FuzzingReplay")
public func replayFuzzInputs() -> CInt {
    var file = ""
    do {
        let files = try CommandLine.arguments.dropFirst().flatMap(FuzzTarget.files)
        for path in files {
            file = path
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            try AsynchronousWork.run { try await FuzzTarget.input.run(bytes) }
        }
        print("\(files.count) inputs, and every promise was kept")
        return 0
    } catch {
        FuzzTarget.end("\(file): \(error)", 1)
    }
}

/// The inputs that are fuzzed, under the names of their folders in `Tests/FuzzingTests/Corpus`.
package enum InputKind: String, CaseIterable, Sendable {
    case arguments = "Arguments"
    case challenge = "Challenge"
    case credential = "Credential"
    case database = "Database"
    case discovery = "Discovery"
    case dpop = "DPoP"
    case idToken = "IDToken"
    case msalCache = "MSALCache"
    case nativeReply = "NativeReply"
    case redirect = "Redirect"
    case storeAddress = "StoreAddress"
    case tokenResponse = "TokenResponse"

    package func input() throws -> any FuzzInput {
        switch self {
        case .arguments: ArgumentsInput()
        case .challenge: ChallengeInput()
        case .credential: CredentialInput()
        case .database: try DatabaseInput()
        case .discovery: try DiscoveryInput()
        case .dpop: try DPoPInput()
        case .idToken: try IDTokenInput()
        case .msalCache: try MSALCacheInput()
        case .nativeReply: try NativeReplyInput()
        case .redirect: RedirectInput()
        case .storeAddress: StoreAddressInput()
        case .tokenResponse: try TokenResponseInput()
        }
    }
}

/// Input from outside, and what has to hold for every input.
///
/// The bytes may be refused, by an error of this package alone. They may not end the process, nor hold it up, nor
/// change what they were refused by.
package protocol FuzzInput: Sendable {
    /// - Throws: ``BrokenPromise``, or the very error that should not have been.
    func run(_ bytes: [UInt8]) async throws
}

extension FuzzInput {
    func hold(_ isKept: Bool, _ promise: @autoclosure () -> String) throws {
        guard isKept else { throw BrokenPromise(promise()) }
    }

    /// The result of `body`; nil if it was refused by an error of one of `types` that says why.
    func unlessRefused<Result>(by types: any Error.Type..., body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch {
            guard types.contains(where: { $0 == type(of: error) }) else { throw error }
            try hold(!"\(error)".isEmpty, "an error has a description")
            return nil
        }
    }
}

/// A result that no input may cause.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String

    init(_ promise: String) { description = "this does not hold: \(promise)" }
}
