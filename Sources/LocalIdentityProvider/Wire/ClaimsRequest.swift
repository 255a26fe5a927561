/// The `claims` parameter (OpenID Connect Core section 5.5), of which authentication contexts are honoured.
enum ClaimsRequest {
    /// The values asked for under `acrs`; what is absent or no JSON object asks for nothing.
    static func contexts(_ text: String?) -> [String] {
        let json = text.flatMap { try? JSON(parsing: $0.utf8) }
        return ["access_token", "id_token"].compactMap { json?[$0]?["acrs"] }.flatMap { asked in
            ([asked["value"]] + (asked["values"]?.elements ?? [])).compactMap { $0?.text }
        }
    }
}
