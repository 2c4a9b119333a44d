//! Read-only access to the databases of agents.

use std::path::Path;
use std::time::Duration;

use checkrein::internal::regular_file;
use rusqlite::{Connection, OpenFlags};

/// Longest wait for an agent that writes.
const BUSY: Duration = Duration::from_secs(2);

/// Opens a database for reading. Nothing is written: no journal is rolled back and no file is created.
pub(super) fn open(path: &Path) -> Result<Connection, String> {
    // SQLite opens by path, so the type is checked before.
    regular_file::open_no_link(path).map_err(|error| error.to_string())?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| error.to_string())?;
    connection.busy_timeout(BUSY).map_err(|error| error.to_string())?;
    // A database is untrusted: its schema must not run functions, and its cache is bounded.
    for pragma in ["query_only = on", "trusted_schema = off", "cache_size = -4096", "mmap_size = 0"] {
        connection.execute_batch(&format!("PRAGMA {pragma}")).map_err(|error| error.to_string())?;
    }
    Ok(connection)
}

/// Checks that a table has columns. `Err`: the schema is not known.
pub(super) fn check_columns(connection: &Connection, table: &str, columns: &[&str]) -> Result<(), String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)").map_err(failed)?;
    let found: Vec<String> =
        statement.query_map([table], |row| row.get(0)).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    match columns.iter().find(|column| !found.iter().any(|have| have == *column)) {
        Some(missing) => Err(format!("the database has no column `{table}.{missing}`, so its schema is not known")),
        None => Ok(()),
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

    fn read(agent: &str, sql: &str) -> Vec<super::super::super::Session> {
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
        assert!(problem("goose", &GOOSE.replace("(5)", "(500)")).contains("500"));
        assert!(problem("goose", "CREATE TABLE x (y)").contains("schema_version"));
    }

    #[test]
    fn reading_changes_nothing() {
        let file = database(OPENCODE);
        let before = std::fs::read(file.path()).unwrap();
        let _ = Format::of("opencode").unwrap().read_file(file.path(), None);
        assert_eq!(std::fs::read(file.path()).unwrap(), before);
        let connection = open(file.path()).unwrap();
        assert!(connection.execute_batch("DELETE FROM part").is_err());
    }
}
