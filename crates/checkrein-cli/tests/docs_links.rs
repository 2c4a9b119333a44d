//! Checks the Markdown files of the repository: relative links, anchors, and the table of contents of the book.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

/// Files beside `docs/` whose links are checked.
const ROOT_FILES: [&str; 6] =
    ["ARCHITECTURE.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"];

/// The table of contents of the book.
const SUMMARY: &str = "docs/SUMMARY.md";

/// One link of a page.
#[derive(Debug, PartialEq, Eq)]
struct Link {
    line: usize,
    target: String,
}

#[test]
fn relative_links_and_anchors_resolve() {
    let pages = pages();
    let mut problems = Vec::new();
    for (path, text) in &pages {
        let (links, undefined) = links(text);
        problems.extend(undefined.into_iter().map(|(line, name)| format!("{path}:{line}: no definition of [{name}]")));
        for link in links {
            if let Some(problem) = problem(&pages, path, &link.target) {
                problems.push(format!("{path}:{}: {}: {problem}", link.line, link.target));
            }
        }
    }
    assert!(problems.is_empty(), "{} broken links:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let pages = pages();
    let (links, _) = links(&pages[SUMMARY]);
    let listed: Vec<_> = links.into_iter().map(|link| format!("docs/{}", link.target)).collect();
    let unique: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!(listed.len(), unique.len(), "{SUMMARY} lists a page twice");
    let written: BTreeSet<_> = pages.into_keys().filter(|path| path.starts_with("docs/") && path != SUMMARY).collect();
    let missing: Vec<_> = written.difference(&unique).collect();
    assert!(missing.is_empty(), "add these pages to {SUMMARY}: {missing:?}");
}

#[test]
fn paths_in_the_contributing_guide_exist() {
    let pages = pages();
    let code = prose(&pages["CONTRIBUTING.md"]).into_iter().flat_map(|(_, line)| line.split('`').skip(1).step_by(2));
    let is_path = |text: &&str| ["crates/", "docs/", "fuzz/"].iter().any(|folder| text.starts_with(folder));
    let mut count = 0;
    for path in code.filter(is_path) {
        // A name in capitals is a placeholder.
        let real = path.split_once("/AGENT").map_or(path, |(folder, _)| folder);
        assert!(root().join(real).exists(), "CONTRIBUTING.md names `{path}`, which does not exist");
        count += 1;
    }
    assert!(count > 20, "the test found only {count} paths");
}

#[test]
fn links_are_found_outside_of_code() {
    let text = "# A `b` C\n[x](y.md#z) `[no](no.md)` ![i](i.png) [t][ref]\n\n```text\n[no](no.md)\n```\n[ref]: r.md\n";
    let found: Vec<_> = links(text).0.into_iter().map(|link| (link.line, link.target)).collect();
    assert_eq!(found, [(2, "y.md#z".to_owned()), (2, "i.png".to_owned()), (7, "r.md".to_owned())]);
    assert_eq!(links("[t][gone]").1, [(1, "gone".to_owned())]);
    assert_eq!(
        anchors("# A `b` C\n## X, y: z\n## X, y: z\n"),
        BTreeSet::from(["a-b-c", "x-y-z", "x-y-z-1"].map(String::from))
    );
}

/// Returns why a link does not resolve.
fn problem(pages: &BTreeMap<String, String>, page: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { Some(page.to_owned()) } else { resolve(page, path) };
    let Some(path) = path else {
        return Some("leads out of the repository".to_owned());
    };
    if page.starts_with("docs/") && !path.starts_with("docs/") {
        return Some("leads out of the book; write the path as code, or use a full URL".to_owned());
    }
    if !root().join(&path).exists() {
        return Some(format!("`{path}` does not exist"));
    }
    if anchor.is_empty() {
        return None;
    }
    match pages.get(&path) {
        Some(text) if anchors(text).contains(anchor) => None,
        Some(_) => Some(format!("`{path}` has no heading `#{anchor}`")),
        None => None,
    }
}

/// Resolves a relative path against the page that contains it.
fn resolve(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<_> = page.split('/').collect();
    parts.pop();
    for component in Path::new(target).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// All pages by their path from the root, with included files in place.
fn pages() -> BTreeMap<String, String> {
    let mut paths: Vec<_> = ROOT_FILES.iter().map(|name| root().join(name)).collect();
    add_markdown(&root().join("docs"), &mut paths);
    let mut pages = BTreeMap::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
        let text = with_includes(&name, &text);
        pages.insert(name, text);
    }
    pages
}

fn add_markdown(dir: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_markdown(&path, paths);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            paths.push(path);
        }
    }
}

/// Replaces `{{#include PATH:ANCHOR}}` lines as mdBook does.
fn with_includes(page: &str, text: &str) -> String {
    let mut expanded = String::new();
    for line in text.lines() {
        match line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}")) {
            Some(include) => {
                let (path, anchor) = include.split_once(':').unwrap_or((include, ""));
                let path = resolve(page, path).unwrap_or_else(|| panic!("{page}: {line}"));
                let text =
                    std::fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
                expanded.push_str(
                    anchored(&text, anchor).unwrap_or_else(|| panic!("{page}: no anchor `{anchor}` in {path}")),
                );
            }
            None => expanded.push_str(line),
        }
        expanded.push('\n');
    }
    expanded
}

/// The part of a file between the marks of an anchor. The whole file if the anchor is empty.
fn anchored<'a>(text: &'a str, anchor: &str) -> Option<&'a str> {
    if anchor.is_empty() {
        return Some(text);
    }
    let (_, rest) = text.split_once(&format!("<!-- ANCHOR: {anchor} -->"))?;
    let (part, _) = rest.split_once(&format!("<!-- ANCHOR_END: {anchor} -->"))?;
    Some(part)
}

/// The lines of a page with their numbers, without fenced code blocks.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        match (fence, mark) {
            (None, None) => lines.push((at + 1, line)),
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
        }
    }
    lines
}

/// Replaces inline code by spaces.
fn without_code(line: &str) -> String {
    let mut is_code = false;
    let mut clean = String::new();
    for character in line.chars() {
        if character == '`' {
            is_code = !is_code;
            clean.push(' ');
        } else {
            clean.push(if is_code { ' ' } else { character });
        }
    }
    clean
}

/// The links of a page, and the references that have no definition.
fn links(text: &str) -> (Vec<Link>, Vec<(usize, String)>) {
    let mut links = Vec::new();
    let mut used = Vec::new();
    let mut defined = BTreeSet::new();
    for (line, raw) in prose(text) {
        let clean = without_code(raw);
        if let Some((name, target)) = clean.strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
            defined.insert(name.to_owned());
            links.push(Link { line, target: target.trim().to_owned() });
            continue;
        }
        for (at, _) in clean.match_indices("](") {
            if let Some((target, _)) = clean[at + 2..].split_once(')') {
                links.push(Link { line, target: target.trim().to_owned() });
            }
        }
        for (at, _) in clean.match_indices("][") {
            if let Some((name, _)) = clean[at + 2..].split_once(']') {
                used.push((line, name.to_owned()));
            }
        }
    }
    used.retain(|(_, name)| !defined.contains(name));
    (links, used)
}

/// The anchors of a page's headings, as GitHub and mdBook name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let mut slug = String::new();
        for character in title.trim().chars() {
            if character.is_alphanumeric() || character == '-' || character == '_' {
                slug.extend(character.to_lowercase());
            } else if character == ' ' {
                slug.push('-');
            }
        }
        let count = seen.entry(slug.clone()).or_default();
        anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    anchors
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
