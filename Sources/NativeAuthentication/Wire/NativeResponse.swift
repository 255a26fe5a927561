import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A successful answer.
struct NativeResponse: Sendable {
    let endpoint: NativeEndpoint
    let object: JSONValue.Object
    let correlationID: UUID

    /// What the issuer's clock said, in Unix seconds.
    let issuerNow: Int64?

    /// The token for the next step; nil where the answer has none.
    var optionalToken: Secret? { object["continuation_token"]?.text.flatMap { $0.isEmpty ? nil : Secret($0) } }

    /// The token for the next step.
    func continuationToken() throws(NativeRequestFailure) -> Secret {
        guard let token = optionalToken else { throw unexpected("has no continuation token") }
        return token
    }

    /// What the issuer asks for next.
    func challenge() throws(NativeRequestFailure) -> NativeChallenge {
        let token = try continuationToken()
        switch object["challenge_type"] {
        case "oob":
            guard let delivery = CodeDelivery(object) else {
                throw unexpected("does not say where the code went, or how long it is")
            }
            return .code(delivery, token)
        case "password": return .password(token)
        case "preverified": return .preverified(token)
        default: throw unexpected("asks for something unknown")
        }
    }

    /// The methods that a code can be sent by.
    func methods() throws(NativeRequestFailure) -> [AuthMethod] {
        let listed = (object["methods"]?.array ?? []).prefix(AuthMethod.most)
        let methods = listed.compactMap { $0.object.flatMap(AuthMethod.init) }
        guard !methods.isEmpty else { throw unexpected("lists no methods") }
        return methods
    }

    func unexpected(_ flaw: String) -> NativeRequestFailure {
        NativeRequestFailure(cause: .unexpected(flaw), correlationID: correlationID, endpoint: endpoint)
    }
}

/// What the issuer asks for, with the token to answer with.
enum NativeChallenge: Sendable {
    case code(CodeDelivery, Secret)
    case password(Secret)

    /// The contact was verified before; nothing is asked.
    case preverified(Secret)
}

/// Where a code was sent.
public struct CodeDelivery: Hashable, Sendable {
    /// The address or number, masked unless it was just typed.
    public let sentTo: String

    /// The kind of contact, such as e-mail.
    public let channelTargetType: ChannelType

    /// How many characters the code has.
    public let codeLength: Int

    /// How long until another code may be asked for, where the issuer says so.
    public let resendInterval: Duration?

    init?(_ object: JSONValue.Object) {
        guard let target = object["challenge_target_label"]?.text ?? object["challenge_target"]?.text,
            let channel = object["challenge_channel"]?.text, let length = object["code_length"]?.seconds,
            (0...1_000).contains(length)
        else { return nil }
        sentTo = target.shortened
        channelTargetType = ChannelType(value: channel.shortened)
        codeLength = Int(length)
        resendInterval = object["interval"]?.duration.map { min(max($0, .zero), .seconds(86_400)) }
    }
}

/// A way to send a code to a person, or to register (MSAL's `MSALAuthMethod`).
public struct AuthMethod: Hashable, Sendable, Identifiable {
    /// What the issuer calls the method.
    public let id: String

    /// Such as `oob`.
    public let challengeType: String

    /// The kind of contact, such as e-mail.
    public let channelTargetType: ChannelType

    /// The address or number, masked.
    public let loginHint: String?

    /// A list that is longer is not one to choose from.
    fileprivate static let most = 20

    /// What is longer is not to be shown, and an id or a channel is not sent back shortened.
    private static let (longestID, longestName) = (512, 64)

    init?(_ object: JSONValue.Object) {
        guard let id = object["id"]?.text, let type = object["challenge_type"]?.text,
            let channel = object["challenge_channel"]?.text,
            id.utf8.count <= Self.longestID, max(type.utf8.count, channel.utf8.count) <= Self.longestName
        else { return nil }
        self.id = id
        challengeType = type
        channelTargetType = ChannelType(value: channel)
        loginHint = object["login_hint"]?.text?.shortened
    }
}

/// By what a code is sent; issuers may add their own, so this is an open set (MSAL's `MSALNativeAuthChannelType`).
public struct ChannelType: Hashable, Sendable, CustomStringConvertible {
    /// As the issuer wrote it.
    public let value: String

    /// Whether codes come by e-mail.
    public var isEmailType: Bool { value.lowercased() == "email" }

    /// Whether codes come by text message.
    public var isSMSType: Bool { value.lowercased() == "sms" }
    public var description: String { value }

    init(value: String) { self.value = value }
}
