import Foundation

extension Sequence<UInt8> {
    /// RFC 4648 section 5 without padding.
    var base64URL: String {
        Data(self).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
