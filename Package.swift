// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "tokenstore",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "TokenStorage", targets: ["TokenStorage", "Sealing", "OAuth"]),
        .library(
            name: "TokenStoreKit",
            targets: [
                "NativeAuthentication", "SignIn", "TokenManagement", "OpenIDConnect", "HTTPTransport", "TokenStorage",
                "Sealing", "OAuth",
            ]
        ),
        .library(name: "MSALCompatibility", targets: ["MSAL"]),
        .executable(name: "tokenstore", targets: ["TokenStoreMain"]),
        .executable(name: "quickstart", targets: ["Quickstart"]),
        .executable(name: "local-idp", targets: ["local-idp"]),
        .executable(name: "tokenstore-bench", targets: ["Benchmarks"]),
        .executable(name: "tokenstore-fuzz", targets: ["CFuzzMain"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    // Bottom up: a target depends only on targets above it.
    targets: [
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "SQLite", dependencies: ["CSQLite"]),
        .target(name: "CMigrations"),
        .target(name: "CProcess"),
        .target(name: "OAuth"),
        .target(
            name: "Sealing",
            dependencies: [
                "OAuth",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "TokenStorage",
            dependencies: [
                "CMigrations", "OAuth", "SQLite", "Sealing", .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(name: "TestSupport", dependencies: ["OAuth", "SQLite", "TokenStorage"]),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "TestSupport"]),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth", "TestSupport"]),
        .testTarget(name: "SealingTests", dependencies: ["Sealing", "OAuth"]),
        .target(
            name: "HTTPTransport",
            dependencies: [
                "CZlib", "OAuth",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(
            name: "OpenIDConnect",
            dependencies: [
                "HTTPTransport", "OAuth",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "TokenManagement",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "TokenStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .target(
            name: "SignIn",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "TokenManagement", "TokenStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .target(
            name: "NativeAuthentication",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "SignIn", "TokenManagement", "TokenStorage",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "MSAL",
            dependencies: [
                "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "SignIn", "TokenManagement",
                "TokenStorage",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "LocalIdentityProvider",
            dependencies: [
                "OAuth",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]
        ),
        .target(
            name: "TokenStoreCLI",
            dependencies: [
                "CProcess", "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "Sealing", "SignIn",
                "TokenManagement", "TokenStorage",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .executableTarget(
            name: "TokenStoreMain",
            dependencies: ["TokenStoreCLI"],
            linkerSettings: [
                // A static Swift library asks to export every symbol, which no program loads and every start pays for.
                .unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(platforms: [.linux], configuration: .release))
            ]
        ),
        .executableTarget(
            name: "Quickstart",
            dependencies: [
                "HTTPTransport", "LocalIdentityProvider", "OAuth", "Sealing", "SignIn", "TokenManagement",
                "TokenStorage", "TokenStoreCLI",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "local-idp",
            dependencies: [
                "LocalIdentityProvider", "OAuth",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .target(
            name: "IssuerSupport",
            dependencies: [
                "HTTPTransport", "LocalIdentityProvider", "NativeAuthentication", "OAuth", "OpenIDConnect",
                "TestSupport", "TokenManagement", "TokenStorage",
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .target(
            name: "CBaseline",
            dependencies: ["CSQLite", .product(name: "Crypto", package: "swift-crypto")],
            path: "Sources/Benchmarks/CBaseline"
        ),
        .target(name: "CPeers", path: "Sources/Benchmarks/CPeers", exclude: ["msal_python.py"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBaseline", "CPeers", "IssuerSupport", "LocalIdentityProvider", "OAuth", "SQLite", "Sealing",
                "TestSupport", "TokenManagement", "TokenStorage", "HTTPTransport", "TokenStoreCLI",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["CBaseline", "CPeers"]
        ),
        .testTarget(name: "BenchmarksTests", dependencies: ["Benchmarks"]),
        .target(
            name: "Fuzzing",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "SignIn", "TokenStorage", "TokenStoreCLI",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ],
            exclude: ["CFuzzMain"]
        ),
        .executableTarget(name: "CFuzzMain", dependencies: ["Fuzzing"], path: "Sources/Fuzzing/CFuzzMain"),

        .testTarget(
            name: "TokenStorageTests",
            dependencies: ["CSQLite", "OAuth", "Sealing", "SQLite", "TestSupport", "TokenStorage"]
        ),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: ["CZlib", "HTTPTransport", "IssuerSupport", "OAuth", "TestSupport"]
        ),
        .testTarget(
            name: "OpenIDConnectTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "OAuth", "OpenIDConnect",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
            ]
        ),
        .testTarget(
            name: "TokenManagementTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect", "SQLite",
                "TestSupport", "TokenManagement", "TokenStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]
        ),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect", "SignIn",
                "TestSupport", "TokenManagement", "TokenStorage",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
            ]
        ),
        .testTarget(
            name: "NativeAuthenticationTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "NativeAuthentication", "OAuth",
                "OpenIDConnect", "SignIn", "TestSupport", "TokenManagement", "TokenStorage",
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "MSALTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "MSAL", "NativeAuthentication", "OAuth",
                "SignIn", "TestSupport", "TokenManagement", "TokenStorage",
            ]
        ),
        .testTarget(
            name: "TokenStoreCLITests",
            dependencies: [
                "CProcess", "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect",
                "SQLite", "Sealing", "SignIn", "TestSupport", "TokenStorage", "TokenStoreCLI", "TokenStoreMain",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "FuzzingTests",
            dependencies: ["Fuzzing", "TestSupport"],
            exclude: ["Corpus", "Dictionaries"]
        ),
        .testTarget(
            name: "LocalIdentityProviderTests",
            dependencies: [
                "IssuerSupport", "LocalIdentityProvider", "OAuth", "TestSupport", "local-idp",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
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
