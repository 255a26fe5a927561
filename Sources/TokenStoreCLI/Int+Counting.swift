extension Int {
    /// The number with what is counted: `1 account`, `2 accounts`.
    func counting(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
