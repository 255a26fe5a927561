/// How long things live, in seconds.
enum Lifetime {
    static let accessToken = 3600
    static let idToken = 3600
    static let refreshToken = 14 * 86_400
    static let refreshFamily = 90 * 86_400
    static let authorizationCode = 60
    static let deviceCode = 900
    static let flow = 900
    static let continuationToken = 600
    static let oneTimeCode = 300
    static let browserSession = 86_400
    static let retiringKey = 86_400
    static let passwordLock = 60
    static let resetPollInterval = 1
    static let resendInterval = 60
    static let devicePollInterval = 5
}
