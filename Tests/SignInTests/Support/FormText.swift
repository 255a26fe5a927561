import IssuerSupport

/// The fields of a query, which is written as a form's body.
enum FormText {
    static func fields(_ query: String) -> [String: String] {
        FormBody.fields(String(query.prefix { $0 != "#" }))
    }

    /// A value as it stands in a query.
    static func encoded(_ text: String) -> String {
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        return text.utf8.map { byte in
            plain.contains(byte) ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
