/// The one question before something is deleted.
struct Confirmation {
    /// What will happen, as a question without its mark: `Delete 2 accounts`.
    let question: String

    /// Returns if the person agrees.
    func ask(_ arguments: StoreArguments, isGiven: Bool) throws {
        if isGiven { return }
        guard arguments.mayAsk else {
            throw CommandFailure(
                .failure,
                "cannot ask '\(question)?' without a terminal, and nothing was changed",
                "add --yes to go ahead, or --dry-run to see what would be done"
            )
        }
        guard isAgreed() else {
            throw CommandFailure(.cancelled, "cancelled, and nothing was changed", "answer y to go ahead")
        }
    }

    /// What the person says; there must be a terminal to ask on.
    func isAgreed() -> Bool {
        StandardError.write("\(question.printable)? [y/N] ")
        let answer = readLine()
        if answer == nil { StandardError.write("\n") }
        return answer.map { ["y", "yes"].contains($0.lowercased()) } ?? false
    }
}
