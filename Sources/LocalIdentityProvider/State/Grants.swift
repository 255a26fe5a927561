import Crypto
import Foundation

/// Everything that can be exchanged for tokens: codes, device codes, refresh families.
actor Grants {
    /// What a code stands for until it is redeemed, once.
    private struct Code {
        let request: AuthorizationRequest
        let signedIn: SignedIn
        let expires: Date
        var isUsed = false
        /// The family begun with it.
        var familyID: String?
    }

    private let clock: ProviderClock
    let grace: TimeInterval
    var families: [String: Family] = [:]
    var devices: [Fingerprint: Device] = [:]
    private var codes: [Fingerprint: Code] = [:]
    private var revokedAccessTokens: Set<String> = []

    var now: Date { clock.now }

    init(clock: ProviderClock, grace: TimeInterval) {
        self.clock = clock
        self.grace = grace
    }

    func issueCode(for request: AuthorizationRequest, _ signedIn: SignedIn) -> String {
        codes = codes.filter { $0.value.expires + 3600 > now }
        let text = RandomToken.make(prefix: "ac_")
        let expires = now + Lifetime.authorizationCode
        codes[Fingerprint(text)] = Code(request: request, signedIn: signedIn, expires: expires)
        return text
    }

    /// Redeems a code; a second use ends what the first one began (RFC 6749 section 4.1.2).
    func redeem(_ form: Parameters, holder: Holder) throws -> (Family, nonce: String?) {
        let key = Fingerprint(try form.required("code"))
        let redirectURI = try form.required("redirect_uri")
        guard let code = codes[key], code.request.holder == holder else { throw ProtocolError.badAuthorizationCode }
        if let family = code.familyID { end(family) }
        codes[key]?.isUsed = true
        guard !code.isUsed, now < code.expires, code.request.response.redirectURI == redirectURI,
            Self.verify(form["code_verifier"], against: code.request.challenge)
        else { throw ProtocolError.badAuthorizationCode }
        let family = begin(holder, signedIn: code.signedIn, scope: code.request.scope)
        codes[key]?.familyID = family.id
        return (family, code.request.nonce)
    }

    /// RFC 7636 section 4.6, S256 only.
    private static func verify(_ verifier: String?, against challenge: String?) -> Bool {
        guard let challenge else { return verifier == nil }
        guard let verifier, verifier.wholeMatch(of: /[A-Za-z0-9._~-]{43,128}/) != nil else { return false }
        return SHA256.hash(data: Array(verifier.utf8)).base64URL == challenge
    }

    func revokeAccessToken(_ id: String) { revokedAccessTokens.insert(id) }

    /// The family of an access token, unless either was ended.
    func family(_ id: String, ofAccessToken tokenID: String) -> Family? {
        guard let family = families[id], !family.isEnded, !revokedAccessTokens.contains(tokenID) else { return nil }
        return family
    }
}
