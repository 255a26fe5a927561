/// A set of scope tokens ([RFC 6749 §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3)).
///
/// Tokens are compared without regard to case, and their order and repetition carry no meaning; the text keeps their
/// case and their order.
public struct Scope: Sendable {
    /// The scope tokens in the order they were given, without repetition.
    public let tokens: [String]

    /// The tokens that take part in matching, folded, sorted and separated by single spaces: all but the reserved ones.
    package let foldedText: String

    /// Reads scope tokens separated by spaces; several spaces count as one.
    public init(_ text: String) {
        var text = text
        // Scope tokens are ASCII; to look for grapheme clusters in them costs more than all the rest of a lookup.
        let tokens = text.withUTF8 { bytes in bytes.allSatisfy { $0 < 0x80 } ? Self.words(bytes) : nil }
        self.init(tokens ?? text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace).map { String($0) })
    }

    /// A scope of these tokens, each once, in this order.
    public init(_ tokens: some Sequence<String>) {
        var seen: Set<[UInt8]> = []
        var folded: [String] = []
        var hasGoogleEmail = false
        self.tokens = tokens.filter { token in
            let lowered = token.lowercased()
            guard !token.isEmpty, seen.insert(Self.bytes(lowered)).inserted else { return false }
            if lowered.hasSameBytes(as: Self.googleEmail) {
                hasGoogleEmail = true
            } else if !Self.isReserved(lowered) {
                folded.append(lowered)
            }
            return true
        }
        if hasGoogleEmail, !folded.contains(where: { $0.hasSameBytes(as: Self.email) }) { folded.append(Self.email) }
        foldedText = Self.sorted(folded).joined(separator: " ")
    }

    private var folded: Set<[UInt8]> { Set(foldedText.utf8.split(separator: 0x20).map { [UInt8]($0) }) }

    /// By their bytes, as below.
    private static func sorted(_ tokens: [String]) -> [String] {
        tokens.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A token as sets have it: to hash or to compare texts takes quadratic time on combining marks.
    private static func bytes(_ token: String) -> [UInt8] { [UInt8](token.utf8) }

    private static func isReserved(_ lowered: String) -> Bool { reserved.contains { $0.hasSameBytes(as: lowered) } }

    /// Without `split`, whose type the runtime has to look for when a program does this first.
    private static func words(_ bytes: UnsafeBufferPointer<UInt8>) -> [String] {
        var words: [String] = []
        var start = 0
        for end in 0...bytes.count where end == bytes.count || isSpace(bytes[end]) {
            if start < end { words.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
            start = end + 1
        }
        return words
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }

    /// The tokens as one text, separated by single spaces.
    public var text: String { tokens.joined(separator: " ") }

    /// The tokens in a fixed order, whatever order they were given in.
    package var sortedText: String { Self.sorted(tokens).joined(separator: " ") }

    /// The tokens that ask for an ID token or a refresh token, and take no part in matching.
    package var reservedTokens: [String] { tokens.filter { Self.isReserved($0.lowercased()) } }

    /// Whether it has no token at all.
    public var isEmpty: Bool { tokens.isEmpty }

    /// Whether there is nothing to match: no token, or none but reserved ones.
    package var matchesNothing: Bool { foldedText.isEmpty }

    /// Whether a token has a character that no store takes and no scope has; what [RFC 6749
    /// §3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3) forbids besides is the issuer's to judge.
    package var hasControlCharacters: Bool { tokens.contains(where: \.hasControlCharacters) }

    /// Whether every token of `other` is in this set; reserved tokens take no part.
    public func covers(_ other: Scope) -> Bool { folded.isSuperset(of: other.folded) }

    /// The tokens that `granted` lacks; reserved ones take no part, nor does Microsoft's `.default`, which stands for
    /// what was consented to and is never granted by that name.
    package func missing(from granted: Scope) -> Scope {
        let known = granted.folded
        return Scope(
            tokens.filter { token in
                let lowered = token.lowercased()
                let isNamed = !Self.isReserved(lowered) && !lowered.hasSuffix("/.default")
                return isNamed && !known.contains(Self.bytes(lowered == Self.googleEmail ? Self.email : lowered))
            }
        )
    }

    /// Whether a token for `granted`, which covers this scope, is what this scope asks for.
    ///
    /// If it has only reserved tokens, they must be among those granted; otherwise a token for any API would do.
    package func isMet(by granted: @autoclosure () -> Scope) -> Bool {
        // What most tokens were granted need not be read.
        guard matchesNothing else { return true }
        let granted = granted()
        guard !granted.matchesNothing else { return true }
        return Set(granted.reservedTokens.map { Self.bytes($0.lowercased()) })
            .isSuperset(of: tokens.map { Self.bytes($0.lowercased()) })
    }

    /// What was granted to a request for `asked`, where that has only reserved tokens: an issuer need not name them, and
    /// the same request is answered by the same token.
    package func with(reservedTokensOf asked: Scope) -> Scope {
        asked.matchesNothing ? Scope(tokens + asked.tokens) : self
    }

    /// Whether both have a token in common; reserved tokens take no part, and neither does `email`.
    public func intersects(_ other: Scope) -> Bool { Self.intersect(foldedOfAPIs, other.foldedOfAPIs) }

    /// The same for what is left of both without the tokens of a third.
    package func intersects(_ other: Scope, besides shared: Scope) -> Bool {
        let left = shared.foldedOfAPIs
        return Self.intersect(foldedOfAPIs.subtracting(left), other.foldedOfAPIs.subtracting(left))
    }

    private static func intersect(_ own: Set<[UInt8]>, _ others: Set<[UInt8]>) -> Bool {
        own.isEmpty && others.isEmpty || !own.isDisjoint(with: others)
    }

    /// Without `email`, which asks for a claim: issuers grant it beside the scopes of any API, so that it does not tell
    /// which API a token is for.
    private var foldedOfAPIs: Set<[UInt8]> {
        // Each answer that is stored asks this of every token that it may replace.
        let tokens = foldedText.utf8.split(separator: 0x20)
        return Set(tokens.lazy.filter { !$0.elementsEqual(Self.email.utf8) }.map { [UInt8]($0) })
    }

    private static let email = "email"

    /// What Google calls `email` in its answers; for matching both are one.
    private static let googleEmail = "https://www.googleapis.com/auth/userinfo.email"

    /// Tokens that ask for an ID token or a refresh token rather than for access
    /// ([OpenID Connect Core §5.4, §11](https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims)).
    private static let reserved = ["openid", "profile", "offline_access"]
}

extension Scope: Hashable {
    public static func == (lhs: Scope, rhs: Scope) -> Bool {
        lhs.lowered == rhs.lowered
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(lowered) }

    private var lowered: Set<[UInt8]> { Set(tokens.map { Self.bytes($0.lowercased()) }) }
}

extension Scope: ExpressibleByStringLiteral, CustomStringConvertible {
    public init(stringLiteral value: String) { self.init(value) }
    public var description: String { text }
}
