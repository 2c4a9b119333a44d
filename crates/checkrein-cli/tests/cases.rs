//! `checkrein test`: test cases, their expectations and reports.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};

/// Hooks for every kind of expectation.
const HOOKS: &str = r#"
hooks:
  PreToolUse:
    - matcher: Bash
      hooks:
        - {id: guard, command: ./hooks/guard.sh}
        - {id: test-timeout, command: "grep -q 'cargo test' && echo '{\"updatedInput\":{\"timeout\":600,\"command\":\"cargo test\",\"id\":12345678901234567890}}'; true", rewrites: true}
    - matcher: Write
      hooks:
        - {id: breaks, command: "echo half an answer; echo oops >&2; exit 7"}
    - matcher: Read
      hooks:
        - {id: warns, command: "exit 9", on_failure: open}
    - matcher: Glob
      hooks:
        - {id: looks, command: "cat note.txt >&2; printf '%s' \"$TOKEN-$HIDDEN\" >&2; pwd >&2; exit 2", env_allow: [TOKEN]}
    - matcher: Grep
      hooks:
        - {id: runs-tool, command: "./tool >&2; exit 2"}
  SessionStart:
    - {id: greets, command: "echo be kind; true"}
  PostToolUse:
    - {id: shortens, command: "echo '{\"updatedToolOutput\":\"short\"}'", rewrites: true}
  UserPromptSubmit:
    - {id: polite, command: "echo '{\"updatedPrompt\":\"please\"}'", rewrites: true}
  SessionEnd:
    - {id: later, command: "echo in the background; exit 0", async: true}
"#;

const GUARD: &str = r#"#!/bin/sh
. "$(dirname "$0")/words.sh"
grep -q "$WORDS" || exit 0
echo "use --force-with-lease" >&2
exit 2
"#;

fn place() -> Place {
    Place::with(&[
        (".checkrein/hooks.yaml", HOOKS),
        ("hooks/guard.sh", GUARD),
        ("hooks/words.sh", "WORDS='push --force'\n"),
    ])
}

/// One case in a file.
fn with_case(event: &str, expect: &str) -> (Place, Ran) {
    let place = place();
    let text = format!("cases:\n  - {{name: it, {event}, expect: {expect}}}\n");
    place.write(".checkrein/tests/it.yaml", &text);
    let ran = place.run(&["test"]);
    (place, ran)
}

const PUSH: &str = "event: PreToolUse, tool: Bash, input: {command: git push --force}";
const LS: &str = "event: PreToolUse, tool: Bash, input: {command: ls}";
const CARGO: &str = "event: PreToolUse, tool: Bash, input: {command: cargo test, id: 12345678901234567890}";
const WRITE: &str = "event: PreToolUse, tool: Write";
const READ: &str = "event: PreToolUse, tool: Read";
const START: &str = "event: SessionStart";
const PROMPT: &str = "event: UserPromptSubmit, set: {prompt: do it}";
const POST: &str = "event: PostToolUse, tool: Bash";
const END: &str = "event: SessionEnd";

