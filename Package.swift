// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "tokenstore",
    platforms: [.macOS(.v15), .iOS(.v18)],
    // Bottom up: a target depends only on targets above it.
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SQLite", dependencies: ["CSQLite"]),
        .target(name: "CMigrations"),
        .target(name: "OAuth"),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth"]),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c2x  // `#embed`
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .treatAllWarnings(as: .error),
    ]
}
