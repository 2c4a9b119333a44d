//! `checkrein test --contract`: probes with unusual input.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

fn probed(id: &str, command: &str) -> (i32, serde_json::Value) {
    let hooks = serde_json::json!({ "hooks": [{ "id": id, "event": "PreToolUse", "command": command }] });
    let place = Place::with(&[(".checkrein/hooks.json", &hooks.to_string())]);
    // Other hooks end earlier, so that a long timeout does not slow the test down.
    let limit = if id.starts_with("hangs") { "3" } else { "60" };
    place.run_json(&["test", "--contract", "--json", "--timeout", limit])
}

/// Findings by the name of their probe.
fn findings(report: &serde_json::Value) -> Vec<(String, String)> {
    let probes = report["contract"][0]["probes"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let found = probes.iter().filter(|probe| !probe["finding"].is_null());
    found.map(|probe| (text(&probe["probe"]), text(&probe["finding"]))).collect()
}

const ALL_PROBES: usize = 9;

#[test]
fn each_fault_is_found_by_its_probe() {
    let reads_all = "input=$(cat | tr -d '\\000'); ";
    for (id, command, found) in [
        ("fine", "cat >/dev/null; exit 0", &[][..]),
        ("fine-guard", "cat >/dev/null; echo no >&2; exit 2", &[]),
        ("does-not-read", "echo '{\"decision\":\"allow\"}'", &[]),
        ("crashes-on-empty", &format!("{reads_all}[ -n \"$input\" ] || kill -SEGV $$"), &[("empty input", "crash")]),
        ("needs-a-field", "grep -q tool_input || exit 5", &[("empty input", "crash"), ("missing fields", "crash")]),
        ("needs-home", "cat >/dev/null; [ -n \"$HOME\" ] || exit 1", &[("no environment", "crash")]),
        ("hates-much", "[ $(wc -c) -lt 1000000 ] || exit 9", &[("huge input", "crash")]),
        ("hangs-on-much", "[ $(wc -c) -lt 1000000 ] || sleep 60", &[("huge input", "hang")]),
        ("hates-emoji", "if grep -q '\u{1f469}'; then echo '{\"decision\":'; fi", &[("odd unicode", "rubbish")]),
        (
            "remembers",
            "cat >/dev/null; [ -e seen ] && exit 2; touch seen",
            &[("again", "changed"), ("eight at once", "changed")],
        ),
        (
            "tires",
            "cat >/dev/null; echo x >> seen; [ $(wc -l < seen) -le 2 ] || exit 2",
            &[("eight at once", "changed")],
        ),
        (
            "not-there",
            "./no-such-script",
            &[
                ("usual", "crash"),
                ("again", "crash"),
                ("eight at once", "crash"),
                ("empty input", "crash"),
                ("huge input", "crash"),
                ("missing fields", "crash"),
                ("odd unicode", "crash"),
                ("no environment", "crash"),
                ("closed stdout", "crash"),
            ],
        ),
        ("hangs", "sleep 60", &[("usual", "hang")]),
        ("hangs-unheard", "trap '' PIPE; until echo x 2>/dev/null; do sleep 0.01; done", &[("closed stdout", "hang")]),
        ("dies-unheard", "trap '' PIPE; echo x 2>/dev/null || kill -SEGV $$", &[("closed stdout", "crash")]),
    ] {
        let (code, report) = probed(id, command);
        let expected: Vec<_> =
            found.iter().map(|(probe, finding)| ((*probe).to_owned(), (*finding).to_owned())).collect();
        assert_eq!(findings(&report), expected, "{id}: {report:#}");
        assert_eq!(code, i32::from(!found.is_empty()), "{id}");
        let probes = report["contract"][0]["probes"].as_array().unwrap().len();
        assert!(probes == ALL_PROBES || id == "hangs", "{id}: {probes}");
    }
    let (_, report) = probed("noise", "echo loading; echo '{\"decision\":\"allow\"}'");
    let noise = findings(&report);
    assert!(noise.iter().all(|(_, finding)| finding == "rubbish") && noise.len() == ALL_PROBES - 1, "{noise:?}");
}

#[test]
fn probe_results_are_shown_as_a_table() {
    let place = Place::with(&[
        (
            ".checkrein/hooks.yaml",
            "hooks:\n  PreToolUse:\n    - {id: tested, command: 'true'}\n    - {id: jumpy, matcher: Write, command: ./jumpy.sh}\n    - {id: own, builtin: block_dangerous_commands}\n    - {id: 'off', command: 'true', enabled: false}\n",
        ),
        ("jumpy.sh", "#!/bin/sh\ngrep -q file_path || { echo 'where is the path?' >&2; exit 1; }\n"),
        (".checkrein/tests/it.yaml", "cases: [{name: it, event: PreToolUse, tool: Bash, expect: {ran: tested}}]"),
    ]);
    let ran = place.run(&["test", "--contract"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    insta::assert_snapshot!(ran.stdout);
    let ran = place.run(&["test", "--contract", "--all", "--junit", "out.xml"]);
    assert!(ran.stdout.starts_with("tested PreToolUse") && ran.stdout.contains("2 hooks probed"), "{}", ran.stdout);
    let text = std::fs::read_to_string(place.dir.path().join("out.xml")).unwrap();
    let xml = roxmltree::Document::parse(&text).unwrap();
    let failures = xml.descendants().filter(|node| node.has_tag_name("failure"));
    assert_eq!(failures.filter(|node| node.attribute("type") == Some("crash")).count(), 2);
}
