//! What is said of agents in `docs/agents.md` is what the tables say. `UPDATE_DOCS=1` renews it.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein::dialects::config::PathBase;
use checkrein::dialects::{ALL, Dialect, HostBehavior};
use checkrein::hook_files::Locations;
use checkrein::{RawJson, Scope};
use checkrein_tools::install::{InstallError, Installer, Program};

const HEADER: &str = "| agent | file | events | left out | killed | too late | not there | never heard of |\n|---|---|---|---|---|---|---|---|\n";

fn table() -> String {
    let mut text = HEADER.to_owned();
    for agent in Installer::agents() {
        let home = tempfile::tempdir().unwrap();
        let installer = Installer::new(home.path(), Program::new("/usr/bin/checkrein"))
            .place(Locations::new("/nowhere").home(home.path()));
        let plan = installer.plan(agent, Scope::User).unwrap();
        let speaks = agent.install.and_then(|table| table.through).unwrap_or(agent);
        let left_out: Vec<_> = speaks
            .events
            .iter()
            .filter(|row| !plan.events.contains(&row.name))
            .map(|row| format!("`{}`", row.name))
            .collect();
        let switch = |outcome: HostBehavior| match (agent.host.failure_switch, outcome) {
            (Some((key, _)), HostBehavior::Runs) => format!("blocked, by `{key}`"),
            (_, outcome) => said(outcome).to_owned(),
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
    writeln!(text, "\nNot written by `install`, which says what to do instead: {}.", by_hand.join(", ")).unwrap();
    text
}

fn file(agent: &Dialect) -> String {
    let spots = agent.install.unwrap().user;
    let at = |base: PathBase| match base {
        PathBase::Home => "~/".to_owned(),
        PathBase::Config => "~/.config/".to_owned(),
        PathBase::Variable(_, home) => format!("~/{home}/"),
        other => format!("{other:?}"),
    };
    let paths: Vec<_> = spots.iter().map(|spot| format!("`{}{}`", at(spot.base), spot.path)).collect();
    paths.join(" if it is there, else ")
}

fn said(outcome: HostBehavior) -> &'static str {
    match outcome {
        HostBehavior::Runs => "**runs**",
        HostBehavior::Blocked => "blocked",
        HostBehavior::Unknown => "not known",
    }
}

#[test]
fn the_table_of_agents_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let document = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let (head, _) = document.split_once("--test install`. -->\n\n").unwrap();
    let expected = format!("{head}--test install`. -->\n\n{}", table());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(document == expected, "docs/agents.md: UPDATE_DOCS=1 cargo test -p checkrein-tools --test install");
    }
}

/// The switch that the table names is what the entry has, at a gate.
#[test]
fn the_switch_against_dead_hooks_is_set() {
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
fn without_a_home_nothing_is_guessed() {
    let dir = tempfile::tempdir().unwrap();
    let installer = Installer::new(dir.path(), Program::by_name()).place(Locations::new("/nowhere"));
    let error = installer.plan(&checkrein::dialects::agents::claude::DIALECT, Scope::User).unwrap_err();
    assert!(matches!(error, InstallError::Nowhere { .. }), "{error}");
    assert!(
        installer.status(&checkrein::dialects::agents::claude::DIALECT).places.len() == 1,
        "the project's is known"
    );
}
