// The names are MSAL's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// The domain of the errors that applications of this module end in.
public let MSALErrorDomain = "MSALErrorDomain"

/// The key of the OAuth error that the issuer answered with.
public let MSALOAuthErrorKey = "MSALOAuthErrorKey"

/// The key of the issuer's `suberror`.
public let MSALOAuthSubErrorKey = "MSALOAuthSubErrorKey"

/// The key of what the issuer said of its refusal, else of a sentence about the error; both may change.
public let MSALErrorDescriptionKey = "MSALErrorDescriptionKey"

/// The key of Microsoft's numbers for the error, as an array of `Int64`.
public let MSALSTSErrorCodesKey = "MSALSTSErrorCodesKey"

/// The key of the ``MSALInternalError`` of an ``MSALError/internal``, as its raw value.
public let MSALInternalErrorCodeKey = "MSALInternalErrorCodeKey"

/// The key of the HTTP status of the issuer's answer, as text.
public let MSALHTTPResponseCodeKey = "MSALHTTPResponseCodeKey"

/// The key of the scopes that were asked for and not granted, as an array of texts.
public let MSALDeclinedScopesKey = "MSALDeclinedScopesKey"

/// The key of the scopes that were granted where others were not, as an array of texts.
public let MSALGrantedScopesKey = "MSALGrantedScopesKey"

/// The key that marks an error of an issuer that was asked too recently to be asked again.
public let MSALThrottlingCacheHitKey = "MSALThrottlingCacheHitKey"
