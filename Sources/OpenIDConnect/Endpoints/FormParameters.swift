package import OAuth

/// The parameters of a form body, in order ([RFC 6749 appendix B](https://www.rfc-editor.org/rfc/rfc6749#appendix-B)).
package struct FormParameters: Sendable {
    private var parameters: [(name: String, value: Secret)] = []

    /// Those of the parameters that no answer may show.
    package private(set) var secrets: [Secret] = []

    /// What an answer may not show either, although it is not in this form.
    private var concealed: [Secret] = []

    /// All that no answer may show.
    private var hidden: [Secret] { secrets + concealed }

    /// What is shorter is in a later answer by chance: a code that was mistyped, or a token of a digit.
    private static let shortestConcealed = 4

    package init() {}

    /// Has `secrets` redacted too: what was sent by the forms before this one, or came with the answer.
    package mutating func conceal(_ secrets: [Secret]) {
        concealed += secrets.filter { $0.count >= Self.shortestConcealed }
    }

    /// Appends a parameter; nil appends nothing.
    package mutating func append(_ name: String, _ value: String?) {
        if let value { parameters.append((name, Secret(value))) }
    }

    package mutating func append(_ name: String, _ value: Secret?) {
        guard let value else { return }
        parameters.append((name, value))
        if value.count > 0 { secrets.append(value) }
    }

    /// The body as `application/x-www-form-urlencoded`, with everything escaped but unreserved characters.
    package var encoded: Secret {
        var bytes: [UInt8] = []
        // Growing would leave copies of what was written so far in freed memory.
        bytes.reserveCapacity(parameters.reduce(0) { $0 + 3 * ($1.name.utf8.count + $1.value.count) + 2 })
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        for (name, value) in parameters {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            for byte in name.utf8 { Self.append(byte, to: &bytes) }
            bytes.append(UInt8(ascii: "="))
            value.withUnsafeBytes { for byte in $0 { Self.append(byte, to: &bytes) } }
        }
        return bytes.withUnsafeBytes { Secret(copying: $0) }
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

extension FormParameters {
    /// What has more bytes than this is in no name by chance.
    private static let longestChance = 15

    /// Bytes of the longest text that is shown; a longer name is not shown at all.
    private static let longestText = 4_096

    /// `error` without the secrets of this form, which some servers repeat in what they say about them.
    package func redacting(_ error: OAuthError) -> OAuthError {
        var error = error
        if isEcho(error.code.rawValue) { error.code = .unknown }
        error.suberror = error.suberror.flatMap { isEcho($0) ? nil : $0 }
        error.serverDescription = error.serverDescription.flatMap { sentence($0) }
        // It is passed on, so it is whole or it is not there.
        error.claims = error.claims.flatMap { Redaction(of: hidden, in: $0).text }
        return error
    }

    /// A sentence of an issuer without the secrets of this form; nil where one that is a word is in it.
    ///
    /// A password may be a word of the sentence by chance. A hole in its place would tell the password, and with the
    /// word the sentence may be an echo of it: the code of the error has to do.
    private func sentence(_ text: String) -> String? {
        let words = hidden.filter { $0.count <= Self.longestChance && $0.isWord }
        guard !Redaction(of: words, in: text, upTo: Self.longestText).mayHaveSecret else { return nil }
        return Redaction(of: hidden, in: text, upTo: Self.longestText).text
    }

    /// The beginning of `text` without the secrets of this form, as they are or as a form, JSON or HTML encodes them.
    package func redacting(_ text: String) -> String {
        Redaction(of: hidden, in: text, upTo: Self.longestText).text ?? Redaction.mark
    }

    /// A name that may be sent back, without the secrets that are in no name by chance.
    package func redactingName(_ name: String) -> String {
        let long = hidden.filter { $0.count > Self.longestChance }
        return Redaction(of: long, in: name).text ?? Redaction.mark
    }

    /// A name that is acted on, without the secrets that are more than a word: a refused password such as `country`
    /// does not change the name of an attribute.
    package func redactingAllButWords(_ name: String) -> String {
        let others = hidden.filter { $0.count > Self.longestChance || !$0.isWord }
        return Redaction(of: others, in: name, upTo: Self.longestText).text ?? Redaction.mark
    }

    /// What is shorter is in the name of a scope by chance, which a token would be useless without.
    private static let shortestInScope = 6

    /// A scope without the tokens in which a secret is that is more than a word.
    package func redacting(_ scope: Scope) -> Scope {
        let secrets = hidden.filter {
            $0.count > Self.longestChance || $0.count >= Self.shortestInScope && !$0.isWord
        }
        var encoded = 0
        let tokens = scope.tokens.filter { token in
            guard token.hasEncodings else { return !secrets.contains { $0.isPart(of: token) } }
            // To look for an encoded secret takes long, and an issuer may send any number of tokens.
            encoded += 1
            return encoded <= Self.mostEncoded && !Redaction(of: secrets, in: token).mayHaveSecret
        }
        return tokens.count == scope.tokens.count ? scope : Scope(tokens)
    }

    /// No issuer has more scopes with signs by which a form, JSON or HTML encodes others.
    private static let mostEncoded = 100

    /// Whether a name that an issuer sent has a secret in it.
    ///
    /// A short one may be in a plain word by chance: the password `password` leaves `password_too_weak` as it is.
    private func isEcho(_ name: String) -> Bool {
        guard name.utf8.count <= Self.longestText else { return true }
        let isPlain = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
        }
        return hidden.contains { secret in
            let mayBeChance = isPlain && secret.count <= Self.longestChance && secret.count < name.utf8.count
            return !mayBeChance && Redaction(of: [secret], in: name).mayHaveSecret
        }
    }
}

extension JSONValue.Object {
    /// The tokens of an answer, which some servers repeat in what they say about it.
    package var answeredTokens: [Secret] {
        let names = ["continuation_token", "access_token", "refresh_token", "id_token"]
        return names.compactMap { self[$0]?.text.map { Secret($0) } }
    }
}

extension String {
    /// Whether characters may be encoded in it.
    fileprivate var hasEncodings: Bool {
        utf8.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "&") }
    }
}

extension Secret {
    /// Whether the bytes are in a text as they are.
    fileprivate func isPart(of text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            withUnsafeBytes { secret in
                guard let first = secret.first, secret.count <= text.count else { return false }
                return (0...text.count - secret.count).contains { start in
                    text[start] == first && text[start..<start + secret.count].elementsEqual(secret)
                }
            }
        }
    }

    /// Whether it has letters alone, as a word of a sentence has.
    fileprivate var isWord: Bool {
        withUnsafeBytes { bytes in
            bytes.allSatisfy { byte in
                // Of other alphabets every byte is above these.
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte > 0x7F
            }
        }
    }
}
