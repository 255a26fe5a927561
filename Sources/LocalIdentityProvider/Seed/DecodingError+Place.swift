extension DecodingError {
    /// Where in the JSON the fault is, without the value found there.
    var place: String {
        let context: Context? =
            switch self {
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): context
            case .keyNotFound(let key, let context):
                .init(codingPath: context.codingPath + [key], debugDescription: "a required member is missing")
            @unknown default: nil
            }
        let path = context?.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } ?? []
        return "\(path.joined(separator: ".")): \(context?.debugDescription ?? "not readable")"
    }
}
