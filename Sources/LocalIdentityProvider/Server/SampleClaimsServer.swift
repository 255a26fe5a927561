import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import OAuth

/// A claims provider to try things with (L10): a made-up tier, and the domain of the person's address.
package struct SampleClaimsServer: Sendable {
    private let listener: Listener
    package var url: String { "http://\(listener.host):\(listener.port)/" }

    /// Listens on a free port of 127.0.0.1.
    package static func start() async throws -> SampleClaimsServer {
        SampleClaimsServer(listener: try await Listener("127.0.0.1", port: 0, .init(), Responder()))
    }

    package func stop() async { await listener.stop() }

    /// Makes every client that has no claims provider ask this one.
    package func serve(_ configuration: inout LocalIdentityProvider.Configuration) throws {
        var seed = try configuration.seed ?? .standard
        let claims = ["tier": "loyalty_tier", "domains": "mail_domains"]
        let provider = ClaimsProvider(url: url, onFailure: .refuse, claims: claims)
        for tenant in seed.tenants.indices {
            for client in seed.tenants[tenant].clients.indices {
                let own = seed.tenants[tenant].clients[client].claimsProvider
                seed.tenants[tenant].clients[client].claimsProvider = own ?? provider
            }
        }
        configuration.seed = seed
    }

    private struct Responder: HTTPResponder {
        func respond(to request: Request, context: Gateway.Context) async throws -> Response {
            let body = try await request.body.collect(upTo: Exchange.maximumBody)
            let mail = (try? JSONValue(parsing: Array(body.readableBytesView)))?["data"]?["authenticationContext"]?[
                "user"
            ]?[
                "mail"
            ]
            guard let domain = mail?.text?.split(separator: "@").last else { return Response(status: .badRequest) }
            let claims: JSONValue = ["tier": "gold", "domains": [.string(String(domain))]]
            let action: JSONValue = ["@odata.type": .string(ClaimsProviderCall.responseType), "claims": claims]
            let type: JSONValue = "microsoft.graph.onTokenIssuanceStartResponseData"
            let answer: JSONValue = ["data": ["@odata.type": type, "actions": [action]]]
            let text = ByteBuffer(bytes: answer.encoded)
            return Response(status: .ok, headers: [.contentType: "application/json"], body: .init(byteBuffer: text))
        }
    }
}
