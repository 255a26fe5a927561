import Foundation

/// The device grant (RFC 8628).
extension Grants {
    func beginDevice(client: Client, realm: Realm, scope: String) -> (deviceCode: String, userCode: String) {
        devices = devices.filter { $0.value.expires + 3600 > now }
        let deviceCode = RandomToken.make(prefix: "dc_")
        var userCode = RandomToken.userCode()
        while devices.values.contains(where: { $0.userCode == userCode }) { userCode = RandomToken.userCode() }
        devices[Fingerprint(deviceCode, key: key)] = DeviceAuthorization(
            clientID: client.id,
            tenantID: realm.tenant.id,
            policy: realm.policy?.name,
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
            return Self.canonical(device.userCode) == wanted && device.tenantID == realm.tenant.id
                && device.policy == realm.policy?.name && now < device.expires
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
    func pollDevice(_ deviceCode: String, client: Client, realm: Realm) throws -> (DeviceAuthorization, RefreshFamily) {
        let fingerprint = Fingerprint(deviceCode, key: key)
        guard var device = devices[fingerprint], device.clientID == client.id, device.tenantID == realm.tenant.id,
            device.policy == realm.policy?.name
        else { throw ProtocolError.invalidGrant(ErrorNumber.deviceCode, "The device code is unknown. Start again.") }
        guard now < device.expires else { throw ProtocolError.expiredToken }
        defer { if devices[fingerprint] != nil { devices[fingerprint] = device } }
        switch device.decision {
        case .denied:
            throw ProtocolError(
                "access_denied",
                ErrorNumber.deviceCode,
                "The person refused. Start again if they agree."
            )
        case .pending:
            let isTooSoon = device.lastPoll.map { now < $0 + TimeInterval(device.interval) } ?? false
            device.lastPoll = now
            if isTooSoon { device.interval += 5 }
            throw ProtocolError(
                isTooSoon ? "slow_down" : "authorization_pending",
                ErrorNumber.deviceCode,
                "Nobody approved the device yet. Ask again in \(device.interval) seconds."
            )
        case .approved(let signedIn):
            devices[fingerprint] = nil
            return (device, begin(client: client, realm: realm, signedIn: signedIn, scope: device.scope))
        }
    }
}
