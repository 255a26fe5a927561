/// How a delegate hears that it lacks a callback: by the error of the step that is under way.
enum UnheardCallback {
    typealias Report = @MainActor @Sendable (_ callback: String) -> Void

    @TaskLocal private static var report: Report?

    /// Calls back; what the delegate leaves out goes to `report`.
    @MainActor
    static func hear(else report: @escaping Report, _ call: () -> Void) { $report.withValue(report, operation: call) }

    /// Tells that the delegate has no `callback`.
    @MainActor
    static func tell(_ callback: String) { report?(callback) }
}
