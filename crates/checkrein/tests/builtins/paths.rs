use checkrein::payload::ToolCall;
use checkrein::{Decision, Event, EventKind};

use crate::common::{Bench, json};

const PATTERNS: &[&str] =
    &[".env*", "!.env.example", ".git", "config/prod.yaml", "secrets/**", "~/.ssh", "/etc", "*.pem"];

fn bench() -> Bench {
    let bench = Bench::new(EventKind::PreToolUse, "protect_paths", PATTERNS);
    for file in [".env", ".env.example", "config/prod.yaml", "config/dev.yaml", "secrets/a/key", "src/main.rs"] {
        bench.write(file, "x");
    }
    std::fs::create_dir_all(bench.home().join(".ssh")).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(bench.project().join(".env"), bench.project().join("link")).unwrap();
        std::os::unix::fs::symlink(bench.project().join("secrets"), bench.project().join("dir-link")).unwrap();
    }
    bench
}

/// The tool, its input, and `true` if it is denied. `PROJECT` and `HOME` are replaced by the directories.
const TOOLS: &[(&str, &str, bool)] = &[
    ("Write", r#"{"file_path":"PROJECT/.env","content":"x"}"#, true),
    ("Write", r#"{"file_path":".env.local","content":"x"}"#, true),
    ("Write", r#"{"file_path":".env.example","content":"x"}"#, false),
    ("Write", r#"{"file_path":"src/../.env","content":"x"}"#, true),
    ("Write", r#"{"file_path":"src/main.rs","content":"write to .env"}"#, false),
    ("Edit", r#"{"file_path":"sub/deep/.env","old_string":"a","new_string":"b"}"#, true),
    ("Edit", r#"{"file_path":"\u002eenv"}"#, true),
    ("MultiEdit", r#"{"edits":[{"filePath":"ok"},{"filePath":"config/prod.yaml"}]}"#, true),
    ("Edit", r#"{"file_path":"other/config/prod.yaml"}"#, false),
    ("NotebookEdit", r#"{"notebook_path":"secrets/a/b/c.ipynb"}"#, true),
    ("write_file", r#"{"path":"~/.ssh/id_ed25519"}"#, true),
    ("write_file", r#"{"path":"HOME/.ssh/config"}"#, true),
    ("write_file", r#"{"path":"/etc/hosts"}"#, true),
    ("write_file", r#"{"path":"link"}"#, true),
    ("write_file", r#"{"path":"dir-link/new"}"#, true),
    ("write_file", r#"{"path":"a/b.pem"}"#, true),
    ("mcp__fs__move_file", r#"{"source":".env","destination":"x"}"#, true),
    ("delete_files", r#"{"paths":["a","secrets/x"]}"#, true),
    ("Read", r#"{"file_path":".env"}"#, false),
    ("mcp__fs__read_text_file", r#"{"path":".env"}"#, false),
    ("readFile", r#"{"path":".env"}"#, false),
    ("Grep", r#"{"path":".git","pattern":"x"}"#, false),
    ("str_replace_based_edit_tool", r#"{"command":"view","path":".env"}"#, false),
    ("str_replace_based_edit_tool", r#"{"command":"create","path":".env"}"#, true),
    ("developer__text_editor", r#"{"command":"view","path":".env"}"#, false),
    ("mcp__fs__file", r#"{"action":"read","path":".env"}"#, false),
    ("Write", r#"{"file_path":".env","content":"x","action":"read"}"#, true),
    ("delete_file", r#"{"path":".env","command":"view"}"#, true),
    ("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: .env\n@@\n-a\n+b\n*** End Patch"}"#, true),
    ("apply_diff", r#"{"diff":"--- a/.env\n+++ b/.env\n@@ -1 +1 @@"}"#, true),
    ("Write", r#"{"file_path":"notes.md","content":"--- a/.env\n+++ b/.env"}"#, false),
    ("apply_patch", r#"{"input":"*** Begin Patch\n*** Update File: src/main.rs\n*** End Patch"}"#, false),
];

/// The command, and `true` if it is denied.
const COMMANDS: &[(&str, bool)] = &[
    ("echo x > .env", true),
    ("echo x >> config/prod.yaml", true),
    ("echo x 2> .env", true),
    ("echo x &> .env", true),
    ("{ echo x; } > .env", true),
    ("cat .env", false),
    ("cat < .env > copy", false),
    ("echo '> .env'", false),
    ("rm .env", true),
    ("rm ~+/.env", true),
    ("env -S'rm .env'", true),
    ("env - rm .env", true),
    ("cat <<E | sh\nrm .env\nE", true),
    ("chmod -r .env", true),
    ("rm -f -- .env", true),
    ("rm .en?", true),
    ("rm .e*", true),
    ("rm *.md", false),
    ("rm {a,.env}", true),
    ("rm src/main.rs", false),
    ("rm -rf config", true),
    ("rm -rf src", false),
    ("rm -rf secrets", true),
    ("mv .env x", true),
    ("mv config old", true),
    ("mv x .env", true),
    ("cp .env /nowhere/x", false),
    ("cp x .env", true),
    ("cp /tmp/prod.yaml config/", true),
    ("cp -t config /tmp/prod.yaml", true),
    ("echo x | tee -a .env", true),
    ("echo x | sudo tee /etc/hosts", true),
    ("sed -i s/a/b/ .env", true),
    ("sed -i.bak -e s/a/b/ config/prod.yaml", true),
    ("sed s/a/b/ .env", false),
    ("perl -pi -e s/a/b/ .env", true),
    ("dd if=x of=.env", true),
    ("truncate -s 0 .env", true),
    ("chmod 600 ~/.ssh/config", true),
    ("ln -sf x .env", true),
    ("curl -o .env https://x.test", true),
    ("cd config && rm prod.yaml", true),
    ("cd src; echo x > ../.env", true),
    ("F=.env; rm \"$F\"", true),
    ("bash -c 'echo x > .env'", true),
    ("echo .env | xargs rm", true),
    ("echo $(rm .env)", true),
    ("git checkout -- config/prod.yaml", true),
    ("git status", false),
    ("rm -rf .git/hooks", true),
    ("rm link", true),
    ("rm $UNKNOWN", false),
    ("rm HOME/.ssh/known_hosts", true),
    ("[[ a > .env ]]", false),
    ("ls | grep env", false),
    ("apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: .env\n*** End Patch\nEOF", true),
];

#[tokio::test]
async fn tools_that_write_protected_files_are_denied() {
    let bench = bench();
    let mut wrong = Vec::new();
    for (tool, input, denied) in TOOLS {
        if cfg!(not(unix)) && input.contains("link") {
            continue;
        }
        let input = placed(&bench, input);
        let verdict = bench.fire(Event::pre_tool_use(ToolCall::new(*tool, json(&input)))).await;
        if (verdict.decision() == Decision::Deny) != *denied || !verdict.warnings().is_empty() {
            wrong.push(format!("{tool} {input}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn commands_that_write_protected_files_are_denied() {
    let bench = bench();
    let mut wrong = Vec::new();
    for (command, denied) in COMMANDS {
        if cfg!(not(unix)) && command.contains("link") {
            continue;
        }
        let verdict = bench.shell(&placed(&bench, command)).await;
        if (verdict.decision() == Decision::Deny) != *denied || !verdict.warnings().is_empty() {
            wrong.push(format!("{command:?}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn placed(bench: &Bench, text: &str) -> String {
    text.replace("PROJECT", bench.project().to_str().unwrap()).replace("HOME", bench.home().to_str().unwrap())
}

#[tokio::test]
async fn reason_names_file_and_pattern() {
    let bench = bench();
    let verdict = bench.shell("rm .env").await;
    let path = bench.project().join(".env");
    assert_eq!(verdict.reason().unwrap(), format!("{} is protected by the pattern `.env*`", path.display()));
}

#[tokio::test]
async fn invalid_commands_are_asked_about() {
    assert_eq!(bench().shell("echo 'open").await.decision(), Decision::Ask);
}

#[tokio::test]
async fn host_can_mark_a_tool_as_read_only() {
    let bench = bench();
    for (read_only, decision) in [(true, Decision::NoOpinion), (false, Decision::Deny)] {
        let call = ToolCall::new("inspect", json(r#"{"path":".env"}"#)).tool_read_only(read_only);
        assert_eq!(bench.fire(Event::pre_tool_use(call)).await.decision(), decision);
    }
}

#[tokio::test]
async fn working_directory_may_contain_wildcards() {
    let bench = Bench::new(EventKind::PreToolUse, "protect_paths", &["config/prod.yaml"]);
    let odd = bench.project().join("[a]{b}*");
    std::fs::create_dir_all(&odd).unwrap();
    let event = Event::pre_tool_use(ToolCall::new("Write", json(r#"{"file_path":"config/prod.yaml"}"#)));
    assert_eq!(bench.fire_at(event, &odd).await.decision(), Decision::Deny);
}
