//! Decoding of files, and diagnostics.

use std::time::Duration;

use checkrein_core::{EventKind, FailurePolicy, HookState, Scope};
use checkrein_dialects::agents::docker_agent::{DIALECT, G2, hooks_from_flags};
use checkrein_dialects::config::{DecodeOptions, Decoded, PathBase};
use checkrein_dialects::{CommandLine, Dialect, HandlerSpec};
use checkrein_document::Format;

use crate::{decode, problems};

/// A hook with all keys.
pub(crate) const FULL: &str = r#"
version: "5"
agents:
  root:
    model: x
    hooks:
      pre_tool_use:
        - matcher: shell|edit_file
          hooks:
            - type: command
              command: ./guard.sh --all
              timeout: 5
              name: guard
              env: {MODE: strict, PORT: 8080}
              working_dir: tools
              strict_output: true
            - type: builtin
              command: max_iterations
              args: ["50"]
      post_tool_use:
        matcher: "*"
        hooks:
          - {type: command, command: "echo done", on_error: block}
      session_start:
        - {type: builtin, command: add_date}
        - {type: command, command: "cat notes", on_error: ignore}
      stop:
        type: command
        command: notify
        on_error: warn
      tool_guard:
        - hooks:
            - {type: model, model: judge, prompt: "is {{ .ToolInput }} safe?", schema: pre_tool_use_decision}
"#;

#[test]
fn every_key_is_decoded() {
    let decoded = decode(&DIALECT, FULL);
    assert_eq!(problems(&decoded), [""; 0]);
    let ids: Vec<_> = decoded.hooks.iter().map(|spec| spec.info.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "guard",
            "pre_tool_use[0].hooks[1]",
            "post_tool_use[0].hooks[0]",
            "session_start[0]",
            "session_start[1]",
            "stop[0]",
            "tool_guard[0].hooks[0]"
        ]
    );
    let guard = &decoded.hooks[0];
    assert_eq!(guard.timeout, Some(Duration::from_secs(5)));
    assert!(guard.strict && guard.matcher.matches("edit_file") && !guard.matcher.matches("edit"));
    let HandlerSpec::Command(command) = &guard.handler else { panic!("{guard:?}") };
    assert_eq!(command.run, CommandLine::Shell { text: "./guard.sh --all".to_owned(), shell: None });
    assert_eq!(command.cwd.as_deref(), Some("tools".as_ref()));
    assert_eq!(command.env_set, [("MODE".to_owned(), "strict".to_owned()), ("PORT".to_owned(), "8080".to_owned())]);
    let HandlerSpec::Builtin(builtin) = &decoded.hooks[1].handler else { panic!() };
    assert_eq!((builtin.name.as_str(), &builtin.args[..]), ("max_iterations", &["50".to_owned()][..]));
    let failing: Vec<_> =
        decoded.hooks[2..6].iter().map(|spec| (spec.info.on_failure, spec.info.log_only_failures)).collect();
    let (open, closed) = (Some(FailurePolicy::Open), Some(FailurePolicy::Closed));
    assert_eq!(failing, [(closed, false), (None, false), (open, true), (open, false)]);
    let HandlerSpec::Other { kind, settings } = &decoded.hooks[6].handler else { panic!() };
    assert_eq!(kind, "model");
    assert_eq!(settings.field("schema").unwrap().as_text().unwrap(), "pre_tool_use_decision");
    assert!(decoded.hooks.iter().all(|spec| spec.dialect.name == "docker-agent"));
    assert_eq!(guard.info.source.line, Some(10));
}

#[test]
fn three_kinds_of_files_are_decoded() {
    let hooks = "stop: [{type: command, command: x}]";
    for (text, count) in [
        (format!("agents: {{one: {{hooks: {{{hooks}}}}}}}"), 1),
        (format!("settings: {{theme: dark, hooks: {{{hooks}}}}}\naliases: {{}}"), 1),
        (format!("hooks: {{{hooks}}}"), 1),
        (hooks.to_owned(), 1),
        ("aliases: {}\nsettings: {}".to_owned(), 0),
        ("settings:\n".to_owned(), 0),
        ("theme: dark".to_owned(), 0),
        ("agents: {root: {model: x}}".to_owned(), 0),
        ("hooks:\n  stop:\n".to_owned(), 0),
        (String::new(), 0),
    ] {
        let decoded = decode(&DIALECT, &text);
        assert_eq!((decoded.hooks.len(), problems(&decoded)), (count, Vec::new()), "{text}");
    }
    let misspelt = decode(&DIALECT, "pre_tool_usee: []");
    let text = "1:1 error[unknown-event] docker-agent has no event `pre_tool_usee`, did you mean `pre_tool_use`?";
    assert_eq!(problems(&misspelt)[0], text);
    assert!(problems(&misspelt)[1].contains("closed-gate"), "{:?}", problems(&misspelt));
}

