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
