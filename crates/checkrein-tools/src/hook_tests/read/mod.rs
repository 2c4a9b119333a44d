//! Decoder of test files. Reports every problem with its location, and never returns a case that has one.

mod expect;
mod reader;

use std::path::{Path, PathBuf};

use checkrein::internal::regular_file::{self, ReadError};
use checkrein_core::RawJson;
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_document::{Format, Member, Node};

use super::case::{Case, NewFile};
use super::keys;
use super::scratch::{plain, stays_below};
use reader::TestFileReader;

/// Largest test file, in bytes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Cases of test files, and their problems.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadCases {
    /// Cases without problems, in the order of the files.
    pub cases: Vec<Case>,
    /// Problems.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads files. `dialect` is the default for cases without `as`.
pub fn read_files(files: &[PathBuf], dialect: &'static Dialect) -> ReadCases {
    let mut all = ReadCases::default();
    for path in files {
        let name = path.display().to_string();
        let fail = |message: String| Diagnostic::of_file(Severity::Error, "unreadable", name.clone(), message);
        let read = regular_file::read_text(path, MAX_BYTES).map_err(|error| {
            let diagnostic = fail(error.to_string());
            match error {
                ReadError::TooLarge { .. } => diagnostic.with_help("split the file"),
                _ => diagnostic,
            }
        });
        match read {
            Ok(text) => {
                let read = read_text(path, &text, dialect);
                all.cases.extend(read.cases);
                all.diagnostics.extend(read.diagnostics);
            }
            Err(diagnostic) => all.diagnostics.push(diagnostic),
        }
    }
    all
}

/// Reads the text of one file. The format depends on the extension; the default is YAML.
pub fn read_text(path: &Path, text: &str, dialect: &'static Dialect) -> ReadCases {
    let format = Format::from_path(path).unwrap_or(Format::Yaml);
    let mut reader = TestFileReader::new(path.display().to_string(), text);
    let mut cases = Vec::new();
    match checkrein_document::parse(text, format) {
        Err(error) => reader.error("syntax", error.span, error.message),
        Ok(parsed) => {
            for problem in &parsed.problems {
                // In a test file, every duplicate key is an error.
                reader.error("odd", problem.span(), problem.to_string());
            }
            file(&mut reader, path, &parsed.root, dialect, &mut cases);
        }
    }
    ReadCases { cases, diagnostics: reader.finish() }
}

/// Values of a file that apply to all cases. A case can override them.
#[derive(Clone)]
struct Shared {
    dialect: &'static Dialect,
    config: Vec<PathBuf>,
    agent: Option<String>,
    environment: Vec<(String, Option<String>)>,
    files: Vec<NewFile>,
}

fn file(
    reader: &mut TestFileReader<'_>,
    path: &Path,
    root: &Node<'_>,
    dialect: &'static Dialect,
    cases: &mut Vec<Case>,
) {
    let Some(members) = reader.object(root, "the file") else { return };
    reader.keys(members, keys::FILE);
    let mut shared = Shared { dialect, config: Vec::new(), agent: None, environment: Vec::new(), files: Vec::new() };
    for member in members {
        common(reader, path, member, &mut shared);
    }
    let Some(list) = root.get("cases") else {
        reader.error("missing-key", root.span, "missing key `cases`");
        return;
    };
    for node in reader.array(list, "cases").unwrap_or_default() {
        let before = reader.count();
        let case = case(reader, path, node, shared.clone());
        if reader.count() == before {
            if let Some(other) = case.as_ref().and_then(|case| cases.iter().find(|other| other.name == case.name)) {
                let text = format!("the name `{}` is already used in line {}; rename one case", other.name, other.line);
                reader.error("same-name", node.get("name").map_or(node.span, |name| name.span), text);
            } else {
                cases.extend(case);
            }
        }
    }
    if list.as_array().is_some_and(<[_]>::is_empty) {
        reader.error("no-cases", list.span, "`cases` is empty");
    }
}

/// Reads a key that both files and cases may have.
fn common(reader: &mut TestFileReader<'_>, path: &Path, member: &Member<'_>, shared: &mut Shared) {
    let value = &member.value;
    match &*member.key {
        "as" => shared.dialect = reader.dialect(value).unwrap_or(shared.dialect),
        "config" => {
            let dir = path.parent().unwrap_or(Path::new(""));
            shared.config = reader.texts(value, "config").iter().map(|file| dir.join(file)).collect();
        }
        "agent" => shared.agent = reader.text(value, "agent"),
        "environment" => {
            for (name, value) in environment(reader, value) {
                shared.environment.retain(|(other, _)| *other != name);
                shared.environment.push((name, value));
            }
        }
        "files" => {
            for file in files(reader, value) {
                shared.files.retain(|other| other.path != file.path);
                shared.files.push(file);
            }
        }
        _ => {}
    }
}

