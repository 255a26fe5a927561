import OAuth
import Testing

struct AuthorityTests {
    @Test(
        arguments: [
            ("https://Login.MicrosoftOnline.com/T1", "login.microsoftonline.com", "t1", nil),
            ("https://login.microsoftonline.com/common/", "login.microsoftonline.com", "common", nil),
            ("https://login.microsoftonline.com:443/t1/v2.0", "login.microsoftonline.com", "t1", nil),
            ("https://login.example.com:8443/t1", "login.example.com:8443", "t1", nil),
            ("https://t.b2clogin.com/tfp/t.onmicrosoft.com/B2C_1_X", "t.b2clogin.com", "t.onmicrosoft.com", "b2c_1_x"),
            ("https://t.b2clogin.com/t.onmicrosoft.com/B2C_1_X", "t.b2clogin.com", "t.onmicrosoft.com", "b2c_1_x"),
            ("https://t.b2clogin.cn/t/p", "t.b2clogin.cn", "t", "p"),
            ("https://login.microsoftonline.com/tfp/t/B2C_1_X", "login.microsoftonline.com", "t", "b2c_1_x"),
            ("https://sign.example.com/TFP/t/P", "sign.example.com", "t", "p"),
            ("https://sign.example.com/t/B2C_1A_X/extra", "sign.example.com", "t", "b2c_1a_x"),
            ("https://t.ciamlogin.com", "t.ciamlogin.com", "t.onmicrosoft.com", nil),
            ("https://t.ciamlogin.com/", "t.ciamlogin.com", "t.onmicrosoft.com", nil),
            ("https://t.ciamlogin.com/contoso.com", "t.ciamlogin.com", "contoso.com", nil),
            ("https://idp.example.com/adfs", "idp.example.com", "adfs", nil),
            ("http://localhost:8080/t", "localhost:8080", "t", nil),
            ("http://127.0.0.1/t", "127.0.0.1", "t", nil), ("http://[::1]:9/t", "[::1]:9", "t", nil),
            ("https://h/t?x=1#y", "h", "t", nil), ("https://h/t#?p=B2C_1_X", "h", "t", nil),
            ("https://h/t?p=B2C_1_X", "h", "t", "b2c_1_x"), ("https://h/t/?x=1&P=Susi&y", "h", "t", "susi"),
            ("https://t.b2clogin.com/t?p=B2C_1_X", "t.b2clogin.com", "t", "b2c_1_x"),
            ("https://t.b2clogin.com/t/oauth2/v2.0/authorize?p=B2C_1_X", "t.b2clogin.com", "t", "b2c_1_x"),
            ("https://t.b2clogin.com/t/B2C_1_X/oauth2/v2.0/token", "t.b2clogin.com", "t", "b2c_1_x"),
            ("https://t.b2clogin.com/t/V2.0/.well-known/openid-configuration?p=p", "t.b2clogin.com", "t", "p"),
            ("https://t.b2clogin.com/tfp/t/B2C_1_X?p=b2c_1_X", "t.b2clogin.com", "t", "b2c_1_x"),
            ("https://h/t/oauth2/v2.0/authorize", "h", "t", nil), ("https://h/tfp/t/oauth2", "h", "t", "oauth2"),
        ] as [(String, String, String, String?)]
    )
    func `the forms of an authority are read`(text: String, host: String, tenant: String, policy: String?) throws {
        let authority = try Authority(parsing: text)
        #expect(authority.environment == host)
        #expect(authority.tenant == tenant)
        #expect(authority.userFlow == policy)
        #expect(authority.issuer == nil)
    }

