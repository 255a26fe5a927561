import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How `token` would decide, for people: the decision first, then accounts and tokens in columns, those that are taken
/// behind a plus.
struct ExplanationScreen {
    let explanation: Explanation
    let console: Console

    /// How many accounts or tokens a terminal shows.
    private static let longest = 10
    private static let indentation = 10

    /// An account or a token.
    private struct Line {
        let isTaken: Bool
        let name: String
        let detail: String
        let reason: String
    }

    private var isTerminal: Bool { console.terminal.isTerminal }

    func write() throws {
        try write("decision", decision)
        let (accounts, tokens) = (shown(explanation.accounts.map(line)), shown(explanation.tokens.map(line)))
        try console.line()
        if explanation.opensTokens {
            try console.line("(~= opens the ID tokens of the accounts that the other filters leave)")
        }
        for (heading, lines) in [("accounts", accounts), ("tokens", tokens)] {
            let widths = Self.widths(isTerminal ? accounts + tokens : lines)
            for (index, line) in lines.enumerated() { try write(line, index == 0 ? heading : "", widths) }
        }
        try writeRest(explanation.accountCount - accounts.count, "account")
        try writeRest(explanation.tokenCount - tokens.count, "token")
        try console.output.flush()
    }

    private static func widths(_ lines: [Line]) -> (name: Int, detail: Int) {
        (lines.reduce(0) { max($0, $1.name.columns) }, lines.reduce(0) { max($0, $1.detail.columns) })
    }

    /// Taken ones stand first, so that a screen never lacks them.
    private func shown(_ lines: [Line]) -> [Line] {
        let sorted = lines.filter(\.isTaken) + lines.filter { !$0.isTaken }
        return isTerminal ? Array(sorted.prefix(Self.longest)) : sorted
    }

    private var decision: [String] {
        guard case .refresh(let address, let tokens, let hasFallback) = explanation.decision else {
            return [explanation.decision.sentence]
        }
        let fallback = hasFallback ? ["if that fails, the stored token may still serve"] : []
        return ["refresh at \(isTerminal ? address.withShortGUIDs : address)"] + tokens.enumerated().map(sentence)
            + fallback
    }

    private func sentence(_ index: Int, _ candidate: RefreshCandidate) -> String {
        let client = isTerminal ? candidate.token.clientID.shortGUID : candidate.token.clientID
        let doubt = candidate.isPossiblyConsumed ? ", may have been spent by an interrupted refresh" : ""
        let time = candidate.token.modifiedAt.map { ", stored \(console.time($0))" } ?? ""
        return "\(index == 0 ? "with" : "else with") the refresh token of client \(client)\(time)\(doubt)"
    }

    private func line(_ entry: AccountSelection.Consideration) -> Line {
        let account = entry.account
        let issuer = account.id.hasIssuer ? account.issuer ?? account.environment : account.environment
        return Line(
            isTaken: entry.isTaken,
            name: (account.username.isEmpty ? account.id.homeAccountID : account.username).printable,
            detail: (account.userFlow ?? (isTerminal ? issuer.shortAddress : issuer)).printable,
            reason: entry.reason.printable
        )
    }

    private func line(_ token: AccessTokenExplanation) -> Line {
        let end = Date(unixSeconds: token.expiresOn)
        let hasEnded = token.expiresOn <= console.now
        let type = token.tokenType.lowercased() == "bearer" ? "" : "\(token.tokenType) "
        return Line(
            isTaken: token.isTaken,
            name: (type + short(token.scope.text)).printable,
            detail: (hasEnded ? "expired " : "ends ") + console.time(end),
            reason: short(token.reason).printable
        )
    }

    /// A text in which scopes that are long addresses lose all but their last two steps, on a terminal.
    private func short(_ text: String) -> String {
        guard isTerminal else { return text }
        return text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.contains("://"), word.count > 24 else { return word.withShortGUIDs }
            return "…/" + word.split(separator: "/").suffix(2).joined(separator: "/")
        }.joined(separator: " ")
    }

    private func write(_ heading: String, _ lines: [String]) throws {
        let space = String(repeating: " ", count: Self.indentation)
        let room = console.terminal.width.map { $0 - Self.indentation } ?? .max
        var start = styledHeading(heading)
        for line in lines.flatMap({ $0.printable.wrapped(to: room) }) {
            try console.line(start + line)
            start = space
        }
    }

    private func styledHeading(_ heading: String) -> String {
        let space = String(repeating: " ", count: max(0, Self.indentation - heading.count))
        return heading.isEmpty ? space : console.terminal.styled(heading, .bold) + space
    }

    /// Writes the name, the detail and the reason in their columns; where the reason finds no room, below them.
    private func write(_ line: Line, _ heading: String, _ widths: (name: Int, detail: Int)) throws {
        let mark = console.terminal.styled(line.isTaken ? "+" : "-", line.isTaken ? .green : .dim)
        let first = Self.indentation + 2
        let limit = console.terminal.width ?? .max
        let detailWidth = min(widths.detail, max(8, limit - first - 2 - 8))
        let nameWidth = min(widths.name, max(8, limit - first - 2 - detailWidth))
        let (name, detail) = (line.name.truncated(to: nameWidth), line.detail.truncated(to: detailWidth))
        let start = styledHeading(heading) + mark + " " + name.padded(to: nameWidth) + "  "
        let reasonColumn = first + nameWidth + 2 + detailWidth + 3
        guard limit - reasonColumn >= min(16, line.reason.columns) else {
            try console.line(start + detail)
            let space = String(repeating: " ", count: first + 2)
            for part in line.reason.wrapped(to: limit - first - 2) { try console.line(space + part) }
            return
        }
        let parts = line.reason.wrapped(to: limit - reasonColumn)
        let space = String(repeating: " ", count: reasonColumn)
        for (index, part) in parts.enumerated() {
            try console.line((index == 0 ? start + detail.padded(to: detailWidth) + "   " : space) + part)
        }
    }

    private func writeRest(_ count: Int, _ noun: String) throws {
        if count > 0 { try console.line("(and \(count.grouped) more \(noun)\(count == 1 ? "" : "s"))") }
    }
}

extension String {
    /// The text with spaces behind it that make it `width` columns wide.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - columns)) }
}

extension Substring {
    fileprivate var withShortGUIDs: String { String(self).withShortGUIDs }
}
