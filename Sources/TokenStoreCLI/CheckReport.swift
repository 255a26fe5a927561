import OAuth
import TokenStorage

/// What a check found, and what a repair made of it.
struct CheckReport {
    let problems: [StoreProblem]
    let repair: RepairReport?

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        for problem in problems { try console.line("\(problem.place): \(problem.problem)".printable) }
        if let repair {
            try text(repair, on: console)
        } else if problems.isEmpty, !console.isQuiet {
            try console.line("no problems")
        }
        try console.output.flush()
    }

    private func text(_ repair: RepairReport, on console: Console) throws {
        let saved = [("account", "account"), ("refresh_token", "refresh token"), ("access_token", "access token")]
            .map { table, noun in (repair.salvaged.first { $0.table == table }?.rows ?? 0).counting(noun) }
        try console.line("saved " + saved.joined(separator: ", "))
        for signIn in repair.lostSignIns { try console.line("has to sign in again: \(name(of: signIn))".printable) }
        if repair.mayHaveLostOthers {
            try console.line("others may have to sign in again too: a list of accounts or sessions is damaged")
        }
        for (table, rows) in repair.lost {
            try console.line("lost \(rows.map { $0.counting("row") } ?? "an unknown number of rows") of \(table)")
        }
        try console.line("the damaged file is kept as \(repair.damagedCopy)".printable)
    }

    private func name(of signIn: LostSignIn) -> String {
        let name = signIn.username ?? signIn.homeAccountID ?? "an account whose name is lost"
        return name + (signIn.clientID.map { " (client \($0))" } ?? "")
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.array("problems", problems) { problem, json in
                json.object {
                    $0.member("place", problem.place)
                    $0.member("problem", problem.problem)
                }
            }
            guard let repair else { return $0.member("repair", JSON.null) }
            $0.object("repair") {
                $0.member("damagedCopy", repair.damagedCopy)
                $0.array("salvaged", repair.salvaged) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
                $0.array("lostSignIns", repair.lostSignIns) { signIn, json in
                    json.object {
                        $0.member("username", signIn.username)
                        $0.member("homeAccountId", signIn.homeAccountID)
                        $0.member("authority", signIn.authority)
                        $0.member("clientId", signIn.clientID)
                    }
                }
                $0.member("mayHaveLostOthers", repair.mayHaveLostOthers)
                $0.array("lost", repair.lost) { table, json in
                    json.object {
                        $0.member("table", table.table)
                        $0.member("rows", table.rows)
                    }
                }
            }
        }
    }
}
