//! Limits the number of names at the crate root. Everything else is in modules.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

/// Maximum number of names.
const MAX_NAMES: usize = 30;

#[test]
fn crate_root_has_few_names() {
    let source = include_str!("../src/lib.rs");
    let mut names = Vec::new();
    for statement in source.split("\npub use ").skip(1) {
        let statement = statement.split(';').next().unwrap();
        assert!(!statement.contains('*'), "a glob hides how many names there are: {statement}");
        let list = statement.split_once('{').map_or(statement, |(_, list)| list);
        let items = list.trim_end_matches('}').split(',').map(str::trim).filter(|item| !item.is_empty());
        names.extend(items.map(|item| item.rsplit([':', ' ']).next().unwrap()));
    }
    // Modules are not counted.
    let names: Vec<_> = names.into_iter().filter(|name| name.starts_with(char::is_uppercase)).collect();
    assert!(names.contains(&"Engine") && names.contains(&"Verdict"), "the test reads the file: {names:?}");
    assert!(names.len() <= MAX_NAMES, "{} names at the root, at most {MAX_NAMES}: {names:?}", names.len());
}
