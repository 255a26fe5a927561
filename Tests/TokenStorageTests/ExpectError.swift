import OAuth
import Testing
import TokenStorage

/// What a program tells apart, by its exit status for example.
enum StoreErrorKind {
    case failure
    case selection
    case busy
    case damaged
    case keyUnavailable
    case newerStore

    init(_ code: TokenStoreError.Code) {
        self =
            switch code {
            case .damaged: .damaged
            case .busy: .busy
            case .key: .keyUnavailable
            case .newerStore: .newerStore
            case .ambiguousAccount: .selection
            default: .failure
            }
    }
}

/// Expects an error of `kind` that says in one sentence what happened, and beside it what to do.
@discardableResult
func expectError(
    _ kind: StoreErrorKind,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) -> TokenStoreError? {
    guard let error = #expect(throws: TokenStoreError.self, sourceLocation: sourceLocation, performing: body) else {
        return nil
    }
    #expect(StoreErrorKind(error.code) == kind, "\(error)", sourceLocation: sourceLocation)
    #expect(error.remedy != nil, "\(error)", sourceLocation: sourceLocation)
    for text in [error.problem, error.remedy?.advice ?? ""] {
        #expect(!text.hasSuffix("."), "\(text)", sourceLocation: sourceLocation)
        #expect(!text.contains("\n"), "\(text)", sourceLocation: sourceLocation)
    }
    return error
}
