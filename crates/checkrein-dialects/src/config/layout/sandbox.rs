//! The key `sandbox` of a hook: `true`, `strict`, or an object whose keys change the strict sandbox.
//!
//! An invalid value must never loosen a sandbox: it makes the hook broken.

use std::time::Duration;

use checkrein_core::RawJson;

use super::Decoder;
use crate::spec::{FileAccess, SandboxSpec};
use checkrein_document::Node;

/// Type of a key of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxKey {
    /// Access to files.
    Access,
    /// List of paths.
    Paths,
    /// Boolean.
    Flag,
    /// Limit in seconds.
    Seconds,
    /// Limit in bytes, as a number or as in `512MiB`.
    Bytes,
    /// Limit as a number.
    Count,
}

/// Keys of a sandbox, with their types and descriptions.
pub const SANDBOX_KEYS: &[(&str, SandboxKey, &str)] = &[
    ("project", SandboxKey::Access, "access to files of the project"),
    ("outside", SandboxKey::Access, "access to all other files"),
    ("read", SandboxKey::Paths, "further files and directories that may be read"),
    ("write", SandboxKey::Paths, "further files and directories that may be written"),
    ("network", SandboxKey::Flag, "network access"),
    ("cpu", SandboxKey::Seconds, "CPU seconds for each process"),
    ("memory", SandboxKey::Bytes, "memory for all processes together"),
    ("processes", SandboxKey::Count, "number of processes at a time"),
    ("files", SandboxKey::Count, "number of open files for each process"),
    ("file_size", SandboxKey::Bytes, "maximum size of a written file, and of `TMPDIR`"),
];

/// Value for the strict sandbox.
pub const STRICT: &str = "strict";
/// Value for no limit.
pub const UNLIMITED: &str = "unlimited";

/// Units of bytes. `B` is last, because the other names end in it.
const UNITS: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("kB", 1000),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("B", 1),
];

/// Reads a sandbox. `None`: the hook has none (`false`).
pub(super) fn read(decoder: &mut Decoder<'_>, node: &Node<'_>, name: &str) -> Result<Option<SandboxSpec>, String> {
    if let Some(wanted) = node.as_bool() {
        return Ok(wanted.then_some(SandboxSpec::STRICT));
    }
    if let Some(word) = node.as_str() {
        if word == STRICT {
            return Ok(Some(SandboxSpec::STRICT));
        }
        decoder.unknown("unknown-value", node.span, &format!("value of `{name}`"), word, &[STRICT]);
        return Err(format!("unknown value `{word}` of `{name}`"));
    }
    let Some(members) = node.as_object() else {
        return Err(decoder.wrong_type(node, name, "true, `strict` or an object"));
    };
    let mut spec = SandboxSpec::STRICT;
    let mut says_project = false;
    for member in members {
        let (key, value) = (&*member.key, &member.value);
        match key {
            "project" => {
                spec.project = access(decoder, value, key)?;
                says_project = true;
            }
            "outside" => spec.outside = access(decoder, value, key)?,
            "read" => spec.read = paths(decoder, value, key)?,
            "write" => spec.write = paths(decoder, value, key)?,
            "network" => spec.network = decoder.flag(value, key)?,
            "cpu" => spec.cpu = limit(decoder, value, |decoder| decoder.time(value, key, Duration::from_secs(1)))?,
            "memory" => spec.memory = limit(decoder, value, |decoder| bytes(decoder, value, key))?,
            "processes" => spec.processes = limit(decoder, value, |decoder| count(decoder, value, key))?,
            "files" => spec.files = limit(decoder, value, |decoder| count(decoder, value, key))?,
            "file_size" => spec.file_size = limit(decoder, value, |decoder| bytes(decoder, value, key))?,
            _ => {
                // A misspelt key must not remove a limit.
                let known: Vec<_> = SANDBOX_KEYS.iter().map(|(name, ..)| *name).collect();
                decoder.unknown("unknown-key", member.key_span, "key", key, &known);
                return Err(format!("unknown key `{key}` of `{name}`"));
            }
        }
    }
    if !says_project {
        spec.project = spec.project.max(spec.outside);
    }
    if spec.project < spec.outside {
        let why = format!(
            "`project` is `{}` and `outside` is `{}`; `outside` must not allow more than `project`",
            spec.project.name(),
            spec.outside.name()
        );
        decoder.error("bad-sandbox", node.span, why.clone());
        return Err(why);
    }
    Ok(Some(spec))
}

