//! Permission rules and patterns for tool input.

use checkrein::dialects::{InputPattern, PermissionRule};
use checkrein::hook::{Grammar, SkipReason};
use checkrein::payload::{SessionStart, ToolOutcome};
use checkrein::{Engine, Envelope, Event, EventKind, HookSpec, Matcher, RawJson};

use crate::common::tool_call;

fn runs(spec: HookSpec, event: &Event) -> bool {
    let engine = Engine::builder().hook(spec).cwd("/srv/project").vars([("HOME", "/home/ann")]).build();
    engine.explain(event).iter().filter(|planned| planned.why_not.is_none()).count() == 1
}

fn spec() -> HookSpec {
    HookSpec::shell("h", EventKind::PreToolUse, "true")
        .also_for(EventKind::PostToolUse)
        .also_for(EventKind::SessionStart)
}

fn ruled(rule: &str) -> HookSpec {
    let mut spec = spec();
    spec.permission_rule = Some(rule.parse::<PermissionRule>().unwrap());
    spec
}

fn command(text: &str) -> Event {
    tool_call("Bash", &format!(r#"{{"command": {}}}"#, RawJson::string(text)))
}

#[test]
fn command_rules_match_programs_with_arguments_in_other_fields() {
    for (rule, input, expected) in [
        ("mcp__shell__run(git push *)", r#"{"command":"git","args":["push","-f"]}"#, true),
        ("mcp__shell__run(git push *)", r#"{"command":"git","args":["status"]}"#, false),
        ("mcp__shell__run(git push *)", r#"{"command":"git","args":{"x":1}}"#, true),
        ("mcp__shell__run(rm *)", r#"{"argv":["rm","x"]}"#, true),
        ("mcp__shell__run(rm *)", r#"{"script":"ls; rm x"}"#, true),
        ("mcp__shell__run(rm *)", r#"{"script":"ls"}"#, false),
    ] {
        assert_eq!(runs(ruled(rule), &tool_call("mcp__shell__run", input)), expected, "{rule} {input}");
    }
}

#[test]
fn command_rules_match_shell_commands() {
    for (rule, text, expected) in [
        ("Bash", "anything", true),
        ("Edit", "anything", false),
        ("B*h", "anything", true),
        ("Bash(git *)", "git push", true),
        ("Bash(git *)", "git", true),
        ("Bash(git *)", "gitk", false),
        ("Bash(git *)", "ls", false),
        ("Bash(git *)", "/usr/bin/git push", true),
        ("Bash(git *)", "FOO=1 git push", true),
        ("Bash(git *)", "sudo git push", true),
        ("Bash(git *)", "cd x && git push", true),
        ("Bash(git *)", "ls | xargs git add", true),
        ("Bash(git *)", "echo $(git status)", true),
        ("Bash(git *)", "echo `git status`", true),
        ("Bash(git *)", "echo $HOME", false),
        ("Bash(git *)", "$TOOL push", true),
        ("Bash(git push *)", "$GIT push origin", true),
        ("Bash(git push *)", "$GIT status", false),
        ("Bash(rm *)", "$GIT push origin", false),
        ("Bash(git *)", "echo 'git push'", false),
        ("Bash(git push *)", "git push origin", true),
        ("Bash(git push *)", "git push", true),
        ("Bash(git push *)", "git pull", false),
        ("Bash(git push *)", "git $WHAT", true),
        ("Bash(git push *)", "ls $X", false),
        ("Bash(git push *)", "echo $HOME", false),
        ("Bash(git push *)", "cargo build $FLAGS", false),
        ("Bash(git push *)", "make -j$(nproc)", false),
        ("Bash(git push *)", "for f in *; do echo $f; done", false),
        ("Bash(git push *)", "cd $HOME && ls", false),
        ("Bash(git push *)", "echo ${X:-1}", false),
        ("Bash(git push *)", "git commit -m \"$MSG\"", false),
        ("Bash(git push *)", "git status $X", false),
        ("Bash(git push *)", "$DIR/x.sh push", false),
        ("Bash(git push *)", "\"$HOME/bin/tool\" push", false),
        ("Bash(rm -rf *)", "ls $X", false),
        ("Bash(rm -rf *)", "rm $X", true),
        ("Bash(rm -rf *)", "rm $FLAGS /tmp/x", true),
        ("Bash(rm -rf *)", "rm -f x", false),
        ("Bash(git push *)", "$X push", true),
        ("Bash(git push *)", "$X", true),
        ("Bash(git push *)", "\"$X\" push origin", true),
        ("Bash(git push *)", "$X git push", true),
        ("Bash(git push *)", "git $X push", true),
        ("Bash(git push *)", "git \"$X\"", true),
        ("Bash(git push *)", "git p$X origin", true),
        ("Bash(git push *)", "git c$X origin", false),
        ("Bash(git push *)", "$(echo git) push", true),
        ("Bash(git push *)", "`echo git` push", true),
        ("Bash(git push *)", "$DIR/git push", true),
        ("Bash(git push *)", "$(which git) push", true),
        ("Bash(git push *)", "$(which npm) push", false),
        ("Bash(git push *)", "/usr/bin/g?t push", true),
        ("Bash(git push *)", "git -C d push", true),
        ("Bash(git push *)", "git -C $D push", true),
        ("Bash(git push *)", "git -c a=b push origin", true),
        ("Bash(git push *)", "git --no-pager push", true),
        ("Bash(git push *)", "git --git-dir=x --work-tree y push", true),
        ("Bash(git push *)", "git -C push status", false),
        ("Bash(git -C *)", "git -C d push", true),
        ("Bash(npm run *)", "npm --prefix d run build", true),
        ("Bash(docker rm *)", "docker --context x rm y", true),
        ("Bash(docker rm *)", "docker -H tcp://x rm y", true),
        ("Bash(kubectl delete *)", "kubectl -n x delete pod", true),
        ("Bash(kubectl delete *)", "kubectl --context=y -n x delete pod", true),
        ("Bash(kubectl delete *)", "kubectl -n delete get pod", false),
        ("Bash(cargo publish *)", "cargo +nightly publish", true),
        ("Bash(terraform destroy *)", "terraform -chdir=x destroy", true),
        ("Bash(helm uninstall *)", "helm -n x uninstall y", true),
        ("Bash(gh pr merge *)", "gh -R a/b pr merge 1", true),
        ("Bash(aws s3 rm *)", "aws --profile p --region r s3 rm s3://x", true),
        ("Bash(git push)", "git push origin", false),
        ("Bash(git push)", "git push", true),
        ("Bash(git:*)", "git push", true),
        ("Bash(npm run test:*)", "npm run test:unit", true),
        ("Bash(npm run test:*)", "npm run test --all", true),
        ("Bash(npm run test:*)", "npm run build", false),
        ("Bash(* --force)", "git push --force", true),
        ("Bash(./scripts/x *)", "./scripts/x 1", true),
        ("Bash(git *)", "echo 'not closed", true),
        ("Bash(rm *)", "find . -exec rm {} +", true),
        ("Bash(rm *)", "bash -c 'rm x'", true),
    ] {
        assert_eq!(runs(ruled(rule), &command(text)), expected, "{rule} at {text}");
    }
    let argv = tool_call("shell", r#"{"command": ["git", "push"]}"#);
    assert!(runs(ruled("shell(git *)"), &argv) && !runs(ruled("shell(ls *)"), &argv));
    let several = tool_call("Bash", r#"{"commands": ["cd x", "git push"]}"#);
    assert!(runs(ruled("Bash(git push)"), &several) && !runs(ruled("Bash(ls *)"), &several));
}

#[test]
fn file_rules_match_paths() {
    for (rule, path, expected) in [
        ("Edit(src/**)", "/srv/project/src/a/b.rs", true),
        ("Edit(src/**)", "src/a.rs", true),
        ("Edit(src/**)", "/srv/project/sub/src/a.rs", false),
        ("Edit(src/**)", "/elsewhere/src/a.rs", false),
        ("Edit(src/**)", "/srv/project/src/../secret", false),
        ("Edit(**/src/**)", "/srv/project/sub/src/a.rs", true),
        ("Edit(*.ts)", "/srv/project/deep/a.ts", true),
        ("Edit(*.ts)", "/srv/project/deep/a.rs", false),
        ("Edit(~/.ssh/**)", "~/.ssh/config", true),
        ("Edit(~/.ssh/**)", "file:///home/ann/.ssh/config", true),
        ("Edit(~/.ssh/**)", "file://localhost/home/ann/.ssh/config", true),
        ("Edit(~/.ssh/**)", "file:///home/ann/%2essh/config", true),
        ("Edit(.env)", ".env\0.txt", true),
        ("Edit(.env)", "notes.txt\n.env", true),
        ("Edit(.env)", "file:///srv/project/notes.txt", false),
        ("Edit(/etc/**)", "/etc/passwd", true),
        ("Edit(//etc/**)", "/etc/passwd", true),
        ("Edit(//src/**)", "/srv/project/src/a", false),
        ("Edit(/src/**)", "/srv/project/src/a", true),
        ("Edit(~/.ssh/**)", "/home/ann/.ssh/id", true),
        ("Edit(~/.ssh/**)", "/home/bob/.ssh/id", false),
        ("Edit([)", "/anything", true),
        ("Write(src/**)", "src/a.rs", false),
    ] {
        let input = |key: &str| format!(r#"{{"{key}": {}, "text": "x"}}"#, RawJson::string(path));
        for key in ["file_path", "path"] {
            assert_eq!(runs(ruled(rule), &tool_call("Edit", &input(key))), expected, "{rule} at {path}");
        }
    }
    let patch = tool_call(
        "Edit",
        r#"{"command": "*** Begin Patch\n*** Update File: a\n+x\n*** Add File: .env\n+x\n*** End Patch"}"#,
    );
    assert!(runs(ruled("Edit(.env)"), &patch) && runs(ruled("Edit(a)"), &patch) && !runs(ruled("Edit(b)"), &patch));
    let several = tool_call("Read", r#"{"files": [{"path": "a"}, {"path": ".env"}], "paths": ["c"]}"#);
    assert!(
        runs(ruled("Read(.env)"), &several) && runs(ruled("Read(c)"), &several) && !runs(ruled("Read(b)"), &several)
    );
    let elsewhere = tool_call("Edit", r#"{"file_path": "src/a"}"#).within(Envelope::new().cwd("/other"));
    assert!(runs(ruled("Edit(src/**)"), &elsewhere), "relative to the working directory of the event");
}

#[test]
fn other_rules_match_values_of_the_input() {
    for (rule, input, expected) in [
        ("Web(https://*)", r#"{"url": "https://example.com"}"#, true),
        ("Web(https://*)", r#"{"url": "ftp://example.com"}"#, false),
        ("Web(url:https://*)", r#"{"url": "https://example.com"}"#, true),
        ("Web(domain:example.com)", r#"{"url": "ftp://example.com"}"#, true),
        ("Web(7)", r#"{"n": 7}"#, true),
        ("Web(x*)", r#""xyz""#, true),
    ] {
        assert_eq!(runs(ruled(rule), &tool_call("Web", input)), expected, "{rule} at {input}");
    }
}

#[test]
fn rule_never_holds_without_a_tool() {
    let start = || Event::session_start(SessionStart::new());
    assert!(runs(spec(), &start()) && !runs(ruled("Bash"), &start()));
    let engine = Engine::builder().hook(ruled("Bash")).build();
    assert!(
        engine.problems()[0].to_string().contains("which `session_start` does not have"),
        "{:?}",
        engine.problems()
    );
    let input: RawJson = r#"{"command": "git push"}"#.parse().unwrap();
    assert!(runs(ruled("Bash(git *)"), &Event::post_tool_use(ToolOutcome::new("Bash", input))));
}

#[test]
fn input_patterns_match_every_agents_field_names() {
    for (field, pattern, input, expected) in [
        ("file_path", r"\.env$", r#"{"path": "a/.env", "file_text": "x"}"#, true),
        ("file_path", r"\.env$", r#"{"path": "a/env", "file_text": ".env"}"#, false),
        ("path", r"\.env$", r#"{"file_path": "a/.env"}"#, true),
        ("file_path", r"\.env$", r#"{"command": "*** Begin Patch\n*** Add File: .env\n+x\n*** End Patch"}"#, true),
        ("file_path", r"\.env$", r#"{"command": "*** Begin Patch\n*** Add File: a\n+.env\n*** End Patch"}"#, false),
        ("content", "KEY", r#"{"path": "a", "file_text": "KEY=1"}"#, true),
        ("content", "KEY", r#"{"command": "*** Begin Patch\n*** Add File: a\n+KEY\n*** End Patch"}"#, true),
        ("content", "KEY", r#"{"path": "KEY"}"#, false),
        ("command", "push", r#"{"commands": ["ls", "git push"]}"#, true),
        // The field itself takes precedence.
        ("file_path", r"\.env$", r#"{"file_path": "a", "path": ".env"}"#, false),
    ] {
        let mut spec = spec();
        spec.input = vec![InputPattern {
            field: field.to_owned(),
            matcher: Matcher::compile(&Grammar::REGEX_SEARCH, Some(pattern)).unwrap(),
        }];
        assert_eq!(runs(spec, &tool_call("Write", input)), expected, "{field}: {pattern} at {input}");
    }
}

#[test]
fn input_patterns_match_fields() {
    let with = |patterns: &[(&str, &str)]| {
        let mut spec = spec();
        let pattern = |(field, name): &(&str, &str)| InputPattern {
            field: (*field).to_owned(),
            matcher: Matcher::names([*name]),
        };
        spec.input = patterns.iter().map(pattern).collect();
        spec
    };
    let event = || tool_call("Db", r#"{"mode": "write", "n": 1.50, "to": {"table": "users"}, "list": [1]}"#);
    for (patterns, expected) in [
        (&[("mode", "write")][..], true),
        (&[("mode", "read")], false),
        (&[("n", "1.50"), ("to.table", "users")], true),
        (&[("n", "1.50"), ("to.table", "orders")], false),
        (&[("list", "[1]")], true),
        (&[("none", "x")], false),
        (&[("mode.deeper", "x")], false),
    ] {
        assert_eq!(runs(with(patterns), &event()), expected, "{patterns:?}");
    }
    assert!(!runs(with(&[("mode", "write")]), &Event::session_start(SessionStart::new())));
}

#[test]
fn plan_names_the_condition_that_does_not_hold() {
    let mut spec = ruled("Bash(git *)");
    spec.input = vec![InputPattern { field: "cwd".to_owned(), matcher: Matcher::names(["/"]) }];
    let engine = Engine::builder().hook(spec).build();
    let text = "input.cwd: /".to_owned();
    assert_eq!(engine.explain(&command("git push"))[0].why_not, Some(SkipReason::Condition { text }));
}
