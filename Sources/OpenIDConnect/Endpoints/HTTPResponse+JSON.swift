package import HTTPTransport
package import OAuth

extension HTTPResponse {
    /// The JSON object that the body is; nil if it is something else.
    ///
    /// A byte order mark before it is ignored, as RFC 8259 §8.1 allows: some servers write one, and tokens behind it
    /// are nowhere else. With `mending`, a fault in one value does not affect the others; with `forgiving` neither does
    /// one that other readers refuse.
    package func jsonObject(mending: Bool = false, forgiving: Bool = false) -> JSONValue.Object? {
        body.withUnsafeBytes { bytes -> JSONValue.Object? in
            let document = UnsafeRawBufferPointer(rebasing: bytes[JSONReader.start(of: bytes)...])
            let value =
                try? mending || forgiving
                ? JSONValue(mending: document, forgives: forgiving) : JSONValue(parsing: document)
            return value?.object
        }
    }
}
