//! The root of the crate stays small: what an agent author needs in the first hour. All else is in modules.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

/// At most so many names.
const MOST: usize = 30;

#[test]
fn the_root_has_few_names() {
    let source = include_str!("../src/lib.rs");
    let mut names = Vec::new();
    for statement in source.split("\npub use ").skip(1) {
        let statement = statement.split(';').next().unwrap();
        assert!(!statement.contains('*'), "a glob hides how many names there are: {statement}");
        let list = statement.split_once('{').map_or(statement, |(_, list)| list);
        let items = list.trim_end_matches('}').split(',').map(str::trim).filter(|item| !item.is_empty());
        names.extend(items.map(|item| item.rsplit([':', ' ']).next().unwrap()));
    }
    // Modules are the way to everything else.
    let names: Vec<_> = names.into_iter().filter(|name| name.starts_with(char::is_uppercase)).collect();
    assert!(names.contains(&"Engine") && names.contains(&"Verdict"), "the test reads the file: {names:?}");
    assert!(names.len() <= MOST, "{} names at the root, at most {MOST}: {names:?}", names.len());
}
