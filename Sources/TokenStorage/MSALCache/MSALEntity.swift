import OAuth

/// The fields of an entity of the unified cache, taken one by one; what nobody took is kept as it is.
struct MSALEntity {
    /// Fields not known here, and known ones whose value is `null` or of no use.
    private(set) var rest: JSON.Object

    init(_ value: JSON) throws(MSALRejection) {
        guard let object = value.object else { throw MSALRejection("the entry is \(value.kind), not an object") }
        rest = object
    }

    /// Takes a text that has to be there and not be empty.
    mutating func required(_ name: String) throws(MSALRejection) -> String {
        switch rest[name] {
        case nil, .null: throw MSALRejection("it has no \(name)")
        case .string(let text):
            guard !text.isEmpty else { throw MSALRejection("its \(name) is empty") }
            rest[name] = nil
            return text
        case let value?: throw MSALRejection("its \(name) is \(value.kind), not text")
        }
    }

    /// Takes the token, which has to be one that can be sent and shown.
    mutating func secret() throws(MSALRejection) -> Secret {
        let secret = Secret(try required("secret"))
        guard secret.isShowable else { throw MSALRejection("its secret has characters that a terminal would obey") }
        return secret
    }

    /// Takes the type of a token, if there is one.
    mutating func tokenType() throws(MSALRejection) -> String? {
        let type = text("token_type")
        guard let type, !type.isEmpty else { return type }
        guard AccessToken.isType(type) else {
            throw MSALRejection("its token_type has characters that RFC 6749 forbids")
        }
        return type
    }

    /// Takes a text, if there is one.
    mutating func text(_ name: String) -> String? {
        guard let text = rest[name]?.text else { return nil }
        rest[name] = nil
        return text
    }

    /// Takes a time in Unix seconds, written as text or as a number, if there is one.
    mutating func seconds(_ name: String) -> Int64? {
        guard let seconds = rest[name]?.seconds else { return nil }
        rest[name] = nil
        return seconds
    }

    /// Drops a field.
    mutating func drop(_ name: String) { rest[name] = nil }
}

/// Why an entry is not taken in; it is kept as it is, and does not stop the others.
struct MSALRejection: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
