/// Input from outside, and what has to hold whatever it is.
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
            try hold(!"\(error)".isEmpty, "an error says what is wrong")
            return nil
        }
    }
}

/// Something that no input may bring about.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String

    init(_ promise: String) { description = "this does not hold: \(promise)" }
}
