//! Installation: the table in `docs/agents.md` matches the dialect tables, and entries have the agent's setting for failed
//! hooks. `UPDATE_DOCS=1` regenerates the table.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein::dialects::config::PathBase;
use checkrein::dialects::{ALL, Dialect, HostBehavior, OffValue, SettingsPath, SwitchRow};
use checkrein::hook_files::Locations;
use checkrein::{RawJson, Scope};
use checkrein_tools::install::{InstallError, Installer, Program};

const SWITCHES_HEADER: &str =
    "| agent | setting | of an administrator | of a repository | of the user |\n|---|---|---|---|---|\n";
const HEADER: &str = "| agent | file | events | omitted events | killed | timed out | missing | hooks are not called for |\n|---|---|---|---|---|---|---|---|\n";

fn table() -> String {
    let mut text = HEADER.to_owned();
    for agent in Installer::agents() {
        let home = tempfile::tempdir().unwrap();
        let installer = Installer::new(home.path(), Program::new("/usr/bin/checkrein"))
            .place(Locations::new("/nowhere").home(home.path()));
        let plan = installer.plan(agent, Scope::User).unwrap();
        let dialect = agent.install.and_then(|table| table.through).unwrap_or(agent);
        let left_out: Vec<_> = dialect
            .events
            .iter()
            .filter(|row| !plan.events.contains(&row.name))
            .map(|row| format!("`{}`", row.name))
            .collect();
        let switch = |outcome: HostBehavior| match (agent.host.failure_switch, outcome) {
            (Some((key, _)), HostBehavior::Runs) => format!("blocked, by `{key}`"),
            (_, outcome) => label(outcome).to_owned(),
        };
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} | {} | {} |",
            agent.name,
            file(agent),
            plan.events.len(),
            left_out.join(", "),
            switch(agent.host.killed),
            switch(agent.host.on_hook_timeout),
            switch(agent.host.missing_program),
            agent.host.not_observable.join("; "),
        )
        .unwrap();
    }
    let by_hand: Vec<_> = ALL
        .iter()
        .filter(|agent| agent.install.is_none() && !agent.has_all_events && !agent.name.contains('@'))
        .map(|agent| format!("`{}`", agent.name))
        .collect();
    writeln!(
        text,
        "\n`install` cannot edit the settings of these agents and prints instructions: {}.",
        by_hand.join(", ")
    )
    .unwrap();
    text
}

/// Table of the settings that switch hooks off.
fn switches() -> String {
    let mut text = SWITCHES_HEADER.to_owned();
    for agent in Installer::agents() {
        let rows = agent.install.unwrap().switches;
        let mut settings: Vec<String> = Vec::new();
        for row in rows {
            let setting = setting(row);
            if settings.contains(&setting) {
                continue;
            }
            let cell = |scopes: &[Scope]| {
                let rows = rows.iter().filter(|other| self::setting(other) == setting && scopes.contains(&other.scope));
                let files = rows.map(|row| {
                    let file = format!("`{}`", shown(&row.file));
                    let condition = if row.trusted_projects.is_some() { ", if the project is trusted" } else { "" };
                    let effect = if row.is_ignored { " (no effect)" } else { "" };
                    format!("{file}{condition}{effect}")
                });
                files.collect::<Vec<_>>().join(", ")
            };
            let (managed, project) = (cell(&[Scope::Managed]), cell(&[Scope::Project, Scope::Local]));
            let user = cell(&[Scope::User]);
            writeln!(text, "| `{}` | `{setting}` | {managed} | {project} | {user} |", agent.name).unwrap();
            settings.push(setting);
        }
    }
    text
}

fn setting(row: &SwitchRow) -> String {
    match row.off {
        OffValue::Flag(value) => format!("{}: {value}", row.key),
        OffValue::Listed(name) => format!("{}: [\"{name}\"]", row.key),
    }
}

fn shown(path: &SettingsPath) -> String {
    let prefix = match path.base {
        PathBase::Root => "/".to_owned(),
        PathBase::Home => "~/".to_owned(),
        PathBase::Config => "~/.config/".to_owned(),
        PathBase::Variable(_, home) => format!("~/{home}/"),
        _ => String::new(),
    };
    format!("{prefix}{}", path.path)
}

fn file(agent: &Dialect) -> String {
    let settings = agent.install.unwrap().user;
    let paths: Vec<_> = settings.iter().map(|path| format!("`{}`", shown(path))).collect();
    paths.join(" if it exists, else ")
}

fn label(outcome: HostBehavior) -> &'static str {
    match outcome {
        HostBehavior::Runs => "**runs**",
        HostBehavior::Blocked => "blocked",
        HostBehavior::Unknown => "unknown",
    }
}

#[test]
fn agents_table_in_docs_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let document = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (head, _) = document.rsplit_once("--test install`. -->\n\n").unwrap();
    // The first table follows its header, up to the next empty line.
    let (before, rest) = head.split_once(SWITCHES_HEADER).unwrap();
    let after = &rest[rest.find("\n\n").unwrap()..].trim_start();
    let head = format!("{before}{}\n{after}", switches());
    let expected = format!("{head}--test install`. -->\n\n{}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(document == expected, "docs/agents.md: UPDATE_DOCS=1 cargo test -p checkrein-tools --test install");
    }
}

#[test]
fn entries_have_the_setting_for_failed_hooks_unless_fail_open() {
    for agent in Installer::agents() {
        let home = tempfile::tempdir().unwrap();
        let installer = |open| {
            Installer::new(home.path(), Program::new("/usr/bin/checkrein"))
                .place(Locations::new("/nowhere").home(home.path()))
                .fail_open(open)
        };
        let after = |open| {
            let plan = installer(open).plan(agent, Scope::User).unwrap();
            plan.changes.iter().map(|change| change.after.clone().unwrap()).collect::<String>()
        };
        if let Some((key, value)) = agent.host.failure_switch {
            let entry = format!("{}: {value}", RawJson::string(key));
            assert!(after(false).contains(&entry), "{}: {entry}", agent.name);
            assert!(!after(true).contains(&entry), "{}: {entry}", agent.name);
        }
    }
}

#[test]
fn missing_home_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let installer = Installer::new(dir.path(), Program::by_name()).place(Locations::new("/nowhere"));
    let error = installer.plan(&checkrein::dialects::agents::claude::DIALECT, Scope::User).unwrap_err();
    assert!(matches!(error, InstallError::Nowhere { .. }), "{error}");
    assert!(
        installer.status(&checkrein::dialects::agents::claude::DIALECT).places.len() == 1,
        "only the project settings are known"
    );
}
