public import OAuth

/// Why the call of a web API did not succeed.
public struct WebAPIError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The API has no address or no scope.
        public static let notConfigured = Code(rawValue: "not_configured")
        /// The address is not an `https` URL, or not one of the API.
        public static let invalidURL = Code(rawValue: "invalid_url")
        /// The API answered with another status than 200 to 299, which is ``WebAPIError/status``.
        public static let status = Code(rawValue: "status")
        /// The answer is not JSON.
        public static let notJSON = Code(rawValue: "not_json")

        /// Those of this version; a later one may have more.
        public static let known = [
            notConfigured, invalidURL, status, notJSON,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "TokenManagement.WebAPIError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// The status of the answer.
    public private(set) var status: Int?

    /// What the API calls the failure, where its answer is JSON that says so as Microsoft Graph does.
    public private(set) var failure: Failure?

    /// The `code` and the `message` of the object `error` in an API's answer, and nothing else of it.
    ///
    /// They are the API's own words, which it may have put anything into: each is shortened where it has over 1,200
    /// characters, and the token of the call and words as long as a token are left out of them.
    public struct Failure: Hashable, Sendable {
        /// The API's name for the failure, such as `Request_ResourceNotFound`; nil where it has none.
        public let code: String?

        /// What the API says to a developer; nil if it says nothing.
        public let message: String?

        /// nil where the answer names none; `token` is the one that the API was sent.
        init?(_ answer: Secret, to token: Secret) {
            // What is not JSON says nothing of the kind.
            let answer = try? answer.withUnsafeBytes { try JSONValue(parsing: $0) }
            guard let error = answer?.object?["error"]?.object else { return nil }
            (code, message) = (Self.shown(error["code"], without: token), Self.shown(error["message"], without: token))
            if code == nil, message == nil { return nil }
        }

        private static let longestWord = 100

        private static func shown(_ value: JSONValue?, without token: Secret) -> String? {
            guard let text = value?.text, !text.isEmpty else { return nil }
            // A token that is no JWT may be as short as a word. Over the bytes: a search for characters takes quadratic
            // time on combining marks.
            let rest = token.withUnsafeBytes { [UInt8](text.utf8).replacing($0, with: "[...]".utf8) }
            let words = rest.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
            let shown = words.map { $0.count > longestWord ? "[...]" : String(decoding: $0, as: UTF8.self) }
            return shown.joined(separator: " ").boundedSentence
        }
    }

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension WebAPIError {
    package static let notConfigured = WebAPIError(
        .notConfigured,
        "the API is not configured",
        .correct("give its address and at least one scope")
    )

    package static func invalidURL(_ url: String) -> WebAPIError {
        WebAPIError(.invalidURL, "'\(url)' is not an address of the API", .correct("correct it"))
    }

    package static func status(_ status: Int, _ failure: Failure? = nil) -> WebAPIError {
        var error = WebAPIError(
            .status,
            "the API answered \(status)",
            Remedy(.checkSource, "see its documentation for what that means")
        )
        error.status = status
        error.failure = failure
        return error
    }

    package static let notJSON = WebAPIError(
        .notJSON,
        "the API answered with something other than JSON",
        Remedy(.checkSource, "check the address")
    )
}
