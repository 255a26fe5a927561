#if os(Linux)
import Foundation
import Glibc
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct SecretServiceSourceTests {
    private static let hasLibrary = dlopen("libsecret-1.so.0", RTLD_NOW) != nil
    private static let isComplete: Comment = "needs libsecret-1-0, dbus-daemon and gnome-keyring"

    private let directory: TemporaryDirectory
    private let source = KeySource.secretService

    init() throws { directory = try TemporaryDirectory() }

    @Test(.enabled(if: hasLibrary && SessionBus.isAvailable, isComplete))
    func `a key that was written is found again, by its store alone`() throws {
        let bus = try SessionBus(.unlockedKeyring, in: directory)
        defer { bus.stop() }
        expect(.absent, saying: "0101", "holds no key") { _ = try source.load(context(bus)) }
        let (key, parameters) = try source.create(context(bus))
        #expect(parameters.isEmpty)
        #expect(try source.load(context(bus)).id == key.id)
        #expect(try source.create(context(bus)).key.id == key.id)
        expect(.absent, saying: "0202") { _ = try source.load(context(bus, store: 2)) }
    }

    @Test(.enabled(if: hasLibrary && SessionBus.isAvailable, isComplete))
    func `a locked keyring has its own error and is not unlocked`() throws {
        let open = try SessionBus(.unlockedKeyring, in: directory)
        let key = try source.create(context(open)).key
        open.stop()

        let locked = try SessionBus(.keyringAsItIs, in: directory)
        expect(.locked, saying: "unlock it") { _ = try source.load(context(locked)) }
        expect(.locked, saying: "unlock it") { _ = try source.create(context(locked)) }
        expect(.locked, saying: "unlock it") { _ = try source.create(context(locked, store: 2)) }
        locked.stop()

        let reopened = try SessionBus(.unlockedKeyring, in: directory)
        defer { reopened.stop() }
        #expect(try source.load(context(reopened)).id == key.id)
    }

    @Test(.enabled(if: hasLibrary && SessionBus.isAvailable, isComplete))
    func `no keyring is created for a user without one`() throws {
        let bus = try SessionBus(.keyringAsItIs, in: directory)
        defer { bus.stop() }
        expect(.unavailable, saying: "no default keyring") { _ = try source.create(context(bus)) }
    }

    @Test(.enabled(if: hasLibrary && SessionBus.isAvailable, isComplete))
    func `a bus without a keyring is unavailable`() throws {
        let bus = try SessionBus(.none, in: directory)
        defer { bus.stop() }
        for attempt in attempts(context(bus)) {
            expect(.unavailable, saying: "org.freedesktop.secrets", from: attempt)
        }
    }

    @Test(.enabled(if: hasLibrary && SessionBus.isAvailable, isComplete))
    func `a keyring that never starts is given up at the deadline`() throws {
        let bus = try SessionBus(.silence, in: directory)
        defer { bus.stop() }
        let elapsed = ContinuousClock().measure {
            expect(.unavailable, saying: "within 0.2 seconds") { _ = try source.load(context(bus, deadline: 0.2)) }
        }
        // Left to itself it would be 25 seconds.
        #expect(elapsed < .seconds(20))
    }

    @Test(.enabled(if: hasLibrary, isComplete))
    func `a bus that never answers is given up at the deadline`() throws {
        let bus = try SilentSocket(directory.file("bus"))
        let context = context(["DBUS_SESSION_BUS_ADDRESS": bus.address], deadline: 0.2)
        for attempt in attempts(context) {
            let elapsed = ContinuousClock().measure {
                expect(.unavailable, saying: "did not answer within 0.2 seconds", from: attempt)
            }
            #expect(elapsed < .seconds(20))
        }
    }

    @Test(.enabled(if: hasLibrary, isComplete))
    func `a missing bus is unavailable`() {
        for attempt in attempts(context([:])) {
            expect(.unavailable, saying: "DBUS_SESSION_BUS_ADDRESS", from: attempt)
        }
        // A key that is yet to be made may be anywhere.
        let gone = context(["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(directory.file("gone"))"])
        expect(.unavailable, saying: "choose another key source") { _ = try source.create(gone) }
        #expect {
            try source.load(gone)
        } throws: {
            !"\($0)".contains("another key source")
        }
    }

    @Test(.enabled(if: hasLibrary, isComplete))
    func `a relative XDG_RUNTIME_DIR is ignored`() throws {
        try directory.write("", to: "bus")
        // More steps up than there are directories end at the root.
        let relative = String(repeating: "../", count: 64) + directory.path.dropFirst()
        #expect(access(relative + "/bus", F_OK) == 0)
        for attempt in attempts(context(["XDG_RUNTIME_DIR": relative])) {
            expect(.unavailable, saying: "the keyring needs a session bus", from: attempt)
        }
    }

    @Test func `a missing library is named with the command that installs it`() {
        var context = context([:])
        context.secretServiceLibrary = "libsecret-of-nowhere.so.0"
        for attempt in attempts(context) {
            expect(.unavailable, saying: "apt-get install libsecret-1-0", from: attempt)
        }
    }

    @Test func `a library without the expected functions is refused`() {
        var context = context([:])
        context.secretServiceLibrary = "libc.so.6"
        for attempt in attempts(context) {
            expect(.unavailable, saying: "lacks g_cancellable_new", from: attempt)
        }
    }

    private func attempts(_ context: KeySourceContext) -> [() throws -> Void] {
        [{ _ = try source.load(context) }, { _ = try source.create(context) }]
    }

    private func context(_ bus: SessionBus, store: UInt8 = 1, deadline: Double = 60) -> KeySourceContext {
        context(bus.environment, store: store, deadline: deadline)
    }

    private func context(
        _ environment: [String: String],
        store: UInt8 = 1,
        deadline: Double = 60
    ) -> KeySourceContext {
        KeySourceContext(
            directory: "/nonexistent",
            storeID: [UInt8](repeating: store, count: 16),
            environment: environment,
            deadline: .seconds(deadline)
        )
    }
}
#endif
