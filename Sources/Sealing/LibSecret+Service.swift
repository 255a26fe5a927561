#if os(Linux)
import OAuth

extension LibSecret {
    private static let objectType: UInt = 20 << 2
    private static let stringType: UInt = 16 << 2
    /// Held while a type is registered, which may happen once in a process.
    private static let registration = Guarded(())

    /// A `SecretService` over `connection`.
    func service(over connection: Object, _ cancellation: Cancellation) throws(SealingError) -> Object {
        guard let service = make(try serviceTypeOverAnyConnection(), over: connection) else { throw Self.incapable }
        do throws(SealingError) {
            _ = try glib.checked { glib.initialize(service, cancellation.object, $0) }
            return service
        } catch {
            glib.unref(service)
            throw error
        }
    }

    private func make(_ type: UInt, over connection: Object) -> Object? {
        let texts: [(name: StaticString, value: String)] = [
            ("g-name", "org.freedesktop.secrets"), ("g-object-path", "/org/freedesktop/secrets"),
            ("g-interface-name", "org.freedesktop.Secret.Service"),
        ]
        let names: [StaticString] = texts.map(\.name) + ["g-connection"]
        // A `GValue` is a type and 16 bytes; zeros are an empty one.
        let size = 24
        let values = Object.allocate(byteCount: names.count * size, alignment: 8)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: names.count * size)
        defer {
            for index in names.indices { glib.unsetValue(values + index * size) }
            values.deallocate()
        }
        for (index, text) in texts.enumerated() {
            _ = glib.initValue(values + index * size, Self.stringType)
            glib.setString(values + index * size, text.value)
        }
        _ = glib.initValue(values + texts.count * size, Self.objectType)
        glib.setObject(values + texts.count * size, connection)

        let addresses = names.map { UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) as Optional }
        return glib.newObject(type, UInt32(names.count), addresses, values)
    }

    /// `SecretService` with the constructor of `GObject`: its own one insists on GLib's shared session bus.
    private func serviceTypeOverAnyConnection() throws(SealingError) -> UInt {
        let name = "TokenstoreSecretService"
        let type = Self.registration.withLock { _ in
            let registered = glib.typeNamed(name)
            return registered == 0 ? register(name) : registered
        }
        if type == 0 { throw Self.incapable }
        return type
    }

    private func register(_ name: String) -> UInt {
        // A `GTypeQuery` is type, name, class size and instance size.
        let query = Object.allocate(byteCount: 24, alignment: 8)
        defer { query.deallocate() }
        let parent = serviceType()
        glib.queryType(parent, query)
        // In a `GObjectClass` the constructor follows the type and the list of construct properties.
        guard let base = glib.classOf(Self.objectType) else { return 0 }
        let constructor = base.load(fromByteOffset: 16, as: UnsafeRawPointer?.self)
        let initClass: @convention(c) (Object, UnsafeRawPointer?) -> Void = { subclass, constructor in
            subclass.storeBytes(of: constructor, toByteOffset: 16, as: UnsafeRawPointer?.self)
        }
        // A `GTypeInfo`, of which the rest may stay zero.
        let info = Object.allocate(byteCount: 72, alignment: 8)
        info.initializeMemory(as: UInt8.self, repeating: 0, count: 72)
        defer { info.deallocate() }
        info.storeBytes(of: UInt16(query.load(fromByteOffset: 16, as: UInt32.self)), as: UInt16.self)
        info.storeBytes(of: initClass, toByteOffset: 24, as: (@convention(c) (Object, UnsafeRawPointer?) -> Void).self)
        info.storeBytes(of: constructor, toByteOffset: 40, as: UnsafeRawPointer?.self)
        info.storeBytes(
            of: UInt16(query.load(fromByteOffset: 20, as: UInt32.self)),
            toByteOffset: 48,
            as: UInt16.self
        )
        return glib.registerType(parent, name, info, 0)
    }
}
#endif
