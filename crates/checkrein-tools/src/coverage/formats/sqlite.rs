//! Read-only access to the databases of agents.

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use checkrein::internal::regular_file;
use rusqlite::{Connection, OpenFlags, Row};

use super::super::builder::Builder;
use super::super::call::Session;
use super::super::lines::MAX_LINE;

/// Longest wait for an agent that writes.
const BUSY: Duration = Duration::from_secs(2);

/// Longest time for one database. An honest one of 1 GB takes a few seconds.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Maximum number of rows of one query.
const MAX_ROWS: usize = 1_000_000;

/// Maximum number of sessions of one database.
const MAX_SESSIONS: usize = 20_000;

/// A database that is open for reading.
pub(super) struct Database {
    connection: Connection,
    /// Ends the thread that interrupts slow queries.
    _end: Sender<()>,
}

impl Database {
    /// Opens a database. Nothing is written: no journal is rolled back and no file is created.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // SQLite opens by path, so the type is checked before.
        regular_file::open_no_link(path).map_err(|error| error.to_string())?;
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| error.to_string())?;
        connection.busy_timeout(BUSY).map_err(|error| error.to_string())?;
        // A database is untrusted: its schema must not run functions, and its cache is bounded.
        for pragma in
            ["query_only = on", "trusted_schema = off", "cache_size = -4096", "mmap_size = 0", "temp_store = memory"]
        {
            connection.execute_batch(&format!("PRAGMA {pragma}")).map_err(|error| error.to_string())?;
        }
        let (end, ended) = channel::<()>();
        let interrupt = connection.get_interrupt_handle();
        std::thread::spawn(move || {
            // A damaged tree can have pages without rows that refer to each other.
            if ended.recv_timeout(MAX_TIME) == Err(RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        Ok(Self { connection, _end: end })
    }

    /// Checks that a table has columns. `Err`: the schema is not known. A view could run any query, so only tables with rows of their
    /// own are accepted.
    pub(super) fn check(&self, table: &str, columns: &[&str]) -> Result<(), String> {
        let failed = |error: rusqlite::Error| error.to_string();
        let mut statement = self
            .connection
            .prepare("SELECT count(*) FROM sqlite_schema WHERE name = ?1 AND type = 'table' AND rootpage > 0")
            .map_err(failed)?;
        let count: i64 = statement.query_row([table], |row| row.get(0)).map_err(failed)?;
        if count != 1 {
            return Err(format!("the database has no table `{table}`, so its schema is not known"));
        }
        // Generated columns are not listed.
        let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)").map_err(failed)?;
        let found: Vec<String> = statement
            .query_map([table], |row| row.get(0))
            .map_err(failed)?
            .collect::<Result<_, _>>()
            .map_err(failed)?;
        match columns.iter().find(|column| !found.iter().any(|have| have == *column)) {
            Some(missing) => Err(format!("the database has no column `{table}.{missing}`, so its schema is not known")),
            None => Ok(()),
        }
    }

    /// Calls a function with each row of a query. Its parameter is the maximum length of a text.
    pub(super) fn each(
        &self,
        query: &str,
        mut take: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<(), String> {
        let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => {
                format!("reading the database took longer than {} s, so it was stopped", MAX_TIME.as_secs())
            }
            _ => error.to_string(),
        };
        let mut statement = self.connection.prepare(query).map_err(failed)?;
        let limit = i64::try_from(MAX_LINE).unwrap_or(i64::MAX);
        let mut rows = match statement.parameter_count() {
            0 => statement.query([]),
            _ => statement.query([limit]),
        }
        .map_err(failed)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            count += 1;
            if count > MAX_ROWS {
                return Err(format!("the database has more than {MAX_ROWS} rows"));
            }
            take(row).map_err(failed)?;
        }
        Ok(())
    }

    /// Returns the rows of a query, one for each session.
    pub(super) fn rows<T>(
        &self,
        query: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, String> {
        let mut found = Vec::new();
        self.each(&format!("{query} LIMIT {}", MAX_SESSIONS + 1), |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        if found.len() > MAX_SESSIONS {
            return Err(format!("the database has more than {MAX_SESSIONS} sessions"));
        }
        Ok(found)
    }
}

/// Sessions of a database, in its order.
#[derive(Default)]
pub(super) struct Sessions {
    all: Vec<Builder>,
    positions: HashMap<String, usize>,
}

impl Sessions {
    pub(super) fn add(&mut self, id: String, found: Builder) {
        self.positions.insert(id, self.all.len());
        self.all.push(found);
    }

    pub(super) fn find(&mut self, id: &str) -> Option<&mut Builder> {
        self.all.get_mut(*self.positions.get(id)?)
    }

    /// Returns the sessions that have rows.
    pub(super) fn finish(self) -> Vec<Session> {
        let sessions = self.all.into_iter().map(Builder::finish);
        sessions.filter(|session| session.lines > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::call::Outcome;
    use super::super::Format;
    use super::*;

    fn database(sql: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        Connection::open(file.path()).unwrap().execute_batch(sql).unwrap();
        file
    }

    const OPENCODE: &str = r#"
        CREATE TABLE session (id TEXT, version TEXT, directory TEXT, parent_id TEXT, time_created INTEGER);
        CREATE TABLE part (id TEXT, session_id TEXT, data TEXT);
        INSERT INTO session VALUES ('ses_1', '1.0.9', '/p', NULL, 1778834704540), ('ses_2', '1.0.9', '/p', 'ses_1', 1778834704540);
        INSERT INTO part VALUES
            ('p1', 'ses_1', '{"type":"step-start"}'),
            ('p2', 'ses_1', '{"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"}}}'),
            ('p3', 'ses_1', '{"type":"tool","tool":"bash","callID":"c2","state":{"status":"error","input":{"command":"rm"}}}'),
            ('p4', 'ses_2', '{"type":"tool","tool":"edit","callID":"c3","state":{"status":"running","input":{"filePath":"/a"}}}'),
            ('p5', 'ses_2', 'not json');
    "#;

    const GOOSE: &str = r#"
        CREATE TABLE schema_version (version INTEGER PRIMARY KEY);
        INSERT INTO schema_version VALUES (4), (5);
        CREATE TABLE sessions (id TEXT PRIMARY KEY, working_dir TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER);
        INSERT INTO sessions VALUES ('20261115_1', '/p');
        INSERT INTO messages VALUES
            (1, '20261115_1', 'assistant', '[{"type":"text","text":"x"},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"developer__shell","arguments":{"command":"ls"}}}}]', 1794774011),
            (2, '20261115_1', 'user', '[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[],"isError":false}}}]', 1794774012);
    "#;

    fn read(agent: &str, sql: &str) -> Vec<Session> {
        let file = database(sql);
        Format::of(agent).unwrap().read_file(file.path(), None)
    }

    #[test]
    fn databases_have_sessions_and_calls() {
        let sessions = read("opencode", OPENCODE);
        let outcomes: Vec<Vec<_>> =
            sessions.iter().map(|session| session.calls.iter().map(|call| call.outcome).collect()).collect();
        assert_eq!(outcomes, [vec![Outcome::Ran, Outcome::Failed], vec![Outcome::Pending]]);
        assert_eq!(sessions[1].broken_lines, 1);
        assert!(sessions[1].calls[0].subagent.is_some() && sessions[0].calls[0].subagent.is_none());
        assert!(sessions[1].notes.is_empty());
        let sessions = read("goose", GOOSE);
        assert_eq!((sessions.len(), sessions[0].id.as_str()), (1, "20261115_1"));
        let call = &sessions[0].calls[0];
        assert_eq!(
            (call.tool.as_str(), call.outcome, call.command.as_deref()),
            ("developer__shell", Outcome::Ran, Some("ls"))
        );
    }

    #[test]
    fn unknown_schemas_cannot_be_told() {
        let problem = |agent: &str, sql: &str| {
            let sessions = read(agent, sql);
            assert!(sessions.iter().all(|session| session.problem.is_some()), "{sessions:?}");
            sessions[0].problem.clone().unwrap_or_default()
        };
        assert!(problem("opencode", "CREATE TABLE session (id TEXT)").contains("`session.version`"));
        assert!(problem("opencode", &OPENCODE.replace("1.0.9", "7.0.0")).contains("`7.0.0`"));
        assert!(problem("goose", &GOOSE.replace("(5)", "(500)").replace("working_dir", "dir")).contains("working_dir"));
        assert!(problem("goose", "CREATE TABLE x (y)").contains("schema_version"));
        // A newer version with all columns is readable.
        assert_eq!(read("goose", &GOOSE.replace("(5)", "(500)"))[0].problem, None);
    }

    #[test]
    fn sub_agents_and_denials_are_recognized() {
        let sql = OPENCODE
            .replace("time_created INTEGER)", "time_created INTEGER, agent TEXT)")
            .replace("1778834704540)", "1778834704540, 'explore')")
            .replace("\"status\":\"error\"", "\"status\":\"error\",\"error\":\"Denied by checkrein: no\"");
        let sessions = read("opencode", &sql);
        assert_eq!(sessions[1].calls[0].subagent.as_ref().unwrap().kind.as_deref(), Some("explore"));
        assert_eq!(sessions[0].calls[1].outcome, Outcome::Denied);
        let denied = r#"{"status":"error","error":"-32603: Tool call denied by policy hook `checkrein`: no"}"#;
        let result = r#"{"status":"success","value":{"content":[],"isError":false}}"#;
        assert_eq!(read("goose", &GOOSE.replace(result, denied))[0].calls[0].outcome, Outcome::Denied);
        assert_eq!(
            read("goose", &GOOSE.replace("isError\":false", "isError\":true"))[0].calls[0].outcome,
            Outcome::Ran
        );
    }

    #[test]
    fn views_and_generated_columns_are_not_read() {
        let endless =
            "CREATE TABLE session (id TEXT, version TEXT, directory TEXT, parent_id TEXT, time_created INTEGER);
            INSERT INTO session VALUES ('s', '1.0.0', '/p', NULL, 1);
            CREATE VIEW part AS WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x)
                SELECT 's' AS session_id, hex(n) AS data, n AS id FROM x;";
        let sessions = read("opencode", endless);
        assert!(sessions[0].problem.as_deref().unwrap().contains("no table `part`"), "{sessions:?}");
        let generated = OPENCODE.replace("data TEXT", "other TEXT, data TEXT AS (hex(zeroblob(1000000))) VIRTUAL");
        let generated = generated.split("INSERT INTO part").next().unwrap();
        let sessions = read("opencode", generated);
        assert!(sessions[0].problem.as_deref().unwrap().contains("`part.data`"), "{sessions:?}");
    }

    #[test]
    fn reading_changes_nothing() {
        let file = database(OPENCODE);
        let before = std::fs::read(file.path()).unwrap();
        let _ = Format::of("opencode").unwrap().read_file(file.path(), None);
        assert_eq!(std::fs::read(file.path()).unwrap(), before);
        let database = Database::open(file.path()).unwrap();
        assert!(database.connection.execute_batch("DELETE FROM part").is_err());
    }
}
