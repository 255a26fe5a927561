/// Contacts as an answer may show them.
enum Masked {
    /// The first and last letter of the local part and of the first domain label stay; of a number, the last two.
    static func contact(_ contact: String) -> String {
        let halves = contact.split(separator: "@", maxSplits: 1)
        guard halves.count == 2 else { return "***" + contact.suffix(2) }
        let labels = halves[1].split(separator: ".", maxSplits: 1)
        let rest = labels.count == 2 ? ".\(labels[1])" : ""
        return ends(halves[0]) + "@" + ends(labels.first ?? "") + rest
    }

    private static func ends(_ word: Substring) -> String {
        guard word.count > 1, let first = word.first, let last = word.last else { return "***" }
        return "\(first)***\(last)"
    }
}
