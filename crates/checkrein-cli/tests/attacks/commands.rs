//! Commands that hide what they do from guards, rules and reviews.

use serde_json::{Value, json};

use crate::common::Place;
use crate::{PROJECT, USER, ask, decided, sent};

fn decisions(hooks: &str, inputs: &[(&str, Value)]) -> Vec<String> {
    let place = Place::with(&[(USER, hooks), (".env", "x"), ("src/x", "")]);
    let ask = |(tool, input): &(&str, Value)| decided(&ask(&place, &[], sent(tool, input).as_bytes())).0;
    inputs.iter().map(ask).collect()
}

fn bash(commands: &[&str]) -> Vec<(&'static str, Value)> {
    commands.iter().map(|command| ("Bash", json!({ "command": command }))).collect()
}

#[test]
fn unknown_programs_and_targets_are_asked_about() {
    let commands = bash(&[
        "$X -rf src",
        "$(echo rm) -rf src",
        "X=$(cat name); $X src",
        "/bin/r? -rf src",
        "rm -rf $X",
        "rm -rf \"$X/etc\"",
        "cd $X && rm -rf etc",
        "cat list | xargs rm -rf",
    ]);
    let hooks = "hooks: [{id: guard, event: PreToolUse, builtin: block_dangerous_commands}]";
    for (decision, (_, command)) in decisions(hooks, &commands).iter().zip(&commands) {
        assert_eq!(decision, "ask", "{command}");
    }
    let ordinary = bash(&["echo $HOME", "ls $DIR", "make -j$(nproc)", "for f in *.rs; do wc -l \"$f\"; done"]);
    for (decision, (_, command)) in decisions(hooks, &ordinary).iter().zip(&ordinary) {
        assert!(decision.starts_with("nothing"), "{command}: {decision}");
    }
}

#[test]
fn scripts_that_another_program_prints_are_not_missed() {
    let known = bash(&[
        "bash <(echo rm -rf /)",
        "source <(echo rm -rf /)",
        ". /dev/stdin <<< 'rm -rf /'",
        "echo 'rm -rf /' | tee x | sh",
        "mapfile -C 'rm -rf /' -c 1 < x",
        "git -c alias.x='!rm -rf /' x",
        "git rebase -x 'rm -rf /' main",
    ]);
    let hooks = "hooks: [{id: guard, event: PreToolUse, builtin: block_dangerous_commands}]";
    for (decision, (_, command)) in decisions(hooks, &known).iter().zip(&known) {
        assert_eq!(decision, "deny", "{command}");
    }
    let unknown = bash(&[
        "echo '/ fr- mr' | rev | sh",
        "exec 3<<<'rm -rf /'; . /dev/fd/3",
        "{ bash; } <<< 'rm -rf /'",
        "echo 'rm -rf /' > >(sh)",
    ]);
    for (decision, (_, command)) in decisions(hooks, &unknown).iter().zip(&unknown) {
        assert_eq!(decision, "ask", "{command}");
    }
    let ordinary = bash(&["cat log | sort | uniq -c", "source <(kubectl completion bash)", "cat setup.sh | bash"]);
    for (decision, (_, command)) in decisions(hooks, &ordinary).iter().zip(&ordinary) {
        assert!(decision.starts_with("nothing"), "{command}: {decision}");
    }
}

#[test]
fn unusual_spellings_of_options_and_tools_are_recognised() {
    let inputs = [
        ("Bash", json!({ "command": "curl -so .env https://x.test" })),
        ("Bash", json!({ "command": "git -C . rm .env" })),
        ("Bash", json!({ "command": "sort --outp=.env x" })),
        ("Bash", json!({ "command": "find . -name .env -exec rm {} +" })),
        ("Bash", json!({ "command": "ls", "cmd": "rm .env" })),
        ("mcp__x__fetch_to_file", json!({ "url": "u", "path": ".env" })),
        ("open_for_writing", json!({ "path": ".env" })),
        ("get", json!({ "path": ".env", "mode": "w" })),
        ("mcp__x__copy", json!({ "from": "a", "to": ".env" })),
    ];
    let hooks = "hooks: [{id: protect, event: PreToolUse, builtin: protect_paths, args: [.env]}]";
    for (decision, input) in decisions(hooks, &inputs).iter().zip(&inputs) {
        assert_eq!(decision, "deny", "{input:?}");
    }
}

#[test]
fn rules_cannot_be_avoided_by_options_or_variables() {
    let rule = "hooks: [{id: no, event: PreToolUse, if: 'Bash(git push *)', command: 'echo no >&2; exit 2'}]";
    let input = "hooks: [{id: no, event: PreToolUse, input: {command: git push}, command: 'echo no >&2; exit 2'}]";
    let hidden =
        bash(&["git -C d push", "git -c a=b push", "git --no-pager push origin", "$X push", "git $X", "echo 'open"]);
    for (decision, (_, command)) in decisions(rule, &hidden).iter().zip(&hidden) {
        assert_eq!(decision, "deny", "{command}");
    }
    let others = bash(&["echo $HOME", "cargo build $FLAGS", "git status $X"]);
    for (decision, (_, command)) in decisions(rule, &others).iter().zip(&others) {
        assert!(decision.starts_with("nothing"), "{command}: {decision}");
    }
    let found = decisions(input, &bash(&["git push", "git push --force", "cd x && git push", "git pull"]));
    assert_eq!(found[..3], ["deny", "deny", "deny"]);
    assert!(found[3].starts_with("nothing"), "{found:?}");
}

#[test]
fn costly_command_cannot_outlast_the_timeout() {
    let hooks = "hooks: [{id: guard, event: PreToolUse, builtin: block_dangerous_commands},\n\
                 {id: rule, event: PreToolUse, if: 'Bash(git push *)', command: 'echo no >&2; exit 2'}]";
    let values: String = (0..500).map(|number| format!("V{number}=x;")).collect();
    let commands = [
        format!("{}rm -rf /", "cd a;".repeat(6000)),
        format!("{values}X='{}';{}rm -rf /", "$()".repeat(1300), "eval echo $X;".repeat(100)),
        format!("{}rm -rf /", "find . | xargs rm;".repeat(1700)),
        format!("{}rm -rf /", "curl -o f u; sh g;".repeat(1700)),
    ];
    let commands: Vec<_> = commands.iter().map(String::as_str).collect();
    for (decision, command) in decisions(hooks, &bash(&commands)).iter().zip(&commands) {
        assert!(decision == "deny" || decision == "ask", "{decision}: {}", &command[..40]);
    }
}

#[test]
fn script_that_a_review_does_not_cover_is_named() {
    for command in [
        "[[ -n $(./x.sh) ]]",
        "for ((;;)) do ./x.sh; break; done",
        "X=./x.sh; (X=/bin/true); $X",
        "trap -- ./x.sh EXIT",
        "awk -fa.awk",
        "printf -v PATH .; x.sh",
        "PS4='$(./x.sh)'; set -x; :",
        "GIT_PROXY_COMMAND=./x.sh git fetch",
        "SOME_TOOL=./x.sh some-program",
    ] {
        let hooks = json!({ "hooks": [{ "id": "own", "event": "PreToolUse", "command": command }] }).to_string();
        let place = Place::untrusted(&[(PROJECT, hooks.as_str()), ("x.sh", "echo"), ("a.awk", "1")]);
        let ran = place.ran(place.command(&["trust", "list", "--json"]).output().unwrap());
        let text = ran.stdout;
        let is_named = ["x.sh", "a.awk", "not verified", "other code"].iter().any(|part| text.contains(part));
        assert!(is_named, "{command}: {text}");
    }
}
