package import Foundation
import OAuth
import Synchronization

/// Something that goes wrong at a route, on purpose.
package struct Fault: Codable, Sendable {
    /// What an ID token gets wrong.
    package enum IDTokenFlaw: String, Codable, Sendable, CaseIterable {
        case signature
        case issuer
        case audience
        case expiry
        case nonce
    }

    /// The route's name in the audit log, such as `token` or `signup/continue`.
    package var route: String
    /// How many requests it hits; nil until it is removed.
    package var times: Int?
    /// How many requests it lets pass first.
    @Defaulted package var after = 0
    /// The request takes effect before the answer is replaced or lost.
    @Defaulted package var takesEffect = false

    package var status: Int?
    package var body: String?
    package var contentType: String?
    /// `Retry-After` as it should read; a number of seconds or an HTTP date.
    package var retryAfter: String?
    package var delayMilliseconds: Int?
    /// No answer until the client or the provider goes.
    @Defaulted package var hangs = false
    /// The request waits as long as the fault is there.
    @Defaulted package var holds = false
    @Defaulted package var truncatesBody = false
    @Defaulted package var losesResponse = false
    package var idToken: IDTokenFlaw?

    package init(
        route: String,
        times: Int? = 1,
        takesEffect: Bool = false,
        change: (inout Fault) -> Void = { _ in }
    ) {
        self.route = route
        self.times = times
        self.takesEffect = takesEffect
        change(&self)
    }

    /// The name of a number that no answer, wait or count can be.
    var impossibleNumber: String? {
        let numbers: [(name: String, value: Int?, range: ClosedRange<Int>)] = [
            ("times", times, 1...Int.max), ("after", after, 0...Int.max), ("status", status, 200...599),
            ("delayMilliseconds", delayMilliseconds, 0...Lifetime.longestDelay),
        ]
        return numbers.first { number in number.value.map { !number.range.contains($0) } ?? false }?.name
    }

    /// The answer that replaces the real one, if the fault has one.
    var replacement: Reply? {
        guard status != nil || body != nil else { return nil }
        var headers = ["content-type": contentType ?? "application/json; charset=utf-8"]
        if let retryAfter { headers["retry-after"] = retryAfter }
        return Reply(status: status ?? 200, headers: headers, body: Array((body ?? "").utf8), outcome: "fault")
    }
}

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
        tooManyRequests(date.httpText, at: route, times: times)
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

    /// Holds requests back until the faults are removed.
    package static func hold(at route: String) -> Fault {
        Fault(route: route, times: nil) { $0.holds = true }
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

package final class Faults: Sendable {
    private let waiting = LockedValue<[Fault]>([])

    package func add(_ fault: Fault) { waiting.withLock { $0.append(fault) } }

    package func removeAll() { waiting.withLock { $0.removeAll() } }

    package var all: [Fault] { waiting.withLock { $0 } }

    func isHeld(at route: String) -> Bool {
        waiting.withLock { $0.contains { $0.route == route && $0.holds } }
    }

    /// The oldest fault due at `route`, counted as used.
    func take(at route: String) -> Fault? {
        waiting.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.route == route }) else { return nil }
            if faults[index].after > 0 {
                faults[index].after -= 1
                return nil
            }
            let fault = faults[index]
            if let times = fault.times {
                if times > 1 { faults[index].times = times - 1 } else { faults.remove(at: index) }
            }
            return fault
        }
    }
}
