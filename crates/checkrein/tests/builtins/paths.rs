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
    ("mcp__shell__run", r#"{"command":"rm hosts","cwd":"/etc"}"#, true),
    ("mcp__shell__run", r#"{"command":"rm prod.yaml","workingDir":"config"}"#, true),
    ("mcp__shell__run", r#"{"command":"rm","args":[".env"]}"#, true),
    ("mcp__shell__run", r#"{"argv":["rm",".env"]}"#, true),
    ("mcp__shell__run", r#"{"script":"$RM .env"}"#, true),
    ("mcp__shell__run", r#"{"command":"rm main.rs","cwd":"src"}"#, false),
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
    // A tool is read-only only if its whole name and its input say so.
    ("mcp__x__fetch_to_file", r#"{"url":"u","path":".env"}"#, true),
    ("mcp__x__fetch", r#"{"url":"u","path":".env"}"#, false),
    ("open_for_writing", r#"{"path":".env"}"#, true),
    ("open_file", r#"{"path":".env"}"#, false),
    ("get", r#"{"path":".env","mode":"w"}"#, true),
    ("get", r#"{"path":".env","mode":"r"}"#, false),
    ("get", r#"{"path":".env","mode":"r+"}"#, true),
    ("open", r#"{"path":".env","flags":"O_WRONLY|O_CREAT"}"#, true),
    ("open", r#"{"path":".env","flags":"a"}"#, true),
    ("read_file", r#"{"path":".env","content":"x"}"#, true),
    ("get_file", r#"{"path":"x","save_to":".env"}"#, true),
    ("mcp__x__get_and_store", r#"{"file":".env"}"#, true),
    ("mcp__x__read_then_purge", r#"{"file":".env"}"#, true),
    ("mcp__read__wipe", r#"{"file":".env"}"#, true),
    ("mcp__x__download", r#"{"url":"u","target":".env"}"#, true),
    ("mcp__x__copy", r#"{"from":"a","to":".env"}"#, true),
    ("mcp__x__export", r#"{"out":".env"}"#, true),
    ("mcp__x__render", r#"{"output":".env"}"#, true),
    ("mcp__x__export", r#"{"output_path":".env"}"#, true),
    ("mcp__x__clone", r#"{"dest":"secrets/x"}"#, true),
    ("mcp__x__save", r#"{"save_as":"~/.ssh/config"}"#, true),
    ("write_file", r#"{"path":"file://PROJECT/.env"}"#, true),
    ("write_file", r#"{"path":"file://PROJECT/%2eenv"}"#, true),
    ("write_file", r#"{"path":"file://localhost/etc/hosts"}"#, true),
    ("write_file", r#"{"path":".env\u0000.txt"}"#, true),
    ("read_many_files", r#"{"paths":[".env"]}"#, false),
    ("search_file_content", r#"{"path":".git","pattern":"x"}"#, false),
    ("list_directory", r#"{"path":"~/.ssh"}"#, false),
    ("view_image", r#"{"path":"secrets/a.png"}"#, false),
    ("codebase_search", r#"{"query":"x","target_directories":["secrets"]}"#, false),
    ("mcp__fs__get_file_info", r#"{"path":".env"}"#, false),
    ("mcp__fs__directory_tree", r#"{"path":".git"}"#, false),
    ("apply_diff", r#"{"diff":"diff --git a/x b/.env\nsimilarity index 100%\nrename from x\nrename to .env"}"#, true),
    ("apply_diff", r#"{"patch":"diff --git a/x b/.env\ncopy from x\ncopy to .env"}"#, true),
    ("Bash", r#"{"command":"ls","cmd":"rm .env"}"#, true),
    ("Bash", r#"{"cmd":"ls","command":"rm .env"}"#, true),
    ("Bash", r#"{"command":"ls","shell_command":"rm .env"}"#, true),
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
    // Options in every form.
    ("curl -so .env https://x.test", true),
    ("curl -o.env https://x.test", true),
    ("curl --output=.env https://x.test", true),
    ("curl -fsSLo .env https://x.test", true),
    ("curl -O https://x.test/.env", true),
    ("curl -sD .env https://x.test", true),
    ("curl -d .env https://x.test", false),
    ("wget -qO .env https://x.test", true),
    ("wget -O.env https://x.test", true),
    ("wget https://x.test/.env", true),
    ("wget --output-doc=.env https://x.test", true),
    ("sort -o.env x", true),
    ("sort -uo .env x", true),
    ("sort --out=.env x", true),
    ("sort .env", false),
    ("shuf -o .env x", true),
    ("uniq a .env", true),
    ("uniq .env", false),
    ("tree -o .env", true),
    ("less -o .env x", true),
    ("less .env", false),
    ("gpg -o .env -d x", true),
    ("openssl rand -out .env 32", true),
    ("tar cf .env src", true),
    ("tar -czf .env src", true),
    ("zip .env src", true),
    ("gzip -k src/main.rs", false),
    ("gcc -o .env x.c", true),
    ("go build -o .env ./x", true),
    ("cp -t . x", false),
    ("cp --target-dir=config /tmp/prod.yaml", true),
    ("mv x src", false),
    ("mv x .", false),
    ("sed --in-pl s/a/b/ .env", true),
    ("rm --recurs config", true),
    // git with global options.
    ("git -C . rm .env", true),
    ("git -C config rm prod.yaml", true),
    ("git -c a=b checkout -- .env", true),
    ("git --no-pager restore .env", true),
    ("git -C .. status", false),
    ("git checkout main", false),
    ("git checkout main -- config/prod.yaml", true),
    ("git config -f .env a.b c", true),
    ("git diff --output=.env", true),
    ("git apply <<'E'\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\nE", true),
    ("patch -p1 <<'E'\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\nE", true),
    // find.
    ("find . -name .env -exec rm {} +", true),
    ("find . -name '.e*' -delete", true),
    ("find . -name .env -exec sed -i s/a/b/ {} \\;", true),
    ("find . -name .env | xargs rm", true),
    ("find . -name .env -print0 | xargs -0 truncate -s 0", true),
    ("find . -name .env -exec cat {} +", false),
    ("find . -name '*.pyc' -delete", false),
    ("find . -name '*.rs' -exec rm {} +", false),
    ("find config -type f -delete", true),
    ("find src -type f -delete", false),
    ("find . -name secrets -exec rm -rf {} +", true),
    ("find . | xargs grep x", false),
    ("rsync -a --delete x/ config/", true),
    ("rsync -a x/ src/", false),
];

/// Commands that may write to protected files. The builtin asks about them.
const QUESTIONS: &[&str] = &[
    "rm $UNKNOWN",
    "rm -f \"$X\"",
    "echo x > $F",
    "echo x >> \"$DIR/$NAME\"",
    "tee \"$F\" < x",
    "sed -i s/a/b/ $(git diff --name-only)",
    "cp x \"$DEST\"",
    "mv \"$A\" b",
    "rm .e$X",
    "git checkout -- $X",
    "git -C $X clean -fd",
    "rm $DIR/.env",
    "echo x > $F.pem",
    "rm $DIR/.ssh/id",
    "cd $X && rm prod.yaml",
    "tar xf a.tgz -C config",
    "tar -C config -xf a.tgz",
    "unzip a.zip -d config",
    "cp -rT x config",
    "cp -r x/. config",
    "git -C config clean -fdx",
    "git clean -fdx",
    "gzip .env",
    "rsync -a x/ config/",
];

/// Commands with unknown parts that cannot be protected files.
const QUIET: &[&str] = &[
    "cat $UNKNOWN",
    "rm \"$DIR/build.log\"",
    "echo x > \"$TMPDIR/x\"",
    "T=$(mktemp); echo x > \"$T\"",
    "cd $X && rm notes.txt",
    "tar xf a.tgz",
    "tar xf a.tgz -C src",
    "git -C $X status",
    "git checkout $BRANCH",
    "sed -i \"s/a/$B/\" notes.txt",
    "perl -pi -e \"s/a/$B/\" notes.txt",
    "mkdir -p \"$D\"",
];

#[tokio::test]
async fn unknown_targets_are_asked_about() {
    let bench = bench();
    let mut wrong = Vec::new();
    let questions = QUESTIONS.iter().map(|command| (command, true));
    for (command, asks) in questions.chain(QUIET.iter().map(|command| (command, false))) {
        let verdict = bench.shell(command).await;
        let expected = if asks { Decision::Ask } else { Decision::NoOpinion };
        if verdict.decision() != expected {
            wrong.push(format!("{command:?}: {} {:?}", verdict.decision(), verdict.reason()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

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
