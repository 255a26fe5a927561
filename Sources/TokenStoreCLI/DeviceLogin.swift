import OAuth
import OpenIDConnect
import SignIn

/// A sign-in that a person takes part in on another device.
struct DeviceLogin: Sendable {
    let flow: DeviceCodeFlow

    func signIn(_ scope: Scope, at authority: Authority) async throws -> SignedInTokens {
        let device = try await flow.begin(scope, at: authority)
        Self.announce(device.authorization, within: device.timeLimit.components.seconds)
        return try await device.tokens()
    }

    /// On standard error, as standard output is for the answer; also with --quiet, or nobody could sign in.
    private static func announce(_ authorization: DeviceAuthorization, within seconds: Int64) {
        let time = seconds < 120 ? "\(max(1, seconds)) s" : "\(seconds / 60) min"
        var text = """
            tokenstore: open \(authorization.verificationURI) on any device and enter the code \
            \(authorization.userCode) within \(time); Ctrl-C cancels

            """
        if let address = authorization.verificationURIComplete {
            text += "tokenstore: or open this address, which has the code in it:\n\(address)\n"
        }
        StandardError.write(text)
    }
}
