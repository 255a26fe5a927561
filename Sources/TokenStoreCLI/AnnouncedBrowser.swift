import SignIn

/// The person's browser, and the address for where none opens.
///
/// That a program was started does not say that a page is open: the address is always shown, or a person with a browser
/// that ends at once, or waits unseen, would have nothing to go on with. It is shown with --quiet too.
struct AnnouncedBrowser: UserAgent {
    /// Without it the address is printed alone.
    let opens: Bool

    func open(_ address: String) async throws { try await open(address, startingAt: nil) }

    func open(_ address: String, startingAt start: String?) async throws {
        guard opens else { return announce("open this address to sign in, Ctrl-C cancels", address) }
        announce("your browser opens to sign in, Ctrl-C cancels; if it does not, open this address", address)
        do {
            try await SystemBrowser().open(address, startingAt: start)
        } catch SignInError.noBrowser {
            StandardError.write("tokenstore: no browser could be started; open the address above\n")
        }
    }

    /// On standard error, as standard output is for the answer.
    ///
    /// A terminal is the person's own, unlike the arguments of
    /// a program.
    private func announce(_ sentence: String, _ address: String) {
        StandardError.write("tokenstore: \(sentence):\n\(address.printable)\n")
    }
}
