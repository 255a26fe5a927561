import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a request failed.
struct NativeRequestFailure: Error {
    enum Cause {
        /// The flow must continue in a browser.
        case redirect(reason: String?)

        /// The issuer refused; the object is the whole answer.
        case refused(OAuthError, JSONValue.Object)

        /// No usable response was received.
        case failed(any Error)

        /// The answer lacks what it has to have, or is another than the flow allows.
        case unexpected(String, Remedy? = nil)
    }

    let cause: Cause
    let correlationID: UUID

    /// Where it happened; nil where nothing was sent.
    var endpoint: NativeEndpoint?

    /// Whether the request cannot have reached the issuer.
    var isUnsent = false

    /// Whether the continuation token that the caller holds is spent.
    var endsFlow = false

    /// What to do instead of what the cause calls for.
    private(set) var advice: Remedy?

    /// The issuer's refusal.
    var refusal: OAuthError? {
        if case .refused(let error, _) = cause { error } else { nil }
    }

    /// The refusal of one endpoint.
    func refusal(at endpoint: NativeEndpoint) -> OAuthError? { self.endpoint == endpoint ? refusal : nil }

    /// The continuation token that came with a refusal, for the step that it asks for.
    var continuationToken: Secret? {
        guard case .refused(_, let object) = cause else { return nil }
        return object["continuation_token"]?.text.flatMap { $0.isEmpty ? nil : Secret($0) }
    }

    /// The names of the attributes that were refused.
    var invalidAttributes: [String] {
        guard case .refused(_, let object) = cause else { return [] }
        return (object["invalid_attributes"]?.array ?? []).compactMap { $0.object?["name"]?.text?.shortened }
    }

    /// The attributes that are asked for.
    var requiredAttributes: [RequiredAttribute] {
        guard case .refused(_, let object) = cause else { return [] }
        return (object["required_attributes"]?.array ?? []).compactMap { $0.object.flatMap(RequiredAttribute.init) }
    }

    var errorURI: String? {
        guard case .refused(_, let object) = cause else { return nil }
        return object["error_uri"]?.text
    }

    /// What the issuer says of its refusal, with all that it may repeat: to be judged by, and never shown.
    var wholeDescription: String? {
        guard case .refused(_, let object) = cause else { return nil }
        return object["error_description"]?.text
    }

    /// The same, with the flow at its end.
    func ending() -> NativeRequestFailure {
        var failure = self
        failure.endsFlow = true
        return failure
    }

    /// The same with other advice where the cause has none but to try again, which would do over what was done.
    func advising(_ remedy: Remedy) -> NativeRequestFailure {
        switch cause {
        case .redirect: return self
        case .refused(let error, _):
            // Where consent is due, or another password, what was done is not the matter.
            guard !error.needsPage, !error.needsNewPassword else { return self }
        case .failed(let error):
            let retries: [Remedy.Code] = [.retry, .allowMoreTime, .checkNetwork]
            if let known = (error as? any CodedError)?.remedy?.code, !retries.contains(known) { return self }
        case .unexpected(_, let known): guard known == nil else { return self }
        }
        var failure = self
        failure.advice = remedy
        return failure
    }
}

/// What an issuer asks for behind the first factor; the raw value is its `suberror`.
enum FurtherFactor: String {
    /// A code, by a method that the person has registered.
    case registered = "mfa_required"

    /// A method to register first.
    case unregistered = "registration_required"
}

extension OAuthError {
    private static let passwordSuberrors: Set<String> = [
        "password_too_weak", "password_too_short", "password_too_long", "password_is_invalid",
        "password_recently_used", "password_banned",
    ]

    var isInvalidCode: Bool { code == .invalidGrant && suberror == "invalid_oob_value" }

    var isInvalidPassword: Bool { code == .invalidGrant && suberror.map(Self.passwordSuberrors.contains) ?? false }

    /// The further factor that is asked for, to which the token beside it leads.
    var furtherFactor: FurtherFactor? {
        code == .invalidGrant ? suberror.flatMap(FurtherFactor.init(rawValue:)) : nil
    }

    var isBlocked: Bool { code == .accessDenied && suberror == "provider_blocked_by_rep" }

    /// Whether it names the attributes that it refuses, given in `names`.
    func isInvalidAttributes(_ names: [String]) -> Bool {
        code == .invalidGrant && suberror == "attribute_validation_failed" && !names.isEmpty
    }

    /// Only the first number of an answer counts.
    var isUserNotFound: Bool {
        code == .userNotFound || code == .invalidGrant && numbers.first == 50_034
    }

    /// Whether the authority names no tenant that is there.
    var isTenantUnknown: Bool { numbers.first == 90_002 }

    var isWrongPassword: Bool { code == .invalidGrant && numbers.first == 50_126 }
}

extension OAuthError.Code {
    static let userNotFound = Self(rawValue: "user_not_found")
    static let userAlreadyExists = Self(rawValue: "user_already_exists")
    static let credentialRequired = Self(rawValue: "credential_required")
    static let attributesRequired = Self(rawValue: "attributes_required")
    static let expiredRefreshToken = Self(rawValue: "expired_refresh_token")
}
