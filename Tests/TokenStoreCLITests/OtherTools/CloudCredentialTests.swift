import Foundation
import IssuerSupport
import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStoreCLI

/// Keys of AWS and tokens for Google Cloud, with the libraries of both.
@Suite(.onWaitingThreads)
struct CloudCredentialTests {
    private static let role = "arn:aws:iam::123456789012:role/reader"
    private static let keys = """
        <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId>
        <SecretAccessKey>secret/key+1</SecretAccessKey><SessionToken>session&amp;token==</SessionToken>
        <Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
        </AssumeRoleWithWebIdentityResponse>
        """

    private static func aws(_ issuer: HandmadeIssuer, _ more: String...) -> [String] {
        ["credential", "aws", "--role-arn", role, "--endpoint-url", issuer.baseURL + "/sts"] + more
    }

    // MARK: - AWS

    @Test(arguments: [
        ("eu-central-1", "amazonaws.com"), ("us-gov-west-1", "amazonaws.com"), ("cn-north-1", "amazonaws.com.cn"),
        ("eusc-de-east-1", "amazonaws.eu"), ("us-iso-east-1", "c2s.ic.gov"), ("us-isob-east-1", "sc2s.sgov.gov"),
        ("us-isof-south-1", "csp.hci.ic.gov"), ("eu-isoe-west-1", "cloud.adc-e.uk"),
    ])
    func `the service of a region is in the domain of its partition`(region: String, domain: String) throws {
        #expect(try AWSCredentialCommand.endpoint(in: region) == "https://sts.\(region).\(domain)/")
    }

