package import Synchronization

#if DEBUG
/// A `Mutex` whose order of uses the thread sanitizer sees.
///
/// Where threads wait for a `Mutex`, the Linux kernel hands it from one to the next, and the sanitizer, which watches
/// atomic operations in the program only, takes what they then do for a race. The count of uses gives it the order.
///
/// A file that uses it imports `Synchronization`, without which a release build does not find what it has.
package struct LockedValue<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline package let mutex: Mutex<Value>
    @usableFromInline package let uses = Atomic<Int>(0)

    @inlinable package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = uses.load(ordering: .acquiring)
            defer { uses.wrappingAdd(1, ordering: .releasing) }
            return try body(&value)
        }
    }

    /// Runs `body` unless another thread has the lock; nil then.
    @inlinable package borrowing func withLockIfAvailable<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result? {
        try mutex.withLockIfAvailable { value throws(Failure) in
            _ = uses.load(ordering: .acquiring)
            defer { uses.wrappingAdd(1, ordering: .releasing) }
            return try body(&value)
        }
    }
}
#else
/// A `Mutex`; in debug builds one whose order of uses the thread sanitizer sees.
///
/// No type of its own around it: the compiler does not look through that, and asks the runtime for the type of the
/// `Mutex` at each use, which costs more than ten locks.
package typealias LockedValue<Value: ~Copyable> = Mutex<Value>
#endif
