import Crypto
import Foundation

/// Everything that can be exchanged for tokens: codes, device codes, refresh families.
actor Grants {
    /// The grant of a code until it is redeemed, once.
    private struct Code {
        let request: AuthorizationParameters
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

    func issueCode(for request: AuthorizationParameters, _ signedIn: SignedIn) -> String {
        codes = codes.filter { $0.value.expires + 3600 > now }
        let text = RandomToken.make(prefix: "ac_")
        let expires = now + Lifetime.authorizationCode
        codes[Fingerprint(text)] = Code(request: request, signedIn: signedIn, expires: expires)
        return text
    }

    /// Redeems a code; a second use ends what the first one began (RFC 6749 section 4.1.2).
    func redeem(_ form: Parameters, holder: Holder, boundTo thumbprint: String?) throws -> (Family, nonce: String?) {
        let key = Fingerprint(try form.required("code"))
        let redirectURI = try form.required("redirect_uri")
        guard let code = codes[key], code.request.holder == holder else { throw ProtocolError.badAuthorizationCode }
        if let family = code.familyID { end(family) }
        codes[key]?.isUsed = true
        guard !code.isUsed, now < code.expires, code.request.response.redirectURI == redirectURI,
            Self.verify(form["code_verifier"], against: code.request.challenge),
            code.request.thumbprint == nil || code.request.thumbprint == thumbprint
        else { throw ProtocolError.badAuthorizationCode }
        let family = begin(holder, signedIn: code.signedIn, scope: code.request.scope, boundTo: thumbprint)
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

/// Refresh-token rotation.
///
/// A token is `rt_{family}.{number}.{HMAC of both}`: the state holds numbers only, and the child that answers a repeat
/// within the grace can be told again without having been kept.
extension Grants {
    /// All refresh tokens that descend from one sign-in.
    struct Family: Sendable {
        let id = RandomToken.bytes(16).base64URL
        let holder: Holder
        let signedIn: SignedIn
        /// The scopes of the sign-in, which a refresh that names none gets again.
        let scope: String
        /// The key that the refresh tokens of a public client are bound to (RFC 9449 section 5).
        let thumbprint: String?
        let created: Date
        /// The number of the one token that may be used next.
        var current = 0
        var currentIssued: Date
        var isEnded = false

        var token: String { token(current) }

        func token(_ number: Int) -> String { "rt_\(id).\(number).\(Fingerprint("\(id).\(number)").base64URL)" }

        func isExpired(at now: Date, lifetime: Int) -> Bool {
            now >= created + TimeInterval(Lifetime.refreshFamily) || now >= currentIssued + TimeInterval(lifetime)
        }
    }

    func begin(_ holder: Holder, signedIn: SignedIn, scope: String, boundTo thumbprint: String? = nil) -> Family {
        if families.count.isMultiple(of: 10_000) {
            families = families.filter { !$0.value.isExpired(at: now, lifetime: Lifetime.refreshFamily) }
        }
        let family = Family(
            holder: holder,
            signedIn: signedIn,
            scope: scope,
            thumbprint: thumbprint,
            created: now,
            currentIssued: now
        )
        families[family.id] = family
        return family
    }

    /// The family a token belongs to and the token's number, if this provider issued it.
    private func parse(_ token: String) -> (family: Family, number: Int)? {
        let parts = token.dropFirst(3).split(separator: ".")
        guard token.hasPrefix("rt_"), parts.count == 3, let number = Int(parts[1]),
            let family = families[String(parts[0])], (0...family.current).contains(number),
            Fingerprint(token) == Fingerprint(family.token(number))
        else { return nil }
        return (family, number)
    }

    /// The family of a token that may be used now; a token used before ends its family (L08).
    func family(of token: String, holder: Holder, lifetime: Int) throws -> Family {
        guard let (family, number) = parse(token) else { throw ProtocolError.badRefreshToken }
        guard family.holder == holder else { throw ProtocolError.foreignRefreshToken }
        guard !family.isEnded else { throw ProtocolError.badRefreshToken }
        let isRepeat = number == family.current - 1 && now < family.currentIssued + grace
        guard number == family.current || isRepeat else {
            end(family.id)
            throw ProtocolError.badRefreshToken
        }
        guard !family.isExpired(at: now, lifetime: lifetime) else { throw ProtocolError.expiredRefreshToken }
        return family
    }

    /// Spends a token and returns its child, the same child for a repeat within the grace.
    func rotate(_ token: String, holder: Holder, lifetime: Int) throws -> String {
        var family = try family(of: token, holder: holder, lifetime: lifetime)
        if token == family.token {
            family.current += 1
            family.currentIssued = now
            families[family.id] = family
        }
        return family.token
    }

    func end(_ id: String) { families[id]?.isEnded = true }

    /// Ends the family of a refresh token (RFC 7009 section 2.1); says whether it was one of this client's.
    func revoke(_ token: String, holder: Holder) -> Bool {
        guard let family = parse(token)?.family, family.holder.clientID == holder.clientID else { return false }
        end(family.id)
        return true
    }

    /// The family of a token that could still be used, for introspection.
    func liveFamily(of token: String) -> Family? {
        guard let (family, number) = parse(token), !family.isEnded, number == family.current,
            !family.isExpired(at: now, lifetime: Lifetime.refreshToken)
        else { return nil }
        return family
    }
}

/// Who proved what, and when: what every token of one sign-in says of it.
struct SignedIn: Sendable {
    let userID: String
    let at: Date
    /// RFC 8176 values, such as `pwd`, `otp` and `mfa`.
    var methods: [String]
    /// The authentication context that a claims request asked for and the person met.
    var contexts: [String] = []

    var hasSecondFactor: Bool { methods.contains("mfa") }
}
