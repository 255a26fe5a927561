/// How long an exchange may take and how much of an answer is read.
public struct HTTPLimits: Hashable, Sendable {
    /// Until the status and the headers of the answer have arrived.
    public var head: Duration

    /// Until the whole answer has arrived, connecting included.
    public var total: Duration

    /// The largest body, in bytes.
    public var bodySize: Int

    public init(head: Duration, total: Duration, bodySize: Int) {
        self.head = head
        self.total = total
        self.bodySize = bodySize
    }

    /// For the endpoints of an issuer: ten seconds and one megabyte.
    public static let issuer = HTTPLimits(head: .seconds(10), total: .seconds(10), bodySize: 1 << 20)

    /// For web APIs: thirty seconds and sixteen megabytes.
    public static let webAPI = HTTPLimits(head: .seconds(30), total: .seconds(30), bodySize: 1 << 24)
}
