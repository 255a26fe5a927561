import Foundation

/// The device grant (RFC 8628).
extension Grants {
    func beginDevice(_ holder: Holder, scope: String) -> (deviceCode: String, userCode: String) {
        devices = devices.filter { $0.value.expires + 3600 > now }
        let deviceCode = RandomToken.make(prefix: "dc_")
        var userCode = RandomToken.userCode()
        while devices.values.contains(where: { $0.userCode == userCode }) { userCode = RandomToken.userCode() }
        devices[Fingerprint(deviceCode)] = DeviceAuthorization(
            holder: holder,
            scope: scope,
            userCode: userCode,
            expires: now + TimeInterval(Lifetime.deviceCode)
        )
        return (deviceCode, userCode)
    }

    /// The waiting device with this code, which a person may type in any case and without the hyphen.
    func device(withUserCode userCode: String, realm: Realm) -> DeviceAuthorization? {
        let wanted = Self.canonical(userCode)
        return devices.values.first { device in
            guard case .pending = device.decision else { return false }
            return Self.canonical(device.userCode) == wanted && device.holder.tenantID == realm.tenant.id
                && device.holder.policy == realm.policy?.name && now < device.expires
        }
    }

    private static func canonical(_ code: String) -> String { code.uppercased().filter(\.isLetter) }

    /// Records a person's decision, unless one was made before.
    func decide(_ userCode: String, _ decision: DeviceAuthorization.Decision) -> Bool {
        guard let key = devices.first(where: { $0.value.userCode == userCode })?.key,
            case .pending = devices[key]?.decision
        else { return false }
        devices[key]?.decision = decision
        return true
    }

    /// One poll of the token endpoint; an approved device code is used up.
    func pollDevice(_ request: ClientRequest) throws -> (DeviceAuthorization, RefreshFamily) {
        let fingerprint = Fingerprint(try request.form.required("device_code"))
        guard var device = devices[fingerprint], device.holder == request.holder else {
            throw ProtocolError.unknownDevice
        }
        guard now < device.expires else { throw ProtocolError.expiredToken }
        defer { if devices[fingerprint] != nil { devices[fingerprint] = device } }
        switch device.decision {
        case .denied: throw ProtocolError.deviceDenied
        case .pending:
            let isTooSoon = device.lastPoll.map { now < $0 + TimeInterval(device.interval) } ?? false
            device.lastPoll = now
            if isTooSoon { device.interval += 5 }
            throw ProtocolError.devicePending(
                isTooSoon ? "slow_down" : "authorization_pending",
                interval: device.interval
            )
        case .approved(let signedIn):
            devices[fingerprint] = nil
            return (device, begin(device.holder, signedIn: signedIn, scope: device.scope))
        }
    }
}
