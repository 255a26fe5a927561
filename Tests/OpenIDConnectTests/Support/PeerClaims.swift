import Foundation
import JWTKit

/// The claims of an ID token, checked by jwt-kit with the same expectations as ours.
struct PeerClaims: JWTPayload {
    var iss: IssuerClaim
    var sub: SubjectClaim
    var aud: AudienceClaim
    var exp: ExpirationClaim
    var iat: IssuedAtClaim
    var nbf: NotBeforeClaim?
    var nonce: String?

    func verify(using algorithm: some JWTAlgorithm) throws {
        let now = Date(timeIntervalSince1970: Double(Draft.now))
        try exp.verifyNotExpired(currentDate: now)
        try nbf?.verifyNotBefore(currentDate: now)
        try aud.verifyIntendedAudience(includes: "app")
        guard iss.value == Draft.issuer else {
            throw JWTError.claimVerificationFailure(failedClaim: iss, reason: "another issuer")
        }
        guard nonce == "n" else {
            throw JWTError.claimVerificationFailure(failedClaim: nil, reason: "another nonce")
        }
    }
}
