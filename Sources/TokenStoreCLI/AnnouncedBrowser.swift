import SignIn

/// The person's browser, or the address to open where there is none.
struct AnnouncedBrowser: UserAgent {
    private let opens: Bool
    private let isQuiet: Bool

    /// Without `opens` the address is printed at once.
    init(opens: Bool, isQuiet: Bool) {
        self.opens = opens
        self.isQuiet = isQuiet
    }

    func open(_ address: String) async throws {
        guard opens else { return announce(address) }
        do {
            try await SystemBrowser().open(address)
            if !isQuiet { StandardError.write("tokenstore: the page is open in your browser; Ctrl-C cancels\n") }
        } catch SignInError.noBrowser {
            announce(address)
        }
    }

    /// On standard error, as standard output is for the answer.
    private func announce(_ address: String) {
        StandardError.write("tokenstore: open this address to sign in, Ctrl-C cancels:\n\(address.printable)\n")
    }
}
