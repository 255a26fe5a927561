import Sealing
import Testing

struct PathPartsTests {
    @Test(
        arguments: [
            ("a", ".", "a"), ("/a", "/", "a"), ("/a/b", "/a", "b"), ("/a/", "/a", ""), ("", ".", ""),
            // A combining mark, a joiner and a letter that joins what follows it, each beside a slash.
            ("/a/\u{301}b", "/a", "\u{301}b"), ("/\u{301}a/\u{200D}b", "/\u{301}a", "\u{200D}b"),
            ("/a\u{600}/b", "/a\u{600}", "b"),
        ]
    )
    func `a path is split at its last slash, next to any character`(path: String, directory: String, name: String) {
        let parts = PathParts(path)
        #expect(parts.directory.utf8.elementsEqual(directory.utf8))
        #expect(parts.name.utf8.elementsEqual(name.utf8))
    }

    @Test(arguments: ["/\u{301}a", "/\u{200D}"])
    func `a path that begins with a slash is absolute`(path: String) {
        #expect(PathParts.isAbsolute(path))
        #expect(KeySource.file(path).description == "file:" + path)
    }

    @Test(arguments: ["../\u{301}a", "a/\u{301}b"])
    func `a credential's name cannot lead out of its directory`(name: String) {
        #expect(throws: SealingError.self) { _ = try KeySource.credential(name) }
    }

    @Test func `the text after a prefix is found by bytes`() {
        #expect("a.db\u{301}-wal".droppingPrefix("a.db") == "\u{301}-wal")
        #expect("\u{E9}.db".droppingPrefix("e\u{301}") == nil)
    }
}
