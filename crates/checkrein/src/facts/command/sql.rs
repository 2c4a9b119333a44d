//! Statements in the text for a database client.
//!
//! Rules compare statements with patterns, so each statement is given in a form that patterns can read: without comments, with one
//! blank for white space, with `''` for a text in quotes. A subquery with a `WHERE` of its own becomes `()`, and a condition
//! that always holds becomes `WHERE true`. A statement inside of another one (`WITH … AS (DELETE …)`, `EXPLAIN ANALYZE`, `DO $$ … $$`)
//! is added as a statement of its own. The reader is no parser of SQL: it knows only what can hide a statement.

use crate::facts::word::is_mark;

/// Maximum nesting of statements in `DO $$ … $$`.
const DEPTH: usize = 4;

/// Differences between the databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `"…"` is a name.
    Standard,
    /// `"…"` is a text, `#` starts a comment, a backslash escapes, and `/*! … */` is run.
    MySql,
}

/// Words behind which a statement starts inside of another one.
const BEFORE: &[&str] = &["(", "analyze", "verbose", "begin", "then", "else", "loop"];

/// Returns the statements of a text.
pub(super) fn statements(text: &str, syntax: Syntax) -> Vec<String> {
    let mut found = Vec::new();
    collect(text, syntax, 0, &mut found);
    found
}

fn collect(text: &str, syntax: Syntax, depth: usize, found: &mut Vec<String>) {
    for Plain { text, bodies } in plain(text, syntax) {
        let words = words(&text);
        let Some(first) = words.first().map(|word| word.lower.clone()) else { continue };
        found.push(decided(&text, &words));
        for start in inner_starts(&words, &first) {
            let rest = &text[words[start].start..];
            let inner = rest[..closing(rest)].trim().to_owned();
            found.push(decided(&inner, &self::words(&inner)));
        }
        if first == "do" && depth < DEPTH {
            bodies.iter().for_each(|body| collect(body, syntax, depth + 1, found));
        }
    }
}

/// A statement without comments and texts.
#[derive(Debug, Default)]
struct Plain {
    text: String,
    /// Contents of `$$ … $$`.
    bodies: Vec<String>,
}

