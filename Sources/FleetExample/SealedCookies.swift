import ArgumentParser
import Crypto
import Foundation
import Hummingbird

/// Cookies that only the processes of the fleet can make and read.
struct SealedCookies: Sendable {
    /// What a cookie is for; one is never taken for the other.
    enum Purpose: String {
        case signIn = "fleet-sign-in"
        case session = "fleet-session"
    }

    private let sealing: SymmetricKey
    private let signing: SymmetricKey
    private let isSecure: Bool

    /// Reads the key that all processes share; with `isSecure` browsers send the cookies over https alone.
    init(keyFile: String, isSecure: Bool) throws {
        let text = try String(contentsOf: URL(filePath: keyFile), encoding: .utf8)
        guard let bytes = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)), bytes.count >= 32
        else { throw ValidationError("\(keyFile) is not 32 bytes in base64; make it with: openssl rand -base64 32") }
        let key = SymmetricKey(data: bytes)
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: key, info: Data(purpose.utf8), outputByteCount: 32)
        }
        (sealing, signing, self.isSecure) = (derived("fleet cookies"), derived("fleet forms"), isSecure)
    }

    /// A cookie with this in it, for so many seconds; no script of a page can read it.
    func cookie(_ purpose: Purpose, _ contents: Data, seconds: Int) throws -> Cookie {
        let box = try AES.GCM.seal(contents, using: sealing, authenticating: Data(purpose.rawValue.utf8))
        return cookie(purpose, (box.combined ?? Data()).base64URL, seconds: seconds)
    }

    /// Makes the browser forget a cookie.
    func removal(of purpose: Purpose) -> Cookie { cookie(purpose, "", seconds: 0) }

    /// What is in the cookie that came with a request; nil if there is none, or it was not made here.
    func contents(_ purpose: Purpose, of request: Request) -> Data? {
        guard let value = request.cookies[name(of: purpose)]?.value, let sealed = Data(base64URL: value),
            let box = try? AES.GCM.SealedBox(combined: sealed)
        else { return nil }
        // Whatever is wrong with it, it is not ours.
        return try? AES.GCM.open(box, using: sealing, authenticating: Data(purpose.rawValue.utf8))
    }

    /// What a form of a session has to repeat, which a page of another site cannot know.
    func formToken(of session: Session) -> String {
        Data(HMAC<SHA256>.authenticationCode(for: Data(session.id.utf8), using: signing)).base64URL
    }

    func isFormToken(_ text: String, of session: Session) -> Bool {
        guard let code = Data(base64URL: text) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(session.id.utf8), using: signing)
    }

    private func cookie(_ purpose: Purpose, _ value: String, seconds: Int) -> Cookie {
        Cookie(
            name: name(of: purpose),
            value: value,
            maxAge: seconds,
            path: "/",
            secure: isSecure,
            httpOnly: true,
            sameSite: .lax
        )
    }

    /// With the prefix, browsers take the cookie from this very host over https alone.
    private func name(of purpose: Purpose) -> String { (isSecure ? "__Host-" : "") + purpose.rawValue }
}

extension Data {
    /// The bytes in the alphabet of base64 that stands in cookies and forms without escapes.
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    init?(base64URL text: String) {
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        self.init(base64Encoded: text.replacing("-", with: "+").replacing("_", with: "/") + padding)
    }
}
