import Foundation

/// The device grant (RFC 8628).
extension Grants {
    struct Device: Sendable {
        enum Decision: Sendable {
            case pending, denied
            case approved(SignedIn)
        }

        let holder: Holder
        let scope: String
        let userCode: String
        let expires: Date
        var interval = Lifetime.devicePollInterval
        var lastPoll: Date?
        var decision = Decision.pending
    }

    func beginDevice(_ holder: Holder, scope: String) -> (deviceCode: String, userCode: String) {
        devices = devices.filter { $0.value.expires + 3600 > now }
        let deviceCode = RandomToken.make(prefix: "dc_")
        var userCode = RandomToken.userCode()
        while devices.values.contains(where: { $0.userCode == userCode }) { userCode = RandomToken.userCode() }
        let expires = now + TimeInterval(Lifetime.deviceCode)
        devices[Fingerprint(deviceCode)] = Device(holder: holder, scope: scope, userCode: userCode, expires: expires)
        return (deviceCode, userCode)
    }

    /// The waiting device with this code, which a person may type in any case and without the hyphen.
    func device(withUserCode userCode: String, at realm: Realm) -> Device? {
        let letters = userCode.uppercased().filter(\.isLetter)
        return devices.values.first { device in
            guard case .pending = device.decision, device.userCode.filter(\.isLetter) == letters else { return false }
            return device.holder == realm.holder(device.holder.clientID) && now < device.expires
        }
    }

    /// Records a person's decision; nil when one was made before.
    func decide(_ userCode: String, _ decision: Device.Decision) -> Device? {
        guard let (key, device) = devices.first(where: { $0.value.userCode == userCode }),
            case .pending = device.decision
        else { return nil }
        devices[key]?.decision = decision
        return device
    }

    /// One poll of the token endpoint; an approved device code is used up.
    func pollDevice(_ form: Parameters, holder: Holder, boundTo thumbprint: String?) throws -> Family {
        let key = Fingerprint(try form.required("device_code"))
        guard let device = devices[key], device.holder == holder else { throw ProtocolError.unknownDevice }
        guard now < device.expires else { throw ProtocolError.expiredToken }
        switch device.decision {
        case .denied: throw ProtocolError.deviceDenied
        case .pending:
            devices[key]?.lastPoll = now
            guard let last = device.lastPoll, now < last + TimeInterval(device.interval) else {
                throw ProtocolError.devicePending
            }
            devices[key]?.interval += 5
            throw ProtocolError.deviceTooFast
        case .approved(let signedIn):
            devices[key] = nil
            return begin(holder, signedIn: signedIn, scope: device.scope, boundTo: thumbprint)
        }
    }
}
