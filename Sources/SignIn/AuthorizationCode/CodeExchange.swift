import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Redeems a code, once, and checks what comes for it
/// ([RFC 6749 §4.1.3](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3)).
struct CodeExchange: Sendable {
    let sent: AuthorizationRequest
    let authority: Authority
    let issuer: IssuerAccess
    let space: AnswerSpace?

    /// - Throws: ``SignInError``, and what the token endpoint throws; nothing is to be stored then.
    func tokens(
        for code: Secret,
        by transport: any HTTPTransport,
        _ limits: HTTPLimits,
        now: @Sendable () -> Date
    ) async throws -> SignedInTokens {
        var form = FormParameters()
        form.append("client_id", sent.clientID)
        form.append("code", code)
        form.append("code_verifier", sent.proofKey.verifier)
        form.append("redirect_uri", sent.redirectURI)
        if authority.issuer == nil {
            form.append("scope", sent.scope.text)
            form.append("client_info", "1")
        }
        let endpoint = TokenEndpoint(sent.issuer.tokenEndpoint, transport: transport, limits: limits)
        let answer = try await endpoint.send(.authorizationCode, form, now: Int64(now().timeIntervalSince1970))
        let request = TokenRequest(
            clientID: sent.clientID,
            authority: authority,
            scope: sent.scope,
            grant: .authorizationCode
        )
        do {
            let idToken = try await checked(answer, now: now)
            return SignedInTokens(response: answer.response, request: request, idToken: idToken, space: space)
        } catch {
            await issuer.revoke(answer.response.refreshToken, clientID: sent.clientID)
            throw error
        }
    }

    private func checked(_ answer: TokenEndpointAnswer, now: @Sendable () -> Date) async throws -> IDToken {
        try answer.response.requireTokenText()
        guard let secret = answer.response.idToken else { throw SignInError.noIDToken }
        var validator = IDTokenValidator(issuer: sent.issuer.issuer, clientID: sent.clientID)
        validator.nonce = sent.nonce.reveal()
        validator.accessToken = answer.response.accessToken
        let clocks = [Int64(now().timeIntervalSince1970), answer.issuerNow]
        return try await issuer.checked(secret, by: validator, clocks: clocks)
    }
}
