/// The pages of a journey; every form carries the interaction's id, which no other browser can use.
extension Page {
    static func form(_ title: String, _ interaction: Interaction, message: String? = nil, _ content: HTML) -> Page {
        let cancel: HTML = "<button name=\"action\" value=\"cancel\" formnovalidate>Cancel</button>"
        return Page(
            title: title,
            message: message,
            content: """
                <form method="post" action=""><input type="hidden" name="interaction" value="\(interaction.id)">\
                \(content)\(cancel)</form>
                """
        )
    }

    static func field(_ name: String, _ label: String, type: String = "text", value: String = "", hint: String = "off")
        -> HTML
    {
        """
        <label>\(label)<input name="\(name)" id="\(name)" type="\(type)" value="\(value)" autocomplete="\(hint)"></label>
        """
    }

    static func button(_ action: String, _ label: String) -> HTML {
        "<button name=\"action\" value=\"\(action)\" id=\"\(action)\">\(label)</button>"
    }

    static func signIn(_ interaction: Interaction, username: String, message: String? = nil) -> Page {
        form(
            "Sign in",
            interaction,
            message: message,
            """
            \(field("username", "E-mail", type: "email", value: username, hint: "username"))\
            \(field("password", "Password", type: "password", hint: "current-password"))\
            \(button("sign_in", "Sign in"))\(button("send_code", "Send me a code"))\
            \(button("sign_up_now", "Sign up now"))\(button("forgot", "Forgot your password?"))
            """
        )
    }

    static func code(_ interaction: Interaction, sentTo: String, message: String? = nil) -> Page {
        form(
            "Enter the code",
            interaction,
            message: message,
            """
            <p>A code was sent to \(Masked.contact(sentTo)).</p>\(field("code", "Code", hint: "one-time-code"))\
            \(button("submit_code", "Continue"))\(button("resend", "Send another"))
            """
        )
    }

    static func accounts(_ interaction: Interaction, _ users: [User]) -> Page {
        let choices = users.map { user -> HTML in
            "<button class=\"account\" name=\"account\" value=\"\(user.id)\">\(user.name) (\(user.email))</button>"
        }
        return form("Choose an account", interaction, "\(choices)\(button("other", "Use another account"))")
    }

    static func signUp(_ interaction: Interaction, _ attributes: [AttributeDefinition], message: String? = nil) -> Page
    {
        let fields = attributes.map { field($0.name, $0.name) }
        return form(
            "Sign up",
            interaction,
            message: message,
            """
            \(field("username", "E-mail", type: "email", hint: "username"))\
            \(field("password", "New password", type: "password", hint: "new-password"))\
            \(field("displayName", "Display name", hint: "name"))\(fields)\(button("sign_up", "Create"))
            """
        )
    }

    static func profile(_ interaction: Interaction, _ user: User, _ names: [String], message: String? = nil) -> Page {
        let fields = names.map { field($0, $0, value: user.attributes[$0] ?? "") }
        return form(
            "Edit profile",
            interaction,
            message: message,
            "<p>\(user.email)</p>\(fields)\(button("save", "Save"))"
        )
    }

    static func resetAddress(_ interaction: Interaction, message: String? = nil) -> Page {
        let address = field("username", "E-mail", type: "email", hint: "username")
        return form(
            "Reset your password",
            interaction,
            message: message,
            "\(address)\(button("send_reset", "Send a code"))"
        )
    }

    static func newPassword(_ interaction: Interaction, message: String? = nil) -> Page {
        let password = field("password", "New password", type: "password", hint: "new-password")
        return form("New password", interaction, message: message, "\(password)\(button("set_password", "Save"))")
    }

    static func consent(_ interaction: Interaction, _ client: Client, _ scopes: [String]) -> Page {
        let list = scopes.map { scope -> HTML in "<li>\(scope)</li>" }
        return form(
            "Permissions",
            interaction,
            "<p>\(client.name) asks for:</p><ul>\(list)</ul>\(button("accept", "Accept"))"
        )
    }

    static func deviceCode(_ interaction: Interaction, code: String, message: String? = nil) -> Page {
        let field = field("user_code", "Code shown on the device", value: code)
        return form("Connect a device", interaction, message: message, "\(field)\(button("enter_code", "Continue"))")
    }

    static func approveDevice(_ interaction: Interaction, client: String, user: User) -> Page {
        form(
            "Connect a device",
            interaction,
            "<p>Let \(client) act for \(user.name) (\(user.email))?</p>\(button("approve", "Approve"))"
        )
    }
}
