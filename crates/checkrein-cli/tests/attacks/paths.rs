//! Spellings of protected paths, and file names with special characters.

use serde_json::json;

use crate::common::Place;
use crate::{USER, ask, assert_denied, decided, sent};

#[test]
fn protected_file_is_protected_in_every_spelling() {
    let hooks = "hooks: [{id: protect, event: PreToolUse, builtin: protect_paths, args: [.env, 'secret/**']}]";
    let place = Place::with(&[(USER, hooks), ("src/x", ""), ("secret/key", "")]);
    std::os::unix::fs::symlink("secret", place.dir.path().join("harmless")).unwrap();
    let whole = place.dir.path().join("src/../.env");
    for path in [
        ".env",
        "./.env",
        "src/../.env",
        "src/./.././/.env",
        "secret/../.env",
        "secret/key",
        "src/../secret/new",
        "harmless/key",
        whole.to_str().unwrap(),
        ".env\u{0}.txt",
        ".env\n",
        "a\nb/../.env",
        "a\n.env",
        "\"a'/../.env",
    ] {
        let ran = ask(&place, &[], sent("Write", &json!({ "file_path": path, "content": "x" })).as_bytes());
        assert_eq!(decided(&ran).0, "deny", "{path:?}: {ran:?}");
    }
    for path in ["src/env", "environment", "a\"b", "a\nb"] {
        let ran = ask(&place, &[], sent("Write", &json!({ "file_path": path, "content": "x" })).as_bytes());
        assert_ne!(decided(&ran).0, "deny", "{path:?}: {ran:?}");
    }
}

/// Fields of an event are data and are never executed.
#[test]
fn names_with_quotes_and_line_breaks_run_nothing() {
    let hooks =
        "include: [claude]\nhooks: [{id: no, event: PreToolUse, command: 'cat >/dev/null; echo no >&2; exit 2'}]";
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "cat > /dev/null; echo \"$CLAUDE_TOOL_NAME\" > /dev/null"}]}]}}"#;
    let place = Place::with(&[(USER, hooks), ("home/.claude/settings.json", claude)]);
    for evil in [
        "$(touch pwned)",
        "`touch pwned`",
        "'; touch pwned; '",
        "\"; touch pwned; \"",
        "x\ntouch pwned\n",
        "x\u{0}y",
        "../../x",
    ] {
        let ran = ask(&place, &[], sent(evil, &json!({ "command": evil, "file_path": evil })).as_bytes());
        assert_denied(&ran, "no");
        assert!(!place.dir.path().join("pwned").exists(), "{evil:?}");
    }
}
