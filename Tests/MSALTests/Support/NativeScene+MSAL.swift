import IssuerSupport
import MSAL
import NativeAuthentication
import SignIn
import TokenStorage

extension NativeScene {
    /// Addresses and passwords that no one can sign up with, and what the documents' screens say of each.
    static let signUpProblems = [
        (ana, "Llanura-5-Viento", "Unable to sign up: User already exists"),
        (new, "short", "Unable to sign up: The password is invalid"),
        ("no address", "Llanura-5-Viento", "Unable to sign up: The username is invalid"),
    ]

    /// An app of the tenant with MSAL's names.
    func msal(_ client: String = "otp-app", store: TokenStore? = nil) throws -> MSALNativeAuthPublicClientApplication {
        let native = try app(client, store: store)
        var pages = try PublicClientConfiguration(
            clientID: native.configuration.clientID,
            redirectURI: native.configuration.redirectURI ?? .anyPort,
            authority: native.configuration.authority
        )
        pages.tokenOptions = native.configuration.tokenOptions
        return try MSALNativeAuthPublicClientApplication(native, pages: pages)
    }

    /// Where applications that name no store work.
    var surroundings: Surroundings {
        var surroundings = Surroundings()
        surroundings.storePath = store.path
        surroundings.storeOptions = store.options
        return surroundings
    }
}
