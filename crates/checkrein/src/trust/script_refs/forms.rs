//! Forms of commands that run a file of the project. Each file is verified, or the command has a note about it.

use std::path::Path;

use checkrein_core::EventKind;
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::claude;

use super::{CommandContext, ScriptRef, find_scripts};

/// Commands that run `./x.sh` or another file of the project.
const FORMS: &[&str] = &[
    "./x.sh",
    "bash ./x.sh",
    "sh -e x.sh",
    ". ./x.sh",
    "source x.sh",
    "exec ./x.sh",
    "exec -a name ./x.sh",
    "command ./x.sh",
    "builtin . ./x.sh",
    "time ./x.sh",
    "time -p ./x.sh",
    "time -- ./x.sh",
    "! ./x.sh",
    "nohup ./x.sh &",
    "nice -n 5 ./x.sh",
    "timeout 5 ./x.sh",
    "timeout --signal=KILL 5 ./x.sh",
    "setsid ./x.sh",
    "stdbuf -oL ./x.sh",
    "env ./x.sh",
    "env -i A=1 ./x.sh",
    "env -S './x.sh a'",
    "env -S'./x.sh'",
    "env -vS './x.sh'",
    "sudo ./x.sh",
    "sudo -iu root ./x.sh",
    "su -lc ./x.sh",
    "su - me -c './x.sh'",
    "script -qc ./x.sh",
    "flock /tmp/l ./x.sh",
    "xargs ./x.sh",
    "echo a | xargs -n1 ./x.sh",
    "find . -exec ./x.sh {} +",
    "find . -name a -execdir ./x.sh \\;",
    "parallel ./x.sh ::: a",
    "watch ./x.sh",
    "coproc ./x.sh",
    "coproc X { ./x.sh; }",
    "eval ./x.sh",
    "eval -- ./x.sh",
    "eval './x''.sh'",
    "trap ./x.sh EXIT",
    "trap -- ./x.sh EXIT",
    "trap './x.sh' DEBUG; :",
    "[[ -n $(./x.sh) ]]",
    "[ -n \"$(./x.sh)\" ]",
    "test -n `./x.sh`",
    "(( $(./x.sh) ))",
    "echo $(( $(./x.sh) ))",
    "for ((;;)) do ./x.sh; break; done",
    "for ((i=$(./x.sh);i<1;i++)); do :; done",
    "for f in $(./x.sh); do :; done",
    "while ./x.sh; do :; done",
    "until ./x.sh; do :; done",
    "if ./x.sh; then :; fi",
    "case $(./x.sh) in *) ;; esac",
    "case a in a) ./x.sh;; esac",
    "f() { ./x.sh; }; f",
    "function f { ./x.sh; }; f",
    "cat <(./x.sh)",
    "echo a > >(./x.sh)",
    "cat <<E\n$(./x.sh)\nE",
    "bash <<E\n./x.sh\nE",
    "bash <<< ./x.sh",
    "echo ./x.sh | bash",
    "cat x.sh | bash",
    "bash < x.sh",
    "bash -s < x.sh",
    "bash /dev/stdin < x.sh",
    "exec < x.sh; bash",
    "X=./x.sh; $X",
    "X=./x.sh; \"$X\"",
    "X=./x.sh; (X=/bin/true); $X",
    "X=./x.sh; X=/bin/true true; $X",
    "X=./x.sh; if false; then X=/bin/true; fi; $X",
    "X=./x.sh; f() { X=/bin/true; }; $X",
    "X='bash ./x.sh'; $X",
    "a=(./x.sh a); \"${a[@]}\"",
    "set -- ./x.sh; \"$@\"",
    "f() { \"$@\"; }; f ./x.sh",
    "$(echo ./x.sh)",
    "`echo ./x.sh`",
    "${X:-./x.sh}",
    "${X:=./x.sh}",
    "./?.sh",
    "./{x,y}.sh",
    "true \r#; ./x.sh",
    "D=.; $D/x.sh",
    "cd hooks && ./x.sh",
    "cd hooks; ../x.sh",
    "pushd hooks && ./x.sh",
    "printf -v PATH .; x.sh",
    "PATH=.; x.sh",
    "PATH=.:$PATH x.sh",
    "export PATH=.; x.sh",
    "declare -x PATH=.; x.sh",
    "read PATH <<< .; x.sh",
    "env PATH=. x.sh",
    "PS4='$(./x.sh)'; set -x; :",
    "PS0='$(./x.sh)' bash -i",
    "PROMPT_COMMAND=./x.sh bash -i",
    "BASH_ENV=./x.sh bash -c :",
    "ENV=./x.sh sh -i",
    "GIT_PROXY_COMMAND=./x.sh git fetch",
    "GIT_SSH_COMMAND=./x.sh git fetch",
    "GIT_EXTERNAL_DIFF=./x.sh git diff",
    "GIT_EDITOR=./x.sh git commit",
    "GIT_SEQUENCE_EDITOR=./x.sh git rebase -i",
    "EDITOR=./x.sh crontab -e",
    "PAGER=./x.sh man ls",
    "MANPAGER=./x.sh man ls",
    "LESSOPEN='|./x.sh %s' less a",
    "RSYNC_RSH=./x.sh rsync a b:c",
    "SSH_ASKPASS=./x.sh ssh-add",
    "SUDO_ASKPASS=./x.sh sudo -A true",
    "CC=./x.sh make",
    "SOME_TOOL=./x.sh some-program",
    "npm_config_script_shell=./x.sh npm test",
    "LD_PRELOAD=./x.so true",
    "git -c core.pager=./x.sh log",
    "git -c core.sshCommand=./x.sh fetch",
    "git -c alias.a='!./x.sh' a",
    "git difftool -x ./x.sh",
    "git bisect run ./x.sh",
    "git submodule foreach ./x.sh",
    "rsync -e ./x.sh a b:c",
    "ssh -o ProxyCommand=./x.sh host",
    "tar --to-command=./x.sh -xf a.tar",
    "tar -I ./x.sh -xf a.tar",
    "tar --checkpoint=1 --checkpoint-action=exec=./x.sh -cf a .",
    "sort --compress-program=./x.sh a",
    "sort --compress-program ./x.sh a",
    "rg --pre ./x.sh a",
    "bat --pager ./x.sh a",
    "man -P ./x.sh ls",
    "alias a=./x.sh; a",
    "hash -p ./x.sh ls; ls",
    "enable -f ./x.so x",
    "complete -C ./x.sh a",
    "mapfile -C ./x.sh -c 1 a < b",
    "awk -f a.awk",
    "awk -fa.awk",
    "awk -F : -f a.awk",
    "awk --file=a.awk",
    "awk 'BEGIN { system(\"./x.sh\") }'",
    "awk '\"./x.sh\" | getline'",
    "gawk -i ./a.awk 1",
    "sed -f a.sed b",
    "sed -nf a.sed b",
    "sed -e p -f a.sed",
    "sed '1e ./x.sh' b",
    "jq -f a.jq",
    "jq -rf a.jq",
    "perl x.pl",
    "perl -e 'do \"./x.pl\"'",
    "perl -Ilib -Mx -e 1",
    "python3 x.py",
    "python3 -m x",
    "python3 -c 'import x'",
    "python3 -c \"exec(open('x.py').read())\"",
    "python3 -u hooks/x.py",
    "node x.js",
    "node -r ./x.js -e 1",
    "node -r./x.js -e 1",
    "node --require=./x.js -e 1",
    "node --import ./x.js -e 1",
    "ruby x.rb",
    "ruby -r./x -e 1",
    "php x.php",
    "php -f x.php",
    "lua x.lua",
    "deno run x.ts",
    "bun x.ts",
    "npx tsx x.ts",
    "uv run x.py",
    "make",
    "make -f x.mk",
    "make -C hooks",
    "npm test",
    "just x",
    "vim -S x.vim",
    "gdb -x x.gdb",
    "expect ./x.exp",
    "busybox sh x.sh",
    "bash -c ./x.sh",
    "bash -c 'source ./x.sh'",
    "bash --rcfile ./x.sh -i",
    "bash --init-file=./x.sh -i",
    "ssh localhost ./x.sh",
    "ssh -- host ./x.sh",
    "docker run -v .:/w a /w/x.sh",
    "unknown-program ./x.sh",
    "unknown-program --hook=./x.sh",
    "unknown-program x.sh",
];

