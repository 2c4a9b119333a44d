//! Checks that `docs/builtins.md` is current. `UPDATE_DOCS=1` updates it.

use std::fmt::Write as _;
use std::path::Path;

use checkrein::builtins::{all, block_dangerous_commands::RULES};
use checkrein::{Decision, Registry};

#[test]
fn builtins_page_is_current() {
    let registry = Registry::new();
    let mut text = "# Builtins\n\n\
        Builtins are functions that every registry contains. A hook names one and passes arguments. Builtins run inside \
        the process, with the timeout of the hook. Invalid arguments are reported when the hook is loaded, with a \
        correction. Names are the same as in docker-agent if it has the same function.\n\n\
        | name | effect | arguments | events |\n|---|---|---|---|\n"
        .to_owned();
    for (name, _) in all() {
        let doc = registry.builtin(name).unwrap().doc();
        assert!(!doc.summary.is_empty(), "{name} has no summary");
        writeln!(text, "| `{name}` | {} | {} | {} |", doc.summary, doc.args, doc.events).unwrap();
    }
    text.push_str(
        "\nBuiltins that rewrite (`redact_secrets`, `limit_large_tool_results`, `elide_repeated_tool_results`) run before \
         all other hooks of the event. They run in config order, and each one receives the result of the previous \
         one.\n\n\
         ## Rules of `block_dangerous_commands`\n\n\
         `--allow=RULE`, `--ask=RULE` and `--deny=RULE` change the decision of a rule. Rules that match ordinary commands are \
         off unless one of these arguments names them.\n\n\
         | rule | default | matches a command that |\n|---|---|---|\n",
    );
    for rule in RULES {
        let decision = if rule.decision == Decision::NoOpinion { "off" } else { rule.decision.name() };
        writeln!(text, "| `{}` | {decision} | {} |", rule.name, rule.why).unwrap();
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/builtins.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found.replace("\r\n", "\n") == text,
        "docs/builtins.md is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein --test builtins docs`"
    );
}
