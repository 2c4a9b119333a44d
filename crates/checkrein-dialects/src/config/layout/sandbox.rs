//! A sandbox in files: `true`, `strict`, or an object whose keys loosen or tighten what is strict.

use std::time::Duration;

use checkrein_core::RawJson;

use super::Decoder;
use crate::spec::{FileAccess, SandboxSpec};
use checkrein_document::Node;

/// What a key of a sandbox says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxKey {
    /// What may be done with files.
    Access,
    /// A list of paths.
    Paths,
    /// Whether there is a network.
    Flag,
    /// A limit in seconds.
    Seconds,
    /// A limit in bytes, as a number or as in `512MiB`.
    Bytes,
    /// A limit that is a number.
    Count,
}

/// The keys, what they say, and in words.
pub const SANDBOX_KEYS: &[(&str, SandboxKey, &str)] = &[
    ("project", SandboxKey::Access, "what may be done with files of the project"),
    ("outside", SandboxKey::Access, "what may be done with all other files"),
    ("read", SandboxKey::Paths, "files and directories that may be read besides"),
    ("write", SandboxKey::Paths, "files and directories that may be written besides"),
    ("network", SandboxKey::Flag, "whether there is a network"),
    ("cpu", SandboxKey::Seconds, "seconds of a processor's time for each process"),
    ("memory", SandboxKey::Bytes, "memory for all processes together"),
    ("processes", SandboxKey::Count, "how many processes there may be at a time"),
    ("files", SandboxKey::Count, "how many files each process may have open"),
    ("file_size", SandboxKey::Bytes, "how large a file may become"),
];

/// The name of what is strict.
pub const STRICT: &str = "strict";
/// Instead of a limit.
pub const UNLIMITED: &str = "unlimited";

/// Units of bytes. Longer names come before those that they end in.
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

/// Reads a sandbox, or that there is none.
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
                // A slip of the pen must not loosen or lose a limit.
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
            "`project` is `{}` and `outside` is `{}`: what is outside can't be more open than the project",
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

/// A sandbox as JSON: what differs from what is strict.
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
    let said = members.into_iter().filter(|(_, differs, _)| *differs);
    let said: Vec<_> = said.map(|(name, _, value)| format!("{}: {value}", text(name))).collect();
    if said.is_empty() { "true".to_owned() } else { format!("{{ {} }}", said.join(", ")) }
}
