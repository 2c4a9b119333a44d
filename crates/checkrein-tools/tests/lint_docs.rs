//! Checks that `docs/lints.md` is current. `UPDATE_DOCS=1` updates it.
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::fmt::Write as _;
use std::path::Path;

use checkrein_tools::lint::{CONFIG_CODES, LintRule, RULES};

fn table(text: &mut String, rules: &[LintRule]) {
    text.push_str("| code | severity | problem | fix |\n|---|---|---|---|\n");
    for rule in rules {
        let LintRule { code, help, explanation, severity, .. } = rule;
        let [help, explanation] = [help, explanation].map(|text| text.replace('|', "\\|"));
        writeln!(text, "| `{code}` | {} | {explanation} | {help} |", severity.label()).unwrap();
    }
}

#[test]
fn lints_page_is_current() {
    let mut text = "# Codes of `check`\n\n\
        `checkrein check` gives each finding a code. `checkrein check --explain CODE` explains it. Codes do not change between \
        releases.\n\n\
        ## Lints\n\n\
        Lints find mistakes in hooks and their scripts. The comment `# checkrein: allow CODE` in a script or config file \
        disables a lint there, and `--allow CODE` disables it for one call.\n\n"
        .to_owned();
    table(&mut text, RULES);
    text.push_str(
        "\n## Problems of config files\n\n\
         These are found when files are read and hooks are loaded. Other commands report them too. A comment cannot disable \
         them.\n\n",
    );
    table(&mut text, CONFIG_CODES);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lints.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found.replace("\r\n", "\n") == text,
        "docs/lints.md is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein-tools --test lint_docs`"
    );
}
