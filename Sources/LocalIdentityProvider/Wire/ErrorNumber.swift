/// The numbers in `error_codes`: documented ones of the service, and our own above 9,900,000 where none is documented.
enum ErrorNumber {
    static let userNotFound = 50034
    static let wrongPassword = 50126
    static let mustReset = 50142
    static let mfaRequired = 50076
    static let wrongCode = 50181
    static let credentialRequired = 55103
    static let attributesRequired = 55106
    static let badContinuation = 55200
    static let notConsented = 65001
    static let invalidParameter = 90100
    static let weakPassword = 399_246
    static let noPassword = 500_222
    static let expiredToken = 552_003
    static let contactRefused = 901_001
    static let redirectMissing = 901_007
    static let userExists = 1_003_037

    static let repeatedParameter = 9_900_001
    static let oversizedParameter = 9_900_002
    static let contentType = 9_900_003
    static let brokenEncoding = 9_900_004
    static let oversizedBody = 9_900_005
    static let slowSender = 9_900_006
    static let wrongMethod = 9_900_007
    static let unknownRoute = 9_900_008
    static let foreignHost = 9_900_009
    static let unknownTenant = 9_900_010
    static let unknownClient = 9_900_011
    static let nativeDisabled = 9_900_012
    static let clientSecret = 9_900_013
    static let scope = 9_900_014
    static let grant = 9_900_015
    static let refreshToken = 9_900_016
    static let attributes = 9_900_017
    static let password = 9_900_018
    static let tooManyCodes = 9_900_019
    static let methodBlocked = 9_900_020
    static let registrationRequired = 9_900_021
    static let claimsProvider = 9_900_022
    static let deviceCode = 9_900_023
    static let userDisabled = 9_900_024
    static let verificationRequired = 9_900_025
    static let internalFault = 9_900_099
}
