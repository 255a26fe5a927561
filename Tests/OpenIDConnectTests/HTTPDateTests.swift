import OpenIDConnect
import Testing

struct HTTPDateTests {
    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `a date is read in each of its three forms`(text: String) {
        #expect(HTTPDate.seconds(text) == 784_111_777)
    }

    @Test(arguments: [
        "", "256", "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "a b c d e",
        "S\u{FC}n, 06 Nov 1994 08:49:37 GMT",
    ])
    func `a malformed date is nil`(text: String) {
        #expect(HTTPDate.seconds(text) == nil)
    }

    @Test func `leap days count`() {
        #expect(HTTPDate.seconds("Tue, 29 Feb 2028 00:00:00 GMT") == 1_835_395_200)
        #expect(HTTPDate.seconds("Wed, 01 Mar 2028 00:00:00 GMT") == 1_835_481_600)
    }
}
