import Fuzzing
import Testing

struct FuzzingTests {
    @Test(arguments: InputKind.allCases)
    func `every input that is kept keeps its promises`(kind: InputKind) async throws {
        let input = try kind.input()
        let inputs = try Corpus.inputs(kind)
        #expect(inputs.count > 4)
        for (name, bytes) in inputs {
            await #expect(throws: Never.self, "\(kind.rawValue)/\(name)") { try await input.run(bytes) }
        }
    }

    @Test(arguments: InputKind.allCases)
    func `inputs that are nearly like those keep them too`(kind: InputKind) async throws {
        let input = try kind.input()
        var mutation = Mutation(of: try Corpus.inputs(kind).map(\.bytes), seed: 7)
        for number in 0..<25 {
            let bytes = mutation.next()
            await #expect(throws: Never.self, "\(kind.rawValue) \(number): \(bytes)") { try await input.run(bytes) }
        }
    }
}
