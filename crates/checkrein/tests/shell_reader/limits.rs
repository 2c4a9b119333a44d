//! The work for a text has a limit, and grows no faster than the text.

use std::path::Path;
use std::time::Instant;

use checkrein::internal::shell::{ShellEnv, simple_commands, work_of};

fn env() -> ShellEnv<'static> {
    ShellEnv { home: Some("/home/me"), cwd: Path::new("/work") }
}

/// Maximum work for a text, as in the reader.
const MOST: usize = 1_000_000;

/// Returns texts of about this size that are expensive to read.
fn expensive(size: usize) -> Vec<(&'static str, String)> {
    let fill = |unit: &str| unit.repeat(size / unit.len());
    let nested = |open: &str, inside: &str, close: &str| {
        let count = size / (open.len() + close.len());
        format!("{}{inside}{}", open.repeat(count), close.repeat(count))
    };
    let variables = |count: usize| (0..count).map(|n| format!("v{n}=x;")).collect::<String>();
    let substitutions = |count: usize| "$()".repeat(count);
    let mut all = vec![
        ("cd", fill("cd a;")),
        ("cd and", fill("cd a&&") + "b"),
        ("cd long", fill(&format!("cd {};", "a".repeat(200)))),
        ("cd both", fill("(cd a);cd b;")),
        ("commands", fill("a;")),
        ("pipe", fill("a|") + "b"),
        ("pipes", fill(&format!("{}a;", "a|".repeat(200)))),
        ("and", fill("a&&") + "b"),
        ("groups", format!("{{ {}}} | {{ {}}}", "a;".repeat(size / 4), "b;".repeat(size / 4))),
        ("eval", format!("{}X='{}';{}", variables(500), substitutions(1_300), "eval echo $X;".repeat(100))),
        (
            "eval long",
            format!("{}X='{}';{}", variables(250), substitutions(size / 9), "eval echo $X;".repeat(size / 39)),
        ),
        ("eval chain", fill("eval ") + "a"),
        ("substitutions", format!("{}{}", variables(250), fill("$();"))),
        ("substitutions that set", format!("{}{}", variables(250), fill("$(v1=y);"))),
        ("subshells that set", format!("{}{}", variables(250), fill("(v1=y);"))),
        ("branches that set", format!("{}{}", variables(250), fill("a&&v1=y;"))),
        ("assignments", fill("a=b;")),
        ("assignments that differ", (0..size / 7).map(|n| format!("a={n};")).collect()),
        ("many variables", (0..size / 8).map(|n| format!("v{n}=x;")).collect()),
        ("alternatives", format!("{}{}", fill("for a in b c;do x=$a$x;done;"), "e $x")),
        (
            "product",
            format!(
                "{}e $a$b$c$d$e$f$g$h",
                ["a", "b", "c", "d", "e", "f", "g", "h"].map(|v| format!("for {v} in 1 2 3 4;do :;done;")).concat()
            ),
        ),
        ("many values", format!("for a in {};do {};done", "b ".repeat(size / 4), "e $a;".repeat(size / 10))),
        (
            "many different values",
            format!("for a in {};do {};done", (0..250).map(|n| format!("b{n} ")).collect::<String>(), fill("e $a $a;")),
        ),
        ("nested loops", nested("for a in b c;do ", "e $a", ";done")),
        ("ten loops", fill(&format!("{}X=$X$a;cd b;{}", "for a in b c;do ".repeat(10), "done;".repeat(10)))),
        ("shifting loops", format!("a=1;b=2;c=3;d=4;{}", fill("while x;do a=$b;b=$c;c=$d;cd y;done;"))),
        ("doubling", fill("x=$x$x;")),
        ("appending", fill("x+=aaaa;")),
        ("braces", fill("{a,b}")),
        ("braces in words", fill("e {a,b}{c,d}{e,f};")),
        ("sequences", fill("e {1..250};")),
        ("nested braces", nested("{a,", "b", "}")),
        ("open braces", fill("{a,")),
        ("fallbacks", nested("${a:-", "b", "}")),
        ("flat fallbacks", fill("${a:-b}")),
        ("long word", fill("$a")),
        ("many words", fill("$a ")),
        ("here-documents", fill("a <<E\n$b\nE\n")),
        ("here on one line", format!("a {}\n{}", "<<E ".repeat(size / 8), "E\n".repeat(size / 8))),
        ("functions", (0..40).map(|n| format!("f{n}() {{ f{};f{}; }};", n + 1, n + 1)).collect::<String>() + "f0"),
        ("recursion", fill("f() { f;f; };f;")),
        ("calls", format!("f() {{ {} }};{}", "a;".repeat(size / 8), "f;".repeat(size / 8))),
        ("definitions", fill("f() { a; };") + "f"),
        ("aliases", fill("alias a='b c';a;")),
        ("traps", fill("trap '$x' EXIT;x=1;")),
        ("traps that differ", (0..size / 20).map(|n| format!("trap 'a{n} $x' EXIT;")).collect()),
        ("prompts", fill("PS4='$(a)';")),
        ("wrappers", fill("sudo ") + "a"),
        ("xargs", format!("echo {} | xargs a", fill("b "))),
        ("echo to shell", format!("echo '{}' | sh", fill("a;"))),
        ("nested shells", nested("sh -c \"", "a", "\"")),
        ("arithmetic", nested("$((", "1", "))")),
        ("backquotes", fill("`a`")),
        ("quotes", fill("'a'\"b\"")),
        ("open quotes", fill("\"$(")),
        ("open", fill("((")),
        ("open arithmetic", fill("$((1 ")),
        ("conditions", fill("[[ a && b ]];")),
        ("case", fill("case $a in b) c;; esac;")),
        ("if", fill("if a;then b=1;else b=2;fi;")),
        ("elif", format!("if a;then b=1;{}fi", fill("elif a;then b=2;"))),
        ("arrays", format!("a=({});{}", "b ".repeat(size / 4), "e \"${a[@]}\";".repeat(size / 26))),
        ("positional", format!("set -- {};{}", "b ".repeat(size / 4), "e \"$@\";".repeat(size / 16))),
        ("locals", format!("f() {{ {} }};f", fill("local a=b;"))),
        ("returns", format!("f() {{ {} }};f", fill("a=1;return;"))),
        ("breaks", format!("while a;do {} done", fill("b=1;break;"))),
        ("redirections", fill(">a ")),
        ("shells in a pipe", fill("echo a|tee b|sh;")),
        ("long pipe to a shell", format!("echo {}{}|sh", "a ".repeat(size / 4), "|cat".repeat(size / 8))),
        ("filters", fill(&format!("echo a{}|sh;", "|head".repeat(20)))),
        ("group to shells", format!("{{ {}}} | {{ {}}}", "echo a;".repeat(size / 14), "sh;".repeat(size / 6))),
        ("here-document to shells", format!("{{ {}}} <<E\n{}\nE\n", "sh;".repeat(size / 6), "a;".repeat(size / 4))),
        ("pipes as files", fill("sh <(echo a);")),
        ("nested pipes as files", nested("sh <(", "echo a", ")")),
        ("sinks", fill("a >(sh);")),
        ("files in many directories", format!("{}{}", "(cd a);cd b;".repeat(40), fill("sh ../x;"))),
        ("files below devices", format!("cd /dev;{}", fill(". ./stdin;"))),
        ("aliases of git", fill("git -c alias.x='!a' x;")),
        ("many aliases of git", (0..size / 40).map(|n| format!("git config alias.x{n} '!a';git $x;")).collect()),
        ("settings of git", format!("git {} log", fill("-c core.pager=a "))),
        ("options with commands", format!("git rebase {}", fill("-x a "))),
        ("editors", (0..size / 12).map(|n| format!("EDITOR=a{n};")).collect()),
        ("callbacks", fill("mapfile -C a x;")),
        ("scripts on input", fill("sh <<<'a;b';")),
        ("setups", fill("eval \"$(b completion)\";")),
        ("backslashes", fill("\\\n")),
        ("comments", fill("#\n")),
        ("globs", fill("a* ")),
    ];
    for (_, text) in &mut all {
        let mut end = text.len().min(size.max(16_384));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        if size > 16_384 {
            text.truncate(end);
        }
    }
    all
}

