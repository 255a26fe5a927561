// swift-tools-version: 6.2
import PackageDescription

#if canImport(Glibc)
import Glibc
#endif

// What a package that depends on this one fetches and builds: with `traits: []` the storage alone, which needs
// swift-crypto; with `traits: ["Network"]` what an app links to sign people in. Only the programs of this package, its
// local provider, benchmarks and tests need the rest.
let network = TargetDependencyCondition.when(traits: ["Network"])
let tools = TargetDependencyCondition.when(traits: ["Tools"])

func product(_ name: String, of package: String, _ condition: TargetDependencyCondition? = nil) -> Target.Dependency {
    .product(name: name, package: package, condition: condition)
}

// What several targets take from other packages.
let crypto = product("Crypto", of: "swift-crypto")
let cryptoExtras = product("CryptoExtras", of: "swift-crypto")
let asyncHTTPClient = product("AsyncHTTPClient", of: "async-http-client", network)
let inMemoryTracing = product("InMemoryTracing", of: "swift-distributed-tracing", network)
let logging = product("Logging", of: "swift-log", network)
let metrics = product("Metrics", of: "swift-metrics", network)
let nioCore = product("NIOCore", of: "swift-nio", network)
let nioEmbedded = product("NIOEmbedded", of: "swift-nio", network)
let nioHTTP1 = product("NIOHTTP1", of: "swift-nio", network)
let nioPosix = product("NIOPosix", of: "swift-nio", network)
let nioSSL = product("NIOSSL", of: "swift-nio-ssl", network)
let tracing = product("Tracing", of: "swift-distributed-tracing", network)
let argumentParser = product("ArgumentParser", of: "swift-argument-parser", tools)
let hummingbird = product("Hummingbird", of: "hummingbird", tools)
let jwtKit = product("JWTKit", of: "jwt-kit", tools)

