package import Synchronization

/// A `Mutex` whose order of uses the thread sanitizer sees, in debug builds.
///
/// Where threads wait for a `Mutex`, the Linux kernel hands it from one to the next, and the sanitizer, which watches
/// atomic operations in the program only, takes what they then do for a race. The count of uses gives it the order. A
/// release build does without it: the count would cost as much as the lock.
package struct LockedValue<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline package let mutex: Mutex<Value>
    #if DEBUG
    @usableFromInline package let uses = Atomic<Int>(0)
    #endif

    @inlinable package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            #if DEBUG
            _ = uses.load(ordering: .acquiring)
            defer { uses.wrappingAdd(1, ordering: .releasing) }
            #endif
            return try body(&value)
        }
    }

    /// Runs `body` unless another thread has the lock; nil then.
    @inlinable package borrowing func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { value throws(Failure) in
            #if DEBUG
            _ = uses.load(ordering: .acquiring)
            defer { uses.wrappingAdd(1, ordering: .releasing) }
            #endif
            return try body(&value)
        }
    }
}
