import Foundation

/// How long things live, in seconds.
enum Lifetime {
    static let accessToken = 3600
    static let idToken = 3600
    static let refreshToken = 14 * 86_400
    static let refreshFamily = 90 * 86_400
    static let continuationToken = 600
    static let deviceCode = 900
    static let devicePollInterval = 5
    static let resetPollInterval = 1
    static let resendInterval = 60

    static let authorizationCode: TimeInterval = 60
    static let flow: TimeInterval = 900
    static let oneTimeCode: TimeInterval = 300
    static let browserSession: TimeInterval = 86_400
    static let retiringKey: TimeInterval = 86_400
    static let passwordLock: TimeInterval = 60
}
