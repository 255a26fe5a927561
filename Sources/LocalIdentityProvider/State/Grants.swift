import Crypto
import Foundation

/// Everything that can be exchanged for tokens: codes, device codes, refresh families.
actor Grants {
    private let clock: ProviderClock
    let grace: TimeInterval
    var families: [String: RefreshFamily] = [:]
    var devices: [Fingerprint: DeviceAuthorization] = [:]
    private var codes: [Fingerprint: AuthorizationCode] = [:]
    private var revokedAccessTokens: Set<String> = []

    var now: Date { clock.now }

    init(clock: ProviderClock, grace: TimeInterval) {
        self.clock = clock
        self.grace = grace
    }

    // MARK: Authorization codes

    func issueCode(for request: AuthorizationRequest, _ signedIn: SignedIn) -> String {
        codes = codes.filter { $0.value.expires + 3600 > now }
        let text = RandomToken.make(prefix: "ac_")
        codes[Fingerprint(text)] = AuthorizationCode(
            request: request,
            signedIn: signedIn,
            expires: now + TimeInterval(Lifetime.authorizationCode)
        )
        return text
    }

    /// Redeems a code; a second use ends what the first one began (RFC 6749 section 4.1.2).
    func redeem(_ request: ClientRequest) throws -> (AuthorizationCode, RefreshFamily) {
        let refused = ProtocolError.badAuthorizationCode
        let text = try request.form.required("code")
        let redirectURI = try request.form.required("redirect_uri")
        let fingerprint = Fingerprint(text)
        guard let code = codes[fingerprint], code.request.holder == request.holder else { throw refused }
        guard !code.isUsed else {
            if let family = code.familyID { end(family, because: "its code was used twice") }
            throw refused
        }
        codes[fingerprint]?.isUsed = true
        guard now < code.expires, code.request.response.redirectURI == redirectURI,
            Self.verify(request.form["code_verifier"], against: code.request.challenge)
        else { throw refused }
        let family = begin(request.holder, signedIn: code.signedIn, scope: code.request.scope)
        codes[fingerprint]?.familyID = family.id
        return (code, family)
    }

    /// RFC 7636 section 4.6, S256 only.
    private static func verify(_ verifier: String?, against challenge: String?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier, verifier.wholeMatch(of: /[A-Za-z0-9._~-]{43,128}/) != nil else { return false }
        return SHA256.hash(data: Array(verifier.utf8)).base64URL == challenge
    }

    // MARK: Access tokens

    func revokeAccessToken(_ id: String) { revokedAccessTokens.insert(id) }

    /// The family of an access token that is neither revoked itself nor of an ended family.
    func liveFamily(ofAccessToken id: String, familyID: String) -> RefreshFamily? {
        guard let family = families[familyID], family.ended == nil, !revokedAccessTokens.contains(id) else {
            return nil
        }
        return family
    }
}
