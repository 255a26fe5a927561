import PostgreSQL
import Testing

/// SQL is written with SQLite's numbered parameters, and quoted text is left as it is.
struct ScannerTests {
    @Test(
        arguments: [
            ("SELECT ?1, ?23", "SELECT $1, $23"),
            ("SELECT '?1', ?1", "SELECT '?1', $1"),
            ("SELECT 'it''s ?1', ?1", "SELECT 'it''s ?1', $1"),
            (#"SELECT '\', ?1"#, #"SELECT '\', $1"#),
            (#"SELECT E'\'?1', ?1"#, #"SELECT E'\'?1', $1"#),
            (#"SELECT name'\', ?1"#, #"SELECT name'\', $1"#),
            (#"SELECT "a?1""b", ?1"#, #"SELECT "a?1""b", $1"#),
            ("SELECT 1 -- ?1\n, ?2", "SELECT 1 -- ?1\n, $2"),
            ("SELECT /* ?1 /* ?2 */ ?3 */ ?4", "SELECT /* ?1 /* ?2 */ ?3 */ $4"),
            ("SELECT $$ ?1 $$, ?2", "SELECT $$ ?1 $$, $2"),
            ("SELECT $a$ ?1 $b$ $$ $a$, ?2", "SELECT $a$ ?1 $b$ $$ $a$, $2"),
            ("SELECT a$b$ ?1, $1", "SELECT a$b$ $1, $1"),
            ("SELECT a ? 'b', a ?| b", "SELECT a ? 'b', a ?| b"),
            ("SELECT 'open ?1", "SELECT 'open ?1"),
            ("SELECT /* open ?1", "SELECT /* open ?1"),
            ("SELECT $x$ open ?1", "SELECT $x$ open ?1"),
            ("SELECT 'ü?1', ?1", "SELECT 'ü?1', $1"),
        ]
    )
    func `parameters are numbered as PostgreSQL does, but not in quotes`(sql: String, expected: String) {
        #expect(Scanner.numbered(sql) == expected)
    }

    @Test func `parameters are counted on from others`() {
        let sql = "INSERT INTO t VALUES (?1, '?1', ?2), (?10, $1)"
        #expect(Scanner.numbered(sql, after: 9) == "INSERT INTO t VALUES ($10, '?1', $11), ($19, $1)")
        let beyond = "99999999999999999999"
        #expect(Scanner.numbered("SELECT ?\(beyond)", after: 1) == "SELECT $\(beyond)")
    }

    @Test func `a script is taken apart at its semicolons alone`() {
        let script = """
            -- one; comment
            CREATE TABLE t (a text DEFAULT ';');
            CREATE FUNCTION f() RETURNS int LANGUAGE sql AS $f$ SELECT 1; $f$;;
            /* ; */
            INSERT INTO "a;b" VALUES (1)
            """
        let statements = Scanner.statements(of: script)
        #expect(statements.count == 3)
        #expect(statements.first?.hasSuffix("DEFAULT ';')") == true)
        #expect(statements.last?.hasSuffix("VALUES (1)") == true)
        #expect(Scanner.statements(of: " ; -- nothing\n;").isEmpty)
    }
}
