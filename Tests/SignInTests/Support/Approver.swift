import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import SignIn

/// A person with a browser on another device.
actor Approver {
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    private let transport: any HTTPTransport
    private var cookies: [String: String] = [:]
    private var url = ""
    private var page = ""

    init(_ transport: any HTTPTransport) { self.transport = transport }

    /// Opens the address that has the code in it, signs in, and approves.
    func approve(_ device: PendingDevice) async throws {
        try await open(device.authorization.verificationURIComplete ?? "")
        try await press("enter_code", ["user_code": device.authorization.userCode])
        try await press("sign_in", ["username": Login.ana, "password": "Quinoa-7-Lunas"])
        try await press("approve")
        guard page.contains("Connected") else { throw ExpectationFailure("an approved device: \(page)") }
    }

    /// Opens the address, enters the code, and refuses.
    func refuse(_ device: PendingDevice) async throws {
        try await open(device.authorization.verificationURI)
        try await press("enter_code", ["user_code": device.authorization.userCode])
        try await press("cancel")
    }

    private func open(_ url: String) async throws {
        self.url = url
        try await send(HTTPRequest("GET", url))
    }

    private func press(_ action: String, _ fields: [String: String] = [:]) async throws {
        var form = FormParameters()
        form.append("action", action)
        for (name, value) in fields { form.append(name, value) }
        for match in page.matches(of: /type="hidden" name="([^"]+)" value="([^"]*)"/) {
            form.append(String(match.1), String(match.2))
        }
        let headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded"]
        try await send(HTTPRequest("POST", url, headers: headers, body: form.encoded))
    }

    private func send(_ request: HTTPRequest) async throws {
        var request = request
        request.headers["cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        let response = try await transport.send(request, limits: Self.limits)
        for value in response.headers.values(of: "set-cookie") {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
        }
        page = response.body.reveal()
    }
}
