import Crypto
import CryptoExtras
import Foundation
import OAuth
import OpenIDConnect
import Testing

struct IDTokenValidatorTests {
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"

    private var validator: IDTokenValidator {
        var validator = IDTokenValidator(issuer: Draft.issuer, clientID: "app")
        validator.nonce = "n"
        return validator
    }

    private func token(_ algorithm: String = "ES256", _ change: (inout Draft) -> Void = { _ in }) throws -> IDToken {
        var draft = Draft(try KeyPair.of(algorithm))
        change(&draft)
        return try IDToken(decoding: Secret(try draft.token))
    }

    private func keys(
        _ algorithm: String = "ES256",
        _ changes: KeyValuePairs<String, JSONValue?> = [:]
    ) throws -> JSONWebKeySet {
        JSONWebKeySet(try KeyPair.of(algorithm).own.set(changes))
    }

    @Test(
        arguments: ["RS256", "PS256", "ES256", "EdDSA"],
        [
            (["use": "enc"], .unsuitableKey), (["use": 1], .unsuitableKey), (["key_ops": ["sign"]], .unsuitableKey),
            (["alg": "RS512"], .unsuitableKey), (["kty": "oct", "k": "c2VjcmV0"], .unsuitableKey),
            (["crv": "P-384", "kty": "EC"], .unsuitableKey), (["kty": nil], .unsuitableKey),
            (["x": "AA", "n": "AA"], .weakKey), (["kid": "other"], .unknownKey),
            (["issuer": "https://j.example"], .unsuitableKey),
        ] as [([String: JSONValue?], IDTokenFlaw)]
    )
    func `a key checks only what it is published for`(
        algorithm: String,
        row: (changes: [String: JSONValue?], flaw: IDTokenFlaw)
    ) throws {
        var key = try KeyPair.of(algorithm).own.jwk
        for (name, value) in row.changes { key[name] = value }
        let keys = JSONWebKeySet(JSONValue.Object([("keys", .array([.object(key)]))]))
        let isRSA = key["kty"] == "RSA"
        let flaw = row.flaw == .weakKey && !isRSA ? .unsuitableKey : row.flaw
        #expect(throws: flaw) { try validator.checkSignature(of: token(algorithm), keys: keys) }
    }

    @Test(arguments: ["ES256", "ES384", "ES512"])
    func `a coordinate with missing or extra leading zeros is the same number`(algorithm: String) throws {
        let pair =
            switch algorithm {
            case "ES384": KeyPair.p384 { $0.first == 0 }
            case "ES512": KeyPair.p521 { $0.first == 0 }
            default: KeyPair.p256 { $0.first == 0 }
            }
        let token = try token(algorithm) { $0.sign = pair.sign }
        let x = try #require(pair.jwk["x"]?.text.flatMap { Base64URL.decode($0.utf8) })
        for written in [Array(x.drop { $0 == 0 }), [0] + x] {
            let keys = JSONWebKeySet(pair.set(["x": .string(Base64URL.encode(written))]))
            #expect(throws: Never.self) { try validator.checkSignature(of: token, keys: keys) }
        }
        let long = JSONWebKeySet(pair.set(["x": .string(Base64URL.encode([1] + x))]))
        #expect(throws: IDTokenFlaw.unsuitableKey) { try validator.checkSignature(of: token, keys: long) }
    }

    @Test(arguments: ["ES256", "ES384", "ES512"], ["ES256", "ES384", "ES512"])
    func `a curve fits one algorithm, with or without alg in the key`(algorithm: String, claimed: String) throws {
        let token = try token(algorithm) { $0.setHeader("alg", "\"\(claimed)\"") }
        for alg in [nil, .string(claimed)] as [JSONValue?] {
            let keys = try keys(algorithm, ["alg": alg])
            if claimed == algorithm {
                #expect(throws: Never.self) { try validator.checkSignature(of: token, keys: keys) }
            } else {
                #expect(throws: IDTokenFlaw.unsuitableKey) { try validator.checkSignature(of: token, keys: keys) }
            }
        }
    }

    @Test(
        arguments: [
            ["use": .null], ["key_ops": .null], ["key_ops": []], ["use": .null, "key_ops": []],
            ["key_ops": ["sign", "verify"]],
        ] as [[String: JSONValue]]
    )
    func `a key with absent, null or empty key_ops may be used for anything`(changes: [String: JSONValue]) throws {
        var key = try KeyPair.of("ES256").own.jwk
        for (name, value) in changes { key[name] = value }
        let keys = JSONWebKeySet(JSONValue.Object([("keys", .array([.object(key)]))]))
        #expect(throws: Never.self) { try validator.checkSignature(of: token(), keys: keys) }
    }