/// Commands without code from the project. They have no notes.
const QUIET: &[&str] = &[
    "jq -r .tool_input.command",
    "grep -q rm ./x.sh",
    "cat x.sh",
    "wc -l x.sh hooks/x.sh",
    "echo ./x.sh",
    "test -f x.sh",
    "[ -f ./x.sh ] && echo yes",
    "read -r line; echo \"$line\"",
    "INPUT=$(cat); echo \"$INPUT\" | grep -q 'rm -rf' && exit 2",
    "case $(cat) in *secret*) exit 2;; esac",
    "cat > /dev/null; exit 0",
    "echo '{\"decision\":\"deny\"}'",
    "date >> /tmp/log",
    "awk '{ print $1 }'",
    "sed -n 1p",
    "NAME=x; echo \"$NAME\"",
    "LC_ALL=C sort",
];

fn found(dir: &Path, text: &str) -> ScriptRef {
    let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
    find_scripts(&spec, CommandContext { dir, home: Some(Path::new("/home/me")) })
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("hooks")).unwrap();
    for file in ["x.sh", "hooks/x.sh", "hooks/x.py", "x.py", "x.pl", "x.js", "x.rb", "x.php", "x.lua", "x.ts", "a.awk"]
    {
        std::fs::write(dir.path().join(file), "").unwrap();
    }
    dir
}

#[test]
fn every_form_is_verified_or_has_a_note() {
    let dir = project();
    let mut wrong = Vec::new();
    for text in FORMS {
        let found = found(dir.path(), text);
        if found.scripts.is_empty() && found.notes.is_empty() {
            wrong.push(*text);
        }
    }
    assert!(FORMS.len() >= 60);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), FORMS.len(), wrong.join("\n"));
}

#[test]
fn commands_without_code_of_the_project_have_no_notes() {
    let dir = project();
    for text in QUIET {
        let found = found(dir.path(), text);
        assert!(found.scripts.is_empty() && found.notes.is_empty(), "{text}: {found:?}");
    }
}
