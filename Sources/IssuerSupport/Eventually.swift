/// Returns once `isThere` holds.
///
/// A machine may be slow, but what does not come within a minute does not come.
///
/// - Throws: ``ExpectationFailure``, what `isThere` throws.
package func eventually(
    _ what: String,
    isolation: isolated (any Actor)? = #isolation,
    _ isThere: () throws -> Bool
) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !isThere() {
        guard ContinuousClock.now < end else { throw ExpectationFailure(what) }
        try await Task.sleep(for: .milliseconds(5))
    }
}
