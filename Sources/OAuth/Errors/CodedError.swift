#if canImport(FoundationEssentials)
public import FoundationEssentials

/// What all errors of this package have in common: a code to tell them apart by, the problem as a sentence, and what
/// to do about it as data.
///
/// A new version may add codes and remedies; handle those that matter to the program and show the rest.
/// On Linux, `CustomNSError` comes with the module `TokenStoreKit`, so that the storage alone needs no Foundation.
public protocol CodedError: CodedErrorFacts, LocalizedError {}
#else
public import Foundation

/// What all errors of this package have in common: a code to tell them apart by, the problem as a sentence, and what
/// to do about it as data.
///
/// A new version may add codes and remedies; handle those that matter to the program and show the rest.
public protocol CodedError: CodedErrorFacts, LocalizedError, CustomNSError {}

extension CodedError {
    public static var errorDomain: String { domain }
    public var errorCode: Int { number }
    public var errorUserInfo: [String: Any] { localizedTexts }
}
#endif

/// The members of ``CodedError``.
public protocol CodedErrorFacts: Error, CustomStringConvertible {
    associatedtype Code: ErrorCode

    /// The domain of the `NSError`, such as `TokenStorage.TokenStoreError`; it never changes.
    static var domain: String { get }

    /// Which problem it is.
    var code: Code { get }

    /// What happened: one sentence of bounded length, without a full stop, advice or secrets.
    var problem: String { get }

    /// What to do about it; nil where nothing is known to help.
    var remedy: Remedy? { get }
}

/// The codes of one type of errors: an open set, to which a new version may add.
public protocol ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible where RawValue == String {
    init(rawValue: String)

    /// The codes that this version knows. New ones are added at the end: the place of a code is its number.
    static var known: [Self] { get }
}

extension ErrorCode {
    /// The name of the code.
    public var description: String { rawValue }
}

extension CodedErrorFacts {
    /// The code of the `NSError`, which never changes; 0 if this version does not know ``code``.
    public var number: Int { (Code.known.firstIndex(of: code) ?? -1) + 1 }

    /// The problem, and what to do about it: for a log.
    public var description: String { remedy.map { "\(problem); \($0.advice)" } ?? problem }

    /// The texts for the `userInfo` of an `NSError`.
    public var localizedTexts: [String: Any] {
        var texts = ["NSLocalizedDescription": problem]
        texts["NSLocalizedRecoverySuggestion"] = remedy?.advice
        return texts
    }
}

extension CodedError {
    /// The problem, as an alert shows it.
    public var errorDescription: String? { problem }

    /// What to do about it.
    public var recoverySuggestion: String? { remedy?.advice }

    public var failureReason: String? { nil }
    public var helpAnchor: String? { nil }
}

extension String {
    /// The text with its middle left out if it is longer than any sentence: issuers and files may put anything into
    /// an error.
    package var boundedSentence: String {
        let longest = 1_200
        guard utf8.count > longest else { return self }
        let scalars = unicodeScalars
        guard scalars.count > longest else { return self }
        return String(scalars.prefix(longest - 200)) + " [...] " + String(scalars.suffix(190))
    }
}