fn decode_of(agent: Option<&str>, text: &str) -> Decoded {
    let options = agent.map_or_else(DecodeOptions::default, |name| DecodeOptions::default().agent(name));
    DIALECT.decode_with("a.yaml", Scope::Project, text, Format::Yaml, &options)
}

#[test]
fn hooks_of_the_selected_agent_are_read() {
    let agent = |name: &str| format!("  {name}: {{hooks: {{stop: [{{type: command, command: {name}}}]}}}}\n");
    let file = |names: &[&str]| format!("agents:\n{}", names.iter().map(|name| agent(name)).collect::<String>());
    let command = |decoded: &Decoded| match &decoded.hooks[0].handler {
        HandlerSpec::Command(command) => format!("{:?}", command.run),
        other => panic!("{other:?}"),
    };
    for (names, wanted, expected) in
        [(&["one"][..], None, "one"), (&["one", "root"], None, "root"), (&["one", "root"], Some("one"), "one")]
    {
        let decoded = decode_of(wanted, &file(names));
        assert_eq!(problems(&decoded), [""; 0]);
        assert!(command(&decoded).contains(expected));
    }
    for (wanted, message) in [
        (None, "the file has several agents but no `root`, and no agent is selected"),
        (Some("three"), "the file has no agent `three`"),
    ] {
        let decoded = decode_of(wanted, &file(&["one", "two"]));
        assert_eq!(problems(&decoded), [format!("2:3 error[unknown-agent] {message}")]);
        assert_eq!(decoded.diagnostics[0].help.as_deref(), Some("select one of: one, two"));
        assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)), "its gates are closed");
    }
    assert!(decode_of(None, "agents: {one: {}, two: {}}").diagnostics.is_empty());
}

/// A gate with these lines as its only hook, indented.
fn gate(lines: &str) -> String {
    format!("pre_tool_use:\n  - matcher: shell\n    hooks:\n      - {}\n", lines.replace('\n', "\n        "))
}

#[test]
fn broken_hooks_close_their_gate_with_a_location() {
    let group = |group: &str| format!("pre_tool_use:\n  - {group}\n");
    for (text, code, message) in [
        (gate("command: x"), "missing-key", "this hook has no `type`"),
        (gate("type: comand\ncommand: x"), "unknown-handler", "unknown hook type `comand`"),
        (gate("type: http\ncommand: x"), "unknown-handler", "unknown hook type `http`"),
        (gate("type: command"), "missing-key", "this `command` hook has no `command`"),
        (gate("type: command\ncommand: '  '"), "missing-key", "this `command` hook has no `command`"),
        (gate("type: builtin"), "missing-key", "this `builtin` hook has no `command`"),
        (gate("type: model\nmodel: m"), "missing-key", "this `model` hook has no `prompt`"),
        (
            gate("type: command\ncommand: x\ntimeout: -1"),
            "bad-time",
            "`timeout` should not be below 0, but is `-1`; omit it to use the default",
        ),
        (
            gate("type: command\ncommand: x\ntimeout: soon"),
            "wrong-type",
            "`timeout` should be a whole number of seconds, but is a string",
        ),
        (
            gate("type: command\ncommand: x\non_error: explode"),
            "unknown-value",
            "unknown value of `on_error` `explode`",
        ),
        (group("matcher: shell"), "no-hooks", "this group has no hooks; add at least one to `hooks`"),
        (group("{matcher: shell, hooks: []}"), "no-hooks", "this group has no hooks; add at least one to `hooks`"),
        (group("shell"), "wrong-type", "`pre_tool_use[0]` should be an object, but is a string"),
        ("pre_tool_use: yes please".to_owned(), "wrong-type", "`pre_tool_use` should be a list, but is a string"),
    ] {
        let decoded = decode(&DIALECT, &text);
        let found = decoded.diagnostics.iter().find(|one| one.code == code);
        let found = found.unwrap_or_else(|| panic!("{text}: {:?}", problems(&decoded)));
        assert_eq!(found.message, message, "{text}");
        assert!(found.at.is_some());
        assert_eq!(decoded.hooks.len(), 1, "{text}");
        assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)), "{text}");
        assert_eq!(decoded.hooks[0].info.on_failure, Some(FailurePolicy::Closed));
    }
}

