/// Something a check found wrong.
public struct StoreProblem: Hashable, Sendable {
    /// Where, such as `access_token row 7, column secret`.
    public let place: String

    /// What is wrong, a clause without a full stop.
    public let problem: String

    package init(place: String, problem: String) {
        self.place = place
        self.problem = problem
    }
}
