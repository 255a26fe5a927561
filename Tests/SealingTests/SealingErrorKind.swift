import OAuth
import Sealing
import Testing

/// The cases of `SealingError` whose value is a sentence.
enum SealingErrorKind {
    case absent
    case locked
    case unavailable
    case insecure
    case malformed
    case unusable
}

/// Expects an error of `kind` whose sentence holds `fragments` and tells what to do.
func expect(
    _ kind: SealingErrorKind,
    saying fragments: String...,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) {
    let error = #expect(throws: SealingError.self, sourceLocation: sourceLocation, performing: body)
    guard let error else { return }
    let found: SealingErrorKind? =
        switch error.code {
        case .keyAbsent: .absent
        case .keyLocked: .locked
        case .keyUnavailable: .unavailable
        case .keyInsecure: .insecure
        case .keyMalformed: .malformed
        case .unusableSource: .unusable
        default: nil
        }
    #expect(found == kind, "\(error)", sourceLocation: sourceLocation)
    #expect(error.remedy != nil, "\(error)", sourceLocation: sourceLocation)
    for fragment in fragments {
        #expect(error.description.contains(fragment), sourceLocation: sourceLocation)
    }
    #expect(!error.description.hasSuffix("."), sourceLocation: sourceLocation)
}
