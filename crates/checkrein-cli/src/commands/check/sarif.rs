//! Report of `checkrein check` as SARIF (Static Analysis Results Interchange Format) 2.1.0, for code scanning.

use std::fmt::Write;
use std::path::Path;

use checkrein::dialects::config::Diagnostic;
use checkrein_tools::lint::{CONFIG_CODES, RULES};
use serde_json::{Value, json};

/// Returns the report as JSON. Paths of files below `dir` are relative to it.
pub fn report<'d>(found: impl Iterator<Item = &'d Diagnostic>, dir: &Path) -> Value {
    let results: Vec<_> = found
        .map(|diagnostic| {
            let mut place = json!({ "artifactLocation": location(Path::new(&diagnostic.file), dir) });
            if let Some(at) = &diagnostic.at {
                place["region"] = json!({ "startLine": at.place.line, "startColumn": at.place.column });
            }
            json!({
                "ruleId": diagnostic.code,
                "level": diagnostic.severity.to_string(),
                "message": { "text": diagnostic.message },
                "locations": [{ "physicalLocation": place }],
            })
        })
        .collect();
    let rules: Vec<_> = RULES
        .iter()
        .chain(CONFIG_CODES)
        .map(|rule| json!({ "id": rule.code, "shortDescription": { "text": rule.help }, "fullDescription": { "text": rule.explanation } }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "checkrein", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "originalUriBaseIds": { ROOT: { "uri": format!("file://{}/", uri(dir)) } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// Name of the checked directory in the report.
const ROOT: &str = "%SRCROOT%";

/// Location of a file. A path below the directory is relative, so that it is valid in another checkout.
fn location(file: &Path, dir: &Path) -> Value {
    match file.strip_prefix(dir) {
        Ok(below) => json!({ "uri": uri(below), "uriBaseId": ROOT }),
        Err(_) if file.is_absolute() => json!({ "uri": format!("file://{}", uri(file)) }),
        Err(_) => json!({ "uri": uri(file) }),
    }
}

/// Path of a URI: other bytes than unreserved characters and `/` are percent-encoded.
fn uri(path: &Path) -> String {
    let mut uri = String::new();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(char::from(byte)),
            // Writing to a string cannot fail.
            _ => drop(write!(uri, "%{byte:02X}")),
        }
    }
    uri
}
