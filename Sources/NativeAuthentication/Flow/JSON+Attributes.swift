import OAuth

extension JSON.Object {
    static let attributeFlaw = "the attributes hold a value that JSON does not know; give texts"

    /// The attributes as they are sent; nil where a value is none that JSON knows.
    var serializedAttributes: String? {
        let text = JSON.object(self).serialized
        // A number is kept as it was written, whatever that is.
        return (try? JSON(parsing: text)) == nil ? nil : text
    }
}
