//! `protect_self`: agents cannot change checkrein's own files.

use checkrein::dialects::agents::native;
use checkrein::hook_files::Sources;
use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, RawJson, Verdict};

use crate::common::{MANAGED, USER, World, hooks, ids};

async fn decide(world: &World, tool: &str, input: serde_json::Value) -> Decision {
    verdict(world, tool, input).await.decision()
}

async fn verdict(world: &World, tool: &str, input: serde_json::Value) -> Verdict {
    let home = world.path("home").display().to_string();
    let path = "/usr/bin:/opt/tools/bin".to_owned();
    let place = world.place().var_set("PATH", &path);
    let vars = [("HOME".to_owned(), home), ("PATH".to_owned(), path)];
    let sources = Sources::discover_in(&native::DIALECT, world.path("project"), place);
    let engine = Engine::builder().sources(sources).cwd(world.path("project")).vars(vars).build();
    let input: RawJson = input.to_string().parse().unwrap();
    engine.fire(Event::pre_tool_use(ToolCall::new(tool, input))).await
}

fn world(managed: &str) -> World {
    let world = World::with(&[(MANAGED, managed), (USER, &hooks(&[]))]);
    world.write("home/.claude/settings.json", "{}");
    world
}

#[tokio::test]
async fn changes_of_own_files_are_denied_and_of_entries_asked_about() {
    use Decision::{Ask, Deny, NoOpinion};
    let world = world("{}");
    let path = |path: &str| world.path(path).display().to_string();
    let file = |path: String| serde_json::json!({ "file_path": path, "content": "{}" });
    let shell = |command: String| serde_json::json!({ "command": command });
    let (managed, home) = (path(MANAGED), path("home"));
    for (tool, input, expected) in [
        ("Write", file(managed.clone()), Deny),
        ("Edit", file(path("root/etc/checkrein/hooks.d/new.json")), Deny),
        ("write_file", serde_json::json!({ "path": path(USER) }), Deny),
        ("Write", file(format!("{home}/.local/state/checkrein/audit.jsonl")), Deny),
        ("Write", file("/home/other/.config/checkrein/hooks.yaml".to_owned()), Deny),
        (
            "apply_patch",
            serde_json::json!({ "input": format!("*** Begin Patch\n*** Delete File: {managed}\n*** End Patch") }),
            Deny,
        ),
        ("Bash", shell(format!("rm {managed}")), Deny),
        ("Bash", shell("rm -rf ~/.config".to_owned()), Deny),
        ("Bash", shell("echo '{}' > ~/.config/checkrein/hooks.json".to_owned()), Deny),
        ("Bash", shell(format!("cd {} && mv checkrein /tmp", path("root/etc"))), Deny),
        ("Bash", shell("sed -i s/a/b/ $HOME/.config/checkrein/hooks.json".to_owned()), Deny),
        ("Bash", shell("cp /bin/true /opt/tools/bin/checkrein".to_owned()), Deny),
        ("Edit", file(format!("{home}/.claude/settings.json")), Ask),
        ("Edit", file(".claude/settings.json".to_owned()), Ask),
        ("Edit", file(".checkrein/hooks.yaml".to_owned()), Ask),
        ("Bash", shell("checkrein uninstall claude".to_owned()), Ask),
        ("Bash", shell("FOO=1 env checkrein install --all".to_owned()), Ask),
        ("Bash", shell("if checkrein; then (".to_owned()), Ask),
        ("Bash", shell("checkrein list --json".to_owned()), NoOpinion),
        ("Bash", shell("if true; then (".to_owned()), NoOpinion),
        ("Read", file(managed.clone()), NoOpinion),
        ("Bash", shell(format!("cat {managed} > copy")), NoOpinion),
        ("Write", file("src/checkrein.rs".to_owned()), NoOpinion),
        ("Bash", shell("rm -rf target".to_owned()), NoOpinion),
    ] {
        assert_eq!(decide(&world, tool, input.clone()).await, expected, "{tool} {input}");
    }
}