#[test]
fn work_has_a_limit() {
    for size in [1_000, 32_768] {
        for (name, text) in expensive(size) {
            assert!(work_of(&text, env()) <= MOST, "{name}");
        }
    }
}

/// Doubling the text at most doubles the work, except for texts that reach the limit.
#[test]
fn work_grows_no_faster_than_the_text() {
    for ((name, small), (_, large)) in expensive(1_000).into_iter().zip(expensive(2_000)) {
        let (before, behind) = (work_of(&small, env()), work_of(&large, env()));
        // A fixed part of the work does not depend on the size.
        let ratio = large.len().div_ceil(small.len().max(1)) * 4;
        let quadratic = ["calls", "many values", "positional", "arrays", "groups", "alternatives", "eval long", "pipe"];
        assert!(behind <= (before + 20_000) * ratio || quadratic.contains(&name), "{name}: {before} and {behind}");
    }
}

/// Prints the time for each text. Run it in a release build: `cargo test --release --test shell_reader -- --ignored times`.
#[test]
#[ignore = "measures time"]
#[allow(clippy::print_stdout, reason = "a measurement")]
fn times() {
    let mut all: Vec<_> = expensive(32_768)
        .into_iter()
        .map(|(name, text)| {
            let best = (0..5)
                .map(|_| {
                    let start = Instant::now();
                    let _ = simple_commands(&text, env());
                    start.elapsed()
                })
                .min();
            (
                best.unwrap_or_default(),
                name,
                work_of(&text, env()),
                simple_commands(&text, env()).map(|found| found.len()),
            )
        })
        .collect();
    all.sort_by_key(|(time, ..)| *time);
    for (time, name, work, found) in all.iter().rev().take(30) {
        println!("{time:?} {name} {work} {found:?}");
    }
}
