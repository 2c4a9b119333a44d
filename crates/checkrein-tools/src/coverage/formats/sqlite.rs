//! Read-only access to the databases of agents.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use checkrein::internal::regular_file;
use rusqlite::{Connection, OpenFlags, Row};

use super::super::builder::Builder;
use super::super::call::Session;
use super::super::lines::MAX_LINE;
use super::beside;

/// Longest wait for an agent that writes.
const BUSY: Duration = Duration::from_secs(2);

/// Longest time for one database. An honest one of 1 GB takes a few seconds.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Maximum number of rows of one query.
const MAX_ROWS: usize = 1_000_000;

/// Ends of the names of files that SQLite opens beside a database.
const COMPANIONS: &[&str] = &["-journal", "-wal", "-shm"];

/// Version of the format in which changes go to a log first, at byte 19 of a database.
const WRITE_AHEAD: u8 = 2;

/// Maximum number of sessions of one database.
const MAX_SESSIONS: usize = 20_000;

/// A database that is open for reading.
pub(super) struct Database {
    connection: Connection,
    /// Ends the thread that interrupts slow queries.
    _end: Sender<()>,
}

impl Database {
    /// Opens a database. Nothing is written into it, and no journal is rolled back. If an agent left its log, SQLite adds an index to it.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // SQLite opens by path, so the types are checked before.
        let mut file = regular_file::open_no_link(path).map_err(|error| error.to_string())?;
        for suffix in COMPANIONS {
            let companion = beside(path, suffix);
            if companion.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
                return Err(format!("{} is not a regular file, so the database is not read", companion.display()));
            }
        }
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let has_log = || beside(path, "-wal").symlink_metadata().is_ok();
        let connection = match is_write_ahead(&mut file) && !has_log() {
            // No program has the database open. SQLite would create a log and an index for it.
            true => Connection::open_with_flags(immutable(path), flags | OpenFlags::SQLITE_OPEN_URI),
            false => Connection::open_with_flags(path, flags),
        }
        .map_err(|error| error.to_string())?;
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

/// Returns `true` if the header of a database says that its changes go to a log first.
fn is_write_ahead(file: &mut impl Read) -> bool {
    let mut header = [0; 20];
    file.read_exact(&mut header).is_ok() && header[19] == WRITE_AHEAD
}

