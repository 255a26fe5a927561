import OAuth
import OpenIDConnect

/// The texts of an answer that reach a screen, an error or a log: without what was sent, and of bounded length.
extension FormParameters {
    /// The members whose texts are shown, however deep they are in them.
    private static let shownMembers = [
        "challenge_target_label", "challenge_target", "challenge_channel", "methods", "required_attributes",
        "invalid_attributes", "token_type", "scope", "foci",
    ]

    /// Members of those that are sent back: a code that is in one by chance stays.
    private static let returnedMembers = ["id"]

    /// Members of those that an app acts on: a password that is a word of one by chance stays in it.
    private static let namingMembers = [
        "name", "type", "challenge_type", "challenge_channel", "token_type", "foci",
    ]

    /// `object` without the secrets of this form in what is shown of it.
    func redactingShown(_ object: JSONValue.Object) -> JSONValue.Object {
        JSONValue.Object(
            object.members.map { name, value in
                (name, name.isOne(of: Self.shownMembers) ? redacting(value, of: name) : value)
            }
        )
    }

    /// A sentence of the issuer's as an error shows it; nil where nothing can be shown of it.
    func redactingSentence(_ text: String) -> String? {
        // As the description of an error, a sentence with a password that is a word is left out.
        let error = OAuthError(code: .unknown, serverDescription: text)
        return redacting(error).serverDescription?.boundedSentence
    }

    private func redacting(_ value: JSONValue, of name: String) -> JSONValue {
        switch value {
        case .string(let text) where name.hasSameBytes(as: "scope"): .string(redacting(Scope(text)).text)
        case .string(let text) where name.isOne(of: Self.returnedMembers): .string(redactingName(text))
        case .string(let text) where name.isOne(of: Self.namingMembers): .string(redactingAllButWords(text))
        case .string(let text): .string(redacting(text))
        case .array(let values): .array(values.map { redacting($0, of: name) })
        case .object(let object):
            .object(JSONValue.Object(object.members.map { name, value in (name, redacting(value, of: name)) }))
        default: value
        }
    }
}

extension String {
    /// Whether it is one of these names, byte by byte.
    fileprivate func isOne(of names: [String]) -> Bool { names.contains { $0.hasSameBytes(as: self) } }

    /// The text with its end left out where it is longer than any address or name.
    var shortened: String {
        let longest = 320
        guard utf8.count > longest, unicodeScalars.count > longest else { return self }
        return String(unicodeScalars.prefix(longest)) + " [...]"
    }
}
