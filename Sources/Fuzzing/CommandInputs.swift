import NIOCore
import NIOEmbedded
import OAuth
import OpenIDConnect
import SignIn
import TokenStoreCLI

/// Arguments of the command line, one a line, read and not obeyed.
struct ArgumentsInput: FuzzInput {
    /// What the program prints of wrong arguments is not to flood a terminal.
    private static let longest = 4_096

    func run(_ bytes: [UInt8]) throws {
        // No system passes on an argument with a zero in it.
        let lines = bytes.filter { $0 != 0 }.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let arguments = lines.map { String(decoding: $0, as: UTF8.self) }
        guard let objection = TokenStoreProgram.objection(to: arguments) else { return }
        try hold(objection.status == 64, "wrong arguments end with 64, not \(objection.status)")
        try hold(objection.text.hasPrefix("tokenstore: error: "), "who complains says its name: \(objection.text)")
        try hold(objection.text.contains("; "), "an error says what to do: \(objection.text)")
        let controls = objection.text.unicodeScalars.filter { $0.properties.generalCategory == .control }
        try hold(controls.count == 1 && objection.text.hasSuffix("\n"), "an error is one line: \(objection.text)")
        try hold(objection.text.utf8.count <= Self.longest + 8 * bytes.count, "an error is short")
    }
}

/// A redirect URI on the first line and, behind it, what a browser sends to its listener and a system hands to the app.
struct RedirectInput: FuzzInput {
    private static let names = ["code", "state", "iss", "error", "error_description", "error_subcode"]

    func run(_ bytes: [UInt8]) throws {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let rest = lines.count > 1 ? Array(lines[1]) : []
        let text = String(decoding: lines[0], as: UTF8.self)
        let uri = try unlessRefused(by: SignInError.self) { try RedirectURI(text) }
        if let uri {
            try checkRoundTrip(uri)
            try checkQuery(uri, rest)
        }
        try readAnswer(rest)
        for mode in ResponseMode.allCases { try send(rest, to: uri?.loopback?.path ?? "/", mode) }
    }

    /// A URI that was read and written is read again as the same.
    private func checkRoundTrip(_ uri: RedirectURI) throws {
        try hold(try RedirectURI(uri.text) == uri, "\(uri.text) is one redirect URI")
        guard let place = uri.loopback else { return }
        let again = try RedirectURI(place.text(port: place.port ?? 8_080)).loopback
        try hold(again?.host == place.host, "\(uri.text) keeps its host, and not \(again?.host ?? "none")")
        try hold(again?.path == place.path, "\(uri.text) keeps its path, and not \(again?.path ?? "none")")
        try hold(again?.port == place.port ?? 8_080, "\(uri.text) keeps its port, and not \(again?.port ?? -1)")
        // The issuer compares the address with the registered one.
        let sent = place.text(port: place.port ?? 8_080)
        let registered = place.port == nil ? sent.replacing(":8080", with: "", maxReplacements: 1) : sent
        try hold(registered == uri.text, "\(uri.text) is sent as registered, not as \(sent)")
    }

    private func checkQuery(_ uri: RedirectURI, _ query: [UInt8]) throws {
        let query = String(decoding: query, as: UTF8.self)
        _ = uri.query(of: query)
        let found = uri.query(of: "\(uri.text)?\(query)")
        let wanted = query.utf8.prefix { $0 != UInt8(ascii: "#") }
        try hold(found?.utf8.elementsEqual(wanted) ?? false, "the parameters of \(uri.text) are found")
    }

    /// Parameters that were read and written are read again as the same.
    private func readAnswer(_ query: [UInt8]) throws {
        let answer = AuthorizationResponse(query)
        _ = answer.refusal.map { "\(SignInError.refused($0))" }
        var form = FormParameters()
        for name in Self.names { form.append(name, answer[name]) }
        let again = AuthorizationResponse(Array(form.encoded.reveal().utf8))
        for name in Self.names { try hold(again[name] == answer[name], "\(name) comes out as it went in") }
        try hold(again.isAnswer == answer.isAnswer, "an answer stays one")
    }

    /// Sends bytes to a listener, as they are and then cut in two.
    private func send(_ bytes: [UInt8], to path: String, _ mode: ResponseMode) throws {
        for cut in [0, bytes.count / 2] {
            let channel = EmbeddedChannel()
            channel.localAddress = try SocketAddress(ipAddress: "127.0.0.1", port: 8_080)
            // The state of the request, found where an answer has it.
            let query = Array(bytes.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 > 0x20 })
            let pendingRedirect = PendingRedirect(state: AuthorizationResponse(query)["state"] ?? Secret("s"))
            let routes = RedirectRoutes(path: path, mode: mode, pendingRedirect: pendingRedirect, start: StartAddress())
            try RedirectListener.receive(on: channel, routes)
            channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 50_000), promise: nil)
            for part in [bytes[..<cut], bytes[cut...]] where channel.isActive {
                // What the listener makes of it shows in what it answers.
                _ = try? channel.writeInbound(ByteBuffer(bytes: part))
            }
            try check(channel, pendingRedirect)
            _ = try? channel.finish(acceptAlreadyClosed: true)
        }
    }

    private func check(_ channel: EmbeddedChannel, _ pendingRedirect: PendingRedirect) throws {
        channel.embeddedEventLoop.run()
        var answer = ""
        while let part = try channel.readOutbound(as: ByteBuffer.self) { answer += String(buffer: part) }
        guard let outcome = pendingRedirect.outcome else { return }
        try hold(answer.hasPrefix("HTTP/1."), "a browser with an answer gets a page, not \(answer)")
        try hold(!channel.isActive, "a connection ends with the answer")
        guard case .success(let answer) = outcome else { return }
        let isOurs = answer.isAnswer && answer["state"] == pendingRedirect.state
        try hold(isOurs, "nothing but an answer to the request is taken")
    }
}
