use checkrein::payload::ToolCall;
use checkrein::{Decision, Event, EventKind, HookSpec};

use crate::common::{Bench, json};

/// A home with checkrein's files, a guard for them, and the name of the home.
fn bench() -> (Bench, String) {
    let outer = Bench::with(Vec::new());
    let home = outer.home();
    for file in [".config/checkrein/hooks.yaml", ".claude/settings.json", "etc/checkrein/hooks.yaml"] {
        std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        std::fs::write(home.join(file), "x").unwrap();
    }
    let home = home.to_str().unwrap().to_owned();
    let engine = checkrein::Engine::builder()
        .hooks(vec![HookSpec::builtin("own", EventKind::PreToolUse, "protect_self").args([
            format!("deny:{home}/etc/checkrein"),
            format!("deny:{home}/.config/checkrein"),
            format!("ask:{home}/.claude/settings.json"),
            "ask:**/.codex/hooks.json".to_owned(),
        ])])
        .cwd(outer.project())
        .vars([("HOME", home.as_str())])
        .build();
    (Bench { root: outer.root, engine }, home)
}

/// The command, and whether it is denied or asked about. `ETC` is a directory with checkrein's files.
const COMMANDS: &[(&str, Decision)] = &[
    ("rm -rf ETC/checkrein", Decision::Deny),
    ("rm -rf ETC", Decision::Deny),
    ("rm -rf ~/.config", Decision::Deny),
    ("echo x > ~/.config/checkrein/hooks.yaml", Decision::Deny),
    ("find ETC/checkrein -exec rm {} +", Decision::Deny),
    ("find ETC -delete", Decision::Deny),
    ("find ETC -type f | xargs rm", Decision::Deny),
    ("uniq a ETC/checkrein/hooks.yaml", Decision::Deny),
    ("tree -o ETC/checkrein/hooks.yaml", Decision::Deny),
    ("less -o ETC/checkrein/hooks.yaml x", Decision::Deny),
    ("sort -oETC/checkrein/hooks.yaml x", Decision::Deny),
    ("curl -so ETC/checkrein/hooks.yaml https://x.test", Decision::Deny),
    ("wget -qO ETC/checkrein/hooks.yaml https://x.test", Decision::Deny),
    ("rsync -a --delete x/ ~/.config/", Decision::Deny),
    ("mv ~/.config x", Decision::Deny),
    ("chmod -R 000 ~/.config", Decision::Deny),
    ("rsync -a x/ ~/.config/", Decision::Ask),
    ("cp -rT x ~/.config", Decision::Ask),
    ("cp -r x/. ~/.config", Decision::Ask),
    ("tar x -C ~/.config -f a.tar", Decision::Ask),
    ("tar xf a.tar -C ~/.config", Decision::Ask),
    ("tar -xf a.tar --directory=ETC", Decision::Ask),
    ("unzip a.zip -d ~/.config", Decision::Ask),
    ("git -C ~/.config clean -fdx", Decision::Ask),
    ("git -C ~/.config checkout .", Decision::Ask),
    ("git --work-tree ~/.config reset --hard", Decision::Ask),
    ("HOME=~/.config; rm -rf ~/checkrein", Decision::Deny),
    ("HOME=$(cat x); rm -rf ~/checkrein", Decision::Ask),
    ("cat list | xargs rm", Decision::Ask),
    ("cd $(cat x) && rm -rf checkrein", Decision::Ask),
    ("cd $X; rm -rf .config/checkrein", Decision::Ask),
    ("rm -rf $X/checkrein", Decision::Ask),
    ("rm -rf \"$X\"", Decision::Ask),
    ("echo x > $X", Decision::Ask),
    ("cp x \"$D/settings.json\"", Decision::Ask),
    ("$(which checkrein) uninstall", Decision::Ask),
    ("$(command -v checkrein) uninstall", Decision::Ask),
    ("checkrein uninstall", Decision::Ask),
    ("checkrein approve X", Decision::Deny),
    ("checkrein -q approve X --yes", Decision::Deny),
    ("sh -c 'checkrein approve X'", Decision::Deny),
    ("npx checkrein approve X", Decision::Deny),
    ("$(which checkrein) appro''ve X", Decision::Deny),
    ("checkrein $X", Decision::Deny),
    ("grep -r 'checkrein approve' docs", Decision::NoOpinion),
    ("npx checkrein uninstall", Decision::Ask),
    ("pkill checkrein", Decision::Ask),
    ("pkill -9 -f 'check.*n hook'", Decision::NoOpinion),
    ("pkill -9 -f 'check.*n'", Decision::Ask),
    ("killall checkrein", Decision::Ask),
    ("kill $(pgrep checkrein)", Decision::Ask),
    ("pgrep checkrein | xargs kill -9", Decision::Ask),
    ("systemctl --user stop checkrein.service", Decision::Ask),
    ("pgrep checkrein", Decision::NoOpinion),
    ("which checkrein", Decision::NoOpinion),
    ("$(which checkrein) check", Decision::NoOpinion),
    ("cat ~/.config/checkrein/hooks.yaml", Decision::NoOpinion),
    ("find ~/.config -name '*.yaml'", Decision::NoOpinion),
    ("tar xf a.tar -C build", Decision::NoOpinion),
    ("git -C ~/.config status", Decision::NoOpinion),
    ("cd $X && rm -rf build", Decision::NoOpinion),
    ("rm -rf $X/build", Decision::NoOpinion),
    ("pkill vite", Decision::NoOpinion),
];

#[tokio::test]
async fn commands_that_change_guards_are_stopped() {
    let (bench, home) = bench();
    let mut wrong = Vec::new();
    for (command, expected) in COMMANDS {
        let command = command.replace("ETC", &format!("{home}/etc"));
        let verdict = bench.shell(&command).await;
        if verdict.decision() != *expected {
            wrong.push(format!("{command:?}: {} {:?}, not {expected}", verdict.decision(), verdict.reason()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn directories_and_arguments_of_shell_tools_are_read() {
    let (bench, home) = bench();
    for (input, expected) in [
        (r#"{"command":"rm -rf checkrein","cwd":"HOME/.config"}"#, Decision::Deny),
        (r#"{"command":"rm","args":["-rf","HOME/.config/checkrein"]}"#, Decision::Deny),
        (r#"{"argv":["checkrein","approve","X"]}"#, Decision::Deny),
        (r#"{"command":"checkrein","args":"approve X"}"#, Decision::Deny),
        (r#"{"command":"rm -rf build","cwd":"HOME/project"}"#, Decision::NoOpinion),
    ] {
        let event = Event::pre_tool_use(ToolCall::new("mcp__shell__run", json(&input.replace("HOME", &home))));
        assert_eq!(bench.fire(event).await.decision(), expected, "{input}");
    }
}

#[tokio::test]
async fn path_behind_many_others_is_found() {
    let (bench, home) = bench();
    for count in [10, 300, 3000] {
        let many: Vec<String> = (0..count).map(|number| format!("./a/{number}")).collect();
        let many = many.join(" ");
        let verdict = bench.shell(&format!("some-program {many} {home}/.config/checkrein/hooks.yaml")).await;
        assert_eq!(verdict.decision(), Decision::Ask, "{count}");
        let input = format!(r#"{{"items":"{many} {home}/.claude/settings.json"}}"#);
        let event = Event::pre_tool_use(ToolCall::new("mcp__x__process", json(&input)));
        assert_eq!(bench.fire(event).await.decision(), Decision::Ask, "{count}");
    }
}
