import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuth

/// Asks a client's claims provider what to add to a token (L10 and L11).
struct ClaimsProviderCall: Sendable {
    static let responseType = "microsoft.graph.tokenIssuanceStart.provideClaimsForToken"
    private static let maximumBytes = 3072
    private static let reserved: Set<String> = ["iss", "aud", "sub", "exp", "nbf", "iat", "oid", "tid", "tfp"]

    private struct Disagreement: Error {}

    let provider: ClaimsProvider
    let endpoints: ClientEndpoints
    let user: User

    /// The mapped claims; after two failures nothing, or an error if the seed says so.
    func claims() async throws -> [String: JSONValue] {
        for _ in 1...2 {
            do {
                return try mapped(await answer())
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                continue  // asked once more; what failed is the provider's to find out
            }
        }
        guard provider.onFailure == .refuse else { return [:] }
        throw ProtocolError.claimsProvider
    }

    private func answer() async throws -> JSONValue {
        var call = HTTPClientRequest(url: provider.url)
        call.method = .POST
        call.headers.add(name: "content-type", value: "application/json")
        call.body = .bytes(event.encoded)
        let timeout = Duration.milliseconds(provider.timeoutMilliseconds ?? 2000)
        return try await withThrowingTaskGroup(of: JSONValue.self) { group in
            group.addTask { [call] in
                let response = try await HTTPClient.shared.execute(call, timeout: .seconds(30))
                guard response.status == .ok else { throw Disagreement() }
                return try await JSONValue(parsing: Array(response.body.collect(upTo: 65_536).readableBytesView))
            }
            // The client's own deadline ends at the head; this one covers the body.
            group.addTask {
                try await Task.sleep(for: timeout)
                throw Disagreement()
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() else { throw Disagreement() }
            return answer
        }
    }

    private var event: JSONValue {
        let (client, tenant) = (endpoints.client, endpoints.tenant)
        let principal: JSONValue = ["appId": .string(client.id), "displayName": .string(client.displayName)]
        return [
            "type": "microsoft.graph.authenticationEvent.tokenIssuanceStart",
            "source": .string("/tenants/\(tenant.id)/applications/\(client.id)"),
            "data": [
                "@odata.type": "microsoft.graph.onTokenIssuanceStartCalloutData",
                "tenantId": .string(tenant.id),
                "authenticationEventListenerId": .string("listener-\(client.id)"),
                "customAuthenticationExtensionId": .string("extension-\(client.id)"),
                "authenticationContext": [
                    "correlationId": .string(endpoints.exchange.correlationID),
                    "client": ["ip": "127.0.0.1"],
                    "protocol": "OAUTH2.0",
                    "clientServicePrincipal": principal,
                    "resourceServicePrincipal": principal,
                    "user": [
                        "id": .string(user.id), "mail": .string(user.email), "displayName": .string(user.name),
                        "userPrincipalName": .string(user.email),
                    ],
                ],
            ],
        ]
    }

    /// Strings and arrays of strings under the names the seed maps, all of them at most 3 KB.
    private func mapped(_ answer: JSONValue) throws -> [String: JSONValue] {
        guard let action = answer["data"]?["actions"]?.array?.first,
            action["@odata.type"]?.text == Self.responseType, let claims = action["claims"]?.members
        else { throw Disagreement() }
        var mapped: [String: JSONValue] = [:]
        for (source, name) in provider.claims where !Self.reserved.contains(name) {
            guard let value = claims[source] else { continue }
            if (value.array ?? [value]).allSatisfy({ $0.text != nil }) { mapped[name] = value }
        }
        guard JSONValue(mapped).encoded.count <= Self.maximumBytes else { throw Disagreement() }
        return mapped
    }
}
