import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What a log gets of the objects that an app prints.
@Suite(.aboutFiles("the options are the same"))
struct ShownOptionsTests {
    @Test func `neither options nor what was opened with them show the environment`() throws {
        let fixture = try TestStore()
        try fixture.signIn(.signIn())
        var options = fixture.options
        options.keySource = .file
        options.environment = ["TOKENSTORE_PASSPHRASE": "open sesame", "PGPASSWORD": "open sesame"]
        let store = try TokenStore.open(at: fixture.path, options: options)
        let inspection = try #require(try TokenStore.inspect(at: StoreLocation(fixture.path), options: options))
        for subject in [options, store, inspection] as [Any] {
            var dumped = ""
            dump(subject, to: &dumped)
            for text in ["\(subject)", String(reflecting: subject), dumped] {
                #expect(!text.contains("sesame"))
            }
        }
        #expect("\(options)" == "StoreOptions(key: file, program: \(options.program))")
    }
}
