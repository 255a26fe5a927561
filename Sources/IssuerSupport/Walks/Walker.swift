import LocalIdentityProvider
import NativeAuthentication
import OAuth
import TestSupport

/// A person who goes through the flows, in order or out of their mind.
struct Walker {
    static let toDo: Scope = "api://todolist/ToDoList.Read"
    static let demo: Scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"

    let app: NativeAuthPublicClientApplication
    let provider: LocalIdentityProvider

    /// The address of the account, to which no other user is sent codes.
    let username: String
    var password: Secret
    var generator: SeededGenerator

    /// Whether every answer of the person is right.
    var isHonest = false

    private var passwords = 0
    private var contact: String { "second.\(username)" }

    init(
        app: NativeAuthPublicClientApplication,
        provider: LocalIdentityProvider,
        username: String,
        generator: SeededGenerator
    ) {
        self.app = app
        self.provider = provider
        self.username = username
        self.generator = generator
        password = Secret("Llanura-0-Viento")
    }

    mutating func chance(_ one: Int, in many: Int) -> Bool { Int.random(in: 0..<many, using: &generator) < one }

    /// The last code sent to the person, at whichever address, or something else where the person errs.
    mutating func code() -> Secret {
        let messages = [username, contact].compactMap { provider.outbox.messages(to: $0).last }
        let sent = messages.max { $0.id < $1.id }?.code ?? "00000000"
        if isHonest || chance(3, in: 5) { return Secret(sent) }
        return Secret(chance(1, in: 4) ? "" : chance(1, in: 2) ? String(sent.reversed()) : "12345678")
    }

    /// A password that was not used before.
    mutating func newPassword() -> Secret {
        if !isHonest, chance(1, in: 3) {
            return Secret(["", "short", "aaaaaaaaaa", "Contraseña-1"].randomElement(using: &generator) ?? "")
        }
        passwords += 1
        password = Secret("Llanura-\(passwords)-Viento")
        return password
    }

    mutating func knownPassword() -> Secret { isHonest || chance(3, in: 4) ? password : Secret("Equivocada-1-No") }

    mutating func attributes() -> JSONValue.Object {
        let right = JSONValue.Object([("country", "Ecuador"), ("city", "Loja")])
        if isHonest || chance(1, in: 2) { return right }
        let others: [JSONValue.Object] = [
            .init([("country", "1")]), .init([("city", "Loja")]), .init([("jobTitle", "Baker")]), .init(),
            .init([("country", .number("NaN"))]),
        ]
        return others.randomElement(using: &generator) ?? right
    }

    mutating func method(of methods: [NativeAuthentication.AuthMethod]) -> NativeAuthentication.AuthMethod? {
        isHonest ? methods.first : methods.randomElement(using: &generator)
    }

    mutating func contactToRegister() -> String {
        if isHonest || chance(1, in: 2) { return contact }
        return ["", "+12", "blocked@example.org", username].randomElement(using: &generator) ?? contact
    }
}
