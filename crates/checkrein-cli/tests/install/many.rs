//! Several at once, and some that are killed.

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
fn eight_at_once_are_as_good_as_one() {
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
fn all_agents_at_once_do_not_get_in_each_others_way() {
    let place = Place::with(&[]);
    let agents = ["claude", "codex", "gemini", "copilot", "vscode", "goose", "cline", "kiro"];
    all(agents.iter().map(|agent| start(&place, &["install", agent])).collect());
    for agent in agents {
        place.fine(&["status", agent, "--no-versions"]);
    }
    assert_eq!(place.names("home/.copilot/hooks"), ["checkrein-vscode.json", "checkrein.json"]);
}

#[test]
fn some_that_install_and_some_that_uninstall_leave_one_or_the_other() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let act = |at: usize| if at.is_multiple_of(2) { "install" } else { "uninstall" };
    all((0..8).map(|at| start(&place, &[act(at), "claude"])).collect());
    let text = place.read(CLAUDE);
    assert!(serde_json::from_str::<Value>(&text).is_ok());
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
}

#[test]
fn one_that_is_killed_leaves_what_was_or_what_will_be() {
    let alone = Place::with(&[(CLAUDE, SETTINGS)]);
    alone.fine(&["install", "claude"]);
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let after = alone.read(CLAUDE);
    for round in 0..40 {
        let mut child = start(&place, &["install", "claude"]);
        // Anywhere between the first instruction and the last; each outcome is right.
        for _ in 0..round * 20_000 {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        let text = place.read(CLAUDE);
        assert!(text == SETTINGS || text == after, "{text}");
        place.write(CLAUDE, SETTINGS);
    }
    // Whatever was left, the next one is not held up, and clears it away.
    place.fine(&["install", "claude"]);
    assert_eq!(place.read(CLAUDE), after);
    assert_eq!(place.names("home/.claude"), ["settings.json", "settings.json.checkrein-backup"]);
}

#[test]
fn one_that_is_killed_in_the_middle_of_writing_has_changed_nothing() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let program = place.command(&[]).get_program().to_owned();
    let mut limited = std::process::Command::new("sh");
    // The system kills it when the file that it writes has 512 bytes: the copy has fewer, the new settings have more.
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
fn what_one_that_was_killed_has_left_is_cleared_away() {
    let half = "home/.claude/.checkrein-0123456789abcdef-settings.json";
    let place = Place::with(&[(CLAUDE, SETTINGS), (half, "{\"hooks\": {"), ("home/.claude/.checkrein-x", "mine")]);
    place.fine(&["install", "claude"]);
    assert_eq!(
        place.names("home/.claude"),
        [".checkrein-x", "settings.json", "settings.json.checkrein-backup"],
        "only what is ours"
    );
}
