import Hummingbird
import Logging
import TokenStoreKit

/// Makes pages of errors, with a status that says whose fault it is.
struct ErrorPages: RouterMiddleware {
    let node: String

    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError {
            return page(error.body ?? error.status.reasonPhrase).response(error.status)
        } catch let error as SignInError {
            context.logger.notice("a sign-in failed: \(error.problem)")
            return page("The sign-in failed: \(error.problem).")
                .response(error.isOutage ? .serviceUnavailable : .badRequest)
        } catch let error as AcquisitionError {
            context.logger.notice("no token could be had: \(error.problem)")
            guard !error.needsInteraction else { return page("Please sign in again.").response(.unauthorized) }
            return page("There is no token for the API now.").response(.serviceUnavailable)
        } catch let error as WebAPIError {
            return page("The API failed: \(error.problem).").response(.badGateway)
        } catch {
            // A database that cannot be asked is not "nobody is signed in": the cookie stays, and the session goes on.
            context.logger.error("\(error)")
            return page("Please try again.").response(.serviceUnavailable)
        }
    }

    private func page(_ message: String) -> Page {
        let link = #"<p>\#(message.escaped)</p><p><a href="/">Back</a></p>"#
        return Page(title: "That did not work", body: link, node: node)
    }
}