/// A list of all programs that write files cannot be complete. So a program that is not known as read-only is asked about.
#[tokio::test]
async fn unknown_programs_that_name_own_files_are_asked_about() {
    use Decision::{Ask, Deny, NoOpinion};
    let world = world("{}");
    let own = world.path(USER).display().to_string();
    let dir = world.path("home/.config/checkrein").display().to_string();
    for (command, expected) in [
        ("gzip OWN", Ask),
        ("nano ~/.claude/settings.json", Ask),
        ("tar xf x.tar -C DIR", Ask),
        ("unzip -o x.zip -dDIR", Ask),
        ("git -C DIR checkout .", Ask),
        ("ln OWN h; echo > h", Ask),
        ("ln -s ~/.claude/settings.json d; echo > d", Ask),
        ("python3 -c 'open(\"OWN\", \"w\")'", Ask),
        ("python3 - <<E\nimport os; os.remove('OWN')\nE", Ask),
        ("awk '{print > \"OWN\"}' x", Ask),
        ("sed -n 'w OWN' x", Ask),
        ("docker run -v DIR:/c alpine rm -r /c", Ask),
        ("Remove-Item OWN", Ask),
        ("/bin/r? OWN", Ask),
        ("alias ls='rm OWN'; ls", Deny),
        ("npx checkrein uninstall", Ask),
        ("env -S'checkrein uninstall'", Ask),
        ("env -iS 'checkrein' uninstall", Ask),
        ("cat <<E | sh\ncheckrein uninstall\nE", Ask),
        ("env - rm OWN", Deny),
        ("runuser -u me -- rm OWN", Deny),
        ("unshare rm OWN", Deny),
        ("flock l -c 'rm OWN'", Deny),
        ("rm ~+/../home/.config/checkrein/hooks.json", Deny),
        ("chmod -x /opt/tools/bin/checkrein", Deny),
        ("chmod a-x /opt/tools/bin/checkrein", Deny),
        ("sed -n 1p OWN", NoOpinion),
        ("awk '/x/' OWN", NoOpinion),
        ("find DIR -name '*.json'", NoOpinion),
        ("sudo cat OWN", NoOpinion),
        ("grep -r x DIR | sort", NoOpinion),
        ("echo see OWN", NoOpinion),
        ("cp OWN /tmp/copy", NoOpinion),
        ("git add .checkrein/hooks.yaml", NoOpinion),
        ("cargo test -p checkrein", NoOpinion),
        ("which checkrein", NoOpinion),
        ("make -C build ./all", NoOpinion),
    ] {
        let command = command.replace("OWN", &own).replace("DIR", &dir);
        let input = serde_json::json!({ "command": command });
        assert_eq!(decide(&world, "Bash", input).await, expected, "{command}");
    }
    for (tool, input, expected) in [
        ("mcp__x__run", serde_json::json!({ "args": ["rm", own] }), Ask),
        ("mcp__x__run", serde_json::json!({ "code": format!("open('{own}', 'w')") }), Ask),
        ("mcp__x__put", serde_json::json!({ "target": own }), Deny),
        ("mcp__x__read", serde_json::json!({ "target": own }), NoOpinion),
        ("mcp__x__put", serde_json::json!({ "target": "/tmp/x" }), NoOpinion),
        ("Write", serde_json::json!({ "file_path": "notes.md", "content": own }), NoOpinion),
        // A tool ignores fields that it does not have.
        ("Write", serde_json::json!({ "file_path": own, "content": "", "action": "read" }), Deny),
        ("Edit", serde_json::json!({ "file_path": own, "command": "view" }), Deny),
    ] {
        assert_eq!(decide(&world, tool, input.clone()).await, expected, "{tool} {input}");
    }
}

#[tokio::test]
async fn reasons_name_the_file() {
    let world = world("{}");
    let path = |path: &str| world.path(path).display().to_string();
    let (managed, settings) = (path(MANAGED), path("home/.claude/settings.json"));
    for (command, reason) in [
        (format!("rm {managed}"), format!("agents may not modify checkrein's files ({managed})")),
        (format!("rm {settings}"), format!("this changes {settings}, which runs checkrein's guards. Allow?")),
        (
            format!("nano {settings}"),
            format!("this may change {settings}, which belongs to checkrein or runs its guards. Allow?"),
        ),
        (
            "checkrein uninstall".to_owned(),
            "`checkrein uninstall` may change the guards of this agent. Allow?".to_owned(),
        ),
    ] {
        let verdict = verdict(&world, "Bash", serde_json::json!({ "command": command })).await;
        assert_eq!(verdict.reason(), Some(reason.as_str()), "{command}");
    }
}

#[tokio::test]
async fn protect_self_key_disables_the_protection() {
    let write = |world: &World| serde_json::json!({ "file_path": world.path(MANAGED), "content": "" });
    for (managed, expected) in [
        ("{}", Decision::Deny),
        (r#"{"protect_self": true}"#, Decision::Deny),
        (r#"{"protect_self": "no"}"#, Decision::Deny),
        (r#"{"protect_self": false}"#, Decision::NoOpinion),
    ] {
        let world = world(managed);
        assert_eq!(decide(&world, "Write", write(&world)).await, expected, "{managed}");
    }
    // Without a managed file, the protection is not added.
    let world = World::with(&[(USER, &hooks(&["mine"]))]);
    assert_eq!(world.load().hooks.len(), 1);
    assert_eq!(ids(&world.load().hooks), ["mine"]);
}

#[tokio::test]
async fn managed_audit_log_is_protected() {
    let world = World::new();
    let log = world.path("var/log/agents.jsonl").display().to_string();
    world.write(MANAGED, serde_json::json!({ "audit": { "path": log } }).to_string());
    for file in [log.clone(), format!("{log}.000000000001")] {
        assert_eq!(decide(&world, "Write", serde_json::json!({ "file_path": file })).await, Decision::Deny, "{file}");
    }
}
