/// Returns once `isThere` holds.
///
/// A machine may be slow, but what does not come within five minutes does not come.
///
/// - Throws: ``ExpectationFailure``, what `isThere` throws.
package func eventually(
    _ what: String,
    isolation: isolated (any Actor)? = #isolation,
    _ isThere: () throws -> Bool
) async throws {
    // Long, for all tests run at once: a task of one may wait minutes for its turn on two cores.
    let end = ContinuousClock.now + .seconds(300)
    while try !isThere() {
        guard ContinuousClock.now < end else { throw ExpectationFailure(what) }
        try await Task.sleep(for: .milliseconds(5))
    }
}