/// Each expectation passes once and fails once, with the text of the failure.
#[test]
fn every_expectation_passes_or_is_reported() {
    for (event, holds, fails, said) in [
        (PUSH, "{decision: deny}", "{decision: allow}", "- allow\n        + deny\n"),
        (PUSH, "{decision: [ask, deny]}", "{decision: [ask, allow]}", "- ask or allow\n        + deny\n"),
        (PUSH, "{reason: 'lease$'}", "{reason: '^lease'}", "- /^lease/\n        + use --force-with-lease\n"),
        (PUSH, "{reason: {contains: '--force-w'}}", "{reason: {contains: x.y}}", "- text that contains \"x.y\"\n"),
        (PUSH, "{reason: {lacks: please}}", "{reason: {lacks: lease}}", "- no match of /lease/\n"),
        (PUSH, "{reason: {equals: use --force-with-lease}}", "{reason: {equals: use}}", "- use\n        + use --"),
        (LS, "{reason: null, decision: no_opinion}", "{reason: x}", "- /x/\n        + none\n"),
        (
            PUSH,
            "{hooks: {guard: {exit_code: 2}}}",
            "{hooks: {guard: {exit_code: 3}}}",
            "hooks.guard.exit_code (line 2)\n        - 3\n        + 2\n",
        ),
        (WRITE, "{exit_code: 7}", "{exit_code: 0}", "exit_code (line 2)\n        - 0\n        + 7\n"),
        (
            LS,
            "{ran: [guard, test-timeout]}",
            "{exit_code: 0}",
            "+ several hooks ran: guard, test-timeout; use `hooks` to select one\n",
        ),
        (LS, "{not_ran: [breaks]}", "{not_ran: [guard]}", "- not guard\n        + guard, test-timeout\n"),
        (READ, "{ran: warns}", "{ran: []}", "- none\n        + warns\n"),
        ("event: Stop", "{ran: []}", "{ran: [greets]}", "- greets\n        + none\n"),
        (LS, "{not_ran: greets}", "{not_ran: [greet]}", "unknown hook `greet`, did you mean `greets`?"),
        (
            LS,
            "{hooks: {guard: {failure: null}}}",
            "{hooks: {breaks: {exit_code: 0}}}",
            "- runs\n        + did not run\n",
        ),
        (
            WRITE,
            "{hooks: {breaks: {failure: exit}}}",
            "{hooks: {breaks: {failure: timeout}}}",
            "- timeout\n        + exit: exit code 7: oops\n",
        ),
        (
            WRITE,
            "{hooks: {breaks: {stdout: half, stderr: ^oops$}}}",
            "{hooks: {breaks: {stdout: whole}}}",
            "- /whole/\n        + half an answer\n",
        ),
        (
            WRITE,
            "{hooks: {breaks: {stderr: oops}}}",
            "{hooks: {breaks: {stderr: {equals: oh}}}}",
            "- oh\n        + oops\n",
        ),
        (
            PUSH,
            "{hooks: {guard: {decision: deny, reason: lease}}}",
            "{hooks: {guard: {decision: ask}}}",
            "- ask\n        + deny\n",
        ),
        (
            CARGO,
            "{input: {timeout: 600}}",
            "{input: {timeout: 60, command: cargo test}}",
            "  {\n        -   \"timeout\": 60,\n        +   \"timeout\": 600,\n            \"command\": \"cargo test\"\n",
        ),
        (
            CARGO,
            "{input_is: {timeout: 600, command: cargo test, id: 12345678901234567890}}",
            "{input_is: {timeout: 600}}",
            "+   \"id\": 12345678901234567890\n",
        ),
        (LS, "{input: null}", "{input: {command: cat}}", "-   \"command\": \"cat\"\n        +   \"command\": \"ls\"\n"),
        (CARGO, "{input: {id: 12345678901234567890}}", "{input: null}", "+   \"timeout\": 600,\n"),
        (START, "{context: be kind}", "{context: be rude}", "- /be rude/\n        + be kind\n"),
        (START, "{context: [kind, be], warnings: [], messages: []}", "{context: []}", "- none\n        + be kind\n"),
        (START, "{context: [{lacks: rude}]}", "{context: [{lacks: kind}]}", "- no match of /kind/\n"),
        (
            READ,
            "{warnings: 'exit code 9'}",
            "{warnings: []}",
            "warnings (line 2)\n        - none\n        + hook `warns`",
        ),
        (PROMPT, "{prompt: ^please$}", "{prompt: null}", "- do it\n        + please\n"),
        (POST, "{output: short}", "{output: long}", "- \"long\"\n        + \"short\"\n"),
        (POST, "{output_is: short}", "{output: null}", "+ \"short\"\n"),
        (START, "{max_duration: 60s}", "{max_duration: 1ns}", "max_duration (line 2)\n        - at most N ms\n"),
        (
            START,
            "{max_duration: 60}",
            "{hooks: {greets: {context: []}}}",
            "hooks.greets.context (line 2)\n        - none\n        + be kind\n",
        ),
        (
            END,
            "{hooks: {later: {exit_code: 0, stdout: background}}}",
            "{hooks: {later: {stdout: foreground}}}",
            "- /foreground/\n        + in the background\n",
        ),
    ] {
        let (_, ran) = with_case(event, holds);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{event} {holds}:\n{}", ran.stdout);
        let (_, ran) = with_case(event, fails);
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{event} {fails}:\n{}", ran.stdout);
        assert!(ran.stdout.contains(said), "{event} {fails}:\n{}", ran.stdout);
    }
}