/// Returns the URI of a database that does not change while it is read.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    uri
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
    use checkrein::audit::AuditLog;

    use super::super::super::call::Outcome;
    use super::super::super::places::Places;
    use super::super::super::report::{Filter, Report};
    use super::super::super::settings::Setup;
    use super::super::Format;
    use super::*;
    use crate::decision_log::DecisionLog;

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
            (&*call.tool, call.outcome, call.command.as_deref()),
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
    fn statuses_that_are_not_known_are_unknown_results() {
        let sessions = read("opencode", &OPENCODE.replace("\"completed\"", "\"finished\""));
        assert_eq!((sessions[0].calls[0].outcome, sessions[0].unknown_blocks), (Outcome::Unknown, 1), "{sessions:?}");
        let sessions =
            read("goose", &GOOSE.replace("toolResult\":{\"status\":\"success\"", "toolResult\":{\"status\":\"ok\""));
        assert_eq!(sessions[0].calls[0].outcome, Outcome::Unknown, "{sessions:?}");
    }

    #[cfg(unix)]
    #[test]
    fn special_files_beside_a_database_are_not_opened() {
        for suffix in ["-journal", "-wal", "-shm"] {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("sessions.db");
            Connection::open(&path).unwrap().execute_batch(GOOSE).unwrap();
            let beside = dir.path().join(format!("sessions.db{suffix}"));
            rustix::fs::mkfifoat(rustix::fs::CWD, &beside, rustix::fs::Mode::RWXU).unwrap();
            let sessions = Format::of("goose").unwrap().read_file(&path, None);
            let problem = sessions[0].problem.as_deref().unwrap_or_default();
            assert!(problem.contains(&format!("sessions.db{suffix}")), "{sessions:?}");
        }
    }

    #[test]
    fn changes_are_recent_although_the_time_of_a_database_is_old() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join(".local/share/opencode");
        std::fs::create_dir_all(&dir).unwrap();
        let connection = Connection::open(dir.join("opencode.db")).unwrap();
        connection.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE x (y)").unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
        connection.execute_batch(OPENCODE).unwrap();
        let old = std::time::SystemTime::now() - Duration::from_secs(3600);
        std::fs::File::options().write(true).open(dir.join("opencode.db")).unwrap().set_modified(old).unwrap();
        let since = Some(std::time::SystemTime::now() - Duration::from_secs(600));
        let found = Format::of("opencode").unwrap().read_all(&Places::in_home(home.path()), since);
        assert_eq!(found.sessions.len(), 2, "{found:?}");
    }

    /// goose writes whole seconds, so a call can look older than the event before it.
    #[test]
    fn times_in_whole_seconds_are_not_before_the_first_event() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join(".local/share/goose/sessions");
        std::fs::create_dir_all(&dir).unwrap();
        Connection::open(dir.join("sessions.db")).unwrap().execute_batch(GOOSE).unwrap();
        let code = |first: &str| {
            let state = tempfile::tempdir().unwrap();
            let log = DecisionLog::in_state_directory(state.path());
            std::fs::create_dir_all(log.path().parent().unwrap()).unwrap();
            let line = |more: &str| format!("{{\"time\":\"{first}\",\"verdict\":\"no_opinion\",\"us\":1,{more}}}\n");
            let start = line("\"kind\":\"start\"");
            let event = line(
                r#""agent":"goose","session":"20261115_1","event":"pre_tool_use","tool":"developer__shell","call":"x""#,
            );
            std::fs::write(log.path(), start + &event).unwrap();
            let audit = AuditLog::new(state.path().join("audit.jsonl"));
            let setup = Setup { log_is_on: true, installer: None };
            let report = Report::look(&Places::in_home(home.path()), &log, &audit, &Filter::default(), &setup).unwrap();
            report.calls[0].reason.clone().unwrap().code
        };
        // The call was made in the second 2026-11-15T20:20:11.
        let call = jiff::Timestamp::from_second(1_794_774_011).unwrap();
        assert_eq!(code(&(call + Duration::from_millis(300)).to_string()), "call_unseen");
        assert_eq!(code(&(call + Duration::from_secs(1)).to_string()), "before_first_event");
    }

    #[test]
    fn databases_of_channels_are_read() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join(".local/share/opencode");
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["opencode.db", "opencode-dev.db"] {
            let sql = OPENCODE.replace("ses_", name);
            Connection::open(dir.join(name)).unwrap().execute_batch(&sql).unwrap();
        }
        let found = Format::of("opencode").unwrap().read_all(&Places::in_home(home.path()), None);
        assert_eq!(found.sessions.len(), 4, "{found:?}");
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

    /// Names and content of all files in a directory.
    fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
        let entry = |entry: std::fs::DirEntry| {
            (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).unwrap())
        };
        let mut found: Vec<_> = std::fs::read_dir(dir).unwrap().map(|found| entry(found.unwrap())).collect();
        found.sort();
        found
    }

    #[test]
    fn reading_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a database?mode=rw#1%20.db");
        for mode in ["delete", "wal"] {
            let connection = Connection::open(&path).unwrap();
            connection
                .execute_batch(&format!(
                    "PRAGMA journal_mode = {mode}; DROP TABLE IF EXISTS session; DROP TABLE IF EXISTS part; {OPENCODE}"
                ))
                .unwrap();
            // The last connection removes the log.
            drop(connection);
            let before = files(dir.path());
            let sessions = Format::of("opencode").unwrap().read_file(&path, None);
            assert_eq!((sessions.len(), before.len()), (2, 1), "{mode}: {sessions:?}");
            assert!(files(dir.path()) == before, "{mode}");
        }
        let database = Database::open(&path).unwrap();
        assert!(database.connection.execute_batch("DELETE FROM part").is_err());
    }
}
