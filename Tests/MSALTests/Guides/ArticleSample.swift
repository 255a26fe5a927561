import Foundation
import MSAL
import MSALDocuments

/// The code of the article on the module.
@MainActor
enum ArticleSample {
    /// `userFlow` is such as `https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi`.
    static func signIn(
        _ clientID: String,
        _ scopes: [String],
        at userFlow: URL,
        on controller: UIViewController
    ) async throws -> MSALResult {
        let authority = try MSALB2CAuthority(url: userFlow)
        let config = MSALPublicClientApplicationConfig(clientId: clientID, redirectUri: nil, authority: authority)
        let application = try MSALPublicClientApplication(configuration: config)
        let parameters = MSALInteractiveTokenParameters(
            scopes: scopes,
            webviewParameters: MSALWebviewParameters(authPresentationViewController: controller)
        )
        let result = try await application.acquireToken(with: parameters)
        return result
    }
}

/// What the article on moving takes for granted, which only Apple's platforms have.
private final class ASWebAuthenticationSession {
    weak var presentationContextProvider: AnyObject?
    private let end: () -> Void

    init(url: URL, callbackURLScheme: String?, completionHandler: @escaping (URL?, (any Error)?) -> Void) {
        end = { completionHandler(url, nil) }
    }

    func start() { end() }
}

extension ArticleSample {
    /// The code of the article on moving from MSAL.
    @MainActor
    final class Presenter {
        func show(_ webviewParameters: MSALWebviewParameters) {
            webviewParameters.session = { page, callbackScheme in
                try await withCheckedThrowingContinuation { continuation in
                    let session = ASWebAuthenticationSession(url: page, callbackURLScheme: callbackScheme) {
                        continuation.resume(with: $0.map { .success($0) } ?? .failure($1 ?? CancellationError()))
                    }
                    session.presentationContextProvider = self
                    session.start()
                }
            }
        }
    }
}
