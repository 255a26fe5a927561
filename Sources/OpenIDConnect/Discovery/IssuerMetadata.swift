package import HTTPTransport
package import OAuth

/// What an issuer publishes about itself ([RFC 8414](https://www.rfc-editor.org/rfc/rfc8414),
/// [OpenID Connect Discovery](https://openid.net/specs/openid-connect-discovery-1_0.html)).
package struct IssuerMetadata: Hashable, Sendable {
    /// The document as published.
    package let document: JSONValue.Object

    package let issuer: String
    package let tokenEndpoint: String

    /// - Throws: ``MetadataError/incomplete(_:)`` if the issuer or its token endpoint is missing, or its
    ///   authorization endpoint has a fragment.
    package init(_ document: JSONValue.Object) throws(MetadataError) {
        guard let issuer = document["issuer"]?.text, !issuer.isEmpty else { throw .incomplete("issuer") }
        guard let tokenEndpoint = Self.endpoint("token_endpoint", in: document) else {
            throw .incomplete("token_endpoint")
        }
        // RFC 6749 §3.1. What is added to the query would be part of the fragment, and would not be sent.
        guard Self.endpoint("authorization_endpoint", in: document)?.utf8.contains(UInt8(ascii: "#")) != true else {
            throw .incomplete("an authorization_endpoint without a fragment")
        }
        self.document = document
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
    }

    package var authorizationEndpoint: String? { Self.endpoint("authorization_endpoint", in: document) }
    package var deviceAuthorizationEndpoint: String? { endpoint("device_authorization_endpoint") }
    package var revocationEndpoint: String? { endpoint("revocation_endpoint") }
    package var endSessionEndpoint: String? { endpoint("end_session_endpoint") }

    package var userInfoEndpoint: String? { endpoint("userinfo_endpoint").flatMap { isBesideIssuer($0) ? $0 : nil } }
    package var jwksURI: String? { Self.endpoint("jwks_uri", in: document) }

    /// Whether a sign-in page is shown only for a request that was pushed to the issuer before
    /// ([RFC 9126 §5](https://www.rfc-editor.org/rfc/rfc9126#section-5)).
    package var requiresPushedRequests: Bool { document["require_pushed_authorization_requests"] == .bool(true) }

    /// Whether a sign-in page is shown only for a request that is signed
    /// ([RFC 9101 §10.5](https://www.rfc-editor.org/rfc/rfc9101#section-10.5)).
    package var requiresSignedRequests: Bool { document["require_signed_request_object"] == .bool(true) }

    /// Whether proofs of keys are taken that are made with ES256 (RFC 9449 §5.1).
    package var supportsDPoP: Bool {
        document["dpop_signing_alg_values_supported"]?.array?.contains("ES256") ?? false
    }

    /// An address that an issuer may leave out; one that no request can be sent to is as good as none.
    func endpoint(_ name: String) -> String? {
        Self.endpoint(name, in: document).flatMap { WebAddress(secure: $0) == nil ? nil : $0 }
    }

    /// Whether a request may go to an address: none leads from the network to this machine, or back.
    func isBesideIssuer(_ endpoint: String) -> Bool {
        let isLoopback = WebAddress(secure: issuer)?.isLoopback ?? false
        return WebAddress(secure: endpoint)?.isLoopback == isLoopback
    }

    /// What an issuer may leave out of a document.
    static let optionalEndpoints = ["device_authorization_endpoint", "revocation_endpoint"]

    /// An address of the document; some issuers write an empty text or null for what they do not offer.
    private static func endpoint(_ name: String, in document: JSONValue.Object) -> String? {
        document[name]?.text.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Every address that requests may be sent to.
    var endpoints: [String] {
        [
            tokenEndpoint, authorizationEndpoint, deviceAuthorizationEndpoint, revocationEndpoint, endSessionEndpoint,
            jwksURI,
        ].compactMap(\.self)
    }
}

/// Finds the endpoints of an authority.
package struct MetadataDiscovery: Sendable {
    private static let shortestLifetime: Int64 = 3_600

    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.transport = transport
        self.limits = limits
    }

    /// Fetches and checks the metadata of `authority`, with the seconds that it may be kept.
    ///
    /// - Throws: ``MetadataError``, ``IssuerUnavailable``, `HTTPTransportError`.
    package func metadata(of authority: Authority) async throws -> (metadata: IssuerMetadata, lifetime: Int64) {
        var failure: any Error = MetadataError.incomplete("token_endpoint")
        for (index, url) in authority.metadataURLs.enumerated() {
            do {
                let (document, lifetime) = try await document(at: url)
                let metadata = try IssuerMetadata(document)
                try authority.check(metadata)
                let others = authority.metadataURLs.dropFirst(index + 1)
                return try await completed(metadata, lifetime, of: authority, at: others.first)
            } catch MetadataError.notMetadata(let url, let status) {
                if index == 0 { failure = MetadataError.notMetadata(url: url, status: status) }
            }
        }
        throw failure
    }

    /// Fetches the keys that a Microsoft issuer signs the tokens of one app with, whose metadata are at `url`, with the
    /// seconds that they may be kept; nil if the app has none of its own.
    ///
    /// An app with claims of its own may have a signing key of its own, which the metadata for that app lead to
    /// ([Microsoft: validate tokens](https://learn.microsoft.com/entra/identity-platform/access-tokens)).
    ///
    /// - Throws: ``IssuerUnavailable``, `HTTPTransportError`.
    package func keys(
        ofAppAt url: String,
        of authority: Authority,
        besides metadata: IssuerMetadata,
        isOptional: Bool
    ) async throws -> (keys: JSONValue.Object, lifetime: Int64)? {
        do {
            let ofApp = try IssuerMetadata(try await document(at: url, limits: isOptional ? limits.short : nil).0)
            try authority.check(ofApp)
            guard ofApp.issuer.hasSameBytes(as: metadata.issuer), let address = ofApp.jwksURI,
                address != metadata.jwksURI
            else { return nil }
            return try await keys(at: address, isOptional: isOptional)
        } catch is MetadataError {
            // The issuer knows no such question, or has an answer to it that is none.
            return nil
        }
    }

    /// What an issuer names in one of its two documents only, such as where tokens are revoked.
    ///
    /// The second document is taken at its word for endpoints that the first one lacks, and only if it is the same
    /// issuer's with the same token endpoint: it changes no endpoint of the first one. If it is invalid, the first one
    /// is used alone.
    private func completed(
        _ metadata: IssuerMetadata,
        _ lifetime: Int64,
        of authority: Authority,
        at url: String?
    ) async throws -> (metadata: IssuerMetadata, lifetime: Int64) {
        let lacking = IssuerMetadata.optionalEndpoints.filter { metadata.endpoint($0) == nil }
        guard let url, !lacking.isEmpty else { return (metadata, lifetime) }
        do {
            let second = try IssuerMetadata(try await document(at: url, limits: limits.short).0)
            try authority.check(second)
            guard second.tokenEndpoint == metadata.tokenEndpoint else { return (metadata, lifetime) }
            var document = metadata.document
            for name in lacking { document[name] = second.endpoint(name).map { .string($0) } ?? document[name] }
            return (try IssuerMetadata(document), lifetime)
        } catch is MetadataError {
            return (metadata, lifetime)
        } catch let error where error is HTTPTransportError || error is IssuerUnavailable {
            // It may be there the next time.
            return (metadata, min(lifetime, Self.shortestLifetime))
        }
    }

    /// Fetches the keys that an issuer signs with, with the seconds that they may be kept.
    ///
    /// Where they can be done without, they may not take the time of what cannot.
    ///
    /// - Throws: ``MetadataError``, ``IssuerUnavailable``, `HTTPTransportError`.
    package func keys(
        at url: String,
        isOptional: Bool = false
    ) async throws -> (keys: JSONValue.Object, lifetime: Int64) {
        do {
            let types = "application/json, application/jwk-set+json"
            let (keys, lifetime) = try await document(at: url, types, limits: isOptional ? limits.short : nil)
            guard keys["keys"]?.array != nil else { throw MetadataError.incomplete("keys") }
            return (keys, lifetime)
        } catch MetadataError.notMetadata(let url, let status) {
            throw MetadataError.noKeys(url: url, status: status)
        }
    }

    private func document(
        at url: String,
        _ types: String = "application/json",
        limits: HTTPLimits? = nil
    ) async throws -> (JSONValue.Object, Int64) {
        let request = HTTPRequest("GET", url, headers: ["accept": types])
        let response = try await transport.send(request, limits: limits ?? self.limits)
        if IssuerUnavailable.isMeant(by: response.status) { throw IssuerUnavailable(response) }
        // Input that is not a JSON object is not metadata, even if it has other faults.
        guard response.isSuccess, let object = response.jsonObject() else {
            throw MetadataError.notMetadata(url: url, status: response.status)
        }
        return (object, Self.lifetime(response.headers))
    }

    /// An hour to a week, a day where the issuer does not say.
    private static func lifetime(_ headers: HTTPHeaders) -> Int64 {
        let directives = headers["cache-control"]?.parts(separatedBy: ",") ?? []
        let age = directives.lazy.compactMap { directive -> Int64? in
            let parts = directive.parts(separatedBy: "=")
            guard parts.count == 2, parts[0].folded.hasSameBytes(as: "max-age") else { return nil }
            return Int64(Substring(parts[1].utf8.prefix { (0x30...0x39).contains($0) }))
        }.first
        return min(max(age ?? 86_400, shortestLifetime), 604_800)
    }
}

