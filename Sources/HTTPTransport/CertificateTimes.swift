import NIOCore
import NIOPosix
import NIOSSL
import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The validity of a server's certificate.
///
/// The TLS library does not say why it refuses a certificate, and an outdated one is not a question of authorities. So
/// the certificate is fetched once more, without sending anything else.
struct CertificateTimes: Sendable {
    /// Unix seconds.
    let start: Int64
    let end: Int64

    private static let patience = Duration.seconds(5)

    /// Asks the server at `address` for as long as there is time; nil where it does not show a certificate by then.
    static func shown(at address: WebAddress, until end: ContinuousClock.Instant) async -> CertificateTimes? {
        let found = LockedValue<CertificateTimes?>(nil)
        let left = min(ContinuousClock.now.duration(to: end), patience)
        guard left > .zero, let context = try? NIOSSLContext(configuration: .makeClientConfiguration()) else {
            return nil
        }
        let isNumber = address.host.contains(":") || address.host.allSatisfy { $0.isNumber || $0 == "." }
        let name = isNumber ? nil : address.host
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        // Kept by whatever comes first: the end of the connection, that of the time, or that of the task.
        let over = loop.makePromise(of: Void.self)
        let limit = loop.scheduleTask(in: TimeAmount(left)) { over.succeed(()) }
        ClientBootstrap(group: loop)
            .connectTimeout(TimeAmount(left))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try NIOSSLClientHandler(context: context, serverHostname: name) {
                        (chain: [NIOSSLCertificate], verdict: EventLoopPromise<NIOSSLVerificationResult>) in
                        found.withLock { $0 = chain.first.map(CertificateTimes.init) }
                        verdict.succeed(.failed)
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .connect(host: address.host, port: address.port)
            .whenComplete { connection in
                guard let channel = try? connection.get() else { return over.succeed(()) }
                channel.closeFuture.cascade(to: over)
                over.futureResult.whenComplete { _ in channel.close(promise: nil) }
            }
        // It has refused its certificate already; a second failure says no more.
        await withTaskCancellationHandler {
            try? await over.futureResult.get()
        } onCancel: {
            over.succeed(())
        }
        limit.cancel()
        return found.withLock(\.self)
    }

    private init(_ certificate: NIOSSLCertificate) {
        start = Int64(certificate.notValidBefore)
        end = Int64(certificate.notValidAfter)
    }

    /// Why the certificate is not valid at a time in Unix seconds; nil if it is, by its times.
    func flaw(at now: Int64) -> String? {
        if now >= end { return "ended on \(Self.day(end))" }
        return now < start ? "begins on \(Self.day(start))" : nil
    }

    private static func day(_ seconds: Int64) -> String {
        Date(unixSeconds: seconds).formatted(.iso8601.year().month().day())
    }
}
