//! Spellings with which an agent hides an answer to its own question, or the files of questions.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Place, Ran};
use crate::{USER, sent};

const ASK: &str = "hooks: [{id: ask-push, event: PreToolUse, matcher: Bash, if: 'Bash(git push *)', \
                   command: 'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"pushes\\\"}\"'}]";

/// A place with a question that waits, its id, and a runtime directory with the port of a page.
fn place() -> (Place, String) {
    let place = Place::with(&[(USER, ASK)]);
    let ran = place.run_with(&["hook", "codex"], &bash("git push origin main"));
    let (_, rest) = ran.stdout.split_once("checkrein approve ").unwrap_or_else(|| panic!("{ran:?}"));
    let run = state(&place).join("run");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(run.join("page.port"), "47113\n").unwrap();
    let id = rest[..11].to_owned();
    (place, id)
}

fn state(place: &Place) -> std::path::PathBuf {
    place.home.path().join(".local/state/checkrein")
}

fn bash(command: &str) -> String {
    sent("Bash", &json!({ "command": command }))
}

/// Fires a call whose event names this directory, without hooks of the user.
fn in_directory(place: &Place, payload: &str, cwd: Option<&Path>) -> Ran {
    let mut payload: Value = serde_json::from_str(payload).unwrap();
    if let Some(cwd) = cwd {
        payload["cwd"] = json!(cwd);
    }
    place.run_with(&["hook", "codex"], &payload.to_string())
}

fn is_own_answer(ran: &Ran) -> bool {
    ran.stdout.contains(r#""permissionDecision":"deny""#) && ran.stdout.contains("only the user may answer")
}

#[test]
fn quotes_and_escapes_do_not_hide_an_answer() {
    let (place, id) = place();
    let (first, last) = id.split_once('-').unwrap();
    for command in [
        format!("A={first}; check''rein app''rove $A-{last}"),
        "check''rein app''rove XXXXX".to_owned(),
        r"che\ckrein app\rove XXXXX".to_owned(),
        r#"c"heckrei"n d"en"y XXXXX"#.to_owned(),
        r"$'\x63heckrein' $'\x61pprove' XXXXX".to_owned(),
        "a=check b=rein c=app d=rove; $a$b $c$d XXXXX".to_owned(),
        "sh -c 'check\"\"rein app\"\"rove XXXXX'".to_owned(),
        "check''rein li''ve".to_owned(),
        // Cannot be parsed.
        "check''rein app''rove XXXXX; if".to_owned(),
        // The id alone, in quotes.
        format!("./answer {}''{}-{last}", &first[..2], &first[2..]),
    ] {
        let ran = in_directory(&place, &bash(&command), None);
        assert!(is_own_answer(&ran), "{command}: {ran:?}");
    }
    // Escapes of JSON.
    let escaped = bash("checkrein approve X").replace("checkrein approve", r"\u0063heckrein \u0061pprove");
    assert!(is_own_answer(&place.run_with(&["hook", "codex"], &escaped)), "{escaped}");
    for command in ["$PYTHON $SCRIPT --now", "kubectl certificate app''rove web", "echo 'check''rein'", "git st''atus"]
    {
        let ran = in_directory(&place, &bash(command), None);
        assert!(!is_own_answer(&ran), "{command}: {ran:?}");
    }
}

#[test]
fn spellings_of_a_path_do_not_hide_the_files_of_questions() {
    let (place, _) = place();
    let (state, home) = (state(&place), place.home.path());
    let above = state.parent().unwrap();
    for (cwd, command) in [
        (None, "sed -i s/pending/approved/ ~/.local/state/*/approvals/*"),
        (None, "find ~ -path '*approvals*' -name '*.json' -exec sed -i s/pending/approved/ {} +"),
        (None, "find ~/.local -name '*.json' | xargs sed -i s/pending/approved/"),
        (None, "cd ~/.local/state; cat checkrein/run/page.port"),
        (None, "cd ~/.local/state/check* && cat run/page.port"),
        (None, "cat ~/.local/st*te/check*/run/*port"),
        (None, "cat < ~/.local/state/check''rein/run/page.port"),
        (None, "mv ~/.local/state/checkrein /tmp/y"),
        (None, "mv ~/.local/st* /tmp/y"),
        (None, "ln -s ~/.local/state/checkrein /tmp/z"),
        (None, "ln -s ~/.local /tmp/z"),
        (None, "cp -r ~/.local/state/ /tmp/z"),
        (None, "cp -rt /tmp/z ~/.local/state"),
        (None, "rm -rf ~/.local/state/checkrein"),
        (Some(state.join("approvals")), "sed -i s/a/b/ *"),
        (Some(state.join("approvals")), "ls"),
        (Some(state.clone()), "cat run/page.port"),
        (Some(above.to_owned()), "tee checkrein/approvals/x.json"),
        (Some(home.to_owned()), "cat .local/state/checkrein/./run/../run/page.port"),
    ] {
        let ran = in_directory(&place, &bash(command), cwd.as_deref());
        assert!(is_own_answer(&ran), "{cwd:?} {command}: {ran:?}");
    }
    std::os::unix::fs::symlink(&state, place.dir.path().join("link")).unwrap();
    for (cwd, tool, input) in [
        (None, "Bash", json!({ "command": "cat link/run/page.port" })),
        (None, "Read", json!({ "file_path": "link/run/page.port" })),
        (Some(state.clone()), "Read", json!({ "file_path": "run/page.port" })),
        (Some(state.join("approvals")), "Write", json!({ "file_path": "x.json", "content": "{}" })),
        (Some(above.to_owned()), "mcp__fs__write", json!({ "path": "checkrein/approvals/x.json", "text": "" })),
    ] {
        let ran = in_directory(&place, &sent(tool, &input), cwd.as_deref());
        assert!(is_own_answer(&ran), "{cwd:?} {input}: {ran:?}");
    }
    for (cwd, command) in [
        (None, "cp notes.txt ~/"),
        (None, "cp -t ~/.local/state notes.txt"),
        (None, "mv a b"),
        (None, "find ~ -name '*.pyc' -delete"),
        (None, "find . -name '*.json' -exec sed -i s/a/b/ {} +"),
        (None, "ls ~/.local/state"),
        (None, "cat approvals/x.json run/page"),
        (None, "rm -rf ~/.cache build"),
        (Some(home.to_owned()), "ls src && ln -s notes.txt /tmp/n"),
        (Some(above.to_owned()), "cat other/run/page"),
    ] {
        let ran = in_directory(&place, &bash(command), cwd.as_deref());
        assert!(!is_own_answer(&ran), "{cwd:?} {command}: {ran:?}");
    }
}
