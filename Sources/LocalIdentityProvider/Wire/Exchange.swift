import HTTPTypes

/// One request, read whole and checked for form.
struct Exchange: Sendable {
    let route: Route
    /// Nil only for routes that belong to no tenant: the APIs and test control.
    var realm: Realm?
    /// The tenant and policy in the path, not looked up yet.
    var names: (tenant: String, policy: String?)?
    let head: HTTPRequest
    /// The path's segments behind the part that chose the route.
    let rest: [String]
    var query: Parameters = .empty
    var form: Parameters = .empty
    var body: [UInt8] = []
    let correlationID: String
    /// What the next ID token must get wrong, when a fault asks for it.
    var idTokenFault: Fault.IDTokenFlaw?

    var method: HTTPRequest.Method { head.method }
    var headers: HTTPFields { head.headerFields }

    func cookie(_ name: String) -> String? {
        for pair in (headers[.cookie] ?? "").split(separator: ";") {
            let halves = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            if halves.count == 2, halves[0] == name { return String(halves[1]) }
        }
        return nil
    }

    /// The token of an `Authorization: Bearer` header (RFC 6750 section 2.1).
    var bearer: String? {
        guard let value = headers[.authorization] else { return nil }
        let halves = value.split(separator: " ", maxSplits: 1)
        guard halves.count == 2, halves[0].lowercased() == "bearer" else { return nil }
        return String(halves[1])
    }
}
