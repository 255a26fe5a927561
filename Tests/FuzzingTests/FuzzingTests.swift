import Fuzzing
import TestSupport
import Testing

struct FuzzingTests {
    @Test(arguments: InputKind.allCases)
    func `every input of the corpus passes its fuzz target`(kind: InputKind) async throws {
        let input = try kind.input()
        let inputs = try Corpus.inputs(kind)
        #expect(inputs.count > 4)
        await withTaskExecutorPreference(OwnThread()) {
            for (name, bytes) in inputs {
                await #expect(throws: Never.self, "\(kind.rawValue)/\(name)") { try await input.run(bytes) }
            }
        }
    }

    @Test(arguments: InputKind.allCases)
    func `mutated inputs of the corpus pass their fuzz targets`(kind: InputKind) async throws {
        let input = try kind.input()
        var mutation = Mutation(of: try Corpus.inputs(kind).map(\.bytes), seed: 7)
        let inputs = (0..<25).map { _ in mutation.next() }
        await withTaskExecutorPreference(OwnThread()) {
            for bytes in inputs {
                await #expect(throws: Never.self, "\(kind.rawValue): \(bytes)") { try await input.run(bytes) }
            }
        }
    }
}
