import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An answer of a token endpoint with all it takes to store it later, or in another process.
struct PendingAnswer: Sendable {
    let response: TokenResponse
    let request: TokenRequest

    /// The refresh token that was spent for it; nil: a sign-in.
    let used: StoredRefreshToken?

    /// Unix seconds.
    let receivedAt: Int64

    /// The last entry of the record of use before the request was sent.
    var lastEvent: Int64 = 0

    /// Tokens that can be none are left out.
    init(_ response: TokenResponse, for request: TokenRequest, refreshing used: StoredRefreshToken?, at now: Int64) {
        var response = response
        response.removeUnfitTokens()
        self.response = response
        self.request = request
        self.used = used
        receivedAt = now
    }

    /// The bytes are not those of an answer.
    struct Malformed: Error {}

    private static let format: Int64 = 1
}

// A header of JSON without secrets, then the secrets, each with its length before it.
extension PendingAnswer {
    /// The answer as bytes to be sealed, which the caller wipes.
    func encoded() -> [UInt8] {
        var header: [UInt8] = []
        JSONValue.object(head).write(to: &header)
        var bytes: [UInt8] = []
        let secrets = [
            response.accessToken, response.refreshToken, response.idToken, used?.secret, request.newKey?.secret,
        ]
        // Room for all of it at once: an array that grows leaves copies behind.
        bytes.reserveCapacity(header.count + 24 + secrets.reduce(0) { $0 + ($1?.count ?? 0) })
        header.withUnsafeBytes { Self.append($0, to: &bytes) }
        for secret in secrets {
            guard let secret else {
                Self.append(length: .max, to: &bytes)
                continue
            }
            secret.withUnsafeBytes { Self.append($0, to: &bytes) }
        }
        return bytes
    }

    /// Reads what ``encoded()`` made.
    ///
    /// - Throws: ``Malformed``.
    init(decoding bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        guard let text = try Self.next(&rest) else { throw Malformed() }
        guard let head = try JSONValue(parsing: text).object, head["format"]?.seconds == Self.format,
            let receivedAt = head["receivedAt"]?.seconds, let lastEvent = head["lastEvent"]?.seconds,
            let request = head["request"]?.object, let response = head["response"]?.object
        else { throw Malformed() }
        self.receivedAt = receivedAt
        self.lastEvent = lastEvent
        var asked = try TokenRequest(pending: request)
        var answer = TokenResponse(pending: response)
        answer.accessToken = try Self.next(&rest).map { Secret(copying: $0) }
        answer.refreshToken = try Self.next(&rest).map { Secret(copying: $0) }
        answer.idToken = try Self.next(&rest).map { Secret(copying: $0) }
        self.response = answer
        let spent = try Self.next(&rest).map { Secret(copying: $0) }
        used = try head["used"]?.object.map { members in
            guard let spent else { throw Malformed() }
            return try StoredRefreshToken(pending: members, secret: spent)
        }
        // A program of before, which knew of no keys, wrote nothing here.
        if !rest.isEmpty, let secret = try Self.next(&rest).map({ Secret(copying: $0) }) {
            guard let thumbprint = asked.keyID else { throw Malformed() }
            asked.newKey = BoundKey(thumbprint: thumbprint, secret: secret)
        }
        self.request = asked
    }

    private var head: JSONValue.Object {
        var head = JSONValue.Object()
        head["format"] = .number("\(Self.format)")
        head["receivedAt"] = .number("\(receivedAt)")
        head["lastEvent"] = .number("\(lastEvent)")
        head["request"] = .object(request.pendingMembers)
        head["response"] = .object(response.pendingMembers)
        head["used"] = used.map { .object($0.pendingMembers) }
        return head
    }

    private static func append(_ part: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        append(length: UInt32(part.count), to: &bytes)
        bytes.append(contentsOf: part)
    }

    private static func append(length: UInt32, to bytes: inout [UInt8]) {
        for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: length >> shift)) }
    }

    /// The next part; nil for one that is not there.
    private static func next(_ rest: inout Slice<UnsafeRawBufferPointer>) throws -> UnsafeRawBufferPointer? {
        guard rest.count >= 4 else { throw Malformed() }
        let length = rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        rest = rest.dropFirst(4)
        guard length != .max else { return nil }
        guard rest.count >= Int(length) else { throw Malformed() }
        defer { rest = rest.dropFirst(Int(length)) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(Int(length)))
    }
}

