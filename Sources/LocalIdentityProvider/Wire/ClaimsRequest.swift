/// The `claims` parameter (OpenID Connect Core section 5.5), of which authentication contexts are honoured.
struct ClaimsRequest: Sendable {
    /// The values asked for under `acrs`.
    let contexts: [String]

    /// Nil when `text` is absent or no JSON object, which asks for nothing.
    init?(_ text: String?) {
        guard let text, let json = try? JSON(parsing: text.utf8), json.members != nil else { return nil }
        contexts = ["access_token", "id_token"].flatMap { target in
            guard let asked = json[target]?["acrs"] else { return [String]() }
            return ([asked["value"]] + (asked["values"]?.elements ?? [])).compactMap { $0?.text }
        }
    }
}
