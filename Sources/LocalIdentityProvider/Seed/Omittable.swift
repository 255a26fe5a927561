/// A value with a default that a seed need not spell out.
package protocol Omittable: Codable {
    init()
}

extension Bool: Omittable {}
extension Int: Omittable {}
extension Array: Omittable where Element: Codable {}
extension Dictionary: Omittable where Key: Codable, Value: Codable {}
