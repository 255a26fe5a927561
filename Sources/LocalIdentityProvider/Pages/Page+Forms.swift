/// The pages of a journey.
extension Page {
    /// The page as a form that carries the interaction's id, which no other browser can use.
    func form(of interaction: Interaction, message: String?) -> Page {
        Page(
            title: title,
            message: message,
            content: """
                <form method="post" action=""><input type="hidden" name="interaction" value="\(interaction.id)">\
                \(content)<button name="action" value="cancel" formnovalidate>Cancel</button></form>
                """
        )
    }

    static func signIn(username: String) -> Page {
        Page(
            title: "Sign in",
            content: """
                \(field("username", "E-mail", type: "email", value: username, hint: "username"))\
                \(field("password", "Password", type: "password", hint: "current-password"))\
                \(button("sign_in", "Sign in"))\(button("send_code", "Send me a code"))\
                \(button("sign_up_now", "Sign up now"))\(button("forgot", "Forgot your password?"))
                """
        )
    }

    static func code(sentTo target: String) -> Page {
        Page(
            title: "Enter the code",
            content: """
                <p>A code was sent to \(Masked.contact(target)).</p>\(field("code", "Code", hint: "one-time-code"))\
                \(button("submit_code", "Continue"))\(button("resend", "Send another"))
                """
        )
    }

    static func accounts(_ users: [User]) -> Page {
        let choices = users.map { user -> HTML in
            "<button class=\"account\" name=\"account\" value=\"\(user.id)\">\(user.name) (\(user.email))</button>"
        }
        return Page(title: "Choose an account", content: "\(choices)\(button("other", "Use another account"))")
    }

    static func signUp(_ attributes: [AttributeDefinition]) -> Page {
        Page(
            title: "Sign up",
            content: """
                \(address)\(newPasswordField)\(field("displayName", "Display name", hint: "name"))\
                \(attributes.map { field($0.name, $0.name) })\(button("sign_up", "Create"))
                """
        )
    }

    static func profile(_ user: User, _ names: [String]) -> Page {
        let fields = names.map { field($0, $0, value: user.attributes[$0] ?? "") }
        return Page(title: "Edit profile", content: "<p>\(user.email)</p>\(fields)\(button("save", "Save"))")
    }

    static var resetAddress: Page {
        Page(title: "Reset your password", content: "\(address)\(button("send_reset", "Send a code"))")
    }

    static var newPassword: Page {
        Page(title: "New password", content: "\(newPasswordField)\(button("set_password", "Save"))")
    }

    static func consent(_ client: String, _ scopes: [String]) -> Page {
        let list = scopes.map { scope -> HTML in "<li>\(scope)</li>" }
        let content: HTML = "<p>\(client) asks for:</p><ul>\(list)</ul>\(button("accept", "Accept"))"
        return Page(title: "Permissions", content: content)
    }

    static func deviceCode(_ code: String) -> Page {
        let field = field("user_code", "Code shown on the device", value: code)
        return Page(title: "Connect a device", content: "\(field)\(button("enter_code", "Continue"))")
    }

    static func approveDevice(client: String, user: User) -> Page {
        let question: HTML = "<p>Let \(client) act for \(user.name) (\(user.email))?</p>"
        return Page(title: "Connect a device", content: "\(question)\(button("approve", "Approve"))")
    }

    // MARK: Parts

    private static var address: HTML { field("username", "E-mail", type: "email", hint: "username") }

    private static var newPasswordField: HTML {
        field("password", "New password", type: "password", hint: "new-password")
    }

    private static func field(
        _ name: String,
        _ label: String,
        type: String = "text",
        value: String = "",
        hint: String = "off"
    ) -> HTML {
        """
        <label>\(label)<input name="\(name)" id="\(name)" type="\(type)" value="\(value)" autocomplete="\(hint)"></label>
        """
    }

    private static func button(_ action: String, _ label: String) -> HTML {
        "<button name=\"action\" value=\"\(action)\" id=\"\(action)\">\(label)</button>"
    }
}
