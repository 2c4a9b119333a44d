use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use checkrein_expression::{Environment, Expression, Field, Object, Schema, Type, Value};
use proptest::prelude::*;

use super::*;

/// Runs git without the settings of the user.
fn git_in(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(dir).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    command.args(["-c", "commit.gpgSign=false", "-c", "protocol.file.allow=always"]).args(args);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Writes a file that is older than the index will be.
fn write_old(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

/// A repository with one commit of three files.
fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    git_in(dir.path(), &["init", "-q"]);
    for name in ["a.txt", "dir/b.txt", "dir/sub/c.txt"] {
        write_old(&dir.path().join(name), name);
    }
    git_in(dir.path(), &["add", "."]);
    git_in(dir.path(), &["commit", "-q", "-m", "first"]);
    dir
}

/// Evaluates an expression over `git`.
fn shown(cwd: &Path, text: &str) -> String {
    static FACTS: Schema = Schema {
        name: "facts",
        doc: "",
        fields: &[Field { name: "git", kind: Type::Object(&SCHEMA), doc: "" }],
        methods: &[],
    };
    #[derive(Debug)]
    struct Facts(Value);
    impl Object for Facts {
        fn schema(&self) -> &'static Schema {
            &FACTS
        }
        fn field(&self, _: usize) -> Value {
            self.0.clone()
        }
    }
    let expression = Expression::compile(text, &Environment::new(&FACTS)).unwrap();
    match expression.evaluate(&Facts(git(cwd))).unwrap() {
        Value::Unknown(_) => "unknown".to_owned(),
        value => value.to_string(),
    }
}

