/// `devicecode` (RFC 8628 section 3.1).
struct DeviceAuthorizationEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange, _ realm: Realm) async throws -> Reply {
        let client = try ClientAuthentication(realm: realm).client(exchange)
        let scope = exchange.form["scope"] ?? "openid profile offline_access"
        _ = try ScopeRequest(scope, tenant: realm.tenant)
        let codes = await state.grants.beginDevice(client: client, realm: realm, scope: scope)
        let page = realm.url(.device)
        return try .json([
            "device_code": .string(codes.deviceCode), "user_code": .string(codes.userCode),
            "verification_uri": .string(page),
            "verification_uri_complete": .string("\(page)?user_code=\(codes.userCode)"),
            "expires_in": .integer(Lifetime.deviceCode), "interval": .integer(Lifetime.devicePollInterval),
            "message": .string("Open \(page) and enter the code \(codes.userCode)."),
        ])
    }
}
