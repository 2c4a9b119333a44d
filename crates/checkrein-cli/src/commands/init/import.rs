//! `checkrein init --from`: imports the hooks of another agent.
//!
//! Hooks that came with a repository are written and never approved: their user must review them first.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::hook::TrustLevel;
use checkrein::hook_files::Sources;

use super::super::config::{self, sources};
use super::super::{convert, display_path, layout, pluralize, print_note};
use super::text::DraftFile;

/// Imports the hooks of another agent. Without named files, only hooks of the same scope are imported: hooks of the
/// user must not enter a repository, and hooks of a repository must not apply to all projects.
pub fn draft(from: &'static Dialect, files: &[PathBuf], dir: &Path, scope: Scope) -> Result<DraftFile> {
    check_scope(files, dir, scope)?;
    let loaded = sources(from, files, dir)?.without_managed().load();
    config::print_diagnostics(&loaded);
    let of_user = |scope: Scope| scope.trust_level() >= TrustLevel::User;
    let is_meant = |own: Scope| !files.is_empty() || (own != Scope::Managed && of_user(own) == of_user(scope));
    let (meant, others): (Vec<_>, Vec<_>) =
        convert::without_installed(&loaded.hooks).into_iter().partition(|hook| is_meant(hook.info.source.scope));
    let mut notes = Vec::new();
    let mut add_note = |skipped: Scope, fix: &str| {
        let count = others.iter().filter(|hook| hook.info.source.scope == skipped).count();
        if count > 0 {
            let hooks = pluralize(count, "hook");
            notes.push(format!("skipped {hooks} of scope `{skipped}` (of {}): {fix}", loaded.hooks.len()));
        }
    };
    add_note(Scope::Managed, "only an administrator sets those");
    add_note(Scope::User, "import them with --user");
    for skipped in [Scope::Project, Scope::Local, Scope::Plugin] {
        add_note(skipped, "import them without --user");
    }
    if meant.is_empty() {
        for note in &notes {
            print_note(note);
        }
        bail!("nothing to import: {} has no hooks here", from.name);
    }
    let conversion = checkrein_tools::convert::convert(&meant, &native::DIALECT, dir)
        .context("cannot write hooks in checkrein's own format")?;
    notes.extend(convert::descriptions(&conversion, &meant));
    let gates = convert::gates_lost(&conversion, &meant);
    let lost = conversion.losses.iter().filter_map(|loss| convert::as_json(loss, &meant)).collect();
    Ok(DraftFile { text: conversion.text, extension: "json", notes, lost, gates })
}

/// Refuses to make files of the project a part of the user's own file, whose hooks need no approval.
fn check_scope(files: &[PathBuf], dir: &Path, scope: Scope) -> Result<()> {
    let Some(root) = super::repository(dir).filter(|_| scope == Scope::User) else { return Ok(()) };
    let is_inside = |file: &&PathBuf| file.canonicalize().is_ok_and(|file| file.starts_with(root));
    if let Some(file) = files.iter().find(is_inside) {
        let file = display_path(file);
        bail!("{file} belongs to this project, and hooks in your own file need no approval; import it without --user");
    }
    Ok(())
}

/// Prints the number of imported hooks that need approval, and the commands for it.
pub fn print_unapproved(dir: &Path, written: &Path) {
    let review = Sources::discover(&native::DIALECT, dir).review();
    let is_written = |file: &str| Path::new(file) == written;
    let hooks: Vec<_> =
        review.awaiting().into_iter().filter(|one| one.hook.source.file.as_deref().is_some_and(is_written)).collect();
    if !hooks.is_empty() {
        let count = pluralize(layout::count_hooks(hooks.iter().map(|one| &*one.hook)), "hook");
        print_note(&format!(
            "{count} not approved yet; review with `checkrein trust`, then `checkrein trust approve --all`"
        ));
    }
}