extension TokenRequest {
    fileprivate var pendingMembers: JSONValue.Object {
        var members = JSONValue.Object()
        members["clientID"] = .string(clientID)
        members["authority"] = .string(authority.url)
        members["isIssuer"] = .bool(authority.issuer != nil)
        members["scope"] = .string(scope.text)
        members["grant"] = .string(grant.rawValue)
        members["askedScope"] = askedScope.map { .string($0.text) }
        members["username"] = username.map { .string($0) }
        members["claims"] = claims
        members["resource"] = resource.map { .string($0) }
        members["keyID"] = keyID.map { .string($0) }
        return members
    }

    fileprivate init(pending members: JSONValue.Object) throws {
        guard let client = members["clientID"]?.text, let address = members["authority"]?.text,
            let scope = members["scope"]?.text, let grant = members["grant"]?.text
        else { throw PendingAnswer.Malformed() }
        self.init(
            clientID: client,
            authority: try members["isIssuer"] == .bool(true)
                ? Authority(issuer: address) : Authority(parsing: address),
            scope: Scope(scope),
            grant: Grant(rawValue: grant)
        )
        askedScope = members["askedScope"]?.text.map { Scope($0) }
        username = members["username"]?.text
        claims = members["claims"]
        resource = members["resource"]?.text
        keyID = members["keyID"]?.text
    }
}

extension TokenResponse {
    /// All but the secrets.
    fileprivate var pendingMembers: JSONValue.Object {
        var members = JSONValue.Object()
        let numbers = [
            ("expiresIn", expiresIn?.secondsRoundedUp), ("expiresOn", expiresOn?.unixSeconds),
            ("extendedExpiresIn", extendedExpiresIn?.secondsRoundedUp), ("refreshIn", refreshIn?.secondsRoundedUp),
            ("refreshTokenExpiresIn", refreshTokenExpiresIn?.secondsRoundedUp),
        ]
        for (name, number) in numbers { members[name] = number.map { .number("\($0)") } }
        members["tokenType"] = tokenType.map { .string($0) }
        members["scope"] = scope.map { .string($0.text) }
        members["clientInfo"] = clientInfo.map { .string($0) }
        members["familyID"] = familyID.map { .string($0) }
        return members
    }

    fileprivate init(pending members: JSONValue.Object) {
        self.init(expiresIn: members["expiresIn"]?.duration)
        expiresOn = members["expiresOn"]?.seconds.map { Date(unixSeconds: $0) }
        extendedExpiresIn = members["extendedExpiresIn"]?.duration
        refreshIn = members["refreshIn"]?.duration
        refreshTokenExpiresIn = members["refreshTokenExpiresIn"]?.duration
        tokenType = members["tokenType"]?.text
        scope = members["scope"]?.text.map { Scope($0) }
        clientInfo = members["clientInfo"]?.text
        familyID = members["familyID"]?.text
    }
}

extension StoredRefreshToken {
    /// All but the secret.
    fileprivate var pendingMembers: JSONValue.Object {
        var members = JSONValue.Object()
        members["clientID"] = .string(clientID)
        members["familyID"] = familyID.map { .string($0) }
        members["authority"] = .string(account.issuer)
        members["homeAccountID"] = .string(account.homeAccountID)
        members["modifiedAt"] = modifiedAt.map { .number("\($0.unixSeconds)") }
        members["scope"] = scope.map { .string($0.text) }
        members["rowID"] = .number("\(rowID)")
        members["generation"] = .number("\(generation)")
        return members
    }

    fileprivate init(pending members: JSONValue.Object, secret: Secret) throws {
        guard let client = members["clientID"]?.text, let authority = members["authority"]?.text,
            let account = members["homeAccountID"]?.text, let row = members["rowID"]?.seconds,
            let generation = members["generation"]?.seconds
        else { throw PendingAnswer.Malformed() }
        self.init(
            secret: secret,
            clientID: client,
            familyID: members["familyID"]?.text,
            account: Account.ID(issuer: authority, homeAccountID: account),
            // A program of before wrote none.
            modifiedAt: members["modifiedAt"]?.seconds.map { Date(unixSeconds: $0) },
            scope: members["scope"]?.text.map { Scope($0) },
            rowID: row,
            generation: generation
        )
    }
}