extension HTTPLimits {
    /// For what can be done without.
    package var short: HTTPLimits { HTTPLimits(head: head / 4, total: total / 4, bodySize: bodySize) }
}

/// Why an issuer's metadata cannot be used.
package enum MetadataError: Error, Hashable, CustomStringConvertible {
    /// The address answered with something else.
    case notMetadata(url: String, status: Int)

    /// The address of the keys that the issuer signs with answered with something else.
    case noKeys(url: String, status: Int)

    /// A field is missing.
    case incomplete(String)

    /// The document is another issuer's.
    case otherIssuer(wanted: String, found: String)

    /// An endpoint is at a host outside the authority, so nothing is sent there.
    case foreignEndpoint(String)

    package var problem: String {
        switch self {
        case .notMetadata(let url, let status):
            [400, 404].contains(status)
                ? "there is no issuer at \(url), which answered \(status)"
                : "\(url) answered \(status) and no OpenID metadata"
        case .noKeys(let url, let status): "\(url) answered \(status) and no keys, which the issuer says are there"
        case .incomplete(let field): "the issuer's metadata lacks \(field)"
        case .otherIssuer(let wanted, let found):
            isSpelling
                ? "the issuer names itself \(found), and every letter counts"
                : "the metadata of \(wanted) says that it is \(found)'s"
        case .foreignEndpoint(let url):
            "the issuer names an endpoint that is "
                + (url.lowercased().hasPrefix("http://") ? "not https" : "not its own")
                + ", \(url): nothing was sent there"
        }
    }

    package var remedy: Remedy {
        if case .notMetadata(_, status: 400) = self { return Self.wrongPlace }
        if case .notMetadata(_, status: 404) = self { return Self.wrongPlace }
        if case .noKeys = self { return Remedy(.retry, "try again later, or tell the issuer") }
        guard case .otherIssuer = self else { return .correct("check the authority") }
        return .correct(isSpelling ? "use this address" : "check the issuer's address")
    }

    private static let wrongPlace = Remedy.correct("check the address, and its tenant and user flow where it has them")

    package var description: String { problem }

    /// Whether the two issuers differ in nothing but a slash.
    private var isSpelling: Bool {
        guard case .otherIssuer(let wanted, let found) = self else { return false }
        return wanted.hasSameBytes(as: found + "/") || found.hasSameBytes(as: wanted + "/")
    }
}
