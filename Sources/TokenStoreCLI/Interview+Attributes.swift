import NativeAuthentication
import OAuth

extension Interview {
    /// The values of the attributes that the tenant wants to know; `given` are at hand, `refused` were not taken.
    func attributes(
        _ wanted: [RequiredAttribute],
        given: JSON.Object?,
        refused: [String]
    ) throws -> JSON.Object {
        var values: [(String, JSON)] = []
        for attribute in wanted {
            if let value = given?[attribute.name], !refused.contains(attribute.name) {
                values.append((attribute.name, value))
            } else if let value = try value(of: attribute, isRefused: refused.contains(attribute.name)) {
                values.append((attribute.name, .string(value)))
            }
        }
        return JSON.Object(values)
    }

    /// nil: one that may be left out was.
    private func value(of attribute: RequiredAttribute, isRefused: Bool) throws -> String? {
        let format = attribute.format.map { " (\($0))" } ?? ""
        guard mayAsk else {
            guard attribute.required else { return nil }
            if isRefused { throw Self.refused([attribute.name]) }
            throw nobody(attribute.name + format, "--attribute \(attribute.name)=VALUE")
        }
        while true {
            let value = try line("\(attribute.name)\(format)\(attribute.required ? "" : ", Return for none"): ")
            if value.isEmpty, !attribute.required { return nil }
            if !value.isEmpty, attribute.accepts(value) { return value }
            let pattern = attribute.regex.map { "; it has to match \($0)" } ?? "; give a value"
            tell("'\(value)' is no \(attribute.name)\(pattern)")
        }
    }

    /// The tenant does not take the values of some attributes.
    static func refused(_ names: [String]) -> CommandFailure {
        let text = names.joined(separator: ", ")
        return CommandFailure(.failure, "the tenant does not take the value of \(text)", "correct it and start again")
    }
}