impl Plain {
    fn blank(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

/// Splits a text into statements, without comments, with `''` for each text.
fn plain(text: &str, syntax: Syntax) -> Vec<Plain> {
    let is_mysql = syntax == Syntax::MySql;
    let mut all = Vec::new();
    let mut own = Plain::default();
    let mut rest = text;
    // Depth of `/*! … */`, whose content is run.
    let mut run_comments = 0;
    while let Some(c) = rest.chars().next() {
        let behind = &rest[c.len_utf8()..];
        if rest.starts_with("--") || is_mysql && c == '#' {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            own.blank();
        } else if is_mysql && (rest.starts_with("/*!") || rest.starts_with("/*M!")) {
            let start = rest.find('!').map_or(0, |at| at + 1);
            rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
            run_comments += 1;
            own.blank();
        } else if run_comments > 0 && rest.starts_with("*/") {
            rest = &rest[2..];
            run_comments -= 1;
            own.blank();
        } else if rest.starts_with("/*") {
            rest = behind_comment(rest, !is_mysql);
            own.blank();
        } else if c == '\'' || is_mysql && c == '"' {
            let escapes = is_mysql
                || own.text.ends_with(['e', 'E'])
                    && !own.text.trim_end_matches(['e', 'E']).ends_with(char::is_alphanumeric);
            rest = behind_quote(behind, c, escapes);
            own.text.push_str("''");
        } else if matches!(c, '"' | '`') {
            let end = behind_quote(behind, c, false);
            let name = &behind[..behind.len() - end.len()];
            let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-') || is_mark(c);
            own.text.push(c);
            own.text.extend(name.trim_end_matches(c).chars().map(|c| if is_plain(c) { c } else { '_' }));
            own.text.push(c);
            rest = end;
        } else if let Some(tag) = dollar_tag(rest).filter(|_| !is_mysql) {
            let inside = &rest[tag.len()..];
            let end = inside.find(tag).unwrap_or(inside.len());
            own.bodies.push(inside[..end].to_owned());
            own.text.push_str("''");
            rest = inside.get(end + tag.len()..).unwrap_or_default();
        } else if c == ';' || ends_statement(rest) {
            all.push(std::mem::take(&mut own));
            rest = if c == ';' { behind } else { behind.trim_start_matches(|c: char| c.is_ascii_alphabetic()) };
        } else if c == '\n' && is_batch_end(behind) {
            all.push(std::mem::take(&mut own));
            rest = behind.trim_start().get(2..).unwrap_or_default();
        } else if c.is_whitespace() {
            own.blank();
            rest = behind;
        } else {
            own.text.push(c);
            rest = behind;
        }
    }
    all.push(own);
    for plain in &mut all {
        plain.text.truncate(plain.text.trim_end().len());
    }
    all
}

/// Returns the text behind a comment. Comments of the standard are nested.
fn behind_comment(text: &str, is_nested: bool) -> &str {
    let mut rest = text.get(2..).unwrap_or_default();
    let mut depth = 1;
    while let Some(at) = rest.find(['*', '/']) {
        rest = &rest[at..];
        if rest.starts_with("*/") {
            depth -= 1;
            rest = &rest[2..];
            if depth == 0 {
                return rest;
            }
        } else if is_nested && rest.starts_with("/*") {
            depth += 1;
            rest = &rest[2..];
        } else {
            rest = &rest[1..];
        }
    }
    ""
}

/// Returns the text behind the closing quote. Two quotes stand for one.
fn behind_quote(text: &str, quote: char, escapes: bool) -> &str {
    let mut rest = text;
    while let Some(at) = rest.find([quote, '\\']) {
        let found = &rest[at..];
        if found.starts_with('\\') {
            let skipped = found.chars().nth(1).filter(|_| escapes).map_or(1, |next| 1 + next.len_utf8());
            rest = &found[skipped..];
            continue;
        }
        match found[1..].strip_prefix(quote) {
            Some(behind) => rest = behind,
            None => return &found[1..],
        }
    }
    ""
}

/// Returns the tag of `$$ … $$` or `$tag$ … $tag$`.
fn dollar_tag(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('$')?;
    let end = inner.find('$')?;
    let is_tag = inner[..end].chars().all(|c| c.is_alphanumeric() || c == '_')
        && !inner.starts_with(|c: char| c.is_ascii_digit());
    if is_tag { Some(&text[..end + 2]) } else { None }
}

/// `true` for `\g`, `\G` and `\gexec` of clients.
fn ends_statement(text: &str) -> bool {
    let Some(name) = text.strip_prefix('\\') else { return false };
    let name = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    matches!(name, "g" | "G" | "gexec" | "gx" | "gset")
}

/// `true` for a line with `GO`.
fn is_batch_end(text: &str) -> bool {
    text.lines().next().is_some_and(|line| line.trim().eq_ignore_ascii_case("go"))
}

/// A word or another character of a statement.
#[derive(Debug)]
struct Word {
    start: usize,
    /// Number of open brackets.
    depth: usize,
    lower: String,
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let (mut depth, mut is_open) = (0_usize, false);
    for (start, c) in text.char_indices() {
        let is_part = c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '"' | '`' | '\'' | '@') || is_mark(c);
        if is_part
            && is_open
            && let Some(last) = words.last_mut()
        {
            last.lower.extend(c.to_lowercase());
            continue;
        }
        is_open = is_part;
        if c.is_whitespace() {
            continue;
        }
        if c == ')' {
            depth = depth.saturating_sub(1);
        }
        words.push(Word { start, depth, lower: c.to_lowercase().collect() });
        if c == '(' {
            depth += 1;
        }
    }
    words
}

/// Returns the words at which statements start that are inside of this one.
fn inner_starts(words: &[Word], first: &str) -> Vec<usize> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_defined = matches!(first, "create" | "merge" | "grant" | "revoke");
    let runs = first != "explain" || words.iter().any(|word| word.lower == "analyze");
    let starts = |at: &usize| {
        let changes = match word(*at) {
            "delete" => word(at + 1) == "from",
            "update" => {
                !matches!(word(at + 1), "set" | "of" | "") && words[*at..].iter().any(|word| word.lower == "set")
            }
            "drop" | "truncate" | "alter" => true,
            _ => false,
        };
        let before = word(at - 1);
        let is_start = BEFORE.contains(&before)
            || before == ")" && matches!(first, "explain" | "if")
            || first == "if" && words[*at].depth == 0;
        changes && is_start
    };
    if is_defined || !runs { Vec::new() } else { (1..words.len()).filter(starts).collect() }
}

