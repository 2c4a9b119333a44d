//! Documentation tests: run the commands of the user pages and compare the output with the text.
//!
//! The pages are `README.md`, `docs/getting-started.md`, `docs/recipes.md` and every page below `docs/guides/`. Each page has its own project
//! and home directory. [`page`] describes the markup. [`image`] generates `docs/images/terminal.svg`.
//!
//! `UPDATE_DOCS=1 cargo test -p checkrein-cli --test docs` rewrites the pages and the image.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed assertion ends the test")]

#[path = "../common/mod.rs"]
mod common;
mod image;
mod page;
mod times;
mod world;

use std::path::{Path, PathBuf};

use world::World;

/// Command that rewrites the pages and the image.
const UPDATE: &str = "UPDATE_DOCS=1 cargo test -p checkrein-cli --test docs";

/// Programs that the commands of a page need besides a POSIX shell and checkrein.
const REQUIRED_PROGRAMS: &[(&str, &[&str])] =
    &[("write-a-hook.md", &["python3", "node"]), ("share-hooks-in-a-team.md", &["ssh-keygen"])];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn updates_docs() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

#[test]
fn readme_shows_what_its_commands_print() {
    let commands = check_page(&repository().join("README.md"));
    assert!(commands >= 3, "README.md has only {commands} commands");
}

#[test]
fn getting_started_shows_what_its_commands_print() {
    let commands = check_page(&repository().join("docs/getting-started.md"));
    assert!(commands >= 3, "docs/getting-started.md has only {commands} commands");
}

#[test]
fn recipes_show_what_their_commands_print() {
    let commands = check_page(&repository().join("docs/recipes.md"));
    assert!(commands >= 1, "docs/recipes.md has no commands");
}

#[test]
fn guides_show_what_their_commands_print() {
    let commands: usize = pages_below(&repository().join("docs/guides")).iter().map(|path| check_page(path)).sum();
    assert!(commands >= 5, "docs/guides has only {commands} commands");
}

#[test]
fn terminal_image_shows_a_real_run() {
    let path = repository().join("docs/images/terminal.svg");
    let real = image::screen(&World::new().run_colored("checkrein simulate"));
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    let shown = image::parse(&current);
    let same_text = shown.as_ref().is_some_and(|shown| image::without_times(shown) == image::without_times(&real));
    if same_text && image::render(shown.as_deref().unwrap_or_default()) == current {
        return;
    }
    if updates_docs() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, image::render(&real)).unwrap();
    } else {
        panic!("docs/images/terminal.svg is out of date; run: {UPDATE}");
    }
}

fn pages_below(directory: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages.extend(pages_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

/// Runs the commands of a page and returns their number. Rewrites the page if `UPDATE_DOCS` is set.
#[track_caller]
fn check_page(path: &Path) -> usize {
    let name = path.file_name().unwrap().to_str().unwrap();
    let required = REQUIRED_PROGRAMS.iter().find(|(page, _)| *page == name).map_or(&[][..], |(_, programs)| programs);
    if let Some(program) = required.iter().find(|program| !world::is_on_path(program)) {
        common::skip(program, format_args!("{name} needs `{program}`"));
        return 0;
    }
    let text = std::fs::read_to_string(path).unwrap();
    let (rewritten, commands) = page::rewrite(&text, &mut World::new());
    if updates_docs() {
        if rewritten != text {
            std::fs::write(path, &rewritten).unwrap();
        }
    } else if rewritten != text {
        let line = text.lines().zip(rewritten.lines()).position(|(old, new)| old != new).unwrap_or_default();
        panic!(
            "{} is out of date from line {}; run: {UPDATE}\nactual text:\n{}",
            path.strip_prefix(repository()).unwrap().display(),
            line + 1,
            rewritten.lines().skip(line).take(12).collect::<Vec<_>>().join("\n")
        );
    }
    commands
}