// A loader of glibc 2.36 reads the addresses that it adjusts from a table of a hundredth of the size.
#if canImport(Glibc)
var libc = [CChar](repeating: 0, count: 32)
confstr(Int32(_CS_GNU_LIBC_VERSION), &libc, libc.count - 1)
let libcName = String(decoding: libc.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
let libcVersion = libcName.drop { !$0.isNumber }.split(separator: ".").compactMap { Int($0) }
let packsAddresses = !libcVersion.lexicographicallyPrecedes([2, 36])
#else
let packsAddresses = false
#endif

let linking = "\(Context.packageDirectory)/Sources/TokenStoreMain/Linking"

let package = Package(
    name: "tokenstore",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "TokenStorage", targets: ["TokenStorage", "Sealing", "OAuth"]),
        .library(
            name: "TokenStoreKit",
            targets: [
                "TokenStoreKit", "NativeAuthentication", "SignIn", "TokenManagement", "OpenIDConnect", "HTTPTransport",
                "TokenStorage",
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
    traits: [
        .trait(name: "Network", description: "Sign-in, refresh and web APIs."),
        .trait(name: "Tools", description: "The programs and the local provider.", enabledTraits: ["Network"]),
        .default(enabledTraits: ["Tools"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
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
        .target(name: "SQL"),
        .target(name: "SQLite", dependencies: ["CSQLite", "SQL"]),
        .target(name: "CPostgreSQL"),
        .target(name: "PostgreSQL", dependencies: ["CPostgreSQL", "SQL"]),
        .target(name: "Database", dependencies: ["PostgreSQL", "SQL", "SQLite"]),
        .target(name: "CMigrations"),
        .target(name: "CProcess"),
        .target(name: "CSealing", dependencies: [crypto]),
        .target(name: "OAuth"),
        .target(name: "Sealing", dependencies: ["CProcess", "CSealing", "OAuth", crypto, cryptoExtras]),
        .target(
            name: "TokenStorage",
            dependencies: ["CMigrations", "Database", "OAuth", "PostgreSQL", "SQL", "Sealing", crypto]
        ),
        .target(name: "TestSupport", dependencies: ["Database", "OAuth", "PostgreSQL", "Sealing", "TokenStorage"]),
        .target(name: "TestTraits", dependencies: ["OAuth", "TestSupport"]),
        .testTarget(name: "SQLiteTests", dependencies: ["SQL", "SQLite", "TestSupport"]),
        .testTarget(
            name: "PostgreSQLTests",
            dependencies: ["CPostgreSQL", "PostgreSQL", "SQL", "TestSupport", "TestTraits"]
        ),
        .testTarget(name: "OAuthTests", dependencies: ["OAuth", "TestSupport"]),
        .testTarget(name: "SealingTests", dependencies: ["OAuth", "Sealing", "TestSupport", "TestTraits"]),
        .target(
            name: "HTTPTransport",
            dependencies: ["CZlib", "OAuth", asyncHTTPClient, nioCore, nioHTTP1, nioPosix, nioSSL]
        ),
        .target(name: "OpenIDConnect", dependencies: ["HTTPTransport", "OAuth", crypto, cryptoExtras]),
        .target(
            name: "TokenManagement",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "TokenStorage", crypto, logging, metrics, tracing,
            ]
        ),
        .target(
            name: "SignIn",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "Sealing", "TokenManagement", "TokenStorage", crypto,
                nioCore, nioHTTP1, nioPosix,
            ]
        ),
        .target(
            name: "NativeAuthentication",
            dependencies: [
                "HTTPTransport", "OAuth", "OpenIDConnect", "SignIn", "TokenManagement", "TokenStorage", logging,
            ]
        ),
        .target(
            name: "TokenStoreKit",
            dependencies: [
                "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "Sealing", "SignIn",
                "TokenManagement", "TokenStorage",
            ]
        ),
        .target(
            name: "MSAL",
            dependencies: [
                "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "SignIn", "TokenManagement",
                "TokenStorage", logging,
            ]
        ),
        .target(
            name: "LocalIdentityProvider",
            dependencies: [
                "OAuth", asyncHTTPClient, crypto, cryptoExtras, hummingbird, jwtKit, logging, nioCore, nioHTTP1, nioSSL,
                .product(name: "HTTPTypes", package: "swift-http-types", condition: tools),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: tools),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: tools),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras", condition: tools),
            ]
        ),
        .target(
            name: "TokenStoreCLI",
            dependencies: [
                "CProcess", "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "Sealing", "SignIn",
                "TokenManagement", "TokenStorage", argumentParser, logging,
            ],
            exclude: ["Schemas"],
            swiftSettings: [
                // A type's metadata by its name would have the runtime look at every conformance in the program, for
                // each group of options anew: a twentieth of a `list`.
                .unsafeFlags(
                    ["-Xfrontend", "-disable-concrete-type-metadata-mangled-name-accessors"],
                    .when(configuration: .release)
                )
            ]
        ),
        .executableTarget(
            name: "TokenStoreMain",
            dependencies: ["TokenStoreCLI"],
            exclude: ["Linking"],
            linkerSettings: [
                // What every start pays for: a static Swift library asks to export every symbol, which no program
                // loads; to load the libraries of C++, of the compiler and zlib takes a tenth of a `list`; and what
                // a `list` or a `token` runs (`.ci/start-order`) is read in pages, so it lies side by side.
                .unsafeFlags(
                    [
                        "-Xlinker", "--no-export-dynamic", "-use-ld=lld", "-Xlinker", "--icf=safe",
                        "-L", linking,
                        "-Xclang-linker", "-static-libgcc",
                        "-Xlinker", "--symbol-ordering-file=\(linking)/start.order",
                        "-Xlinker", "--no-warn-symbol-ordering",
                    ] + (packsAddresses ? ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"] : []),
                    .when(platforms: [.linux], configuration: .release)
                )
            ]
        ),
        .executableTarget(
            name: "Quickstart",
            dependencies: [
                "HTTPTransport", "LocalIdentityProvider", "OAuth", "Sealing", "SignIn", "TokenManagement",
                "TokenStorage", "TokenStoreCLI", argumentParser,
            ]
        ),
        .executableTarget(
            name: "FleetExample",
            // It imports TokenStoreKit alone; a build on top of an older one looks at those that are named here.
            dependencies: [
                "HTTPTransport", "OAuth", "SignIn", "TokenManagement", "TokenStorage", "TokenStoreKit", argumentParser,
                crypto, hummingbird, logging,
            ]
        ),
        .executableTarget(name: "local-idp", dependencies: ["LocalIdentityProvider", "OAuth", argumentParser]),
        .target(
            name: "IssuerSupport",
            dependencies: [
                "HTTPTransport", "LocalIdentityProvider", "NativeAuthentication", "OAuth", "OpenIDConnect",
                "TestSupport", "TokenManagement", "TokenStorage", cryptoExtras, logging,
            ]
        ),
        .target(
            name: "CBaseline",
            dependencies: ["CPostgreSQL", "CSQLite", crypto],
            path: "Sources/Benchmarks/CBaseline"
        ),
        .target(name: "CPeers", path: "Sources/Benchmarks/CPeers", exclude: ["msal_python.py"]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "CBaseline", "CPeers", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect", "SQL",
                "Database", "PostgreSQL", "Sealing", "TestSupport", "TokenManagement", "TokenStorage", "HTTPTransport",
                "TokenStoreCLI", argumentParser,
            ],
            exclude: ["CBaseline", "CPeers"]
        ),
        .testTarget(
            name: "BenchmarksTests",
            dependencies: ["Benchmarks", "TestSupport", "TestTraits", "TokenStorage"]
        ),
        .target(
            name: "Fuzzing",
            dependencies: [
                "HTTPTransport", "NativeAuthentication", "OAuth", "OpenIDConnect", "SignIn", "TokenManagement",
                "TokenStorage", "TokenStoreCLI", crypto, nioCore, nioEmbedded,
            ],
            exclude: ["CFuzzMain"]
        ),
        .executableTarget(name: "CFuzzMain", dependencies: ["Fuzzing"], path: "Sources/Fuzzing/CFuzzMain"),

        .testTarget(name: "TokenStoreKitTests", dependencies: ["TestSupport", "TokenStoreKit"]),
        .testTarget(
            name: "TokenStorageTests",
            dependencies: [
                "CSQLite", "Database", "OAuth", "PostgreSQL", "SQL", "SQLite", "Sealing", "TestSupport", "TestTraits",
                "TokenStorage",
            ]
        ),
        .testTarget(
            name: "HTTPTransportTests",
            dependencies: ["CZlib", "HTTPTransport", "IssuerSupport", "OAuth", "TestSupport", "TestTraits"]
        ),
        .testTarget(
            name: "OpenIDConnectTests",
            dependencies: ["HTTPTransport", "IssuerSupport", "OAuth", "OpenIDConnect", crypto, cryptoExtras, jwtKit]
        ),
        .testTarget(
            name: "TokenManagementTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect", "Database",
                "TestSupport", "TestTraits", "TokenManagement", "TokenStorage", crypto, cryptoExtras, logging, metrics,
                inMemoryTracing, tracing,
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: network),
            ]
        ),
        .testTarget(
            name: "SignInTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect", "SignIn",
                "TestSupport", "TestTraits", "TokenManagement", "TokenStorage", crypto, cryptoExtras, inMemoryTracing,
                jwtKit, nioCore, nioEmbedded, tracing,
            ]
        ),
        .testTarget(
            name: "NativeAuthenticationTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "NativeAuthentication", "OAuth",
                "OpenIDConnect", "SignIn", "TestSupport", "TestTraits", "TokenManagement", "TokenStorage", logging,
            ]
        ),
        // The code of Microsoft's guides, as an app of their time is built, with nothing imported but MSAL.
        .target(
            name: "MSALDocuments",
            dependencies: ["MSAL"],
            path: "Tests/MSALDocuments",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
        .testTarget(
            name: "MSALTests",
            dependencies: [
                "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "MSAL", "MSALDocuments",
                "NativeAuthentication", "OAuth", "SignIn", "TestSupport", "TestTraits", "TokenManagement",
                "TokenStorage",
            ]
        ),
        .testTarget(
            name: "TokenStoreCLITests",
            dependencies: [
                "CProcess", "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "OpenIDConnect",
                "Database", "PostgreSQL", "Sealing", "SignIn", "TestSupport", "TestTraits", "TokenManagement",
                "TokenStorage", "TokenStoreCLI", "TokenStoreMain", crypto, cryptoExtras,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .testTarget(
            name: "FleetExampleTests",
            dependencies: [
                "FleetExample", "HTTPTransport", "IssuerSupport", "LocalIdentityProvider", "OAuth", "TestSupport",
                "TestTraits", "TokenStoreMain",
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
                "IssuerSupport", "LocalIdentityProvider", "OAuth", "TestSupport", "TestTraits", "local-idp",
                asyncHTTPClient, crypto, cryptoExtras, nioCore, nioHTTP1, nioPosix,
            ]
        ),
    ],
    swiftLanguageModes: [.v6],
    cLanguageStandard: .c2x  // `#embed`
)

let commonSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
for target in package.targets where target.type != .system && target.name != "MSALDocuments" {
    target.swiftSettings = (target.swiftSettings ?? []) + commonSettings
}