fn access(decoder: &mut Decoder<'_>, node: &Node<'_>, name: &str) -> Result<FileAccess, String> {
    let word = decoder.text(node, name)?;
    FileAccess::ALL.iter().copied().find(|access| access.name() == word).ok_or_else(|| {
        let known: Vec<_> = FileAccess::ALL.iter().map(|access| access.name()).collect();
        decoder.unknown("unknown-value", node.span, &format!("value of `{name}`"), &word, &known);
        format!("unknown value `{word}` of `{name}`")
    })
}

fn paths(decoder: &mut Decoder<'_>, node: &Node<'_>, name: &str) -> Result<Vec<std::path::PathBuf>, String> {
    Ok(decoder.texts(node, name)?.into_iter().map(Into::into).collect())
}

fn limit<'d, T>(
    decoder: &mut Decoder<'d>,
    node: &Node<'_>,
    read: impl FnOnce(&mut Decoder<'d>) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if node.as_str() == Some(UNLIMITED) { Ok(None) } else { read(decoder).map(Some) }
}

fn count<T: std::str::FromStr + PartialEq + From<u8>>(
    decoder: &mut Decoder<'_>,
    node: &Node<'_>,
    name: &str,
) -> Result<T, String> {
    let count = node.as_number().and_then(|number| number.parse::<T>().ok()).filter(|count| *count != T::from(0));
    count.ok_or_else(|| decoder.wrong_type(node, name, "a whole number above 0, or `unlimited`"))
}

fn bytes(decoder: &mut Decoder<'_>, node: &Node<'_>, name: &str) -> Result<u64, String> {
    let of_text = |text: &str| {
        let (unit, size) = UNITS.iter().find(|(unit, _)| text.ends_with(unit))?;
        text.strip_suffix(unit)?.trim_end().parse::<u64>().ok()?.checked_mul(*size)
    };
    let bytes = match (node.as_number(), node.as_str()) {
        (Some(number), _) => number.parse::<u64>().ok(),
        (None, Some(text)) => of_text(text),
        (None, None) => None,
    };
    let bytes = bytes.filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| decoder.wrong_type(node, name, "bytes, as in 1048576 or `512MiB`, or `unlimited`"))
}

/// Encodes a sandbox as JSON: its differences from the strict one.
pub(super) fn write(spec: &SandboxSpec) -> String {
    let strict = SandboxSpec::STRICT;
    let text = |text: &str| RawJson::string(text).as_str().to_owned();
    let paths = |paths: &[std::path::PathBuf]| {
        let all: Vec<_> = paths.iter().map(|path| text(&path.to_string_lossy())).collect();
        format!("[{}]", all.join(", "))
    };
    let limit = |limit: Option<String>| limit.unwrap_or_else(|| text(UNLIMITED));
    let number = |number: Option<u64>| limit(number.map(|number| number.to_string()));
    let members = [
        ("project", spec.project != strict.project, text(spec.project.name())),
        ("outside", spec.outside != strict.outside, text(spec.outside.name())),
        ("read", spec.read != strict.read, paths(&spec.read)),
        ("write", spec.write != strict.write, paths(&spec.write)),
        ("network", spec.network != strict.network, spec.network.to_string()),
        ("cpu", spec.cpu != strict.cpu, limit(spec.cpu.map(|time| time.as_secs_f64().to_string()))),
        ("memory", spec.memory != strict.memory, number(spec.memory)),
        ("processes", spec.processes != strict.processes, number(spec.processes.map(u64::from))),
        ("files", spec.files != strict.files, number(spec.files)),
        ("file_size", spec.file_size != strict.file_size, number(spec.file_size)),
    ];
    let changed = members.into_iter().filter(|(_, differs, _)| *differs);
    let changed: Vec<_> = changed.map(|(name, _, value)| format!("{}: {value}", text(name))).collect();
    if changed.is_empty() { "true".to_owned() } else { format!("{{ {} }}", changed.join(", ")) }
}
