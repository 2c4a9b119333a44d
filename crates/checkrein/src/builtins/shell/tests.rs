//! Compares the parser with bash: equal words for equal texts, and no command that only bash finds.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::{ParseError, ShellEnv, SimpleCommand, simple_commands};

fn read(text: &str) -> Result<Vec<SimpleCommand>, ParseError> {
    simple_commands(text, ShellEnv { home: Some("/home/me"), cwd: Path::new("/nowhere") })
}

/// Runs a text in bash with these functions and without other programs. Returns the text that the functions wrote to `$OUT`.
fn bash(functions: &str, text: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let work = dir.path().join("work");
    std::fs::create_dir(&work).unwrap();
    // Old versions, as on macOS, lack a part of the grammar.
    let start = "((BASH_VERSINFO[0] >= 5)) || { printf old >\"$OUT\"; exit; }; ulimit -t 1; set -f; PATH=/nowhere";
    let mut child = Command::new("bash")
        .args(["--norc", "--noprofile", "-c", &format!("{start}\n{functions}\neval \"$1\""), "bash", text])
        .current_dir(work)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .envs([("OUT", out.as_os_str()), ("HOME", "/home/me".as_ref())])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("these tests need bash");
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > Duration::from_secs(5) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let written = std::fs::read(out).unwrap_or_default();
    assert!(written != b"old", "these tests need bash 5");
    written
}

/// A piece of a word, outside of quotes.
fn piece() -> impl Strategy<Value = String> {
    let quoted = "[a-z ;|&<>()#*?\\[{}~\"$`!\\\\-]{0,6}";
    let double = select(vec![
        "a",
        " ",
        "'",
        "\\\"",
        "\\$",
        "\\`",
        "\\\\",
        "\\a",
        "#",
        ";",
        ")",
        "$V-",
        "${V}",
        "${U:-d e}",
        "${U-}",
        "\\\n",
        "*",
        "{a,b}",
        "~",
    ]);
    prop_oneof![
        8 => "[a-z0-9_./:=+,%@^-]{1,4}",
        2 => quoted.prop_map(|text| format!("'{}'", text.replace('\'', ""))),
        2 => prop::collection::vec(double, 0..4).prop_map(|parts| format!("\"{}\"", parts.concat())),
        1 => "[ -~]".prop_map(|text| format!("\\{text}")),
        1 => select(vec![
            "$'a\\tb\\'c\\x41\\101\\u0041\\q'", "$\"x\"", "\\\n", "$V-", "${V}", "${U:-d e}", "${U:-\"d e\"}", "${U-'d  e'}",
            "{a,b}", "{a,b{c,d}}", "{a}", "${E}", "${E:-d e}", "${E-d e}", "{a,'b c'}", "{$V-,x}", "#", "~/", "[", "]", "!", "{", "}", "é", "$[", "%",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A call of the function `w`, which prints its arguments.
fn call() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(prop::collection::vec(piece(), 1..4).prop_map(|pieces| pieces.concat()), 0..5);
    let redirect =
        select(vec!["", "", "", " >f", " 2>&1", " >>'g h'", " </dev/null", " <<<x", " 3<&-", " &>f", " >|f"]);
    let before = select(vec!["", "", "", "X=1 ", ">f ", "! ", "X='a b' Y= ", "time ", "command "]);
    (before, words, redirect).prop_map(|(before, words, redirect)| format!("{before}w {}{redirect}", words.join(" ")))
}

/// Calls in pipes, lists, groups and here-documents.
fn script() -> impl Strategy<Value = String> {
    call().prop_recursive(3, 8, 3, |inner| {
        let two =
            (inner.clone(), select(vec![" | ", " && ", "; ", "\n", " & ", " |& ", " # c\n", " |\n"]), inner.clone());
        prop_oneof![
            4 => two.prop_map(|(one, between, other)| format!("{one}{between}{other}")),
            1 => inner.clone().prop_map(|text| format!("({text}\n)")),
            1 => inner.clone().prop_map(|text| format!("{{ {text}\n}}")),
            1 => inner.clone().prop_map(|text| format!(": $({text}\n)")),
            1 => inner.clone().prop_map(|text| format!(": \"a $({text}\n) b\"")),
            1 => inner.clone().prop_map(|text| format!("if :; then {text}\nfi")),
            1 => inner.clone().prop_map(|text| format!("case a in a|b) {text}\n;; esac")),
            1 => inner.clone().prop_map(|text| format!("for i in a; do {text}\ndone")),
            1 => inner.clone().prop_map(|text| format!(": <<E\n$({text}\n)\nE")),
            1 => inner.clone().prop_map(|text| format!(": <<'E'; {text}\n$( ' `\nE")),
            1 => inner.prop_map(|text| format!("{{ f() {{ {text}\n}}; f; }}")),
        ]
    })
}

proptest! {
    // The same texts in every run: two of bash's own oddities (a lone `$` in a word, `$a{b,c}`) are not worth a failure.
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(19),
        ..ProptestConfig::default()
    })]

    #[test]
    fn bash_and_parser_find_the_same_words(script in script()) {
        let text = format!("V='a  b' E=\n{script}");
        let Ok(steps) = read(&text) else {
            // Bash rejects the text, or other shells parse it differently.
            return Err(TestCaseError::reject("unreadable"));
        };
        let functions = "w() { builtin printf '%s\\0' \"$@\" $'\\1' >>\"$OUT\"; return 0; }; wait_all() { builtin wait; }";
        let written = bash(functions, &format!("{text}\nwait_all"));
        let calls = || steps.iter().filter(|step| step.name == "w");
        prop_assume!(calls().flat_map(|step| &step.args).all(|arg| arg.known));
        let mut seen: Vec<Vec<String>> = calls()
            .map(|step| step.args.iter().map(|arg| arg.text.clone()).collect())
            .collect();
        let mut printed: Vec<Vec<String>> = Vec::new();
        let mut words = Vec::new();
        for word in written.split(|byte| *byte == 0) {
            match word {
                b"\x01" => printed.push(std::mem::take(&mut words)),
                word => words.push(String::from_utf8_lossy(word).into_owned()),
            }
        }
        // A pipe runs both sides concurrently. `time` and `command` run `w` once.
        seen.sort();
        printed.sort();
        // Bash runs only a part of a text that it rejects.
        prop_assume!(printed.len() >= seen.len());
        prop_assert_eq!(seen, printed, "{}", text);
    }
}

