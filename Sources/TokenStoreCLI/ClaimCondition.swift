import ArgumentParser
import OAuth
import TokenStorage

/// What `--where` asks of a claim.
struct ClaimCondition {
    let policy: AccountPolicy

    /// Whether it cannot be answered by the index of claims.
    private(set) var opensTokens = false

    init(parsing text: String) throws {
        // Not by characters: a value may begin with an accent, which would be one character with the sign before it.
        let scalars = text.unicodeScalars
        guard let sign = scalars.firstIndex(of: "=") else {
            policy = .claim(try Self.name(text[...], of: text))
            return
        }
        let value = String(scalars[scalars.index(after: sign)...])
        let name = text[..<sign]
        if name.hasSuffix("~") {
            opensTokens = true
            policy = .claim(try Self.name(name.dropLast(), of: text), contains: value)
        } else {
            policy = .claim(try Self.name(name, of: text), equals: .string(value))
        }
    }

    private static func name(_ name: Substring, of text: String) throws -> String {
        guard !name.isEmpty else {
            throw ValidationError("'\(text)' names no claim; write NAME=VALUE, NAME~=TEXT or NAME.")
        }
        return String(name)
    }
}