#[test]
fn failures_are_shown_as_a_diff_and_repeated() {
    let place = place();
    place.write(
        ".checkrein/tests/guard.yaml",
        "cases:\n  - name: force pushes are refused\n    event: PreToolUse\n    input: {command: git push --force}\n    expect: {decision: deny}\n\n  - name: pushes are refused\n    event: PreToolUse\n    input: {command: git push}\n    expect:\n      decision: deny\n      reason: lease\n  - name: writing is fine\n    event: PreToolUse\n    tool: Write\n    expect:\n      decision: [allow, no_opinion]\n",
    );
    let ran = place.run(&["test"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}'), "colours are for terminals");
}

#[test]
fn errors_in_case_files_have_a_place() {
    for (text, place_of, said) in [
        (
            "cases: [{name: a, evnt: Stop, expect: {ran: []}}]",
            ":1:19: error[unknown-key]: unknown key `evnt`",
            "did you mean `event`?",
        ),
        ("cases:\n  - name: a\n    event: Stopp\n    expect: {ran: []}\n", ":3:12: error[unknown-event]", "Stop"),
        ("cases:\n  - {name: a, event: Stop}\n", ":2:5: error[no-expectation]", "the case has no key `expect`"),
        ("cases:\n  - {name: a, event: Stop, expect: {}}\n", "error[no-expectation]", "`expect` is empty"),
        ("cases:\n  - {event: Stop, expect: {ran: []}}\n", ":2:5: error[missing-key]", "the case has no key `name`"),
        (
            "cases:\n  - {name: a, event: Stop, expect: {decision: denny}}\n",
            ":2:47: error[unknown-word]",
            "did you mean `deny`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {hooks: {g: {exit_cod: 1}}}}\n",
            "error[unknown-key]",
            "did you mean `exit_code`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {hooks: {g: {failure: tiemout}}}}\n",
            "error[unknown-word]",
            "did you mean `timeout`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {reason: '('}}\n",
            ":2:45: error[bad-pattern]",
            "invalid regular expression: unclosed group",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {reason: {contians: x}}}\n",
            "error[unknown-key]",
            "did you mean `contains`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {exit_code: two}}\n",
            "error[wrong-type]",
            "`exit_code` must be an integer, but is a string",
        ),
        ("cases:\n  - {name: a, event: Stop, expect: {max_duration: 5 parsecs}}\n", "error[bad-time]", "unknown unit"),
        (
            "cases:\n  - {name: a, event: Stop, files: {../x: y}, expect: {ran: []}}\n",
            "error[bad-path]",
            "`../x` is not a path below the scratch directory",
        ),
        (
            "cases:\n  - {name: a, event: Stop, files: {x: {txt: y}}, expect: {ran: []}}\n",
            "error[unknown-key]",
            "did you mean `text`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, environment: {A: [1]}, expect: {ran: []}}\n",
            "error[wrong-type]",
            "`environment.A` must be a string",
        ),
        (
            "as: cluade\ncases:\n  - {name: a, event: Stop, expect: {ran: []}}\n",
            ":1:5: error[unknown-dialect]",
            "did you mean `claude`?",
        ),
        (
            "cases:\n  - {name: a, event: Stop, expect: {ran: []}}\n  - {name: a, event: Stop, expect: {ran: []}}\n",
            ":3:12: error[same-name]",
            "the name `a` is already used in line 2",
        ),
        ("cases: []\n", ":1:8: error[no-cases]", ""),
        ("case: []\n", ":1:1: error[missing-key]", "missing key `cases`"),
        ("cases: [\n", "error[syntax]", ""),
        ("cases: [{name: a, name: b, event: Stop, expect: {ran: []}}]", "error[odd]: duplicate key", ""),
    ] {
        let place = place();
        place.write("it.test.yaml", text);
        let ran = place.run(&["test", "it.test.yaml"]);
        assert_eq!(ran.code, 1, "{text}");
        assert!(
            ran.stderr.contains(&format!("it.test.yaml{place_of}")) || ran.stderr.contains(place_of),
            "{text}:\n{}",
            ran.stderr
        );
        assert!(ran.stderr.contains(said), "{text}:\n{}", ran.stderr);
    }
    // The case is valid, but the event has no tool.
    let (_, ran) = with_case("event: Stop, tool: Bash", "{ran: []}");
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("`Stop` has no tool; remove the tool name"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 case: 0 passed, 1 could not run"), "{}", ran.stdout);
}

#[test]
fn a_case_has_its_own_environment_and_files() {
    let place = place();
    place.write("note.txt", "the project's\n");
    place.write(
        ".checkrein/tests/it.yaml",
        r##"
environment: {TOKEN: of the file, HIDDEN: never}
files: {note.txt: "note in {{scratch}}\n"}
cases:
  - name: what the file has
    event: PreToolUse
    tool: Glob
    expect: {reason: "^note in {{scratch}}\nof the file-{{scratch}}$"}
  - name: its own counts more
    event: PreToolUse
    tool: Glob
    environment: {TOKEN: "{{scratch}}"}
    files: {note.txt: "own\n"}
    expect: {reason: "^own\n{{scratch}}-{{scratch}}$"}
  - name: a tool
    event: PreToolUse
    tool: Grep
    files:
      tool: {text: "#!/bin/sh\necho tooled\n", executable: true}
    expect: {reason: tooled}
  - name: a tool that may not run
    event: PreToolUse
    tool: Grep
    files:
      tool: {text: "#!/bin/sh\necho tooled\n", executable: false}
    expect: {reason: {lacks: tooled}, hooks: {runs-tool: {stderr: denied}}}
  - name: no home
    event: PreToolUse
    tool: Grep
    environment: {HOME: null}
    files: {tool: "#!/bin/sh\necho \"home: ${HOME-none}\"\n"}
    expect: {reason: "^home: none$"}
  - name: the payload
    event: PreToolUse
    payload: {tool_name: Grep, session_id: s-1}
    set: {tool_input.path: "{{scratch}}/a"}
    files: {tool: "#!/bin/sh\nexec cat\n"}
    expect: {reason: '"path":"{{scratch}}/a".*"session_id":"s-1"'}
"##,
    );
    let ran = place.run(&["test"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("6 cases: 6 passed"), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(place.dir.path().join("note.txt")).unwrap(), "the project's\n");
}

#[test]
fn cases_run_in_parallel_and_isolated() {
    // Each case waits until all have started, so that they end only in parallel. No case sees files of another one.
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks: [{id: meets, event: Stop, command: 'test -e mine && exit 1; touch mine; touch \"$MEET/$$\"; until [ $(ls \"$MEET\" | wc -l) -ge 4 ]; do sleep 0.01; done', env_allow: [MEET], timeout: 60}]",
    )]);
    let meet = place.dir.path().join("meet");
    std::fs::create_dir(&meet).unwrap();
    let cases: String = (0..4)
        .map(|n| {
            format!(
                "  - {{name: case {n}, event: Stop, environment: {{MEET: {}}}, expect: {{exit_code: 0}}}}\n",
                meet.display()
            )
        })
        .collect();
    place.write(".checkrein/tests/it.yaml", &format!("cases:\n{cases}"));
    let ran = place.run(&["test", "--jobs", "4"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let order: Vec<_> = ran.stdout.lines().filter(|line| line.contains(" ok ")).collect();
    assert!(order.len() == 4 && order.is_sorted(), "{order:?}");
    assert!(!place.dir.path().join("mine").exists());
}

#[test]
fn cases_can_be_filtered() {
    let place = place();
    place.write(
        ".checkrein/tests/a.yaml",
        "cases:\n  - {name: first, event: Stop, expect: {ran: [guard]}}\n  - {name: second, event: Stop, expect: {ran: []}}\n",
    );
    place.write("lib/deep/b.test.yaml", "cases: [{name: third, event: Stop, expect: {ran: []}}]");
    place.write("lib/other.yaml", "not: cases");
    place.write(".checkrein/c.test.yml", "cases: [{name: fourth, event: Stop, expect: {ran: []}}]");
    for (arguments, code, said) in [
        (
            &["test", "--list"][..],
            0,
            ".checkrein/c.test.yml:1: fourth\n.checkrein/tests/a.yaml:2: first\n.checkrein/tests/a.yaml:3: second\n",
        ),
        (&["test", "--list", "lib"], 0, "lib/deep/b.test.yaml:1: third\n"),
        (&["test", "--filter", "second"], 0, "1 case: 1 passed"),
        (&["test", "--filter", "second", "--filter", "fourth"], 0, "2 cases: 2 passed"),
        (&["test"], 1, "3 cases: 2 passed, 1 failed"),
        (&["test", "--fail-fast", "--jobs", "1", ".checkrein/tests"], 1, "2 cases: 0 passed, 1 failed, 1 skipped"),
        (&["test", "lib/deep/b.test.yaml", ".checkrein/tests/a.yaml", "--filter", "th"], 0, "1 case: 1 passed"),
        (&["test", "--dir", "lib", "lib/deep"], 0, "1 case: 1 passed"),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(said), "{arguments:?}: {}", ran.stdout);
    }
    for (arguments, code, said) in [
        (&["test", "--filter", "nothing"][..], 1, "--filter matches none of the 3 cases"),
        (&["test", "none.yaml"], 64, "cannot read none.yaml"),
        (&["test", "hooks"], 64, "no test cases in hooks"),
        (&["test", "--jobs", "0"], 64, "0 is not in"),
        (&["test", "--all"], 64, "--contract"),
        (&["test", "--contract", "--timeout", "0"], 64, "greater than 0"),
        (&["test", "--config", "none.yaml"], 64, "cannot read none.yaml"),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
    }
    let ran = Place::with(&[]).run(&["test"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no test cases in .checkrein/tests"), "{}", ran.stderr);
}

#[test]
fn cases_use_the_format_of_an_agent() {
    let place = Place::with(&[
        (
            ".claude/settings.json",
            r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh"}]}]}}"#,
        ),
        (
            ".claude/hooks/guard.sh",
            "#!/bin/sh\ncd \"$CLAUDE_PROJECT_DIR\" || exit 1\n[ -e allowed ] && exit 0\necho \"$PWD has no file allowed\" >&2\nexit 2\n",
        ),
        (
            "guard.test.yaml",
            r#"
as: claude
config: .claude/settings.json
cases:
  - {name: closed, event: PreToolUse, expect: {decision: deny, reason: "^{{scratch}} has no"}}
  - {name: open, event: PreToolUse, files: {allowed: ""}, expect: {decision: no_opinion, exit_code: 0}}
"#,
        ),
    ]);
    let ran = place.run(&["test", "guard.test.yaml"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    place.write("other.test.yaml", "cases: [{name: closed, event: PreToolUse, expect: {decision: deny}}]");
    assert_eq!(place.run(&["test", "other.test.yaml", "--as", "claude"]).code, 0);
    assert_eq!(place.run(&["test", "other.test.yaml"]).code, 1, "checkrein's own files have no hooks here");
}

#[test]
fn report_is_available_as_json_and_junit() {
    let place = place();
    place.write(
        ".checkrein/tests/it.yaml",
        "cases:\n  - {name: 'odd <&\"'' name', event: PreToolUse, tool: Grep, files: {tool: \"#!/bin/sh\\nprintf '<a>&\\\\033[31m\\\\000]]>\\\\r'\\n\"}, expect: {decision: allow}}\n  - {name: fine, event: Stop, expect: {ran: []}}\n  - {name: wrong, event: Stop, tool: Bash, expect: {ran: []}}\n",
    );
    place.write(".checkrein/tests/broken.yaml", "cases: 5\n");
    let (code, report) = place.run_json(&["test", "--json", "--junit", "out.xml"]);
    assert_eq!(code, 1);
    assert_eq!((&report["passed"], &report["failed"], &report["errors"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(report["cases"][0]["mismatches"][0]["diff"], serde_json::json!(["- allow", "+ deny"]));
    assert!(report["problems"][0].as_str().unwrap().contains("broken.yaml:1:8"), "{report}");

    let text = std::fs::read_to_string(place.dir.path().join("out.xml")).unwrap();
    let xml = roxmltree::Document::parse(&text).unwrap();
    let all = |name: &'static str| xml.descendants().filter(move |node| node.has_tag_name(name)).collect::<Vec<_>>();
    assert_eq!(xml.root_element().attribute("tests"), Some("4"));
    assert_eq!(xml.root_element().attribute("failures"), Some("1"));
    assert_eq!(xml.root_element().attribute("errors"), Some("2"));
    let names: Vec<_> = all("testcase").iter().map(|node| node.attribute("name").unwrap().to_owned()).collect();
    assert_eq!(names[..3], ["odd <&\"' name", "fine", "wrong"]);
    assert!(all("failure")[0].text().unwrap().contains("- allow\n+ deny"));
    assert_eq!(all("error")[0].attribute("message"), Some("`Stop` has no tool; remove the tool name"));
    let stderr = all("system-err")[0].text().unwrap();
    assert!(stderr.contains("<a>&\u{fffd}[31m\u{fffd}]]>\r"), "{stderr:?}");
}

/// Code blocks of a page that name their file in the first line.
fn files_of(document: &str) -> Vec<(&str, String)> {
    let blocks = document.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| {
            let (_, text) = block.split_once('\n')?;
            let (first, text) = text.split_once('\n')?;
            Some((first.strip_prefix("# ")?, text.to_owned()))
        })
        .collect()
}

#[test]
fn examples_of_the_testing_page_are_valid() {
    let document = include_str!("../../../docs/testing.md");
    let files = files_of(document);
    assert_eq!(files.len(), 4, "{files:?}");
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let place = Place::with(&files);
    let ran = place.run(&["test"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("3 cases: 3 passed"), "{}", ran.stdout);
    let ran = place.run(&["test", "--contract", "--all", "--timeout", "60"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let rows: String =
        checkrein_tools::hook_tests::PROBES.iter().map(|(name, what)| format!("| {name} | {what} |\n")).collect();
    assert!(document.contains(&format!("|---|---|\n{rows}<!-- /probes -->")), "{rows}");
    // The page names every key.
    let schema = checkrein_tools::schema::test_cases();
    for keys in [
        &schema["properties"],
        &schema["$defs"]["case"]["properties"],
        &schema["$defs"]["expect"]["properties"],
        &schema["$defs"]["hook"]["properties"],
    ] {
        for key in keys.as_object().unwrap().keys().filter(|key| !["$schema", "cases"].contains(&key.as_str())) {
            assert!(document.contains(&format!("`{key}`")), "{key}");
        }
    }
}

#[test]
fn run_fails_if_hooks_are_not_approved() {
    let hooks = "hooks: [{id: g, event: PreToolUse, command: 'echo no >&2; exit 2'}, {id: other, event: Stop, command: 'true'}]\n";
    let case = |decision: &str| {
        format!("cases: [{{name: it, event: PreToolUse, input: {{command: ls}}, expect: {{decision: {decision}}}}}]\n")
    };
    let place =
        Place::untrusted(&[(".checkrein/hooks.yaml", hooks), (".checkrein/tests/it.yaml", &case("no_opinion"))]);
    let ran = place.run(&["test"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for said in [
        "the expected result proves nothing, because no hook answered: `g` is not approved",
        "2 hooks are not approved, so they were not tested: approve with `checkrein trust approve --all`, or pass --trust-all in CI",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    let (code, json) = place.run_json(&["test", "--json"]);
    assert_eq!((code, &json["passed"], json["problems"].as_array().unwrap().len()), (1, &0.into(), 1), "{json}");
    assert_eq!(place.run(&["test", "--contract"]).code, 1);
    place.write(".checkrein/tests/it.yaml", &case("deny"));
    assert_eq!(place.run(&["test", "--trust-all"]).code, 0);
    // One of them is approved: its case passes, and the run still fails.
    assert_eq!(place.run(&["trust", "approve", "g", "--yes"]).code, 0);
    let ran = place.run(&["test"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("1 passed") && ran.stdout.contains("1 hook is not approved"),
        "{ran:?}"
    );
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    assert_eq!(place.run(&["test"]).code, 0);
}

#[test]
fn result_of_a_failed_hook_proves_nothing() {
    let hooks = "hooks: [{id: g, event: PreToolUse, command: ./gone.sh}, {id: open, event: Stop, on_failure: open, command: exit 7}]\n";
    for (case, code) in [
        ("event: PreToolUse, expect: {decision: deny}", 1),
        ("event: PreToolUse, expect: {decision: deny, hooks: {g: {failure: exit}}}", 0),
        ("event: PreToolUse, expect: {decision: deny, reason: not found}", 0),
        ("event: Stop, expect: {decision: no_opinion}", 1),
        ("event: Stop, expect: {decision: no_opinion, warnings: [exit code 7]}", 0),
        ("event: SessionEnd, expect: {decision: no_opinion}", 0),
    ] {
        let cases = format!("cases: [{{name: it, {case}}}]\n");
        let ran = Place::with(&[(".checkrein/hooks.yaml", hooks), (".checkrein/tests/it.yaml", &cases)]).run(&["test"]);
        assert_eq!(ran.code, code, "{case}: {ran:?}");
        assert_eq!(ran.stdout.contains("proves nothing"), code == 1, "{case}: {ran:?}");
    }
}
