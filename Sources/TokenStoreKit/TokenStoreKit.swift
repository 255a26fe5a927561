// One import for an app: sign in, keep the session, call web APIs.
@_exported public import HTTPTransport
@_exported public import NativeAuthentication
@_exported public import OAuth
@_exported public import OpenIDConnect
@_exported public import Sealing
@_exported public import SignIn
@_exported public import TokenManagement
@_exported public import TokenStorage
