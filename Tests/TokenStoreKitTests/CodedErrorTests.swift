import Foundation
import Testing
import TokenStoreKit

/// What holds for every type of errors: as a value, in an alert and as an `NSError`.
struct CodedErrorTests {
    private static let remedy = Remedy.retry(after: .seconds(3))

    /// The place of a code is its number, which apps may have written down: only the end of a list may change.
    @Test func `known codes keep their numbers`() {
        #expect(
            TokenStoreError.Code.known.map(\.rawValue) == [
                "damaged", "busy", "key", "newer_store", "older_store", "insecure", "unsupported", "file", "storage",
                "not_an_msal_cache", "invalid_argument", "ambiguous_account", "user_flow_mismatch", "not_stored",
                "other_account",
            ]
        )
        #expect(
            SealingError.Code.known.map(\.rawValue) == [
                "key_absent", "key_locked", "key_unavailable", "key_busy", "key_insecure", "key_malformed", "other_key",
                "unusable_source", "damaged_data_key", "unknown_data_key", "damaged_value", "unknown_format",
                "value_too_large",
            ]
        )
    }

    @Test func `domains are the names of the types`() {
        #expect(TokenStoreError.domain == "TokenStorage.TokenStoreError")
        #expect(SealingError.domain == "Sealing.SealingError")
    }

    @Test func `an error is a value, a text for an alert and an NSError`() {
        check { TokenStoreError($0, $1, $2) }
        check { SealingError($0, $1, $2) }
    }

    private func check<Failure: CodedError & CustomNSError & Equatable>(
        _ make: (Failure.Code, String, Remedy?) -> Failure,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let unknown = Failure.Code(rawValue: "of_a_later_version")
        let codes = Failure.Code.known + [unknown]
        for code in codes {
            let error = make(code, "the store is away", Self.remedy)
            #expect(error == make(code, "the store is away", Self.remedy), sourceLocation: sourceLocation)
            #expect(error != make(code, "the store is away", nil), sourceLocation: sourceLocation)
            #expect(error.description == "the store is away; try again in 3 s", sourceLocation: sourceLocation)
            let bridged = error as any Error as NSError
            #expect(bridged.domain == Failure.domain, sourceLocation: sourceLocation)
            #expect(bridged.code == error.number, sourceLocation: sourceLocation)
            #expect(bridged.localizedDescription == "the store is away", sourceLocation: sourceLocation)
            #expect(bridged.localizedRecoverySuggestion == "try again in 3 s", sourceLocation: sourceLocation)
            #expect((error as any Error).localizedDescription == "the store is away", sourceLocation: sourceLocation)
        }
        let numbers = codes.map { make($0, "", nil).number }
        #expect(numbers == Array(1..<codes.count) + [0], sourceLocation: sourceLocation)
        #expect(make(unknown, "", nil) != make(codes[0], "", nil), sourceLocation: sourceLocation)
        let long = make(unknown, String(repeating: "é", count: 100_000), nil)
        #expect(long.problem.count < 1_300, sourceLocation: sourceLocation)
    }

    @Test func `an unknown remedy still has words`() {
        let remedy = Remedy(Remedy.Code(rawValue: "of_a_later_version"), "turn it off and on")
        let error = TokenStoreError(.storage, "the disk sleeps", remedy)
        #expect(error.recoverySuggestion == "turn it off and on")
    }
}
