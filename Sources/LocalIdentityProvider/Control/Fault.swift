/// Something that goes wrong at a route, on purpose.
package struct Fault: Codable, Sendable {
    /// What an ID token gets wrong.
    package enum IDTokenFlaw: String, Codable, Sendable, CaseIterable {
        case signature
        case issuer
        case audience
        case expiry
        case nonce
    }

    /// The route's name in the audit log, such as `token` or `signup/continue`.
    package var route: String
    /// How many requests it hits; nil until it is removed.
    package var times: Int?
    /// How many requests it lets pass first.
    @Defaulted package var after = 0
    /// The request takes effect before the answer is replaced or lost.
    @Defaulted package var takesEffect = false

    package var status: Int?
    package var body: String?
    package var contentType: String?
    /// `Retry-After` as it should read; a number of seconds or an HTTP date.
    package var retryAfter: String?
    package var delayMilliseconds: Int?
    /// No answer until the client or the provider goes.
    @Defaulted package var hangs = false
    /// The connection ends in the middle of the body.
    @Defaulted package var truncatesBody = false
    /// The connection ends without an answer.
    @Defaulted package var losesResponse = false
    package var idToken: IDTokenFlaw?

    package init(
        route: String,
        times: Int? = 1,
        takesEffect: Bool = false,
        change: (inout Fault) -> Void = { _ in }
    ) {
        self.route = route
        self.times = times
        self.takesEffect = takesEffect
        change(&self)
    }

    /// The answer that stands in for the real one, if the fault brings one.
    var replacement: Reply? {
        guard status != nil || body != nil else { return nil }
        var headers = ["content-type": contentType ?? "application/json; charset=utf-8"]
        if let retryAfter { headers["retry-after"] = retryAfter }
        return Reply(status: status ?? 200, headers: headers, body: Array((body ?? "").utf8), outcome: "fault")
    }
}
