//! Queries on the command lines of database clients.

use checkrein_expression::Value;

use super::Command;
use crate::builtins::shell::Expanded;
use crate::facts::word;

/// A database client.
struct Client {
    programs: &'static [&'static str],
    /// Options whose value is a query.
    options: &'static [&'static str],
    /// Use of the operands.
    operands: Operands,
    /// `true` if the client reads queries from the standard input.
    reads_input: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// Names of databases and similar words.
    Names,
    /// The first one is a database, the others are queries.
    BehindFirst,
    /// All of them are one query.
    One,
    /// Each of them is a query.
    Each,
}

const CLIENTS: &[Client] = &[
    client(&["psql", "pgcli"], &["--command"], Operands::Names),
    client(&["mysql", "mariadb", "mycli"], &["--execute"], Operands::Names),
    client(&["sqlite3", "sqlite"], &["-cmd"], Operands::BehindFirst),
    client(&["duckdb"], &["-c", "-s", "-cmd"], Operands::BehindFirst),
    client(&["sqlcmd"], &["-Q", "-q"], Operands::Names),
    client(&["mongosh", "mongo"], &["--eval"], Operands::Names),
    client(&["redis-cli", "valkey-cli"], &[], Operands::One),
    client(&["clickhouse-client", "clickhouse-local", "clickhouse"], &["--query"], Operands::Names),
    client(&["cqlsh"], &["--execute"], Operands::Names),
    client(&["snowsql"], &["--query"], Operands::Names),
    client(&["cockroach"], &["--execute"], Operands::Names),
    client(
        &["sqlplus", "bteq", "isql", "usql", "trino", "presto"],
        &["-e", "--execute", "-c", "--command"],
        Operands::Names,
    ),
    client(&["bq"], &[], Operands::Each),
    client(&["wrangler", "heroku"], &["--command", "-c"], Operands::Names),
    client(&["influx"], &["-execute"], Operands::Names),
];

const fn client(programs: &'static [&'static str], options: &'static [&'static str], operands: Operands) -> Client {
    Client { programs, options, operands, reads_input: true }
}

/// Returns the queries that a command gives to a database.
pub(super) fn queries(command: &Command) -> Value {
    let name = command.name();
    let Some(client) = CLIENTS.iter().find(|client| client.programs.contains(&name)) else { return Value::list([]) };
    let arguments = command.arguments();
    let mut queries: Vec<Value> = Vec::new();
    for (names, value) in &arguments.values {
        if names.iter().any(|name| client.options.contains(&name.as_str())) {
            queries.push(word::text(value));
        }
    }
    let operands = arguments.operands.as_slice();
    match client.operands {
        Operands::Names => {}
        Operands::BehindFirst => queries.extend(operands.iter().skip(1).map(word::text)),
        Operands::Each => queries.extend(operands.iter().map(word::text)),
        Operands::One => queries.extend(joined(operands)),
    }
    if client.reads_input
        && queries.is_empty()
        && let Some(input) = &command.simple().input
        && !input.trim().is_empty()
    {
        queries.push(word::input(input));
    }
    Value::list(queries)
}

/// Returns words with blanks between them, as one text.
fn joined(words: &[Expanded]) -> Option<Value> {
    let first = words.first()?;
    let mut all = first.clone();
    for word in &words[1..] {
        let start = all.text.len() + 1;
        all.text.push(' ');
        all.text.push_str(&word.text);
        all.unknown.extend(word.unknown.iter().map(|range| range.start + start..range.end + start));
        all.known &= word.known;
        all.cut |= word.cut;
    }
    Some(word::text(&all))
}
