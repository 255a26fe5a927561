/// What a person types once a question has appeared; it may be known only then.
struct TypedAnswer: Sendable {
    let question: String
    let text: @Sendable () throws -> String

    init(_ question: String, _ text: @autoclosure @escaping @Sendable () throws -> String) {
        self.question = question
        self.text = text
    }
}
