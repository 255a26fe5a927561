package import HTTPTransport
public import OAuth

/// The issuer cannot serve now: it answered 408, 429 or 5xx, said so in an error, or asked to be left alone for a
/// while.
public struct IssuerUnavailable: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The issuer was asked too often.
        public static let throttled = Code(rawValue: "throttled")
        /// The issuer cannot serve now.
        public static let unavailable = Code(rawValue: "unavailable")

        /// Those of this version; a later one may have more.
        public static let known = [throttled, unavailable]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OpenIDConnect.IssuerUnavailable" }

    /// The status of the answer.
    public let status: Int

    /// How long until the next attempt is welcome, where the issuer says so.
    public let retryAfter: Duration?

    /// What the issuer called it, where it did.
    public let error: OAuthError.Code?

    /// An answer of this status, for transports of your own and for tests.
    public init(status: Int, retryAfter: Duration? = nil, error: OAuthError.Code? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.error = error
    }

    /// Reads an answer.
    package init(_ response: HTTPResponse, now: Int64? = nil) {
        self.init(status: response.status, retryAfter: response.retryAfter(now: now))
    }

    /// Whether an answer of this status may be another one a while later (RFC 9110 §15.5.9, §15.6; RFC 6585 §4).
    package static func isMeant(by status: Int) -> Bool { [408, 429].contains(status) || status >= 500 }

    /// Whether the request may have been served although this came of it.
    package var mayHaveTakenEffect: Bool { status >= 500 || status == 408 }
}

extension HTTPResponse {
    /// No issuer holds anyone back for less or for longer, whatever it asks for.
    private static let waits = Duration.seconds(1)...Duration.seconds(3_600)

    /// What `Retry-After` says, from a second to an hour; a date counts from the issuer's own clock.
    func retryAfter(now: Int64?) -> Duration? {
        guard let value = headers["retry-after"] else { return nil }
        if let seconds = Int64(value) { return Self.bounded(seconds) }
        guard let date = HTTPDate.seconds(value) else { return nil }
        let issuerNow = headers["date"].flatMap(HTTPDate.seconds) ?? now
        return issuerNow.map { Self.bounded(date - $0) }
    }

    private static func bounded(_ seconds: Int64) -> Duration {
        min(max(.seconds(seconds), waits.lowerBound), waits.upperBound)
    }
}

extension IssuerUnavailable {
    /// What went wrong, for programs.
    public var code: Code { status == 429 ? .throttled : .unavailable }

    /// What went wrong, in one sentence without advice.
    public var problem: String {
        status == 429 ? "the issuer was asked too often" : "the issuer answered \(error?.rawValue ?? "\(status)")"
    }

    /// What may help; nil if nothing is known.
    public var remedy: Remedy? {
        retryAfter.map { .retry(after: .seconds($0.secondsRoundedUp)) } ?? Remedy(.retry, "try again in a minute")
    }
}

/// Moments as HTTP writes them ([RFC 9110 §5.6.7](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7)).
package enum HTTPDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// The Unix seconds of a date such as `Sun, 06 Nov 1994 08:49:37 GMT`, or of one of its two obsolete forms.
    package static func seconds(_ text: String) -> Int64? {
        // All else takes quadratic time on combining marks.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        var parts = text.lowercased().split { " ,-".contains($0) }.map(String.init)
        guard parts.count >= 5 else { return nil }
        // asctime: Sun Nov  6 08:49:37 1994
        if months.contains(parts[1]) { parts = [parts[0], parts[2], parts[1], parts[4], parts[3]] }
        let clock = parts[4].split(separator: ":").compactMap { Int64($0) }
        guard let day = Int64(parts[1]), let month = months.firstIndex(of: parts[2]), var year = Int64(parts[3]),
            clock.count == 3, (1...31).contains(day), clock[0] < 24, clock[1] < 60, clock[2] <= 60,
            clock.allSatisfy({ $0 >= 0 }), (0...9999).contains(year)
        else { return nil }
        if parts[3].count == 2 { year += year < 70 ? 2000 : 1900 }
        return days(year, Int64(month) + 1, day) * 86_400 + clock[0] * 3_600 + clock[1] * 60 + clock[2]
    }

    /// Days since 1970 in the Gregorian calendar, with years that begin in March so that leap days come last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
