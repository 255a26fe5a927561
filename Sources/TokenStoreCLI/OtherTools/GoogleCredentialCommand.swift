import ArgumentParser
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct GoogleCredentialCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "gcloud",
        _superCommandName: "tokenstore credential",
        abstract: "Be the executable of Google Cloud's workforce or workload identity federation.",
        discussion: """
            Prints the subject token that Google exchanges: the ID token, or with --scope the access token for that \
            scope, which must be a JWT. Google's libraries expect errors in the answer itself, so the exit status is 0 \
            even then, and nothing is written to standard error, which some of them read as part of the answer. They \
            run it only with GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES=1. A file for the answer (output_file) \
            is not used: the store keeps the token.

            A file for GOOGLE_APPLICATION_CREDENTIALS and 'gcloud auth login --cred-file'
              {"type": "external_account", "audience": "AUDIENCE",
               "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
               "token_url": "https://sts.googleapis.com/v1/token",
               "credential_source": {"executable": {"timeout_millis": 30000, "command":
                 "/usr/bin/tokenstore credential gcloud --account mara@example.net"}}}
            AUDIENCE is the name of the provider in one word, //iam.googleapis.com/ and
            projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER.

            EXAMPLES
              tokenstore credential gcloud --account mara@example.net
            """
    )

    private static let prefix = "urn:ietf:params:oauth:token-type:"

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        var asking = acquisition
        if token.scope.isEmpty { asking.token.idToken = true }
        asking.arguments.quiet = true
        if asking.arguments.logLevel == .warning { asking.arguments.logLevel = .critical }
        let console = asking.arguments.console
        var json = JSONOutput()
        do {
            let type = try type(ofIDToken: asking.token.idToken)
            let token = try asking.token(on: console)
            try token.requireUnbound()
            json.object {
                $0.member("version", 1)
                $0.member("success", true)
                $0.member("token_type", type)
                $0.member("id_token", token.secret.reveal())
                $0.member("expiration_time", Int(token.end.epoch))
            }
        } catch {
            let failure = (PassphraseMemory.shared.failure ?? CommandFailure(error)).naming(console.given)
            json.object {
                $0.member("version", 1)
                $0.member("success", false)
                $0.member("code", failure.status.rawValue)
                $0.member("message", failure.sentence)
            }
        }
        try console.line(json.text)
        try console.output.flush()
    }

    /// The type that Google's library was told to expect, where the token is one of it.
    private func type(ofIDToken isIDToken: Bool) throws -> String {
        let own = Self.prefix + (isIDToken ? "id_token" : "jwt")
        guard let wanted = StoreArguments.environment["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE"], !wanted.isEmpty
        else { return own }
        guard wanted == own || wanted == Self.prefix + "jwt" else {
            throw CommandFailure(
                .failure,
                "the credentials ask for a token of type \(wanted)",
                "set subject_token_type to \(own) in them"
            )
        }
        return wanted
    }
}