#[test]
fn branch_root_and_remotes_are_read() {
    let dir = repository();
    let root = dir.path();
    git_in(root, &["remote", "add", "origin", "git@example.com:a/b.git"]);
    git_in(root, &["remote", "add", "fork", "https://example.org/a/b"]);
    let sub = root.join("dir/sub");
    for (expression, expected) in [
        ("git.branch", "main"),
        ("git.root", root.to_str().unwrap()),
        (r#""origin" in git.remotes ? git.remotes["origin"] : """#, "git@example.com:a/b.git"),
        (r#""fork" in git.remotes ? git.remotes["fork"] : """#, "https://example.org/a/b"),
        (r#"git.protected("main")"#, "true"),
        (r#"git.protected("release/1.2")"#, "true"),
        (r#"git.protected("fix")"#, "false"),
    ] {
        assert_eq!(shown(&sub, expression), expected, "{expression}");
    }
    assert_eq!(current_branch(&sub).to_string(), "main");
    git_in(root, &["checkout", "-q", "-b", "feature/x"]);
    assert_eq!(shown(root, "git.branch"), "feature/x");
    git_in(root, &["pack-refs", "--all"]);
    assert_eq!(shown(root, "git.branch"), "feature/x");
    git_in(root, &["checkout", "-q", "--detach"]);
    assert_eq!(shown(root, "git.branch"), "");
}

#[test]
fn default_branch_of_origin_is_protected() {
    let (upstream, parent) = (repository(), tempfile::tempdir().unwrap());
    git_in(upstream.path(), &["branch", "-q", "-m", "stable"]);
    git_in(parent.path(), &["clone", "-q", upstream.path().to_str().unwrap(), "copy"]);
    let copy = parent.path().join("copy");
    assert_eq!(shown(&copy, r#"git.protected("stable")"#), "true");
    assert_eq!(shown(&copy, r#"git.protected("refs/heads/stable")"#), "true");
    assert_eq!(shown(&copy, r#"git.protected("other")"#), "false");
    let remotes = remotes(&copy).unwrap();
    assert_eq!(remotes.default_name(), "origin");
    assert_eq!(remotes.url("origin", true).as_deref(), upstream.path().to_str());
}

#[test]
fn directory_outside_of_a_repository_has_no_facts() {
    let dir = tempfile::tempdir().unwrap();
    for (expression, expected) in [
        ("git.branch", ""),
        ("git.root", ""),
        ("git.remotes", "{}"),
        ("git.dirty", "false"),
        (r#"git.protected("x")"#, "false"),
    ] {
        assert_eq!(shown(dir.path(), expression), expected, "{expression}");
    }
}

#[test]
fn worktrees_share_the_configuration_and_have_their_own_branch() {
    let (dir, parent) = (repository(), tempfile::tempdir().unwrap());
    git_in(dir.path(), &["remote", "add", "origin", "https://example.com/r"]);
    let worktree = parent.path().join("other");
    git_in(dir.path(), &["worktree", "add", "-q", "-b", "topic", worktree.to_str().unwrap()]);
    assert_eq!(shown(&worktree, "git.branch"), "topic");
    assert_eq!(shown(&worktree, "git.root"), worktree.to_str().unwrap());
    assert_eq!(shown(&worktree, r#""origin" in git.remotes ? git.remotes["origin"] : """#), "https://example.com/r");
    assert_eq!(shown(dir.path(), "git.branch"), "main");
    std::fs::write(worktree.join("a.txt"), "longer than before").unwrap();
    assert_eq!((shown(&worktree, "git.dirty"), shown(dir.path(), "git.dirty")), ("true".into(), "false".into()));
}

#[test]
fn dirty_is_true_or_false_only_if_the_index_tells_it() {
    type Change = fn(&Path);
    let cases: &[(&str, Change, &str)] = &[
        ("nothing", |_| {}, "false"),
        ("untracked file", |root| std::fs::write(root.join("new"), "x").unwrap(), "false"),
        ("other size", |root| std::fs::write(root.join("a.txt"), "other size").unwrap(), "true"),
        ("missing file", |root| std::fs::remove_file(root.join("dir/b.txt")).unwrap(), "true"),
        ("missing directory", |root| std::fs::remove_dir_all(root.join("dir")).unwrap(), "true"),
        ("same size, other time", |root| std::fs::write(root.join("a.txt"), "b.txt").unwrap(), "unknown"),
        (
            "staged change",
            |root| {
                write_old(&root.join("a.txt"), "staged change");
                git_in(root, &["add", "."]);
            },
            "unknown",
        ),
        (
            "staged change with a tree",
            |root| {
                write_old(&root.join("a.txt"), "staged change");
                git_in(root, &["add", "."]);
                git_in(root, &["write-tree"]);
            },
            "true",
        ),
        (
            "intent to add",
            |root| {
                std::fs::write(root.join("new"), "x").unwrap();
                git_in(root, &["add", "-N", "new"]);
            },
            "true",
        ),
        ("packed commit", |root| git_in(root, &["gc", "-q"]), "unknown"),
        (
            "version 4",
            |root| {
                git_in(root, &["update-index", "--index-version", "4"]);
                git_in(root, &["commit", "-q", "--allow-empty", "-m", "second"]);
            },
            "false",
        ),
        (
            "version 4, other size",
            |root| {
                git_in(root, &["update-index", "--index-version", "4"]);
                std::fs::write(root.join("dir/sub/c.txt"), "other size").unwrap();
            },
            "true",
        ),
        (
            "skipped file",
            |root| {
                git_in(root, &["update-index", "--skip-worktree", "a.txt"]);
                git_in(root, &["commit", "-q", "--allow-empty", "-m", "second"]);
                std::fs::remove_file(root.join("a.txt")).unwrap();
            },
            "false",
        ),
        ("split index", |root| git_in(root, &["update-index", "--split-index"]), "unknown"),
        (
            "index is a directory",
            |root| {
                std::fs::remove_file(root.join(".git/index")).unwrap();
                std::fs::create_dir(root.join(".git/index")).unwrap();
            },
            "unknown",
        ),
    ];
    for (name, change, expected) in cases {
        let dir = repository();
        change(dir.path());
        assert_eq!(shown(dir.path(), "git.dirty"), *expected, "{name}");
    }
    let dir = tempfile::tempdir().unwrap();
    git_in(dir.path(), &["init", "-q"]);
    assert_eq!(shown(dir.path(), "git.dirty"), "false", "new repository");
    write_old(&dir.path().join("a"), "a");
    git_in(dir.path(), &["add", "a"]);
    assert_eq!(shown(dir.path(), "git.dirty"), "true", "first file");
}

#[test]
fn sha256_repository_is_read() {
    let dir = tempfile::tempdir().unwrap();
    git_in(dir.path(), &["init", "-q", "--object-format=sha256"]);
    write_old(&dir.path().join("a"), "a");
    git_in(dir.path(), &["add", "a"]);
    git_in(dir.path(), &["commit", "-q", "-m", "first"]);
    assert_eq!(shown(dir.path(), "git.dirty"), "false");
}

#[cfg(unix)]
#[test]
fn named_pipes_and_huge_files_are_not_read() {
    use rustix::fs::{CWD, Mode, mkfifoat};
    for name in ["HEAD", "config", "index", "commondir", "packed-refs"] {
        let dir = repository();
        let file = dir.path().join(".git").join(name);
        let _ = std::fs::remove_file(&file);
        mkfifoat(CWD, &file, Mode::RWXU).unwrap();
        let _ = (shown(dir.path(), "git.branch"), shown(dir.path(), "git.remotes"), shown(dir.path(), "git.dirty"));
        std::fs::remove_file(&file).unwrap();
        std::fs::File::create(&file).unwrap().set_len(1 << 40).unwrap();
        let _ = (shown(dir.path(), "git.branch"), shown(dir.path(), "git.remotes"), shown(dir.path(), "git.dirty"));
    }
    let dir = repository();
    std::fs::remove_file(dir.path().join(".git/HEAD")).unwrap();
    mkfifoat(CWD, dir.path().join(".git/HEAD"), Mode::RWXU).unwrap();
    assert_eq!(shown(dir.path(), "git.branch"), "unknown");
}

#[cfg(unix)]
#[test]
fn repository_of_another_user_is_not_read() {
    use std::os::unix::fs::MetadataExt as _;
    let Some(other) = ["/", "/etc"]
        .iter()
        .find(|path| Path::new(path).metadata().is_ok_and(|found| found.uid() != rustix::process::geteuid().as_raw()))
    else {
        // As root, give the directory to another user.
        let dir = repository();
        std::os::unix::fs::chown(dir.path().join(".git"), Some(12345), None).unwrap();
        for expression in ["git.branch", "git.root", "git.remotes", "git.dirty", r#"git.protected("x")"#] {
            assert_eq!(shown(dir.path(), expression), "unknown", "{expression}");
        }
        assert_eq!(shown(dir.path(), r#"git.protected("main")"#), "true");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(other, dir.path().join(".git")).unwrap();
    assert_eq!(shown(dir.path(), "git.branch"), "unknown");
}

proptest! {
    #[test]
    fn no_bytes_of_an_index_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), version in 0u32..6, count in 0u32..6) {
        let _ = index::parse(&bytes, 20);
        let mut headed = b"DIRC".to_vec();
        headed.extend(version.to_be_bytes());
        headed.extend(count.to_be_bytes());
        headed.extend(&bytes);
        let _ = (index::parse(&headed, 20), index::parse(&headed, 32));
    }

    #[test]
    fn no_bytes_of_config_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), text in r#"[\[\]a "\\=\n#;.]{0,80}"#) {
        config::exercise(&bytes);
        config::exercise(text.as_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_bytes_of_files_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), at in any::<prop::sample::Index>(), flip in any::<u8>()) {
        let dir = tempfile::tempdir().unwrap();
        let git_dir = dir.path().join(".git");
        std::fs::create_dir_all(git_dir.join("objects/aa")).unwrap();
        std::fs::create_dir_all(git_dir.join("refs/heads")).unwrap();
        std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(git_dir.join("refs/heads/main"), "a".repeat(40)).unwrap();
        std::fs::write(git_dir.join("objects/aa").join("a".repeat(38)), &bytes).unwrap();
        let read_all = || {
            for expression in ["git.branch", "git.root", "git.remotes", "git.dirty", r#"git.protected("x")"#] {
                shown(dir.path(), expression);
            }
            let _ = remotes(dir.path());
        };
        read_all();
        for name in ["HEAD", "config", "index", "packed-refs", "commondir", "refs/heads/main"] {
            let file = git_dir.join(name);
            let before = std::fs::read(&file).ok();
            let mut changed = before.clone().unwrap_or_default();
            if !changed.is_empty() {
                let at = at.index(changed.len());
                changed[at] = flip;
            }
            changed.extend(&bytes);
            std::fs::write(&file, &changed).unwrap();
            read_all();
            match before {
                Some(before) => std::fs::write(&file, before).unwrap(),
                None => std::fs::remove_file(&file).unwrap(),
            }
        }
    }
}