    @Test func `an RSA key below 2048 bits verifies no signature`() throws {
        let key = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024))
        let weak = try KeyPair.rsa(key, isPSS: false)
        let token = try token("RS256") { $0.sign = weak.sign }
        let keys = JSONWebKeySet(weak.set())
        #expect(throws: IDTokenFlaw.weakKey) { try validator.checkSignature(of: token, keys: keys) }
    }

    @Test func `keys with the same kid are all tried, and without kid each key is`() throws {
        let (own, other) = try KeyPair.of("ES256")
        func set(_ keys: JSONValue...) -> JSONWebKeySet { JSONWebKeySet(JSONValue.Object([("keys", .array(keys))])) }
        var nameless = own.jwk
        nameless["kid"] = nil
        for keys in [
            set(.object(other.jwk), .object(own.jwk)), set(.object(nameless)), set("x", 7, .object(own.jwk)),
            set(.object(try KeyPair.of("RS256").own.jwk), .object(own.jwk)),
        ] {
            #expect(throws: Never.self) { try validator.checkSignature(of: token(), keys: keys) }
        }
        let unnamed = try token { $0.header.removeAll { $0.name == "kid" } }
        #expect(throws: Never.self) {
            try validator.checkSignature(of: unnamed, keys: set(.object(other.jwk), .object(own.jwk)))
        }
        // None that fits and none that is named: newer keys may be worth fetching.
        #expect(throws: IDTokenFlaw.unknownKey) {
            try validator.checkSignature(of: unnamed, keys: set(.object(other.jwk)))
        }
        #expect(throws: IDTokenFlaw.unknownKey) { try validator.checkSignature(of: unnamed, keys: set()) }
    }

    @Test(arguments: ["EdDSA", "Ed25519"], ["EdDSA", "Ed25519", nil])
    func `the two names of one algorithm mean each other's keys`(algorithm: String, named: String?) throws {
        let keys = try keys(algorithm, ["alg": named.map { .string($0) }])
        #expect(throws: Never.self) { try validator.checkSignature(of: token(algorithm), keys: keys) }
    }

    @Test(arguments: ["https://accounts.google.com", "https://i.example"])
    func `Google's issuer may lack its scheme, and no other issuer may`(issuer: String) throws {
        var validator = IDTokenValidator(issuer: issuer, clientID: "app")
        validator.nonce = "n"
        for (scheme, isGood) in [("https://", true), ("", issuer.hasSuffix("google.com")), ("http://", false)] {
            let named = scheme + String(issuer.dropFirst("https://".count))
            let token = try self.token { $0.set("iss", "\"\(named)\"") }
            if isGood {
                #expect(throws: Never.self) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
            } else {
                #expect(throws: IDTokenFlaw.issuer) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
            }
        }
    }

    @Test(arguments: ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"])
    func `the hash of an access token is checked where there is one`(algorithm: String) throws {
        let secret = Secret("an access token")
        let bytes = Data(secret.reveal().utf8)
        let digest =
            switch algorithm {
            case "ES384": Array(SHA384.hash(data: bytes))
            case "ES512", "EdDSA", "Ed25519": Array(SHA512.hash(data: bytes))
            default: Array(SHA256.hash(data: bytes))
            }
        // Ory Hydra takes SHA-256 with every algorithm.
        for digest in [digest, Array(SHA256.hash(data: bytes))] {
            let hash = Base64URL.encode(digest.prefix(digest.count / 2))
            let token = try token(algorithm) { $0.set("at_hash", "\"\(hash)\"") }
            var validator = validator
            #expect(throws: Never.self) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
            validator.accessToken = secret
            #expect(throws: Never.self) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
            validator.accessToken = Secret("another")
            #expect(throws: IDTokenFlaw.accessToken) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
        }
    }

    @Test func `an issuer template means the token's tenant, and so do its keys`() throws {
        let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
        var validator = IDTokenValidator(issuer: template, clientID: "app")
        validator.nonce = "n"
        func token(_ issuer: String, _ tenant: String?) throws -> IDToken {
            try self.token {
                $0.set("iss", "\"https://login.microsoftonline.com/\(issuer)/v2.0\"")
                if let tenant { $0.set("tid", "\"\(tenant)\"") }
            }
        }
        let right = try token(Self.tenant, Self.tenant)
        #expect(throws: Never.self) { try validator.checkClaims(of: right, clocks: [Draft.now]) }
        try validator.checkSignature(of: right, keys: keys("ES256", ["issuer": .string(template)]))
        let consumers = template.replacing("{tenantid}", with: "9188040d-6c67-4c5b-b112-36a304b66dad")
        for other in [consumers, String(repeating: "\u{301}\u{323}", count: 40_000)] {
            let keys = try self.keys("ES256", ["issuer": .string(other)])
            #expect(throws: IDTokenFlaw.unsuitableKey) { try validator.checkSignature(of: right, keys: keys) }
        }
        for (issuer, tenant) in [
            (Self.tenant, nil), (Self.tenant, "9188040d-6c67-4c5b-b112-36a304b66dad"), ("", ""), ("x/y", "x/y"),
            ("{tenantid}", nil), ("common", "common"),
        ] {
            #expect(throws: IDTokenFlaw.issuer) {
                try validator.checkClaims(of: token(issuer, tenant), clocks: [Draft.now])
            }
        }
    }

    @Test func `names are compared by bytes, not by canonical equivalence`() throws {
        // The Kelvin sign is the letter K to `==`.
        let validator = IDTokenValidator(issuer: "https://K.example", clientID: "K")
        let issuer = try token {
            $0.set("iss", "\"https://\u{212A}.example\"")
            $0.set("aud", #""K""#)
        }
        #expect(throws: IDTokenFlaw.issuer) { try validator.checkClaims(of: issuer, clocks: [Draft.now]) }
        let audience = try token {
            $0.set("iss", #""https://K.example""#)
            $0.set("aud", "\"\u{212A}\"")
        }
        #expect(throws: IDTokenFlaw.audience) { try validator.checkClaims(of: audience, clocks: [Draft.now]) }
        let key = try token { $0.setHeader("kid", "\"\u{212A}\"") }
        #expect(throws: IDTokenFlaw.unknownKey) {
            try validator.checkSignature(of: key, keys: keys("ES256", ["kid": "K"]))
        }
        let members = try token { $0.header += [("\u{301}\u{323}", "1"), ("\u{323}\u{301}", "2")] }
        #expect(throws: Never.self) { try validator.checkSignature(of: members, keys: keys()) }
    }

    @Test func `clocks may differ by two minutes, or more when the issuer's Date fits`() throws {
        let token = try token { $0.set("nbf", "1200") }
        for (now, flaw) in [(1_080, nil), (1_079, .notYetValid), (2_119, nil), (2_120, .expired)]
            as [(Int64, IDTokenFlaw?)]
        {
            let outcome = Result { () throws(IDTokenFlaw) in try validator.checkClaims(of: token, clocks: [now]) }
            if let flaw {
                #expect(throws: flaw) { try outcome.get() }
                try validator.checkClaims(of: token, clocks: [now, Draft.now])
            } else {
                try outcome.get()
            }
        }
    }

    @Test func `how long ago the user signed in is checked as other times are`() throws {
        var validator = validator
        validator.maximumAge = 60
        for (signIn, flaw) in [
            ("1320", nil), ("1319", .oldSignIn), ("1620", nil), ("1621", .oldSignIn),
            (#""1500""#, .mistyped("auth_time")),
            ("null", .missing("auth_time")), ("-9223372036854775808", .mistyped("auth_time")),
        ] as [(String, IDTokenFlaw?)] {
            let token = try token { $0.set("auth_time", signIn) }
            let outcome = Result { () throws(IDTokenFlaw) in try validator.checkClaims(of: token, clocks: [Draft.now]) }
            if let flaw { #expect(throws: flaw) { try outcome.get() } } else { try outcome.get() }
        }
        validator.maximumAge = .max
        try validator.checkClaims(of: token { $0.set("auth_time", "0") }, clocks: [Draft.now])
        validator.maximumAge = nil
        try validator.checkClaims(of: token(), clocks: [Draft.now])
        validator.requiresSignInTime = true
        #expect(throws: IDTokenFlaw.missing("auth_time")) {
            try validator.checkClaims(of: token(), clocks: [Draft.now])
        }
    }

    @Test(arguments: ["alice\u{1F}alice", "\u{0}", "a\u{7F}", "a\u{85}b", "\n"])
    func `a user whose name has control characters cannot sign in`(user: String) throws {
        let token = try token { $0.set("sub", JSONValue.string(user).serialized) }
        #expect(throws: IDTokenFlaw.subjectText) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
        // A session that began before they were refused continues.
        var later = validator
        later.subject = user
        try later.checkClaims(of: token, clocks: [Draft.now])
    }

    @Test(arguments: [
        ("exp", #""2000""#), ("iat", "true"), ("nbf", "[]"), ("aud", #"["app",null]"#), ("aud", "null"), ("sub", "7"),
        ("iss", "{}"),
    ])
    func `a claim of another type is named, and is not said to be missing`(name: String, json: String) throws {
        let token = try token { $0.set(name, json) }
        let flaw = #expect(throws: IDTokenFlaw.self) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
        #expect(flaw?.code == .incomplete)
        #expect(flaw?.problem.hasPrefix("the issuer's ID token has a claim \(name) that is not of the type") == true)
    }

    @Test(arguments: ["nonce", "azp", "at_hash", "nbf"])
    func `an optional claim that is null is absent`(name: String) throws {
        let token = try token { $0.set(name, "null") }
        var validator = validator
        validator.nonce = nil
        validator.earlierNonces = ["n"]
        validator.accessToken = Secret("an access token")
        #expect(throws: Never.self) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
    }

    @Test(arguments: ["null", "\"\""])
    func `a nonce that was sent is not met by null or an empty one`(nonce: String) throws {
        let token = try token { $0.set("nonce", nonce) }
        #expect(throws: IDTokenFlaw.nonce) { try validator.checkClaims(of: token, clocks: [Draft.now]) }
    }

    @Test func `a token of another user of the session is refused`() throws {
        var validator = validator
        validator.subject = "s"
        #expect(throws: Never.self) { try validator.checkClaims(of: token(), clocks: [Draft.now]) }
        validator.subject = "S"
        #expect(throws: IDTokenFlaw.subject) { try validator.checkClaims(of: token(), clocks: [Draft.now]) }
    }
}
