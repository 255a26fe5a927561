import Foundation

/// Refresh-token rotation.
///
/// A token is `rt_{family}.{number}.{HMAC of both}`: the state holds numbers only, and the child that answers a repeat
/// within the grace can be told again without having been kept.
extension Grants {
    func begin(_ holder: Holder, signedIn: SignedIn, scope: String) -> RefreshFamily {
        if families.count.isMultiple(of: 10_000) {
            families = families.filter { !isExpired($0.value, lifetime: Lifetime.refreshFamily) }
        }
        let family = RefreshFamily(
            id: RandomToken.bytes(16).base64URL,
            holder: holder,
            signedIn: signedIn,
            scope: scope,
            created: now,
            currentIssued: now
        )
        families[family.id] = family
        return family
    }

    func text(of family: RefreshFamily) -> String { text(family.id, family.current) }

    private func text(_ id: String, _ number: Int) -> String {
        "rt_\(id).\(number).\(Fingerprint("\(id).\(number)").base64URL)"
    }

    /// The family a token belongs to and the token's number, if this provider issued it.
    private func parse(_ token: String) -> (RefreshFamily, Int)? {
        let parts = token.dropFirst(3).split(separator: ".")
        guard token.hasPrefix("rt_"), parts.count == 3, let number = Int(parts[1]), number >= 0,
            let family = families[String(parts[0])], number <= family.current,
            Fingerprint(token) == Fingerprint(text(family.id, number))
        else { return nil }
        return (family, number)
    }

    /// The family of a token that may be used now; a token used before ends its family.
    func family(of token: String, for request: ClientRequest) throws -> RefreshFamily {
        guard let (family, number) = parse(token) else { throw ProtocolError.badRefreshToken }
        guard family.holder == request.holder else { throw ProtocolError.foreignRefreshToken }
        guard family.ended == nil else { throw ProtocolError.badRefreshToken }
        guard number == family.current || isWithinGrace(number, family) else {
            end(family.id, because: "a refresh token was used twice")
            throw ProtocolError.badRefreshToken
        }
        let lifetime = request.realm.policy?.refreshTokenLifetime ?? Lifetime.refreshToken
        guard !isExpired(family, lifetime: lifetime) else { throw ProtocolError.expiredRefreshToken }
        return family
    }

    /// Spends a token and returns its child, the same child for a repeat within the grace.
    func rotate(_ token: String, for request: ClientRequest) throws -> String {
        let family = try family(of: token, for: request)
        if let (_, number) = parse(token), number == family.current {
            families[family.id]?.current += 1
            families[family.id]?.currentIssued = now
        }
        return text(family.id, families[family.id]?.current ?? 0)
    }

    private func isWithinGrace(_ number: Int, _ family: RefreshFamily) -> Bool {
        grace > 0 && number == family.current - 1 && now < family.currentIssued + grace
    }

    private func isExpired(_ family: RefreshFamily, lifetime: Int) -> Bool {
        now >= family.created + TimeInterval(Lifetime.refreshFamily)
            || now >= family.currentIssued + TimeInterval(lifetime)
    }

    func end(_ familyID: String, because reason: String) { families[familyID]?.ended = reason }

    /// Ends the family of a refresh token (RFC 7009 section 2.1); says whether it was one of this client's.
    func revoke(_ token: String, client: Client) -> Bool {
        guard let (family, _) = parse(token), family.holder.clientID == client.id else { return false }
        end(family.id, because: "revoked")
        return true
    }

    /// The family of a token that could still be used, for introspection.
    func liveFamily(of token: String) -> RefreshFamily? {
        guard let (family, number) = parse(token), family.ended == nil, number == family.current,
            !isExpired(family, lifetime: Lifetime.refreshToken)
        else { return nil }
        return family
    }
}
