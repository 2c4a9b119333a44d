use checkrein_core::EventKind;
use checkrein_dialects::agents::claude;

use super::*;

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("hooks")).unwrap();
    for file in ["x.sh", "hooks/x.sh", "hooks/x.py", "it's.sh", "a b.sh"] {
        std::fs::write(dir.path().join(file), "").unwrap();
    }
    dir
}

/// Returns the scripts, as words of the command and as paths, and the number of notes.
fn found(dir: &Path, spec: &HookSpec) -> (Vec<(String, String)>, usize) {
    let named = find_scripts(spec, CommandContext { dir, home: Some(Path::new("/home/me")) });
    let HandlerSpec::Command(command) = &spec.handler else { panic!() };
    let word = |script: &NamedScript| match (&script.word, &command.run) {
        (VerifiedWord::Text(range), CommandLine::Shell { text, .. }) => text[range.clone()].to_owned(),
        (VerifiedWord::Argv(index), CommandLine::Argv(argv)) => argv[*index].clone(),
        _ => panic!(),
    };
    let relative = |path: &Path| path.strip_prefix(dir).unwrap_or(path).display().to_string();
    let scripts = named.scripts.iter().map(|script| (word(script), relative(&script.path))).collect();
    (scripts, named.notes.len())
}

#[test]
fn scripts_are_found_in_shell_texts() {
    let dir = project();
    for (text, word, path) in [
        ("./x.sh", "./x.sh", "x.sh"),
        ("hooks/x.sh --strict", "hooks/x.sh", "hooks/x.sh"),
        ("hooks/../x.sh", "hooks/../x.sh", "x.sh"),
        ("bash x.sh", "x.sh", "x.sh"),
        ("bash -e ./x.sh a", "./x.sh", "x.sh"),
        ("/bin/sh x.sh", "x.sh", "x.sh"),
        ("python3 hooks/x.py", "hooks/x.py", "hooks/x.py"),
        ("env A=1 ./x.sh", "./x.sh", "x.sh"),
        ("A=1 exec ./x.sh", "./x.sh", "x.sh"),
        ("timeout 5 bash ./x.sh", "./x.sh", "x.sh"),
        ("cat | ./x.sh && true; echo done", "./x.sh", "x.sh"),
        ("if true; then ./x.sh; fi", "./x.sh", "x.sh"),
        ("(./x.sh)", "./x.sh", "x.sh"),
        ("echo $(./x.sh)", "./x.sh", "x.sh"),
        ("\"$CLAUDE_PROJECT_DIR\"/hooks/x.sh", "\"$CLAUDE_PROJECT_DIR\"/hooks/x.sh", "hooks/x.sh"),
        ("bash \"${CLAUDE_PROJECT_DIR}/x.sh\"", "\"${CLAUDE_PROJECT_DIR}/x.sh\"", "x.sh"),
        ("é=1; './it'\"'\"'s.sh' é", "'./it'\"'\"'s.sh'", "it's.sh"),
        ("./a\\ b.sh", "./a\\ b.sh", "a b.sh"),
        ("~/x.sh", "~/x.sh", "/home/me/x.sh"),
        (". ./x.sh", "./x.sh", "x.sh"),
        ("./not-there.sh", "./not-there.sh", "not-there.sh"),
        ("env - ./x.sh", "./x.sh", "x.sh"),
        ("unshare ./x.sh", "./x.sh", "x.sh"),
        ("prlimit --cpu=1 ./x.sh", "./x.sh", "x.sh"),
        ("runuser -u me -- ./x.sh", "./x.sh", "x.sh"),
    ] {
        let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
        assert_eq!(found(dir.path(), &spec), (vec![(word.to_owned(), path.to_owned())], 0), "{text}");
    }
}

#[test]
fn code_that_cannot_be_verified_has_a_note() {
    let dir = project();
    for text in [
        "python3 -m pkg",
        "npx prettier",
        "make check",
        "$X/x.sh",
        "${X:-./x.sh}",
        "cd hooks && ./x.sh",
        "cd $Y; ./x.sh",
        "./*.sh",
        "$(cat name)",
        "D=./hooks; $D/x.sh",
        "CLAUDE_PROJECT_DIR=/tmp; $CLAUDE_PROJECT_DIR/x.sh",
        "bash -c './x.sh'",
        "bash none.sh",
        "for f in a b; do ./$f; done",
        "echo 'unclosed",
        "PATH=.:$PATH tool",
        "PATH=. && tool",
        "env LD_PRELOAD=./x.so true",
        "export NODE_OPTIONS='-r ./x.js'; node -e 1",
        "awk -f x.awk",
        "node ./hooks",
        "env -S'./x.sh a'",
        "env --split-string=./x.sh",
        "env -C hooks ./x.sh",
        "bash < x.sh",
        "bash -s a < x.sh",
        "cat x.sh | sh",
        "cat <<E | sh\n./x.sh\nE",
        "exec < x.sh; sh",
        "python3 - < hooks/x.py",
        "python3 -c 'import x'",
        "bash /dev/stdin < x.sh",
        "alias a=./x.sh; a",
        "hash -p ./x.sh ls; ls",
        "flock /tmp/l -c ./x.sh",
        "awk 'BEGIN{system(\"./x.sh\")}'",
        "perl -e 'do \"./x.pl\"'",
        "git -c core.pager=./x.sh log",
        "GIT_EXTERNAL_DIFF=./x.sh git diff",
        "unknown-program x.sh",
        "unknown-program --with=./x.sh",
    ] {
        let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
        let (scripts, notes) = found(dir.path(), &spec);
        assert!(scripts.is_empty() && notes > 0, "{text}: {scripts:?} {notes}");
    }
}

#[test]
fn system_programs_are_neither_scripts_nor_notes() {
    let dir = project();
    for text in ["jq -r .a", "/bin/echo x", "echo no >&2; exit 2", "grep -q rm ./x.sh", "sed s/a/b/ x", "awk /a/"] {
        let spec = HookSpec::shell("h", EventKind::PreToolUse, text);
        assert_eq!(found(dir.path(), &spec), (Vec::new(), 0), "{text}");
    }
}

#[test]
fn scripts_are_found_in_argument_lists() {
    let dir = project();
    let found = |argv: &[&str]| {
        let spec = HookSpec::argv("h", EventKind::PreToolUse, argv.iter().copied()).dialect(&claude::DIALECT);
        found(dir.path(), &spec)
    };
    let one = |word: &str, path: &str| (vec![(word.to_owned(), path.to_owned())], 0);
    assert_eq!(found(&["./x.sh", "a"]), one("./x.sh", "x.sh"));
    assert_eq!(found(&["bash", "-e", "x.sh"]), one("x.sh", "x.sh"));
    assert_eq!(found(&["${CLAUDE_PROJECT_DIR}/x.sh"]), one("${CLAUDE_PROJECT_DIR}/x.sh", "x.sh"));
    assert_eq!(found(&["bash", "-c", "./x.sh"]).1, 1);
}

#[test]
fn working_directory_of_the_hook_is_used() {
    let dir = project();
    let spec = HookSpec::shell("h", EventKind::PreToolUse, "./x.sh").command(|command| command.cwd("hooks"));
    assert_eq!(found(dir.path(), &spec).0, [("./x.sh".to_owned(), "hooks/x.sh".to_owned())]);
}
