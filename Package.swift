// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "tokenstore",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "tokenstore", targets: ["TokenStoreCLI"]),
        .executable(name: "tokenstore-bench", targets: ["Benchmarks"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    // Bottom up: a target depends only on targets above it.
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "SQLite", dependencies: ["CSQLite"]),
        .target(name: "CMigrations"),
        .target(name: "OAuth"),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth"]),
        .target(
            name: "Sealing",
            dependencies: [
                "OAuth",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .testTarget(name: "SealingTests", dependencies: ["Sealing", "OAuth"]),
        .target(
            name: "TokenStorage",
            dependencies: [
                "CMigrations", "OAuth", "SQLite", "Sealing", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .executableTarget(
            name: "TokenStoreCLI",
            dependencies: [
                "OAuth", "Sealing", "TokenStorage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(
            name: "CFloor",
            dependencies: ["CSQLite", .product(name: "Crypto", package: "swift-crypto")],
            path: "Sources/Benchmarks/CFloor"
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CFloor", "OAuth", "SQLite", "Sealing", "TokenStorage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["CFloor"]
        ),

        .target(name: "TestSupport", dependencies: ["OAuth", "TokenStorage"], path: "Tests/TestSupport"),
        .testTarget(
            name: "TokenStorageTests",
            dependencies: ["OAuth", "Sealing", "SQLite", "TestSupport", "TokenStorage"]
        ),
        .testTarget(name: "TokenStoreCLITests", dependencies: ["SQLite", "TestSupport", "TokenStoreCLI"]),
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
