import OAuth
import TokenStorage

/// Writes JSON into bytes, member by member.
struct JSONOutput {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    var text: String { String(decoding: bytes, as: UTF8.self) }

    mutating func object(_ body: (inout JSONOutput) -> Void) {
        separate()
        enclosed("{", "}", body)
    }

    mutating func object(_ name: StaticString, _ body: (inout JSONOutput) -> Void) {
        self.name(name)
        enclosed("{", "}", body)
    }

    mutating func array<Element>(
        _ name: StaticString,
        _ elements: some Sequence<Element>,
        _ body: (Element, inout JSONOutput) -> Void
    ) {
        self.name(name)
        enclosed("[", "]") { json in
            for element in elements { body(element, &json) }
        }
    }

    mutating func array(_ name: StaticString, _ texts: [String]) {
        array(name, texts) { $1.element($0) }
    }

    mutating func element(_ text: String) {
        separate()
        string(text)
    }

    mutating func member(_ name: StaticString, _ text: String?) {
        self.name(name)
        if let text { string(text) } else { raw("null") }
    }

    /// A member whose name is not known before.
    mutating func member(named name: String, _ text: String) {
        element(name)
        raw(":")
        string(text)
    }

    /// An identifier or a name, of which an empty one is an absent one.
    mutating func identifier(_ name: StaticString, _ text: String?) {
        member(name, text.flatMap { $0.isEmpty ? nil : $0 })
    }

    mutating func member(_ name: StaticString, _ number: Int?) {
        self.name(name)
        raw(number.map(String.init) ?? "null")
    }

    mutating func member(_ name: StaticString, _ flag: Bool) {
        self.name(name)
        raw(flag ? "true" : "false")
    }

    /// An instant as text, and beside it as Unix seconds.
    mutating func time(_ name: StaticString, _ instant: Timestamp?) {
        self.name(name)
        if let instant {
            raw("\"")
            instant.write(to: &bytes)
            raw("\"")
        } else {
            raw("null")
        }
        self.name(name, "Epoch")
        raw(instant.map { String($0.epoch) } ?? "null")
    }

    mutating func member(_ name: StaticString, _ value: JSONValue) {
        self.name(name)
        write(value)
    }

    /// Opens an object with an array as its last member, which is written piece by piece.
    mutating func openDocument(_ array: StaticString) {
        raw("{\"schemaVersion\":1")
        needsComma = true
        name(array)
        raw("[\n")
        needsComma = false
    }

    /// Closes it, with the number of elements that there would be without a limit.
    mutating func closeDocument(total: Int) {
        raw("\n],\"total\":\(total)}\n")
    }

    /// Starts a line for the next element of an open document.
    mutating func startElement() {
        if needsComma { raw(",\n") }
        needsComma = false
    }

    mutating func endLine() { raw("\n") }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

extension JSONOutput {
    private mutating func enclosed(_ open: StaticString, _ close: StaticString, _ body: (inout JSONOutput) -> Void) {
        raw(open)
        needsComma = false
        body(&self)
        raw(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func name(_ name: StaticString, _ suffix: StaticString = "") {
        separate()
        raw("\"")
        raw(name)
        raw(suffix)
        raw("\":")
    }

    private mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func string(_ text: String) {
        var text = text
        let isPlain = text.withUTF8 { utf8 in
            guard utf8.allSatisfy(Self.isPlain) else { return false }
            bytes.append(UInt8(ascii: "\""))
            bytes.append(contentsOf: utf8)
            bytes.append(UInt8(ascii: "\""))
            return true
        }
        if !isPlain { escaped(text) }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Writes in digits what a terminal would obey, such as U+202E, which turns the direction of writing.
    private mutating func escaped(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        text.forEachScalar { scalar, isObeyed in
            if isObeyed {
                for unit in UTF16.encode(scalar).map(Array.init) ?? [] {
                    let digits = String(unit, radix: 16)
                    bytes += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
                }
            } else {
                if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .number(let text): raw(text)
        case .string(let text): string(text)
        case .array(let elements):
            enclosed("[", "]") { json in
                for element in elements {
                    json.separate()
                    json.write(element)
                    json.needsComma = true
                }
            }
        case .object(let object):
            enclosed("{", "}") { json in
                for member in object.members {
                    json.separate()
                    json.string(member.name)
                    json.raw(":")
                    json.write(member.value)
                    json.needsComma = true
                }
            }
        }
    }
}

extension JSONOutput {
    /// Writes the members of an account, whose names scripts rely on.
    mutating func members(of summary: AccountSummary, withTokens: Bool = false) {
        let account = summary.account
        member("homeAccountId", account.id.homeAccountID)
        identifier("localAccountId", summary.localAccountID)
        identifier("username", account.username)
        identifier("name", account.name)
        identifier("environment", account.environment)
        identifier("issuer", account.issuer)
        identifier("tenantId", summary.tenantID)
        identifier("policy", account.userFlow)
        member("isDefault", summary.isDefault)
        array("clientIds", summary.clientIDs)
        member("signInState", summary.signInState.rawValue)
        member("hasRefreshToken", summary.hasRefreshToken)
        object("accessTokenCounts") {
            $0.member("valid", summary.validCount)
            $0.member("aging", summary.agingCount)
            $0.member("expired", summary.expiredCount)
        }
        time("nextExpiry", Timestamp(summary.nextExpiry))
        time("lastUsed", Timestamp(summary.lastUsed))
        if withTokens {
            array("accessTokens", summary.accessTokens) { token, json in json.object { $0.members(of: token) } }
        }
        array("tenantProfiles", account.tenantProfiles) { profile, json in json.object { $0.members(of: profile) } }
    }

    private mutating func members(of token: AccessTokenSummary) {
        identifier("clientId", token.clientID)
        array("scopes", token.scopes)
        member("tokenType", token.tokenType)
        member("state", token.state.rawValue)
        time("cachedAt", Timestamp(token.cachedAt))
        time("expiresAt", Timestamp(token.expiresAt))
        time("refreshAt", Timestamp(token.refreshAt))
    }

    private mutating func members(of profile: TenantProfile) {
        identifier("tenantId", profile.tenantID)
        identifier("localAccountId", profile.localAccountID)
        member("isHome", profile.isHome)
    }
}
