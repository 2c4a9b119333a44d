//! Queries on the command lines of database clients.

use checkrein_expression::Value;

use super::Command;
use super::sql::{Syntax, statements};
use crate::builtins::shell::Expanded;
use crate::facts::word;

/// A database client.
struct Client {
    /// Programs, or programs with the first words that are no options.
    programs: &'static [&'static str],
    /// Options whose value is a query.
    options: &'static [&'static str],
    /// Options whose value is a file with queries.
    files: &'static [&'static str],
    /// Use of the operands.
    operands: Operands,
    language: Language,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Language {
    Sql(Syntax),
    /// A language whose texts stay as they are.
    Other,
}

const SQL: Language = Language::Sql(Syntax::Standard);
const MYSQL: Language = Language::Sql(Syntax::MySql);

const CLIENTS: &[Client] = &[
    Client { files: &["--file"], ..client(&["psql", "pgcli"], &["--command"], Operands::Names, SQL) },
    client(&["mysql", "mariadb", "mycli"], &["--execute"], Operands::Names, MYSQL),
    client(&["sqlite3", "sqlite"], &["-cmd"], Operands::BehindFirst, SQL),
    client(&["litecli"], &["-e", "--execute"], Operands::Names, SQL),
    Client { files: &["-f"], ..client(&["duckdb"], &["-c", "-s", "-cmd"], Operands::BehindFirst, SQL) },
    Client { files: &["-i"], ..client(&["sqlcmd"], &["-Q", "-q"], Operands::Names, SQL) },
    client(&["mongosh", "mongo"], &["--eval"], Operands::Names, Language::Other),
    client(&["redis-cli", "valkey-cli", "keydb-cli"], &[], Operands::One, Language::Other),
    client(&["clickhouse-client", "clickhouse-local", "clickhouse"], &["--query"], Operands::Names, SQL),
    client(&["cqlsh"], &["--execute"], Operands::Names, SQL),
    client(&["snowsql"], &["--query"], Operands::Names, SQL),
    client(&["snow sql", "databricks sql", "databricks api"], &["-q", "--query"], Operands::Names, SQL),
    client(&["cockroach"], &["--execute"], Operands::Names, SQL),
    Client {
        files: &["-f"],
        ..client(&["hive", "beeline", "spark-sql", "impala-shell"], &["-e", "-q", "--query"], Operands::Names, SQL)
    },
    client(
        &["sqlplus", "bteq", "isql", "usql", "trino", "presto"],
        &["-e", "--execute", "-c", "--command"],
        Operands::Names,
        SQL,
    ),
    client(&["bq"], &[], Operands::Each, MYSQL),
    client(&["wrangler", "heroku"], &["--command", "-c"], Operands::Names, SQL),
    client(&["influx"], &["-execute"], Operands::Names, SQL),
    client(
        &["turso db shell", "wp db query", "wp db cli", "drush sql:query", "drush sqlq"],
        &[],
        Operands::Each,
        MYSQL,
    ),
    client(&["aws athena"], &["--query-string"], Operands::Names, SQL),
    client(&["aws rds-data"], &["--sql"], Operands::Names, SQL),
    client(&["aws redshift-data"], &["--sql", "--sqls"], Operands::Names, SQL),
    client(&["gcloud spanner"], &["--sql"], Operands::Names, SQL),
    client(
        &[
            "prisma db execute",
            "python manage.py dbshell",
            "python3 manage.py dbshell",
            "manage.py dbshell",
            "rails db",
            "drush sql:cli",
        ],
        &[],
        Operands::Names,
        SQL,
    ),
];

const fn client(
    programs: &'static [&'static str],
    options: &'static [&'static str],
    operands: Operands,
    language: Language,
) -> Client {
    Client { programs, options, files: &[], operands, language }
}

impl Client {
    /// Returns the client that a command is.
    fn of(command: &Command) -> Option<&'static Self> {
        let name = command.name();
        let is_run = |program: &str| {
            let mut words = program.split(' ');
            if words.next() != Some(name) {
                return false;
            }
            let mut own = command.simple().operands().map(|operand| operand.text.as_str());
            words.all(|word| own.next() == Some(word))
        };
        CLIENTS.iter().find(|client| client.programs.iter().any(|program| is_run(program)))
    }

    /// Number of operands before the first query.
    fn skipped(&self, command: &Command) -> usize {
        let words = self.programs.iter().filter(|program| program.split(' ').next() == Some(command.name()));
        let words = words.map(|program| program.split(' ').count() - 1).max().unwrap_or_default();
        words.saturating_sub(command.arguments().subcommand.len())
    }
}

/// Returns the queries that a command gives to a database.
pub(super) fn queries(command: &Command) -> Value {
    let Some(client) = Client::of(command) else { return Value::list([]) };
    let mut names = Vec::new();
    let mut text = |word: &Expanded| text(word, &mut names);
    let mut texts: Vec<String> = values(command, client.options).iter().map(&mut text).collect();
    let operands = command.arguments().operands.as_slice();
    let operands = operands.get(client.skipped(command)..).unwrap_or_default();
    match client.operands {
        Operands::Names => {}
        Operands::BehindFirst => texts.extend(operands.iter().skip(1).map(&mut text)),
        Operands::Each => texts.extend(operands.iter().map(&mut text)),
        Operands::One => {
            let words: Vec<_> = operands.iter().map(&mut text).collect();
            texts.extend(Some(words.join(" ")).filter(|_| !words.is_empty()));
        }
    }
    let files = values(command, client.files);
    texts.extend(files.iter().filter_map(|file| file.content.as_deref().map(str::to_owned)));
    if texts.is_empty()
        && let Some(input) = &command.simple().input
        && !input.trim().is_empty()
    {
        texts.push(word::marked_input(input));
    }
    let split = |text: &String| match client.language {
        Language::Sql(syntax) => statements(text, syntax),
        Language::Other => vec![text.clone()],
    };
    Value::list(texts.iter().flat_map(split).map(|statement| word::unmarked(&statement, &names)))
}

/// Returns the text of a word with marks. The output of `$(cat <<E …)` is followed.
fn text(word: &Expanded, names: &mut Vec<String>) -> String {
    match &word.printed {
        Some(printed) => printed.trim_end_matches('\n').to_owned(),
        None => word::marked(word, names),
    }
}

/// Returns the values of options. Those of a program whose options are not known are in the next word, or behind `=`.
fn values(command: &Command, names: &[&str]) -> Vec<Expanded> {
    let arguments = command.arguments();
    let is_named = |(own, _): &&(Vec<String>, Expanded)| own.iter().any(|own| names.contains(&own.as_str()));
    let found: Vec<_> = arguments.values.iter().filter(is_named).map(|(_, value)| value.clone()).collect();
    if !found.is_empty() || names.is_empty() {
        return found;
    }
    let args = command.simple().args.as_slice();
    let value = |(index, arg): (usize, &Expanded)| {
        let behind = |name: &&&str| arg.text.strip_prefix(**name).is_some_and(|rest| rest.starts_with('='));
        if names.contains(&arg.text.as_str()) {
            return args.get(index + 1).cloned();
        }
        let name = names.iter().find(behind)?;
        Some(arg.part(name.len() + 1..arg.text.len()))
    };
    args.iter().enumerate().filter_map(value).collect()
}