#[test]
fn invalid_matcher_does_not_disable_a_guard() {
    // The agent of the second generation logs it and drops the guard.
    for dialect in [&DIALECT, &G2] {
        let text = "pre_tool_use: [{matcher: 'shell(', hooks: [{type: command, command: x}]}]";
        let decoded = decode(dialect, text);
        assert!(decoded.diagnostics.iter().any(|one| one.code == "bad-matcher"));
        let [closed] = &decoded.hooks[..] else { panic!() };
        assert!(matches!(closed.state, HookState::Broken(_)));
        assert!(closed.matcher.matches("anything"));
    }
}

#[test]
fn on_error_is_checked_against_the_event() {
    for row in DIALECT.events {
        let hook = "{type: command, command: x, on_error: block}";
        let text = match row.matched {
            true => format!("{}: [{{hooks: [{hook}]}}]", row.name),
            false => format!("{}: [{hook}]", row.name),
        };
        let decoded = decode(&DIALECT, &text);
        let refused = decoded.diagnostics.iter().any(|one| one.code == "cannot-block");
        assert_eq!((refused, decoded.hooks.len()), (!row.blocks, usize::from(row.blocks)), "{}", row.name);
    }
    let decoded = decode(&DIALECT, &gate("type: command\ncommand: x\non_error: ignore"));
    let text = "`on_error` has no effect: every failure at `pre_tool_use` blocks";
    assert_eq!(problems(&decoded), [format!("6:19 warning[no-effect] {text}")]);
}

#[test]
fn unknown_keys_get_a_suggestion() {
    let decoded = decode(&DIALECT, &gate("type: command\ncommand: x\ntimout: 5"));
    assert_eq!(problems(&decoded), ["6:9 error[unknown-key] unknown key `timout`"]);
    assert_eq!(decoded.diagnostics[0].help.as_deref(), Some("did you mean `timeout`?"));
    assert_eq!(decoded.hooks.len(), 1);
    let grouped = decode(&DIALECT, "stop: [{matcher: x, hooks: [{type: command, command: x}]}]");
    assert_eq!(grouped.diagnostics[0].code, "no-groups");
}

#[test]
fn keys_and_events_unknown_to_the_second_generation_are_reported() {
    for key in ["name: n", "env: {}", "working_dir: x", "on_error: warn", "strict_output: true", "model: m"] {
        let decoded = decode(&G2, &gate(&format!("type: command\ncommand: x\n{key}")));
        let (name, _) = key.split_once(':').unwrap();
        assert_eq!(decoded.diagnostics[0].message, format!("unknown key `{name}`"));
    }
    assert_eq!(decode(&G2, "hooks: {permission_request: []}").diagnostics[0].code, "unknown-event");
    let lane = "pre_tool_use: [{preempt_yolo: true, hooks: [{type: command, command: x}]}]";
    assert_eq!(decode(&G2, lane).diagnostics[0].code, "unknown-key");
}

#[test]
fn lane_is_reported() {
    let text = |event: &str, value: &str| {
        format!("{event}:\n  - preempt_yolo: {value}\n    hooks: [{{type: command, command: x}}]\n")
    };
    let decoded = decode(&DIALECT, &text("pre_tool_use", "true"));
    assert_eq!(decoded.diagnostics[0].code, "no-lane");
    assert_eq!(decoded.diagnostics[0].at.as_ref().unwrap().place.line, 2);
    assert_eq!(decoded.hooks.len(), 1, "its hooks are read");
    assert!(decode(&DIALECT, &text("pre_tool_use", "false")).diagnostics.is_empty());
    assert_eq!(decode(&DIALECT, &text("tool_guard", "true")).diagnostics[0].code, "unknown-key");
}

#[test]
fn timeouts_are_read() {
    for (dialect, written, seconds) in [
        (&DIALECT, "0", 60),
        (&DIALECT, "5", 5),
        (&DIALECT, "86400", 86400),
        (&G2, "0", 60),
        (&G2, "-3", 60),
        // A number in quotes.
        (&DIALECT, "\"5\"", 5),
        (&G2, "'5'", 5),
    ] {
        let decoded = decode(dialect, &gate(&format!("type: command\ncommand: x\ntimeout: {written}")));
        assert_eq!(problems(&decoded), [""; 0]);
        assert_eq!(decoded.hooks[0].timeout_for(&EventKind::PreToolUse).as_secs(), seconds, "{written}");
    }
}

