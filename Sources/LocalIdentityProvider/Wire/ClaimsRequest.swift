/// The `claims` parameter (OpenID Connect Core section 5.5), of which authentication contexts are honoured.
struct ClaimsRequest: Sendable {
    /// The values asked for under `acrs`.
    let contexts: [String]

    /// No text, or one that is no JSON object, asks for nothing.
    init(_ text: String?) {
        let json = text.flatMap { try? JSON(parsing: $0.utf8) }
        contexts = ["access_token", "id_token"].flatMap { target in
            guard let asked = json?[target]?["acrs"] else { return [String]() }
            return ([asked["value"]] + (asked["values"]?.elements ?? [])).compactMap { $0?.text }
        }
    }
}
