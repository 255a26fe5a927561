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
    package var after: Int
    /// The request takes effect before the answer is replaced or lost.
    package var takesEffect: Bool

    package var status: Int?
    package var body: String?
    package var contentType: String?
    /// `Retry-After` as it should read; a number of seconds or an HTTP date.
    package var retryAfter: String?
    package var delayMilliseconds: Int?
    /// No answer until the client or the provider goes.
    package var hangs: Bool
    /// The connection ends in the middle of the body.
    package var truncatesBody: Bool
    /// The connection ends without an answer.
    package var losesResponse: Bool
    package var idToken: IDTokenFlaw?

    package init(route: String, times: Int? = 1, takesEffect: Bool = false) {
        self.route = route
        self.times = times
        self.takesEffect = takesEffect
        after = 0
        hangs = false
        truncatesBody = false
        losesResponse = false
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        route = try container.decode(String.self, forKey: .route)
        times = try container.decodeIfPresent(Int.self, forKey: .times)
        after = try container.decodeIfPresent(Int.self, forKey: .after) ?? 0
        takesEffect = try container.decodeIfPresent(Bool.self, forKey: .takesEffect) ?? false
        status = try container.decodeIfPresent(Int.self, forKey: .status)
        body = try container.decodeIfPresent(String.self, forKey: .body)
        contentType = try container.decodeIfPresent(String.self, forKey: .contentType)
        retryAfter = try container.decodeIfPresent(String.self, forKey: .retryAfter)
        delayMilliseconds = try container.decodeIfPresent(Int.self, forKey: .delayMilliseconds)
        hangs = try container.decodeIfPresent(Bool.self, forKey: .hangs) ?? false
        truncatesBody = try container.decodeIfPresent(Bool.self, forKey: .truncatesBody) ?? false
        losesResponse = try container.decodeIfPresent(Bool.self, forKey: .losesResponse) ?? false
        idToken = try container.decodeIfPresent(IDTokenFlaw.self, forKey: .idToken)
    }

    /// The answer that stands in for the real one, if the fault brings one.
    var replacement: Reply? {
        guard status != nil || body != nil else { return nil }
        var headers = ["content-type": contentType ?? "application/json; charset=utf-8"]
        if let retryAfter { headers["retry-after"] = retryAfter }
        return Reply(status: status ?? 200, headers: headers, body: Array((body ?? "").utf8), outcome: "fault")
    }
}
