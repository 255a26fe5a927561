import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

/// Passwords, codes and tokens are in no log, no error, no event and no file, and nothing that prints shows them.
struct SecrecyTests {
    /// What went over the wire and must be nowhere else.
    private final class Secrets {
        private(set) var values: Set<String> = []

        func note(_ secret: Secret) { values.insert(secret.reveal()) }

        /// The credentials and tokens of the requests and answers.
        func note(_ exchanges: [RecordingTransport.Exchange]) throws {
            let names: Set<String> = [
                "password", "new_password", "oob", "continuation_token", "access_token", "refresh_token", "id_token",
            ]
            for exchange in exchanges {
                for (name, value) in exchange.form where names.contains(name) { values.insert(value) }
                guard let object = try? JSONValue(parsing: exchange.answer).object else { continue }
                for name in names { if let text = object[name]?.text { values.insert(text) } }
            }
        }
    }

    @Test func `N72, S35: flows at the highest log level log no secret`() async throws {
        try await NativeScene.open { scene in
            let (log, recorder, secrets) = (LogRecord(), RecordingTransport(), Secrets())
            var printed: [String] = []
            for value in try await values(of: scene, recorder, log) {
                var dumped = ""
                dump(value, to: &dumped, maxDepth: 12)
                printed += ["\(value)", String(reflecting: value), dumped]
            }
            try secrets.note(recorder.exchanges)
            for message in scene.provider.outbox.messages() { secrets.note(Secret(message.code)) }
            #expect(secrets.values.count > 20)
            #expect(log.lines.count > 20)
            let events = try await scene.store.events().map { "\($0)" }
            for secret in secrets.values where !secret.isEmpty {
                #expect(!(log.lines + printed + events).contains { $0.contains(secret) })
            }
            let snapshot = try DirectorySnapshot(scene.store.path.directory)
            for secret in secrets.values where secret.count >= 8 {
                #expect(snapshot.names(holding: Data(secret.utf8)) == [])
            }
        }
    }

    /// Everything that an app gets to see of the flows N02, N10, N20 and N29, with an error at each step.
    private func values(of scene: NativeScene, _ recorder: RecordingTransport, _ log: LogRecord) async throws -> [Any] {
        func app(_ client: String) throws -> NativeAuthPublicClientApplication {
            try scene.app(client, transport: recorder) {
                $0.logger = log.logger
                $0.tokenOptions.logger = log.logger
            }
        }
        let code = try await app("otp-app").signIn(SignInParameters(username: NativeScene.bo)).codeState
        let wrong = try await failure(of: code.submitCode, scene.wrongCode())
        let bo = try await code.submitCode(scene.code()).account

        let parameters = SignInParameters(username: NativeScene.ana, password: Secret("Equivocada-1-No"))
        let refused = try await failure(of: app("pwd-app").signIn, parameters)
        let ana = try await scene.signInAna(in: app("pwd-app"))
        let token = try await ana.accessToken(for: NativeScene.toDo)
        let renewed = try await ana.accessToken(for: NativeScene.toDo, forcesRefresh: true)

        let reset = try await app("pwd-app").resetPassword(username: NativeScene.ana)
        let password = try await reset.submitCode(scene.code(to: NativeScene.ana))
        let recent = try await failure(of: password.submitPassword, NativeScene.anasPassword)
        let done = try await password.submitPassword(Secret("Cordillera-8-Sur"))

        let signUp = try await app("pwd-app").signUp(SignUpParameters(username: NativeScene.new)).codeState
        let step = try await signUp.submitCode(scene.code(to: NativeScene.new)).passwordState
        // Some issuers repeat the password in what they say of it.
        let echo = #"{"error":"invalid_grant","suberror":"password_banned","error_description":"Llanura-5-Viento?"}"#
        scene.provider.faults.add(.answer(status: 400, body: echo, at: "signup/continue"))
        let echoed = try await failure(of: step.submitPassword, NativeScene.newPassword)
        return [
            code, wrong, bo, parameters, refused, ana, token, renewed, reset, password, recent, done, signUp, step,
            echoed,
        ]
    }

    @Test func `S03: no request carries a client secret`() async throws {
        try await NativeScene.open { scene in
            let recorder = RecordingTransport()
            let account = try await scene.signInAna(in: scene.app("pwd-app", transport: recorder))
            _ = try await account.accessToken(for: NativeScene.toDo)
            #expect(!recorder.texts.contains { $0.contains("client_secret") })
            #expect(!recorder.texts.contains { $0.contains("redirect_uri") })
            #expect(recorder.requests.allSatisfy { $0.headers["authorization"] == nil })
        }
    }
}
