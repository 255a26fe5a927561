import Foundation

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

    func begin(_ holder: Holder, signedIn: SignedIn, scope: String) -> Family {
        if families.count.isMultiple(of: 10_000) {
            families = families.filter { !$0.value.isExpired(at: now, lifetime: Lifetime.refreshFamily) }
        }
        let family = Family(holder: holder, signedIn: signedIn, scope: scope, created: now, currentIssued: now)
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
