import Foundation
import IssuerSupport
import LocalIdentityProvider
import MSAL
import MSALDocuments
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

extension BrowserTests {
    /// The guide "Enable authentication in your own iOS Swift app by using Azure AD B2C", as it stands there, with a
    /// user.
    @MainActor
    struct B2CGuideTests {
        @Test func `S08 to S30: sign-in, an API, a silent token, an edited profile, sign-out`() async throws {
            try await NativeScene.open { scene in
                let screen = try screen(scene) { visitor in
                    if await visitor.heading == "Sign in" {
                        try await visitor.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
                    }
                    if await visitor.heading == "Edit profile" { try await visitor.press("save") }
                }
                screen.press("callAPI")
                #expect(await screen.loggingText.next().hasPrefix("Operation failed because could not find"))
                screen.press("refresh")
                #expect(await screen.loggingText.next() == "There is no account available!")
                screen.press("signIn")
                #expect(await screen.loggingText.next().hasPrefix("Access token is ey"))
                screen.press("callAPI")
                #expect(await screen.loggingText.next() == "Calling the API....")
                #expect(await screen.loggingText.next().hasPrefix("API response: "))
                let first = screen.accessToken
                screen.press("refresh")
                #expect(await screen.loggingText.next().hasPrefix("Refreshed access token is ey"))
                #expect(screen.accessToken == first)
                scene.provider.clock.advance(by: 3_601)
                screen.press("refresh")
                #expect(await screen.loggingText.next().hasPrefix("Refreshed access token is ey"))
                #expect(screen.accessToken != first)
                screen.press("editProfile")
                #expect(await screen.loggingText.next() == "Successfully edited profile")
                await #expect(try scene.reopened().accounts().count == 2)
                screen.press("signOut")
                #expect(await screen.loggingText.next() == "Signed out")
                screen.press("signOut")
                #expect(await screen.loggingText.next() == "There is no account to signing out!")
            }
        }

        @Test func `S18, S21, S22: an ended session is told by domain and code, and the account signs in again`()
            async throws
        {
            try await NativeScene.open { scene in
                let screen = try screen(scene) { visitor in
                    try await visitor.signIn(NativeScene.ana, NativeScene.anasPassword.reveal())
                }
                screen.press("signIn")
                #expect(await screen.loggingText.next().hasPrefix("Access token is ey"))
                scene.provider.clock.advance(by: 91 * 86_400)
                screen.press("refresh")
                #expect(await screen.loggingText.next() == "Signed in again")
                await #expect(try scene.reopened().accounts().count == 1)
            }
        }

        @Test func `S13: a cancelled sign-in is an error, and nothing is stored`() async throws {
            try await NativeScene.open { scene in
                let screen = try screen(scene) { try await $0.press("cancel") }
                screen.press("signIn")
                let text = await screen.loggingText.next()
                #expect(text.hasPrefix("Could not acquire token: Error Domain=MSALErrorDomain Code=-50005"))
                #expect(try scene.isUntouched)
            }
        }

        /// The guide's screen, whose user goes on from each page by `steps`.
        private func screen(
            _ scene: NativeScene,
            _ steps: @escaping @Sendable (ScriptedBrowser) async throws -> Void
        ) throws -> B2CScreen {
            var surroundings = scene.surroundings
            surroundings.userAgent = HandingBack(visitor: try ScriptedBrowser(), steps: steps)
            return Surroundings.$current.withValue(surroundings) {
                b2c(
                    host: String(scene.provider.baseURL.dropFirst("http://".count)),
                    api: scene.provider.baseURL + "/api1"
                )
            }
        }
    }
}

/// A user at the pages, and the system that opens the app with the address at the end of them.
struct HandingBack: UserAgent {
    struct Lost: Error {}

    let visitor: ScriptedBrowser
    let steps: @Sendable (ScriptedBrowser) async throws -> Void

    func open(_ address: String) async throws {
        try await visitor.open(address)
        try await steps(visitor)
        guard let answer = await URL(string: visitor.address),
            MSALPublicClientApplication.handleMSALResponse(answer, sourceApplication: nil)
        else { throw Lost() }
    }
}
