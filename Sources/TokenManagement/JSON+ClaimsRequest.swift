import OAuth

extension JSON {
    /// The `claims` parameter: what a web API asked for, with what the client can do.
    static func merging(claims: JSON?, capabilities: [String]) -> JSON? {
        guard !capabilities.isEmpty else { return claims }
        var request = claims?.object ?? Object()
        var accessToken = request["access_token"]?.object ?? Object()
        accessToken["xms_cc"] = .object(Object([("values", .array(capabilities.map { .string($0) }))]))
        request["access_token"] = .object(accessToken)
        return .object(request)
    }
}