    @Test(
        arguments: [
            "", "login.example.com/t", "https://", "https:///t", "http://login.example.com/t", "ftp://h/t",
            "https://user@h/t", "https://h", "https://h/", "https://t.b2clogin.com/t", "https://h/tfp/t",
            "https://h/tfp",
            "https://a b/t", "http://127.0.0.1.example.com/t", "http://localhost.example.com/t",
            "http://[::1].example.com/t", "http://[::1]]/t", "https://h:/t", "https://h:x/t", "https://h:+443/t",
            "https://h:0443/t", "https://h:0/t", "https://h:65536/t", "https://h\\@other/t", "https://h/t\\u",
            "https://h/t\n", "https://h\u{E9}/t", "https://h%2e/t", "https://[fe80::1%25eth0]/t", "https://[h]/t",
            "http://[127.0.0.1]/t", "https://[1.2.3.4]/t", "https://[abc]/t", "https://[:::]/t", "https://[::1",
            "https://[]/t", "https://[::1::2]/t", "https://[1:2:3:4:5:6:7]/t", "https://[fe80::1%eth0]/t",
            "https://h/t?p", "https://h/t?p=", "https://h/t?p=a%2Fb", "https://t.b2clogin.com/t/oauth2/v2.0/authorize",
            "https://t.b2clogin.com/t/v2.0/.well-known/openid-configuration",
        ]
    )
    func `a malformed authority is refused with an error that shows the right form`(text: String) {
        let error = #expect(throws: AuthorityError.self) { try Authority(parsing: text) }
        #expect(error?.remedy != nil)
    }

    @Test(arguments: [
        "https://h/t/B2C_1_X?p=B2C_1_Y", "https://h/tfp/t/B2C_1_X?p=B2C_1_Y", "https://h/t?p=B2C_1_X&p=B2C_1_Y",
        "https://t.ciamlogin.com/?p=B2C_1_X",
    ])
    func `an address with a user flow that does not belong there is refused`(text: String) {
        let error = #expect(throws: AuthorityError.self) { try Authority(parsing: text) }
        #expect(error?.code == .unexpectedUserFlow)
        #expect(error?.problem.contains(text) == true)
    }

    @Test(arguments: [
        "https://h/t", "https://h/t/", "https://h/TFP/t", "https://h/t/B2C_1_X", "https://h/tfp/t/b2c_1_x",
        "https://h/t?p=B2C_1_x", "https://h/t/oauth2/v2.0/authorize",
    ])
    func `a user flow may be named beside its address`(text: String) throws {
        #expect(try Authority(parsing: text, userFlow: "B2C_1_X").url == "https://h/tfp/t/b2c_1_x")
    }

    @Test(
        arguments: [
            ("https://h/t/B2C_1_Y", "B2C_1_X", .unexpectedUserFlow),
            ("https://h/t?p=y", "B2C_1_X", .unexpectedUserFlow),
            ("https://t.ciamlogin.com", "B2C_1_X", .unexpectedUserFlow), ("https://h/t", "my flow", .noUserFlow),
            ("https://h/t", "", .noUserFlow), ("https://h", "B2C_1_X", .noTenant), ("h/t", "B2C_1_X", .notAURL),
        ] as [(String, String, AuthorityError.Code)]
    )
    func `a user flow that does not fit its address is refused`(text: String, flow: String, code: AuthorityError.Code) {
        let error = #expect(throws: AuthorityError.self) { try Authority(parsing: text, userFlow: flow) }
        #expect(error?.code == code)
    }

