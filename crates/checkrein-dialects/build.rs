//! Converts the packs from YAML to JSON without their tests, so that a start of the program does not parse YAML.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use checkrein_document::{Format, Node, parse};

type Failed = Box<dyn std::error::Error>;

fn main() -> Result<(), Failed> {
    let root = env::var("CARGO_MANIFEST_DIR")?;
    let directory = Path::new(&root).join("packs");
    println!("cargo::rerun-if-changed={}", directory.display());
    let mut files: Vec<_> =
        fs::read_dir(&directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort_by_key(|path| path.file_stem().map(std::ffi::OsStr::to_owned));
    let mut table = String::from("/// All packs, sorted by name.\npub static ALL: &[Pack] = &[\n");
    for path in files {
        println!("cargo::rerun-if-changed={}", path.display());
        let (name, text) =
            (path.file_stem().and_then(|name| name.to_str()).ok_or("not a name")?, fs::read_to_string(&path)?);
        let parsed = parse(&text, Format::Yaml).map_err(|error| format!("{}: {error}", path.display()))?;
        let description = parsed.root.get("description").and_then(Node::as_str).ok_or("a pack has no description")?;
        let json = without_tests(&parsed.root);
        writeln!(
            table,
            "    Pack {{ name: {name:?}, description: {description:?}, yaml: include_str!({path:?}), json: {json:?} }},"
        )?;
    }
    table.push_str("];\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("packs.rs"), table)?;
    Ok(())
}

/// Returns a value as JSON, without members called `tests`.
fn without_tests(node: &Node<'_>) -> String {
    if let Some(items) = node.as_array() {
        // Places of rules are lines and columns, and columns of long lines take long to compute.
        return format!("[{}]", items.iter().map(without_tests).collect::<Vec<_>>().join(",\n"));
    }
    let Some(members) = node.as_object() else { return node.to_json() };
    let kept = members.iter().filter(|member| member.key != "tests");
    let kept: Vec<_> = kept.map(|member| format!("{}:{}", quoted(&member.key), without_tests(&member.value))).collect();
    format!("{{{}}}", kept.join(","))
}

fn quoted(text: &str) -> String {
    checkrein_core::RawJson::string(text).as_str().to_owned()
}
