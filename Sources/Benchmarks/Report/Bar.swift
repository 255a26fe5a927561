/// One entry of the list of what the store has to reach; a new one is a new file and its name in a command's list.
protocol Bar {
    /// The name in the list, such as `P2`.
    static var name: String { get }

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws
}