/// Pieces of shell syntax. The generator puts them in random places.
const SOUP: &[&str] = &[
    "(",
    "((",
    ")",
    "))",
    " ) )",
    "$(",
    "$((",
    "`",
    "\"",
    "'",
    "\\",
    "\n",
    "\n",
    " ",
    " ",
    " ",
    ";",
    ";",
    "&",
    "&&",
    "|",
    "||",
    "|&",
    " <<E ",
    "\nE\n",
    " <<'E' ",
    " <<-E ",
    "\n\tE\n",
    " <<E\nE\n",
    "{ ",
    ";}",
    "}",
    "#",
    " #",
    ":",
    "if :; then ",
    ";fi",
    "case a in a) ",
    ";; esac",
    " esac",
    "[[ ",
    " ]]",
    "${x:-",
    "${x",
    "${x#",
    "$x",
    "$'",
    "\\'",
    "\\\"",
    "\\`",
    "a=(",
    "=",
    "a=",
    "\r",
    "<(",
    ">(",
    ">x ",
    "<x ",
    ">&",
    "2>&1",
    " do ",
    ";done",
    "while ",
    "for i in ",
    "for i in a; do ",
    "until ",
    "function f ",
    "f() ",
    "f",
    "coproc ",
    "time ",
    "! ",
    "@(",
    "*(",
    "*",
    "{a,",
    "[",
    "]",
    "~",
    "\\\n",
    "$[",
    "!",
    "-",
    "<<<",
    "a",
    "1",
    ",",
    "eval ",
    "echo ",
    "${x//",
    "/",
    "$\"",
    "((1))",
    "$((1))",
    "a[",
    "]=",
    "+=",
    "in ",
    "select i in a; do ",
    "for ((;;)) ",
    "else ",
    ";; b) ",
    ";& ",
    "<",
    ">",
    "<&-",
    "{fd}>x ",
    "\t",
    "\u{a0}",
    "''",
    "\"\"",
    "==",
    "=~",
    " -n ",
    " then ",
    "elif :; then ",
    "'\"'",
    "\"'\"",
    "x=1 ",
    "trap ",
    "export x=",
    "local ",
    "declare a=(",
    "&>",
    "\nE)\n",
    "for i ",
    "<<\"E\" ",
    "E\\\n",
];

/// Deterministic random generator: equal texts in every run, on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// A text in which the programs `M0` to `M9` may be run.
fn soup(random: &mut Random) -> String {
    let mut text = String::new();
    let mut programs = 0;
    for _ in 0..2 + random.below(14) {
        if random.below(4) == 0 && programs < 9 {
            programs += 1;
            let before = ["", "", "\n"][random.below(3)];
            let behind = ["", " ", ";", "\n"][random.below(4)];
            text.push_str(&format!("{before}M{programs}{behind}"));
        }
        text.push_str(SOUP[random.below(SOUP.len())]);
    }
    if random.below(2) == 0 {
        text.push_str("\nE\nM0\n");
    }
    for _ in 0..random.below(4) {
        text.push_str([")", "}", "\"", "'", "`", "))", ";}", ";fi", ";done", " ]]"][random.below(10)]);
    }
    text
}

/// `CHECKREIN_SOUP` sets another number of texts and another seed.
#[test]
fn parser_finds_every_program_that_bash_runs() {
    let more = std::env::var("CHECKREIN_SOUP").ok().and_then(|count| count.parse().ok());
    let mut random = Random(more.unwrap_or(0) as u64);
    let functions: String = (0..10).map(|n| format!("M{n}() {{ builtin echo M{n} >>\"$OUT\"; }}\n")).collect();
    let mut compared = 0;
    for _ in 0..more.unwrap_or(10_000) {
        let text = soup(&mut random);
        let Ok(steps) = read(&text) else { continue };
        // The name of the program is known only to the running shell.
        if steps.iter().any(|step| !step.name.is_empty() && (!step.program.known || step.program.glob)) {
            continue;
        }
        let seen: HashSet<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        let is_hidden = |name: &str| text.contains(name) && !seen.contains(name);
        if !(0..10).any(|n| is_hidden(&format!("M{n}"))) {
            continue;
        }
        compared += 1;
        let ran = String::from_utf8(bash(&functions, &text)).unwrap();
        let hidden: Vec<_> = ran.lines().filter(|name| is_hidden(name)).collect();
        assert!(hidden.is_empty(), "bash runs {hidden:?}, seen are {seen:?}:\n{text}\n{text:?}");
    }
    assert!(compared > 50, "the texts are not worth comparing: {compared}");
}
