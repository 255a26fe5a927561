import ArgumentParser
import HTTPTransport
import OAuth
import OpenIDConnect
import TokenManagement

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct AWSCredentialCommand: TokenConsumer {
    static let configuration = CommandConfiguration(
        commandName: "aws",
        _superCommandName: "tokenstore credential",
        abstract: "Be the credential_process of AWS tools: a role's keys for a token.",
        discussion: """
            Sends the ID token, or with --scope the access token for that scope, to AWS's Security Token Service \
            (AssumeRoleWithWebIdentity), and prints the temporary keys of the role. The role must trust the issuer and \
            the client.

            ~/.aws/config
              [profile mara]
              region = eu-central-1
              credential_process = tokenstore credential aws --account mara@example.net
                --role-arn arn:aws:iam::123456789012:role/reader
            (credential_process is one line.) Tools that take a file instead:
              tokenstore token --id-token --output ~/.aws/token --watch
              export AWS_WEB_IDENTITY_TOKEN_FILE=~/.aws/token AWS_ROLE_ARN=arn:aws:iam::...

            EXAMPLES
              tokenstore credential aws --role-arn arn:aws:iam::123456789012:role/reader
            """
    )

    @Option(help: ArgumentHelp("The role. Default: $AWS_ROLE_ARN.", valueName: "arn"))
    var roleARN: String?

    @Option(help: ArgumentHelp("What AWS logs. Default: $AWS_ROLE_SESSION_NAME, else the username.", valueName: "name"))
    var sessionName: String?

    @Option(help: ArgumentHelp("Default: $AWS_REGION, else $AWS_DEFAULT_REGION, else none.", valueName: "region"))
    var region: String?

    @Option(help: ArgumentHelp("How long the keys are to be good. Default: the role's.", valueName: "seconds"))
    var duration: Int?

    @Option(
        help: ArgumentHelp("The service's address. Default: $AWS_ENDPOINT_URL_STS, else by region.", valueName: "url")
    )
    var endpointURL: String?

    @OptionGroup(title: "Which token") var token: TokenArguments

    @OptionGroup(title: "Which account") var filters: AccountFilters

    @OptionGroup(title: "The network") var network: NetworkArguments

    @OptionGroup(title: "Options of every command") var arguments: StoreArguments

    func run() throws {
        let console = arguments.console
        // AWS's own tools take an empty variable for one that is not set.
        let environment = StoreArguments.environment.filter { !$0.value.isEmpty }
        guard let role = roleARN ?? environment["AWS_ROLE_ARN"], !role.isEmpty else {
            throw ValidationError("no role is named", hint: "give --role-arn")
        }
        let endpoint = try endpoint(environment)
        var asking = acquisition
        if token.scope.isEmpty { asking.token.idToken = true }
        let token = try asking.token(on: console)
        try token.requireUnbound()
        let request = WebIdentityRequest(
            role: role,
            sessionName: sessionName ?? environment["AWS_ROLE_SESSION_NAME"] ?? Self.sessionName(token.account),
            token: token.secret,
            duration: duration
        )
        let limits = network.options(arguments).limits
        let transport = try network.transport()
        let keys = try AsynchronousWork.run { try await request.send(to: endpoint, by: transport, limits) }
        try console.line(keys.document)
        try console.output.flush()
    }

    /// Where the service is: by region, or the old place for all of them.
    private func endpoint(_ environment: [String: String]) throws -> String {
        if let address = endpointURL ?? environment["AWS_ENDPOINT_URL_STS"] { return address }
        guard let region = region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"], !region.isEmpty
        else { return "https://sts.amazonaws.com/" }
        return try Self.endpoint(in: region)
    }

    /// Where the service of a region is.
    static func endpoint(in region: String) throws -> String {
        // The token goes to a host that has this in its name.
        guard region.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || $0.isLetterOrDigit }) else {
            throw ValidationError(
                "'\(region)' is not a region",
                hint: "give one such as eu-central-1, or give --endpoint-url"
            )
        }
        let domain = domains.first { region.hasPrefix($0.regions) }?.name ?? "amazonaws.com"
        return "https://sts.\(region).\(domain)/"
    }

    /// The domains of AWS's partitions that have one of their own, by how the names of their regions begin.
    private static let domains: [(regions: String, name: String)] = [
        ("cn-", "amazonaws.com.cn"), ("eusc-", "amazonaws.eu"), ("us-iso-", "c2s.ic.gov"),
        ("us-isob-", "sc2s.sgov.gov"), ("us-isof-", "csp.hci.ic.gov"), ("eu-isoe-", "cloud.adc-e.uk"),
    ]

    /// The username in the letters that a session may have.
    private static func sessionName(_ account: Account) -> String {
        let allowed = account.username.utf8.filter { $0.isLetterOrDigit || "_+=,.@-".utf8.contains($0) }
        let name = String(decoding: allowed.prefix(64), as: UTF8.self)
        return name.utf8.count < 2 ? "tokenstore" : name
    }
}

