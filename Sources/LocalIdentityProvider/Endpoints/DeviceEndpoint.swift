/// The page where a person connects a device (RFC 8628 section 3.3).
struct DeviceEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let journey = Journey(state: state, exchange: exchange, realm: realm)
        if let interaction = exchange.form["interaction"] { return try await journey.post(interaction) }
        return try await journey.begin(.device(userCode: nil), at: .deviceCode, client: nil) {
            Page.deviceCode($0, code: exchange.query["user_code"] ?? "").reply()
        }
    }
}
