public import HTTPTransport
public import OAuth

/// Finds the endpoints of an authority.
public struct MetadataDiscovery: Sendable {
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    public init(transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.transport = transport
        self.limits = limits
    }

    /// Fetches and checks the metadata of `authority`, with the seconds that it may be kept.
    ///
    /// - Throws: ``MetadataError``, ``IssuerUnavailable``, `HTTPTransportError`.
    public func metadata(of authority: Authority) async throws -> (metadata: IssuerMetadata, lifetime: Int64) {
        var failure: any Error = MetadataError.incomplete("token_endpoint")
        for (index, url) in authority.metadataURLs.enumerated() {
            do {
                let (document, lifetime) = try await document(at: url)
                let metadata = try IssuerMetadata(document)
                try authority.check(metadata)
                return (metadata, lifetime)
            } catch MetadataError.notMetadata(let url, let status) {
                if index == 0 { failure = MetadataError.notMetadata(url: url, status: status) }
            }
        }
        throw failure
    }

    /// Fetches the keys that an issuer signs with, with the seconds that they may be kept.
    ///
    /// - Throws: ``MetadataError``, ``IssuerUnavailable``, `HTTPTransportError`.
    public func keys(at url: String) async throws -> (keys: JSON.Object, lifetime: Int64) {
        let (keys, lifetime) = try await document(at: url)
        guard keys["keys"]?.array != nil else { throw MetadataError.incomplete("keys") }
        return (keys, lifetime)
    }

    private func document(at url: String) async throws -> (JSON.Object, Int64) {
        let request = HTTPRequest("GET", url, headers: ["accept": "application/json"])
        let response = try await transport.send(request, limits: limits)
        if response.status == 429 || response.status >= 500 { throw IssuerUnavailable(response) }
        // What is no JSON object is no metadata, whatever else is wrong with it.
        guard response.isSuccess, let object = try? response.body.withUnsafeBytes({ try JSON(parsing: $0).object })
        else { throw MetadataError.notMetadata(url: url, status: response.status) }
        return (object, Self.lifetime(response.headers))
    }

    /// An hour to a week, a day where the issuer does not say.
    private static func lifetime(_ headers: HTTPHeaders) -> Int64 {
        let directives = headers["cache-control"]?.lowercased().split(separator: ",") ?? []
        let age = directives.lazy.compactMap { directive -> Int64? in
            let parts = directive.split(separator: "=")
            guard parts.count == 2, parts[0].drop(while: \.isWhitespace) == "max-age" else { return nil }
            return Int64(parts[1].prefix { $0.isNumber })
        }.first
        return min(max(age ?? 86_400, 3_600), 604_800)
    }
}