#[test]
fn hcl_is_rejected() {
    let decoded = DIALECT.decode("agent.hcl", Scope::Project, "agent \"root\" {}", Format::Yaml);
    assert_eq!(problems(&decoded), ["1:1 error[not-readable] checkrein does not read HCL"]);
    assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)));
}

fn are_same(dialect: &'static Dialect, one: &str, other: &str) -> bool {
    let hook = |extra: &str| format!("{{type: command, command: x{extra}}}");
    let text = format!("session_start: [{}, {}]", hook(one), hook(other));
    let decoded = decode(dialect, &text);
    let [one, other] = &decoded.hooks[..] else { panic!("{:?}", problems(&decoded)) };
    one.identity.is_some() && one.identity == other.identity
}

#[test]
fn duplicate_hooks_are_detected() {
    assert!(are_same(&DIALECT, "", "") && are_same(&G2, "", ""));
    assert!(are_same(&G2, ", timeout: 5", ", timeout: 6"), "type, command and arguments");
    assert!(!are_same(&G2, "", ", args: [a]") && !are_same(&G2, ", args: [a, b]", ", args: ['a b']"));
    assert!(are_same(&DIALECT, ", env: {}", "") && are_same(&DIALECT, ", timeout: 0", ""));
    for other in [
        ", args: [a]",
        ", timeout: 5",
        ", name: n",
        ", env: {A: b}",
        ", working_dir: w",
        ", on_error: warn",
        ", on_error: ignore",
        ", strict_output: true",
        ", prompt: p",
        ", model: m",
        ", schema: s",
    ] {
        assert!(!are_same(&DIALECT, "", other), "{other}");
    }
    assert!(!are_same(&DIALECT, ", on_error: warn", ", on_error: ignore"));
    assert!(!are_same(&DIALECT, ", env: {A: '${env.B}'}", ", env: {A: '${env.C}'}"), "as written");
    let kinds = decode(&DIALECT, "session_start: [{type: command, command: x}, {type: builtin, command: x}]");
    assert_ne!(kinds.hooks[0].identity, kinds.hooks[1].identity);
    let builtins = "session_start: [{type: builtin, command: x}, {type: builtin, command: x, env: {A: b}}]";
    let builtins = decode(&DIALECT, builtins);
    assert_ne!(builtins.hooks[0].identity, builtins.hooks[1].identity);
}

#[test]
fn first_matching_duplicate_runs() {
    let text = "pre_tool_use:\n  - {matcher: edit, hooks: [{type: command, command: x}]}\n  - {matcher: shell, hooks: [{type: command, command: x}]}\n  - {hooks: [{type: command, command: x}]}\n";
    let decoded = decode(&DIALECT, text);
    let set = checkrein_core::HookSet::new(decoded.hooks.iter().map(checkrein_dialects::HookSpec::selector).collect());
    let chosen: Vec<_> = set.select(&crate::event(&EventKind::PreToolUse)).map(|(at, _)| at).collect();
    assert_eq!(chosen, [1]);
}

#[test]
fn hooks_from_flags_match_all_tools() {
    let hooks = hooks_from_flags(
        &DIALECT,
        [("--hook-pre-tool-use", "./guard"), ("--hook-stop", " "), ("--hook-pre-tool-use", "./other")],
    )
    .unwrap();
    assert_eq!(hooks.len(), 2);
    assert!(hooks.iter().all(|spec| spec.kinds == [EventKind::PreToolUse] && spec.matcher.is_everything()));
    assert_eq!(hooks[0].info.to_string(), "hook `--hook-pre-tool-use[0]` (--hook-pre-tool-use)");
    assert_eq!(hooks[0].dialect.name, "docker-agent");
    // Equal to a hook in a file.
    let in_file = decode(&DIALECT, "pre_tool_use: [{hooks: [{type: command, command: ./guard}]}]");
    assert_eq!(in_file.hooks[0].identity, hooks[0].identity);
    let error = hooks_from_flags(&DIALECT, [("--hook-stpo", "x")]).unwrap_err();
    assert_eq!(error.to_string(), "unknown flag `--hook-stpo`, did you mean `--hook-stop`?");
}

#[test]
fn file_locations_are_known() {
    let files: Vec<_> = DIALECT.config.files.iter().map(|row| (row.path, row.extensions.len())).collect();
    assert_eq!(files, [("config.yaml", 0), ("hooks.d/*", 2)]);
    let variables = ["DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"];
    assert!(
        matches!(DIALECT.config.files[0].base, PathBase::FirstVariable(names, ".config/cagent") if names == variables)
    );
}