    @Test func `an issuer is kept exactly as it is given`() throws {
        let authority = try Authority(issuer: "https://IDP.example.com:443/Realm/")
        #expect(authority.issuer == "https://IDP.example.com:443/Realm/")
        #expect(authority.environment == "idp.example.com")
        #expect(authority.tenant == nil)
        #expect(throws: AuthorityError.self) { try Authority(issuer: "http://idp.example.com") }
        for text in ["https://h/a?x=1", "https://h/a#b", "https://h?", "https://h#"] {
            let error = #expect(throws: AuthorityError.self) { try Authority(issuer: text) }
            #expect(error?.problem == "'\(text)' is not the address of an issuer, which has no ? and no # in it")
        }
        let metadata = "https://idp.example.com/Realm/.well-known/openid-configuration"
        let error = #expect(throws: AuthorityError.self) { try Authority(issuer: metadata) }
        #expect(error?.problem == "'\(metadata)' is the address of an issuer's metadata")
        #expect(error?.remedy?.advice == "give https://idp.example.com/Realm")
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/t1/v2.0", "https://login.microsoftonline.com/t1"),
        ("https://login.microsoftonline.com/common/v2.0", "https://login.microsoftonline.com/common"),
        ("https://t.ciamlogin.com/t1/v2.0", "https://t.ciamlogin.com/t1"),
        ("https://t.b2clogin.com/tfp/t1/b2c_1_x/v2.0/", "https://t.b2clogin.com/t1/B2C_1_X"),
    ])
    func `the issuer of a Microsoft tenant or user flow is that authority`(issuer: String, address: String) throws {
        let authority = try Authority(parsing: address)
        #expect(try Authority(issuer: issuer) == authority)
    }

    @Test(arguments: [
        "https://sts.windows.net/t1/", "https://t.b2clogin.com/t1/v2.0/", "https://login.example.com/t1/v2.0",
        "https://login.microsoftonline.com/t1/b2c_1_x/v2.0", "https://login.microsoftonline.com/t1/v2.0//",
        "https://t.b2clogin.com", "https://t.b2clogin.com/tfp/t1/B2C_1_X/v2.0/",
    ])
    func `any other issuer stays as it is, at Microsoft's hosts too`(issuer: String) throws {
        #expect(try Authority(issuer: issuer).issuer == issuer)
    }

    @Test(arguments: ["common", "Organizations", "consumers", "tfp", ""])
    func `common, organizations and consumers name no tenant`(word: String) { #expect(Authority.isTenantless(word)) }

    @Test func `hosts of one cloud share a group, any other host has its own`() {
        for host in ["login.windows.net", "login.microsoftonline.com", "Login.Microsoft.com", "STS.windows.net"] {
            #expect(Cloud.group(of: host) == "login.windows.net")
            #expect(Cloud.contains(host))
        }
        #expect(Cloud.group(of: "login.chinacloudapi.cn") == "login.partner.microsoftonline.cn")
        #expect(Cloud.group(of: "login.usgovcloudapi.net") == "login.microsoftonline.us")
        #expect(Cloud.group(of: "login-us.microsoftonline.com") == "login-us.microsoftonline.com")
        #expect(Cloud.group(of: "A.b2clogin.com") == "a.b2clogin.com")
        #expect(Cloud.contains("a.ciamlogin.com"))
        #expect(!Cloud.contains("b2clogin.com.example.com"))
        #expect(!Cloud.isB2C("a.b2clogin.com.example.com"))
        #expect(!Cloud.isB2C("a.b2clogin.evil.com"))
    }

    @Test(arguments: [
        ("https://login.example/gen", true), ("https://login.example/gen/v2.0", true),
        ("https://login.example/other", false), ("https://elsewhere.example/gen", false),
        ("https://login.example/7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e/v2.0", true), ("https://login.example", false),
    ])
    func `an authority vouches for the issuer that its tenant may have, and for no other at its host`(
        issuer: String,
        vouches: Bool
    ) throws {
        let authority = try Authority(parsing: "https://login.example/gen")
        #expect(authority.vouches(for: Account.ID(issuer: issuer, homeAccountID: "s")) == vouches)
    }

    @Test func `an issuer vouches for itself letter by letter`() throws {
        let authority = try Authority(issuer: "https://login.example/K")
        // The Kelvin sign is the letter K to `==`.
        for (letter, vouches) in [("K", true), ("\u{212A}", false)] {
            let id = Account.ID(issuer: "https://login.example/\(letter)", homeAccountID: "s")
            #expect(authority.vouches(for: id) == vouches)
        }
    }
}
