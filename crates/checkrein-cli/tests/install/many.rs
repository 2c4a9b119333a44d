//! Concurrent and killed runs of `install` and `uninstall`.

use std::process::{Child, Stdio};

use super::*;

fn start(place: &Place, arguments: &[&str]) -> Child {
    let mut command = place.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn all(children: Vec<Child>) {
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn concurrent_installs_equal_one_install() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    all((0..8).map(|_| start(&place, &["install", "claude"])).collect());
    let text = place.read(CLAUDE);
    let alone = Place::with(&[(CLAUDE, SETTINGS)]);
    alone.fine(&["install", "claude"]);
    assert_eq!(text, alone.read(CLAUDE));
    assert_eq!(place.names("home/.claude"), ["settings.json", "settings.json.checkrein-backup"]);
    all((0..8).map(|_| start(&place, &["uninstall", "claude"])).collect());
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
}

#[test]
fn concurrent_installs_of_all_agents_succeed() {
    let place = Place::with(&[]);
    let agents = ["claude", "codex", "gemini", "copilot", "vscode", "goose", "cline", "kiro"];
    all(agents.iter().map(|agent| start(&place, &["install", agent])).collect());
    for agent in agents {
        trust_entries(&place, agent);
        place.fine(&["status", agent, "--no-versions"]);
    }
    assert_eq!(place.names("home/.copilot/hooks"), ["checkrein-vscode.json", "checkrein.json"]);
}

#[test]
fn concurrent_install_and_uninstall_leave_a_valid_state() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let act = |at: usize| if at.is_multiple_of(2) { "install" } else { "uninstall" };
    all((0..8).map(|at| start(&place, &[act(at), "claude"])).collect());
    let text = place.read(CLAUDE);
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
}

#[test]
fn killed_install_leaves_old_or_new_settings() {
    let alone = Place::with(&[(CLAUDE, SETTINGS)]);
    alone.fine(&["install", "claude"]);
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let after = alone.read(CLAUDE);
    for round in 0..40 {
        let mut child = start(&place, &["install", "claude"]);
        // The process is killed at any point, and each outcome is valid.
        for _ in 0..round * 20_000 {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let text = place.read(CLAUDE);
        assert!(text == SETTINGS || text == after, "{text}");
        place.write(CLAUDE, SETTINGS);
    }
    // The next run succeeds and removes leftovers.
    place.fine(&["install", "claude"]);
    assert_eq!(place.read(CLAUDE), after);
    assert_eq!(place.names("home/.claude"), ["settings.json", "settings.json.checkrein-backup"]);
}

#[test]
fn install_killed_while_writing_changes_nothing() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let program = place.command(&[]).get_program().to_owned();
    let mut limited = std::process::Command::new("sh");
    // The kernel kills the process when a file reaches 512 bytes. The backup is smaller, the new settings are larger.
    assert!(SETTINGS.len() < 512);
    limited.args(["-c", "ulimit -c 0; ulimit -f 1; exec \"$0\" install claude"]).arg(program);
    limited.current_dir(place.dir.path()).env("HOME", place.path("home")).env_remove("CLAUDE_CONFIG_DIR");
    let output = limited.output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(place.read(CLAUDE), SETTINGS);
    place.fine(&["install", "claude"]);
    assert!(calls(&place.read(CLAUDE)) > 0);
    assert_eq!(place.names("home/.claude"), ["settings.json", "settings.json.checkrein-backup"]);
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
}

#[test]
fn leftovers_of_a_killed_install_are_removed() {
    let half = "home/.claude/.checkrein-0123456789abcdef-settings.json";
    let place = Place::with(&[(CLAUDE, SETTINGS), (half, "{\"hooks\": {"), ("home/.claude/.checkrein-x", "mine")]);
    place.fine(&["install", "claude"]);
    assert_eq!(
        place.names("home/.claude"),
        [".checkrein-x", "settings.json", "settings.json.checkrein-backup"],
        "only what is ours"
    );
}
