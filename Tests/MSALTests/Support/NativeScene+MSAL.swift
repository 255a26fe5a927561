import IssuerSupport
import MSAL
import NativeAuthentication
import TokenStorage

extension NativeScene {
    /// An app of the tenant with MSAL's names.
    func msal(_ client: String = "otp-app", store: TokenStore? = nil) throws -> MSALNativeAuthPublicClientApplication {
        try MSALNativeAuthPublicClientApplication(app(client, store: store))
    }

    /// Where applications that name no store work.
    var surroundings: Surroundings {
        var surroundings = Surroundings()
        surroundings.storePath = store.path
        surroundings.storeOptions = store.options
        return surroundings
    }
}
