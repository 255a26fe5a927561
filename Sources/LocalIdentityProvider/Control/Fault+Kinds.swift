package import Foundation

/// The usual faults by name; anything else is the members' combination.
extension Fault {
    package static func status(_ status: Int, at route: String, times: Int? = 1, takesEffect: Bool = false) -> Fault {
        .answer(status: status, body: #"{"error":"server_error"}"#, at: route, times: times, takesEffect: takesEffect)
    }

    package static func answer(
        status: Int = 200,
        body: String,
        contentType: String? = nil,
        at route: String,
        times: Int? = 1,
        takesEffect: Bool = false
    ) -> Fault {
        Fault(route: route, times: times, takesEffect: takesEffect) {
            $0.status = status
            $0.body = body
            $0.contentType = contentType
        }
    }

    package static func html(at route: String, times: Int? = 1) -> Fault {
        answer(
            status: 502,
            body: "<html><h1>Bad gateway</h1></html>",
            contentType: "text/html",
            at: route,
            times: times
        )
    }

    package static func emptyBadRequest(at route: String, times: Int? = 1) -> Fault {
        answer(status: 400, body: "", at: route, times: times)
    }

    package static func tooManyRequests(seconds: Int, at route: String, times: Int? = 1) -> Fault {
        var fault = status(429, at: route, times: times)
        fault.retryAfter = "\(seconds)"
        return fault
    }

    package static func tooManyRequests(until date: Date, at route: String, times: Int? = 1) -> Fault {
        var fault = status(429, at: route, times: times)
        fault.retryAfter = Self.httpDate(date)
        return fault
    }

    package static func delay(milliseconds: Int, at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times, takesEffect: true) { $0.delayMilliseconds = milliseconds }
    }

    package static func hang(at route: String, times: Int? = 1, takesEffect: Bool = false) -> Fault {
        Fault(route: route, times: times, takesEffect: takesEffect) { $0.hangs = true }
    }

    package static func truncatedBody(at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times, takesEffect: true) { $0.truncatesBody = true }
    }

    package static func lostResponse(at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times, takesEffect: true) { $0.losesResponse = true }
    }

    package static func wrongIDToken(_ flaw: IDTokenFlaw, times: Int? = 1) -> Fault {
        Fault(route: Route.token.name, times: times, takesEffect: true) { $0.idToken = flaw }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section 5.6.7).
    private static func httpDate(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: date)
    }
}
