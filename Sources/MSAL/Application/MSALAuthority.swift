public import Foundation
package import OAuth

/// Where tokens come from: a tenant, or a user flow of Azure AD B2C.
///
/// `@unchecked Sendable`, because a class with subclasses cannot be checked: its two properties are constants of
/// `Sendable` types, its subclasses add none, and no other module can add a subclass.
public class MSALAuthority: Hashable, @unchecked Sendable {
    package let authority: Authority

    /// The canonical form of the address.
    public let url: URL

    /// Reads the address and tells its kind by it.
    ///
    /// - Throws: `NSError` of ``MSALErrorDomain`` with ``MSALInternalError/invalidParameter``.
    public convenience init(url: URL) throws { try self.init(Self.parsed(url)) }

    package init(_ authority: Authority) throws {
        guard let url = URL(string: authority.url) else { throw NSError.msal(AuthorityError.notAURL(authority.url)) }
        self.authority = authority
        self.url = url
    }

    /// Any tenant of Microsoft Entra ID.
    static let anyTenant: MSALAuthority = {
        do {
            return try MSALAuthority(Authority(parsing: "https://login.microsoftonline.com/common"))
        } catch {
            preconditionFailure("the address is not one of an authority: \(error)")
        }
    }()

    fileprivate static func parsed(_ url: URL) throws -> Authority {
        do throws(AuthorityError) {
            return try Authority(parsing: url.absoluteString)
        } catch {
            throw NSError.msal(error)
        }
    }

    public static func == (lhs: MSALAuthority, rhs: MSALAuthority) -> Bool { lhs.authority == rhs.authority }

    public func hash(into hasher: inout Hasher) { hasher.combine(authority) }
}

/// A user flow of Azure AD B2C: `https://HOST/tfp/TENANT/USERFLOW`, or the same without `tfp`.
///
/// `@unchecked Sendable`, as its superclass is: it adds no property.
public final class MSALB2CAuthority: MSALAuthority, @unchecked Sendable {
    /// Reads the address of a user flow.
    ///
    /// - Throws: `NSError` of ``MSALErrorDomain`` with ``MSALInternalError/invalidParameter``.
    public convenience init(url: URL) throws { try self.init(Self.userFlow(url)) }

    private static func userFlow(_ url: URL) throws -> Authority {
        let authority = try parsed(url)
        let path = url.path.split(separator: "/").map(String.init)
        guard authority.userFlow == nil, path.count > 1 else { return authority }
        do throws(AuthorityError) {
            return try Authority(
                host: authority.environment,
                tenant: path[0],
                userFlow: path[1],
                scheme: authority.scheme
            )
        } catch {
            throw NSError.msal(error)
        }
    }
}

/// A tenant of Microsoft Entra ID: `https://login.microsoftonline.com/TENANT`.
///
/// `@unchecked Sendable`, as its superclass is: it adds no property.
public final class MSALAADAuthority: MSALAuthority, @unchecked Sendable {}

/// A tenant of Microsoft Entra External ID: `https://NAME.ciamlogin.com`.
///
/// `@unchecked Sendable`, as its superclass is: it adds no property.
public final class MSALCIAMAuthority: MSALAuthority, @unchecked Sendable {}
