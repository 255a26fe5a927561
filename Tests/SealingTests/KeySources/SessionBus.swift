#if os(Linux)
import Foundation
import Glibc
import TestSupport

/// A private D-Bus daemon that starts a Secret Service when it is first asked for one.
///
/// Nothing of it is shared with the machine's own desktop: it has its own socket, home and keyrings.
final class SessionBus {
    /// What the bus runs as the Secret Service.
    enum Service: String {
        case unlockedKeyring = "printf password | gnome-keyring-daemon --unlock --components=secrets --foreground"
        case keyringAsItIs = "exec gnome-keyring-daemon --components=secrets --foreground"
        case silence = "exec sleep 5"
        case none = ""
    }

    static let isAvailable = ["dbus-daemon", "gnome-keyring-daemon"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// For a context.
    let environment: [String: String]
    private let daemon = Process()

    init(_ service: Service, in directory: TemporaryDirectory) throws {
        let socket = directory.file("bus")
        if service != .none {
            try directory.write(
                "#!/bin/sh\nPATH=/usr/bin:/bin\n\(service.rawValue)\n",
                to: "service.sh",
                mode: 0o700
            )
            try directory.write(
                "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(directory.file("service.sh"))\n",
                to: "secrets.service"
            )
        }
        try directory.write(
            """
            <busconfig><type>session</type><listen>unix:path=\(socket)</listen><auth>EXTERNAL</auth>
            <servicedir>\(directory.path)</servicedir>
            <policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
            </policy>
            </busconfig>
            """,
            to: "bus.conf"
        )
        environment = ["DBUS_SESSION_BUS_ADDRESS": "unix:path=\(socket)"]
        let output = Pipe()
        daemon.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
        daemon.arguments = [
            "--config-file=\(directory.file("bus.conf"))", "--nofork", "--nopidfile", "--print-address",
        ]
        daemon.environment = [
            "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "XDG_DATA_HOME": directory.file("data"),
        ]
        daemon.standardOutput = output
        daemon.standardError = FileHandle.nullDevice
        try daemon.run()
        // The address is printed when the socket listens.
        _ = output.fileHandleForReading.availableData
    }

    /// Ends the daemon; a keyring ends with its bus.
    func stop() {
        // Threads of the test runner block SIGTERM, and their children inherit that.
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }
}
#endif