    @Test func `the token is exchanged for the keys of the role`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let service = try HandmadeIssuer()
            service.answer(.init(Self.keys), at: "/sts")
            let outcome = try await scene.run(Self.aws(service, "--duration", "900"))
            #expect(outcome.status == 0, "\(outcome.error)")
            let json = try outcome.json
            #expect(json["Version"] as? Int == 1)
            #expect(json["AccessKeyId"] as? String == "ASIAEXAMPLE")
            #expect(json["SecretAccessKey"] as? String == "secret/key+1")
            #expect(json["SessionToken"] as? String == "session&token==")
            #expect(json["Expiration"] as? String == "2099-01-01T00:00:00Z")
            let form = try #require(service.forms("/sts").first)
            #expect(form["Action"] == "AssumeRoleWithWebIdentity")
            #expect(form["Version"] == "2011-06-15")
            #expect(form["RoleArn"] == Self.role)
            #expect(form["RoleSessionName"] == "ana.rojas@example.org")
            #expect(form["DurationSeconds"] == "900")
            #expect(try await scene.tokens(1, "--id-token")[0].output == (form["WebIdentityToken"] ?? "") + "\n")
            _ = try await scene.run(Self.aws(service, "--scope", IssuerScene.scope.text, "--session-name", "x1"))
            let second = try #require(service.forms("/sts").last)
            #expect(second["RoleSessionName"] == "x1")
            #expect(try await scene.tokens(1)[0].output == (second["WebIdentityToken"] ?? "") + "\n")
        }
    }

    @Test(arguments: [
        (400, "AccessDenied", 1), (400, "InvalidIdentityToken", 1), (400, "IDPCommunicationError", 8),
        (503, "ServiceUnavailable", 8),
    ])
    func `a refusal is told in the service's words, without the token`(status: Int, code: String, exit: Int32)
        async throws
    {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let token = try await scene.tokens(1, "--id-token")[0].output.dropLast().description
            let service = try HandmadeIssuer()
            let body =
                "<ErrorResponse><Error><Code>\(code)</Code><Message>No: \(token)</Message></Error></ErrorResponse>"
            service.answer(.init(status: status, body), at: "/sts")
            let outcome = try await scene.run(Self.aws(service))
            #expect(outcome.status == exit, "\(outcome.error)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("(\(code): No: "), "\(outcome.error)")
            #expect(!outcome.error.contains(token))
        }
    }

    @Test(arguments: ["", "{}", "<AccessKeyId>a</AccessKeyId>", "<html>login</html>"])
    func `an answer without keys is an error`(body: String) async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let service = try HandmadeIssuer()
            service.answer(.init(body), at: "/sts")
            let outcome = try await scene.run(Self.aws(service))
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("AWS answered without keys"))
        }
    }

    @Test(arguments: [
        ["--endpoint-url", "http://sts.example.com/"], ["--region", "eu.evil.example.org/"], ["--role-arn", ""],
    ])
    func `the token goes to no address in the clear, and to no host that a region names`(arguments: [String])
        async throws
    {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run(["credential", "aws", "--role-arn", Self.role] + arguments)
            #expect([1, 64].contains(outcome.status), "\(outcome)")
            #expect(outcome.output.isEmpty)
        }
    }

    @Test func `an address that cannot be used is shown as it was given`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let address = "http://sts.example.com/"
            let command = ["credential", "aws", "--role-arn", Self.role, "--endpoint-url", address]
            let outcome = try await scene.run(command)
            #expect(outcome.error.contains("'\(address)' is not an https address"), "\(outcome.error)")
        }
    }

    @Test func `an empty variable of AWS counts as not set`() throws {
        // A region that is none shows that the next variable is looked at.
        let empty = ["AWS_ENDPOINT_URL_STS": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "no.region"]
        let outcome = try ScratchDirectory().command(["credential", "aws", "--role-arn", Self.role], empty)
        #expect(outcome.error.contains("'no.region' is not a region"), "\(outcome.error)")
    }

    @Test func `the username names the session where the variable of AWS for that is empty`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let service = try HandmadeIssuer()
            service.answer(.init(Self.keys), at: "/sts")
            let empty = ["AWS_ROLE_SESSION_NAME": ""]
            #expect(try await scene.run(Self.aws(service), environment: empty).status == 0)
            #expect(service.forms("/sts").first?["RoleSessionName"] == "ana.rojas@example.org")
        }
    }

    @Test(.enabled(if: Tool.pythonHas("botocore"), "botocore is missing: pip install botocore"))
    func `botocore takes the keys from the profile of the help text`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let service = try HandmadeIssuer()
            service.answer(.init(Self.keys), at: "/sts")
            let profile = try PastedLines(under: "~/.aws/config", of: ["credential", "aws"]).text
                .replacing("mara@example.net\n  ", with: "ana.rojas@example.org ")
                .replacing("= tokenstore", with: "= \(Command.binary)")
            try scene.scratch.write(profile, to: "aws")
            let settings = [
                "AWS_CONFIG_FILE": scene.scratch.path("aws"), "AWS_ENDPOINT_URL_STS": service.baseURL + "/sts",
                "AWS_EC2_METADATA_DISABLED": "true",
            ]
            let arguments = [Tool.fixture("aws_keys.py"), "mara"]
            let outcome = try await Tool.python.run(arguments, in: scene.scratch, environment: settings)
            let expected = #"["ASIAEXAMPLE", "secret/key+1", "session&token==", "custom-process"]"#
            #expect(outcome.output == expected + "\n", "\(outcome.error)")
        }
    }

    // MARK: - Google Cloud

    @Test func `the answer has the token, its type and its end`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run(["credential", "gcloud"])
            #expect(outcome.status == 0)
            let json = try outcome.json
            #expect(json["version"] as? Int == 1)
            #expect(json["success"] as? Bool == true)
            #expect(json["token_type"] as? String == "urn:ietf:params:oauth:token-type:id_token")
            #expect(try await scene.tokens(1, "--id-token")[0].output == (json["id_token"] as? String ?? "") + "\n")
            #expect(json["expiration_time"] as? Int ?? 0 > 1_790_000_000)
            let access = try await scene.run(["credential", "gcloud", "--scope", IssuerScene.scope.text]).json
            #expect(access["token_type"] as? String == "urn:ietf:params:oauth:token-type:jwt")
            #expect(try await scene.tokens(1)[0].output == (access["id_token"] as? String ?? "") + "\n")
        }
    }

    @Test func `an error is part of the answer, and nothing is on standard error`() async throws {
        let outcome = try ScratchDirectory().run("credential", "gcloud")
        #expect(outcome.status == 0)
        #expect(outcome.error.isEmpty)
        let json = try outcome.json
        #expect(json["success"] as? Bool == false)
        #expect(json["code"] as? String == "no_match")
        #expect((json["message"] as? String)?.hasPrefix("no account fits") == true)
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let wanted = ["GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:saml2"]
            let other = try await scene.run(["credential", "gcloud"], environment: wanted)
            #expect(try other.json["success"] as? Bool == false)
            #expect(other.error.isEmpty)
        }
    }

    @Test(.enabled(if: Tool.pythonHas("google.auth"), "google-auth is missing: pip install google-auth"))
    func `google-auth gets its subject token by the file of the help text`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let file = try PastedLines(under: "A file for GOOGLE", of: ["credential", "gcloud"]).text
                .replacing("/usr/bin/tokenstore", with: Command.binary)
            try scene.scratch.write(file.replacing("mara@example.net", with: "ana.rojas@example.org"), to: "g.json")
            try scene.scratch.write(file, to: "other.json")
            let settings = ["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1"]
            let script = Tool.fixture("google_token.py")
            let outcome = try await Tool.python.run(
                [script, scene.scratch.path("g.json")],
                in: scene.scratch,
                environment: settings
            )
            #expect(try await scene.tokens(1, "--id-token")[0].output == outcome.output, "\(outcome.error)")
            let refused = try await Tool.python.run(
                [script, scene.scratch.path("other.json")],
                in: scene.scratch,
                environment: settings
            )
            #expect(refused.output.contains("code: no_match, message: no account fits"), "\(refused)")
        }
    }
}
