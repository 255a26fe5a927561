import Crypto
import Foundation
import OAuth
import OpenIDConnect
import Testing

struct IDTokenValidatorTests {
    private static let key = P256.Signing.PrivateKey()
    private static let claims = #"{"iss":"https://i.example","aud":"app","sub":"s","exp":2000,"iat":1000,"nonce":"n"}"#

    private static func token(_ claims: String = claims, header: String = #"{"alg":"ES256","kid":"k"}"#) throws
        -> IDToken
    {
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(claims.utf8)
        let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
        return try IDToken(decoding: Secret(signed + "." + Base64URL.encode(signature)))
    }

    private static func keys(_ id: String = "k", use: String = "sig") throws -> JSONWebKeySet {
        let point = key.publicKey.rawRepresentation
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        let text = #"{"keys":[{"kty":"EC","crv":"P-256","use":"\#(use)","kid":"\#(id)","x":"\#(x)","y":"\#(y)"}]}"#
        return JSONWebKeySet(try JSON(parsing: text).object ?? JSON.Object())
    }

    private static var validator: IDTokenValidator {
        var validator = IDTokenValidator(issuer: "https://i.example", clientID: "app")
        validator.nonce = "n"
        return validator
    }

    @Test func `a token that is in order passes`() throws {
        let token = try Self.token()
        try Self.validator.checkSignature(of: token, keys: Self.keys())
        try Self.validator.checkClaims(of: token, clocks: [1_500])
    }

    @Test(arguments: [
        #"{"alg":"none","kid":"k"}"#, #"{"alg":"HS256","kid":"k"}"#, #"{"alg":"RS256","kid":"k"}"#,
        #"{"alg":"ES256","kid":"k","crit":["b64"]}"#, #"{"kid":"k"}"#,
    ])
    func `the algorithm follows from the key`(header: String) throws {
        let token = try Self.token(header: header)
        #expect(throws: IDTokenFlaw.self) { try Self.validator.checkSignature(of: token, keys: Self.keys()) }
    }

    @Test func `a key of another id, or for another use, checks nothing`() throws {
        let token = try Self.token()
        #expect(throws: IDTokenFlaw.unknownKey) { try Self.validator.checkSignature(of: token, keys: Self.keys("x")) }
        #expect(throws: IDTokenFlaw.unknownKey) {
            try Self.validator.checkSignature(of: token, keys: Self.keys(use: "enc"))
        }
    }

    @Test func `other claims under the same signature do not pass`() throws {
        let genuine = try Self.token().secret.reveal().split(separator: ".")
        let altered = Base64URL.encode(Self.claims.replacing(#""sub":"s""#, with: #""sub":"t""#).utf8)
        let token = try IDToken(decoding: Secret("\(genuine[0]).\(altered).\(genuine[2])"))
        #expect(throws: IDTokenFlaw.signature) { try Self.validator.checkSignature(of: token, keys: Self.keys()) }
    }

    @Test(
        arguments: [
            ("https://i.example", "https://j.example", .issuer), (#""app""#, #""other""#, .audience),
            (#""app""#, #"["app","other"]"#, .audience), (#""exp":2000"#, #""exp":1300"#, .time),
            (#""exp":2000"#, #""x":2000"#, .time), (#""iat":1000"#, #""nbf":1700"#, .time),
            (#""nonce":"n""#, #""nonce":"m""#, .nonce), (#""nonce":"n""#, #""x":"n""#, .nonce),
        ] as [(String, String, IDTokenFlaw)]
    )
    func `each claim that is wrong is told apart`(right: String, wrong: String, flaw: IDTokenFlaw) throws {
        let token = try Self.token(Self.claims.replacing(right, with: wrong))
        #expect(throws: flaw) { try Self.validator.checkClaims(of: token, clocks: [1_500]) }
    }

    @Test func `a clock that differs by minutes is forgiven where the issuer's own fits`() throws {
        let token = try Self.token()
        #expect(throws: IDTokenFlaw.time) { try Self.validator.checkClaims(of: token, clocks: [2_400]) }
        try Self.validator.checkClaims(of: token, clocks: [2_400, 1_900])
    }
}