/// Returns the end of the text before a closing bracket that has no opening one.
fn closing(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return at,
            ')' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns a statement in which `WHERE` is only the condition of the statement itself, and `WHERE true` if it always holds.
fn decided(text: &str, words: &[Word]) -> String {
    if !words.first().is_some_and(|first| matches!(first.lower.as_str(), "delete" | "update" | "with")) {
        return text.to_owned();
    }
    let own = words.iter().position(|word| word.depth == 0 && word.lower == "where");
    let (before, condition) = match own {
        Some(at) => text.split_at(words[at].start),
        None => (text, ""),
    };
    let before = without_subqueries(before);
    let condition = condition.get("where".len()..).unwrap_or_default();
    let ends = ["returning", "order", "limit", "option"];
    let end = own.and_then(|at| words[at..].iter().find(|word| word.depth == 0 && ends.contains(&word.lower.as_str())));
    let end = end.map_or(text.len(), |word| word.start) - (text.len() - condition.len());
    match own {
        None => before,
        Some(_) if always_holds(&condition[..end]) => {
            format!("{before}WHERE true {}", &condition[end..]).trim_end().to_owned()
        }
        Some(_) => format!("{before}{}", &text[text.len() - condition.len() - "where".len()..]),
    }
}

/// Replaces the content of brackets with a condition.
fn without_subqueries(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('(') {
        let inside = &rest[open + 1..];
        let end = closing(inside);
        let has_condition = words(&inside[..end]).iter().any(|word| word.lower == "where");
        plain.push_str(&rest[..=open]);
        if !has_condition {
            plain.push_str(&inside[..end]);
        }
        rest = &inside[end..];
    }
    plain.push_str(rest);
    plain
}

/// `true` if a condition holds for every row: `1=1`, `TRUE OR x`, `id = id`.
fn always_holds(condition: &str) -> bool {
    let condition = condition.trim();
    if let Some(inner) = condition.strip_prefix('(')
        && closing(inner) + 1 == inner.len()
    {
        return always_holds(&inner[..inner.len() - 1]);
    }
    let (either, both) = (parts(condition, "or"), parts(condition, "and"));
    if either.len() > 1 {
        return either.iter().any(|part| always_holds(part));
    }
    if both.len() > 1 {
        return both.iter().all(|part| always_holds(part));
    }
    let lower = condition.to_lowercase();
    if lower == "true" || lower == "not false" || lower.parse::<i64>().is_ok_and(|number| number != 0) {
        return true;
    }
    if lower.contains(is_mark) {
        return false;
    }
    let sides = |operator: &str| {
        lower.split_once(operator).map(|(left, right)| (left.trim().to_owned(), right.trim().to_owned()))
    };
    let is_number = |text: &str| text.parse::<i64>().is_ok();
    let differs = |(left, right): (String, String)| is_number(&left) && is_number(&right) && left != right;
    let is_same =
        |(left, right): (String, String)| !left.is_empty() && left == right && !left.ends_with(['<', '>', '!']);
    ["<>", "!="].into_iter().any(|operator| sides(operator).is_some_and(differs)) || sides("=").is_some_and(is_same)
}

/// Splits a condition at a word outside of brackets.
fn parts<'t>(condition: &'t str, separator: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for word in words(condition).iter().filter(|word| word.depth == 0 && word.lower == separator) {
        parts.push(&condition[start..word.start]);
        start = word.start + separator.len();
    }
    parts.push(&condition[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_found_and_nothing_else() {
        for (text, expected) in [
            ("select 1; drop table x;", "select 1|drop table x"),
            ("INSERT INTO q VALUES ('x; DROP TABLE users; --')", "INSERT INTO q VALUES ('')"),
            ("select 'a;drop table x', 'it''s;x'", "select '', ''"),
            ("select $tag$ ; drop table x $tag$", "select ''"),
            ("select \"a;b\" from t", "select \"a_b\" from t"),
            ("/* x */ DROP /* y */ TABLE t", "DROP TABLE t"),
            ("DROP/**/TABLE t", "DROP TABLE t"),
            ("/* a /* b */ drop table x */ select 1", "select 1"),
            ("-- x\ndrop table t -- y; z", "drop table t"),
            ("delete from users -- where id=1", "delete from users"),
            ("DELETE FROM users /* WHERE id = 1 */", "DELETE FROM users"),
            ("UPDATE users SET a=(SELECT b FROM c WHERE id=1)", "UPDATE users SET a=()"),
            ("UPDATE users SET a='where'", "UPDATE users SET a=''"),
            ("UPDATE t SET a=(SELECT 1 WHERE b) WHERE id=1", "UPDATE t SET a=() WHERE id=1"),
            (
                "WITH d AS (DELETE FROM users RETURNING *) SELECT 1",
                "WITH d AS (DELETE FROM users RETURNING *) SELECT 1|DELETE FROM users RETURNING *",
            ),
            ("EXPLAIN ANALYZE DELETE FROM users", "EXPLAIN ANALYZE DELETE FROM users|DELETE FROM users"),
            (
                "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users",
                "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM users|DELETE FROM users",
            ),
            ("EXPLAIN DELETE FROM users", "EXPLAIN DELETE FROM users"),
            ("DO $$ BEGIN DELETE FROM users; END $$", "DO ''|BEGIN DELETE FROM users|DELETE FROM users|END"),
            (
                "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a=1",
                "INSERT INTO t VALUES (1) ON CONFLICT DO UPDATE SET a=1",
            ),
            ("select * from t for update", "select * from t for update"),
            (
                "MERGE INTO t USING s ON a=b WHEN MATCHED THEN DELETE",
                "MERGE INTO t USING s ON a=b WHEN MATCHED THEN DELETE",
            ),
            ("delete from t where 1=1", "delete from t WHERE true"),
            ("delete from t where (1=1)", "delete from t WHERE true"),
            ("delete from t where TRUE OR id=1", "delete from t WHERE true"),
            ("delete from t where 'a'='a' returning id", "delete from t WHERE true returning id"),
            ("delete from t where id = id", "delete from t WHERE true"),
            ("delete from t where id = 1 and 1=1", "delete from t where id = 1 and 1=1"),
            ("delete from t where id >= id2 or b", "delete from t where id >= id2 or b"),
            (
                "delete from t where id in (select id from u where a)",
                "delete from t where id in (select id from u where a)",
            ),
            ("select 1\\gdrop", "select 1\\gdrop"),
            ("drop table a\nGO\ndrop table b", "drop table a|drop table b"),
            ("'unclosed", "''"),
            ("", ""),
            ("é ' é", "é ''"),
        ] {
            assert_eq!(statements(text, Syntax::Standard).join("|"), expected, "{text}");
        }
        for (text, expected) in [
            ("select 1 # ; drop table x", "select 1"),
            ("/*!50000 DROP TABLE x */", "DROP TABLE x"),
            ("UPDATE t SET a=\"where\"", "UPDATE t SET a=''"),
            ("select 'a\\'; drop table x'", "select ''"),
            ("drop table `a;b`", "drop table `a_b`"),
        ] {
            assert_eq!(statements(text, Syntax::MySql).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn no_text_panics() {
        let pieces = [
            "'",
            "\"",
            "$",
            "$a$",
            "/*",
            "*/",
            "--",
            "\n",
            ";",
            "(",
            ")",
            "\\",
            "é",
            "where",
            " delete from t ",
            "or",
            "=",
            "#",
            "/*!5",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    statements(&format!("{a}{b}{c}{a}"), Syntax::Standard);
                    statements(&format!("delete from t where {c}{b}{a}"), Syntax::MySql);
                }
            }
        }
    }
}
