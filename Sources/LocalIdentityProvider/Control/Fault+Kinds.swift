package import Foundation

/// The usual faults by name; anything else is the members' combination.
extension Fault {
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

    package static func status(_ status: Int, at route: String, times: Int? = 1, takesEffect: Bool = false) -> Fault {
        .answer(status: status, body: #"{"error":"server_error"}"#, at: route, times: times, takesEffect: takesEffect)
    }

    package static func html(at route: String, times: Int? = 1) -> Fault {
        let body = "<html><h1>Bad gateway</h1></html>"
        return .answer(status: 502, body: body, contentType: "text/html", at: route, times: times)
    }

    package static func emptyBadRequest(at route: String, times: Int? = 1) -> Fault {
        .answer(status: 400, body: "", at: route, times: times)
    }

    package static func tooManyRequests(seconds: Int, at route: String, times: Int? = 1) -> Fault {
        tooManyRequests("\(seconds)", at: route, times: times)
    }

    package static func tooManyRequests(until date: Date, at route: String, times: Int? = 1) -> Fault {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"  // RFC 9110 section 5.6.7
        return tooManyRequests(formatter.string(from: date), at: route, times: times)
    }

    private static func tooManyRequests(_ retryAfter: String, at route: String, times: Int?) -> Fault {
        var fault = status(429, at: route, times: times)
        fault.retryAfter = retryAfter
        return fault
    }

    package static func delay(milliseconds: Int, at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times) { $0.delayMilliseconds = milliseconds }
    }

    package static func hang(at route: String, times: Int? = 1, takesEffect: Bool = false) -> Fault {
        Fault(route: route, times: times, takesEffect: takesEffect) { $0.hangs = true }
    }

    package static func truncatedBody(at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times) { $0.truncatesBody = true }
    }

    package static func lostResponse(at route: String, times: Int? = 1) -> Fault {
        Fault(route: route, times: times) { $0.losesResponse = true }
    }

    package static func wrongIDToken(_ flaw: IDTokenFlaw, times: Int? = 1) -> Fault {
        Fault(route: Route.token.name, times: times) { $0.idToken = flaw }
    }
}