fn case(reader: &mut TestFileReader<'_>, path: &Path, node: &Node<'_>, mut shared: Shared) -> Option<Case> {
    let members = reader.object(node, "a case")?;
    reader.keys(members, keys::CASE);
    for member in members {
        common(reader, path, member, &mut shared);
    }
    let text = |reader: &mut TestFileReader<'_>, key: &'static str| {
        let node = node.get(key)?;
        reader.text(node, key)
    };
    let name = text(reader, "name");
    let event = text(reader, "event");
    for (key, is_there) in [("name", node.get("name").is_some()), ("event", node.get("event").is_some())] {
        if !is_there {
            reader.error("missing-key", node.span, format!("the case has no key `{key}`"));
        }
    }
    if name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        reader.error("missing-key", node.get("name").map_or(node.span, |name| name.span), "`name` is empty");
    }
    if let (Some(event), Some(at)) = (&event, node.get("event"))
        && let Err(unknown) = shared.dialect.kind_named(event)
    {
        reader.error("unknown-event", at.span, unknown.to_string());
    }
    let tool = text(reader, "tool");
    let payload = node.get("payload").and_then(|node| {
        reader.object(node, "payload")?;
        reader.json(node)
    });
    let set = node.get("set").map(|node| fields(reader, node)).unwrap_or_default();
    let input = node.get("input").and_then(|node| reader.json(node));
    let expect = match node.get("expect") {
        Some(node) => expect::expect(reader, node),
        None => {
            reader.error("no-expectation", node.span, "the case has no key `expect`");
            Vec::new()
        }
    };
    let line = members.first().map_or(node.span, |member| member.key_span);
    let Shared { dialect, config, agent, environment, files } = shared;
    Some(Case {
        name: name?,
        file: path.to_owned(),
        line: reader.line(line),
        dialect,
        config,
        agent,
        event: event?,
        tool,
        input,
        payload,
        set,
        environment,
        files,
        expect,
    })
}

fn fields(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Vec<(String, RawJson)> {
    let members = reader.object(node, "set").unwrap_or_default();
    members.iter().filter_map(|member| Some((member.key.to_string(), reader.json(&member.value)?))).collect()
}

fn environment(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for member in reader.object(node, "environment").unwrap_or_default() {
        if member.key.is_empty() || member.key.contains(['=', '\0']) {
            reader.error("bad-name", member.key_span, format!("`{}` is not a valid variable name", member.key));
            continue;
        }
        let value = &member.value;
        let text = match (value.as_str(), value.as_number(), value.as_bool()) {
            (Some(text), ..) => Some(text.to_owned()),
            // `PORT: 8080` is read as text.
            (_, Some(number), _) => Some(number.to_owned()),
            (.., Some(flag)) => Some(flag.to_string()),
            _ if value.is_null() => None,
            _ => {
                reader.wrong_type(
                    value,
                    &format!("environment.{}", member.key),
                    "a string, or null to remove the variable",
                );
                continue;
            }
        };
        if text.as_ref().is_some_and(|text| text.contains('\0')) {
            reader.error("bad-value", value.span, "a variable cannot contain a NUL character".to_owned());
            continue;
        }
        all.push((member.key.to_string(), text));
    }
    all
}

fn files(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Vec<NewFile> {
    let mut all = Vec::new();
    for member in reader.object(node, "files").unwrap_or_default() {
        let path = plain(Path::new(&*member.key));
        if !stays_below(&path) || member.key.contains('\0') {
            let text = format!("`{}` is not a path below the scratch directory; use a relative path", member.key);
            reader.error("bad-path", member.key_span, text);
            continue;
        }
        let (text, executable) = match member.value.as_object() {
            Some(members) => {
                reader.keys(members, keys::NEW_FILE);
                let Some(text) = member.value.get("text") else {
                    reader.error("missing-key", member.key_span, "the file has no key `text`");
                    continue;
                };
                let flag = member.value.get("executable").and_then(|node| reader.flag(node, "executable"));
                (reader.text(text, "text"), flag)
            }
            None => (reader.text(&member.value, &format!("files.{}", member.key)), None),
        };
        if let Some(text) = text {
            let executable = executable.unwrap_or_else(|| text.starts_with("#!"));
            all.push(NewFile { path, text, executable });
        }
    }
    all
}
