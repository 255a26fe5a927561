/// What libpq says of a failed connection, taken apart.
///
/// libpq has no call for the SQLSTATE of a refused connection; with verbose messages it stands in the text.
struct ServerMessage {
    /// The SQLSTATE, nil where no server spoke.
    let sqlState: String?
    /// The message on one line, without the place in the server's source.
    let text: String

    init(_ reported: String) {
        var state: String?
        var sentences: [String] = []
        for line in reported.split(whereSeparator: \.isNewline) where !Self.isLeftOut(line) {
            var sentence = String(line)
            if let code = line.firstMatch(of: #/[^ :]+:  ([0-9A-Z]{5}): /#) {
                state = String(code.output.1)
                sentence = String(line[code.range.upperBound...])
                // Of several tries on one host the last counts.
                sentences = []
            }
            sentences.append(sentence)
        }
        sqlState = state
        text = sentences.map { $0.trimmingPrefix(while: \.isWhitespace) }.joined(separator: "; ")
    }

    /// What is indented is libpq's guess at the cause; and it advises to do without a proof of who the server is.
    private static func isLeftOut(_ line: Substring) -> Bool {
        line.first == "\t" || line.hasPrefix("LOCATION:") || line.contains("to disable server certificate verification")
    }
}

extension PostgreSQLError {
    /// The error of a host that did not accept a connection.
    static func refusedConnection(_ reported: String, _ address: ServerAddress, _ host: ServerAddress.Host) -> Self {
        let message = ServerMessage(reported)
        let place = host.isSocket ? "the server on this machine" : "the server \(host.name):\(host.port)"
        // No password is in it; this is for the day it were. A short one is in a word by chance, and its mask would tell
        // it.
        let said = address.secrets.values.reduce(message.text) { text, secret in
            secret.text.utf8.count < 8 ? text : text.replacing(secret.text, with: "…")
        }
        guard let sqlState = message.sqlState else {
            let (code, remedy) = withoutServer(said)
            return Self(code, "\(place) cannot be used: \(said)\(remedy)", state: .lost)
        }
        let isPooler = said.contains("startup parameter")
        let code = isPooler ? .address : meaning(of: Code(rawValue: sqlState), said)
        let sentence =
            switch code {
            case .invalidPassword: "\(place) refused the user or the password"
            case .invalidAuthorization: "\(place) does not let this user in: \(said)"
            case .unknownDatabase: "\(place) has no database \(address.database)"
            case .tooManyConnections: "\(place) has no connection left: \(said)"
            case .cannotConnectNow: "\(place) is starting or stopping: \(said)"
            case .setting: "\(place) refused a setting: \(said)"
            case _ where isPooler:
                "\(place) is a pooler, it seems: \(said); add pooler=transaction to the address"
            default: "\(place) refused the connection: \(said)"
            }
        return Self(code, sentence, state: .lost)
    }

    /// What a refusal with a code means.
    ///
    /// pgbouncer gives one code to most of what it refuses; its words tell what stays so from what passes.
    private static func meaning(of code: Code, _ said: String) -> Code {
        if code == .protocolViolation {
            if said.contains("no such database") { return .unknownDatabase }
            // It takes every user for every database that it knows, and not this one.
            if said.contains("bouncer config error") { return .invalidAuthorization }
            if said.contains("no such user") || said.contains("authentication failed") { return .invalidPassword }
        }
        // At the start of a session nothing but its settings has a value, a name or a type.
        return code != .permission && ["22", "42"].contains(code.category) ? .setting : code
    }

    /// What libpq says of a setting that it cannot use, as of a variable of the environment.
    private static func isAboutSetting(_ text: String) -> Bool {
        text.hasPrefix("invalid ") && (text.contains(" value") || text.contains("connection option"))
            || demands.contains(where: text.contains)
    }

    private static let demands = [
        "requirepeer", "channel binding required", "authentication method requirement", "support is not compiled in",
    ]

    /// What the library's own words, which are English, mean; what it quotes, such as the name of a host, is not its
    /// own.
    private static func withoutServer(_ said: String) -> (Code, remedy: String) {
        let text = said.replacing(#/"[^"]*"/#, with: "")
        if text.contains("does not support SSL") { return (.noEncryption, "") }
        if isAboutSetting(text) { return (.setting, "") }
        let kinds = ["session is", "hot standby", "server is not in"]
        if kinds.contains(where: text.contains) { return (.wrongKindOfServer, "") }
        if text.contains("does not match host name") || text.contains("private key file") { return (.certificate, "") }
        if text.contains("certificate verify failed") {
            return (
                .certificate,
                "; its certificate has expired or was revoked, or no authority of sslrootcert has issued it"
            )
        }
        // Of a certificate whose signature is another authority's, OpenSSL names the fault of the signature alone. A
        // connection that broke off is a "SYSCALL error".
        let isAboutTLS = text.contains("SSL error: ")
        if isAboutTLS, !["certificate", "alert", "version", "protocol"].contains(where: text.contains) {
            return (.certificate, "; no authority of sslrootcert has issued its certificate, it seems")
        }
        if isAboutTLS || text.contains("certificate") { return (.certificate, "") }
        if text.contains("no password supplied") { return (.invalidPassword, "") }
        return (.unreachable, "")
    }

    /// Whether another host of the address may do better.
    var isOfOneHost: Bool {
        switch code {
        case .unreachable, .notConnected, .timedOut, .certificate, .noEncryption, .wrongKindOfServer, .connectionLost,
            .tooManyConnections, .serializationFailure:
            true
        // It starts or stops, or it is a pooler that has no server behind it.
        default: code.category == "57" || code.category == "08"
        }
    }
}