/// A request for a role's keys
/// ([AssumeRoleWithWebIdentity](https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html)).
struct WebIdentityRequest: Sendable {
    let role: String
    let sessionName: String
    let token: Secret
    let duration: Int?

    func send(to endpoint: String, by transport: some HTTPTransport, _ limits: HTTPLimits) async throws -> RoleKeys {
        var form = FormParameters()
        form.append("Action", "AssumeRoleWithWebIdentity")
        form.append("Version", "2011-06-15")
        form.append("RoleArn", role)
        form.append("RoleSessionName", sessionName)
        form.append("WebIdentityToken", token)
        form.append("DurationSeconds", duration.map { String($0) })
        let headers: HTTPHeaders = ["content-type": "application/x-www-form-urlencoded", "accept": "text/xml"]
        let request = HTTPRequest("POST", endpoint, headers: headers, body: form.encoded)
        do {
            let response = try await transport.send(request, limits: limits)
            let answer = XMLAnswer(response.body.reveal())
            guard response.isSuccess else { throw refusal(response.status, answer, form) }
            return try RoleKeys(answer)
        } catch let error as HTTPTransportError where error.code == .invalidURL {
            throw CommandFailure(.failure, HTTPTransportError.invalidURL(endpoint))
        } catch let error as HTTPTransportError {
            throw CommandFailure(error.isTransient ? .network : .failure, error)
        }
    }

    private func refusal(_ status: Int, _ answer: XMLAnswer, _ form: FormParameters) -> CommandFailure {
        let code = answer["Code"] ?? "status \(status)"
        let message = answer["Message"].map { ": \(form.redacting($0))" } ?? ""
        let isOutage = status >= 500 || status == 429 || ["Throttling", "IDPCommunicationError"].contains(code)
        return CommandFailure(
            isOutage ? .network : .failure,
            "AWS gave no keys (\(code)\(message))",
            isOutage ? "try again" : "check the role, and that it trusts the issuer and the client of the token"
        )
    }
}

/// The temporary keys of a role.
struct RoleKeys: Sendable {
    private let accessKeyID: String
    private let secretAccessKey: String
    private let sessionToken: String
    private let expiration: String

    fileprivate init(_ answer: XMLAnswer) throws {
        guard let id = answer["AccessKeyId"], let secret = answer["SecretAccessKey"],
            let token = answer["SessionToken"], let end = answer["Expiration"]
        else {
            throw CommandFailure(.failure, "AWS answered without keys", "check --endpoint-url and the region")
        }
        (accessKeyID, secretAccessKey, sessionToken, expiration) = (id, secret, token, end)
    }

    /// What a `credential_process` prints.
    var document: String {
        var json = JSONOutput()
        json.object {
            $0.member("Version", 1)
            $0.member("AccessKeyId", accessKeyID)
            $0.member("SecretAccessKey", secretAccessKey)
            $0.member("SessionToken", sessionToken)
            $0.member("Expiration", expiration)
        }
        return json.text
    }
}

/// The texts of an XML document in which each element that is wanted occurs once and has nothing but text.
private struct XMLAnswer {
    private let text: String

    init(_ text: String) { self.text = text }

    subscript(element: String) -> String? {
        guard let start = text.firstRange(of: "<\(element)>"),
            let end = text[start.upperBound...].firstRange(of: "</\(element)>")
        else { return nil }
        let content = text[start.upperBound..<end.lowerBound]
        guard !content.isEmpty, !content.contains("<") else { return nil }
        return [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
            .reduce(String(content)) { $0.replacing($1.0, with: $1.1) }
    }
}
