import Testing
import TokenStorage

/// Expects an error of `kind` whose text is one sentence that ends in what to do.
@discardableResult
func expectError(
    _ kind: TokenStoreError.Kind,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) -> TokenStoreError? {
    guard let error = #expect(throws: TokenStoreError.self, sourceLocation: sourceLocation, performing: body) else {
        return nil
    }
    let text = error.description
    #expect(error.kind == kind, "\(error)", sourceLocation: sourceLocation)
    #expect(
        text.contains("; "),
        "\(text)",
        sourceLocation: sourceLocation
    )
    #expect(
        !text.hasSuffix("."),
        "\(text)",
        sourceLocation: sourceLocation
    )
    #expect(
        !text.contains("\n"),
        "\(text)",
        sourceLocation: sourceLocation
    )
    return error
}
