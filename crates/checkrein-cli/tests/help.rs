//! `checkrein --help`, and the options that every command has.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

/// Help as a terminal with this many columns gets it.
fn help(arguments: &[&str], columns: usize) -> String {
    let place = Place::with(&[]);
    let output = place.command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
    let ran = place.ran(output);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{arguments:?}");
    ran.stdout
}

/// Names of all commands, from the overview.
fn commands() -> Vec<String> {
    let help = help(&["--help"], 80);
    let listed = help.lines().skip_while(|line| *line != "Daily:").take_while(|line| !line.is_empty());
    listed.filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next().map(str::to_owned)).collect()
}

#[test]
fn overview_fits_a_screen() {
    let help = help(&["--help"], 80);
    insta::assert_snapshot!(help);
    assert!(help.lines().count() <= 50, "{} lines", help.lines().count());
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn overview_is_the_same_for_h_and_help() {
    assert_eq!(help(&["-h"], 80), help(&["--help"], 80));
}

#[test]
fn help_of_every_command_fits_80_columns_and_lists_exit_codes() {
    let commands = commands();
    assert!(commands.len() > 20, "{commands:?}");
    for command in &commands {
        let text = help(&[command, "--help"], 80);
        assert!(text.contains("\nExit codes:\n"), "{command}: {text}");
        assert!(text.contains("\nGlobal options:\n"), "{command}: {text}");
        let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{command}: {wide:#?}");
    }
}

#[test]
#[cfg(unix)]
fn overview_wraps_on_a_narrow_terminal() {
    let (code, text) = common::terminal::talk(Place::with(&[]).command(&["--help"]), 50, &[]);
    assert_eq!(code, 0);
    for line in text.lines() {
        assert!(line.trim_end().chars().count() <= 50, "{line}");
    }
    assert!(text.contains("completions  Print a completion script for your\r\n               shell"), "{text}");
}

#[test]
fn quiet_drops_notes_and_keeps_results_and_errors() {
    let place = Place::with(&[]);
    let (loud, quiet) = (place.run(&["run", "PreToolUse"]), place.run(&["run", "PreToolUse", "-q"]));
    assert!(loud.stderr.contains("no checkrein hooks here"), "{loud:?}");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (loud.code, ""));
    assert_eq!(quiet.stdout, loud.stdout);
    let wrong = place.run(&["-q", "run", "PreToolUsee"]);
    assert!(wrong.code == 64 && wrong.stderr.contains("PreToolUsee"), "{wrong:?}");
    let place = Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: x, evnt: PreToolUse}]\n")]);
    let broken = place.run(&["list", "-q"]);
    assert!(broken.stdout.contains("hooks[0]  .checkrein/hooks.yaml:1 (project)"), "{broken:?}");
    assert_eq!(place.run(&["-q", "-v", "list"]).code, 64);
}

#[test]
fn verbose_shows_the_searched_files() {
    let hooks = "hooks: [{id: x, event: PreToolUse, command: 'true'}]\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hooks)]);
    for arguments in [&["-v", "explain", "PreToolUse"][..], &["explain", "PreToolUse", "--verbose"]] {
        let stderr = place.run(arguments).stderr;
        assert!(stderr.contains("checkrein: .checkrein/hooks.yaml: 1 hook\n"), "{stderr}");
        assert!(stderr.contains("checkrein: ~/.config/checkrein/hooks.yaml: missing\n"), "{stderr}");
    }
    assert_eq!(place.run(&["explain", "PreToolUse"]).stderr, "");
}

#[test]
fn color_can_be_forced_and_forbidden() {
    let place = Place::with(&[]);
    for (arguments, is_colored) in [
        (&["events", "--color", "always"][..], true),
        (&["--color=always", "events"], true),
        (&["--color", "always", "--help"], true),
        (&["events", "--color", "never"], false),
        (&["events"], false),
    ] {
        for no_color in [false, true] {
            let mut command = place.command(arguments);
            if no_color {
                command.env("NO_COLOR", "1");
            }
            let ran = place.ran(command.output().unwrap());
            assert_eq!((ran.code, ran.stdout.contains('\u{1b}')), (0, is_colored), "{arguments:?}");
        }
    }
    let wrong = place.run(&["events", "--color", "blue"]);
    assert!(wrong.code == 64 && wrong.stderr.contains("blue"), "{wrong:?}");
}

/// Settings of agents may have global options before `hook`.
#[test]
fn hook_answers_after_global_options() {
    let hooks = "hooks: [{id: x, event: PreToolUse, command: 'echo no >&2; exit 2'}]\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hooks)]);
    let event = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let plain = place.run_with(&["hook", "claude"], event);
    assert!(plain.stdout.contains("\"deny\""), "{plain:?}");
    for options in [&["-q"][..], &["--color", "never", "-v"]] {
        let ran = place.run_with(&[options, &["hook", "claude"]].concat(), event);
        assert_eq!((ran.code, ran.stdout), (plain.code, plain.stdout.clone()), "{options:?}");
    }
    let wrong = place.run_with(&["--quiet", "hook", "claude", "--evnt", "x"], event);
    assert!(wrong.stdout.contains("\"deny\""), "{wrong:?}");
}
