//! Short runs of the fuzz target of the shell parser.

use checkrein::builtins::exercise_shell;

use crate::dangerous::TABLE;

/// `CHECKREIN_ROUNDS` sets a longer run.
#[test]
fn random_commands_do_not_panic() {
    let rounds = std::env::var("CHECKREIN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5_000);
    const SIGNS: &[u8] = b"\n (){}[]\"'`$\\;&|<>#=~*!:-/E";
    // Deterministic random generator: equal bytes in every run, on every machine.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for round in 0..rounds {
        let mut bytes = TABLE[round % TABLE.len()].0.as_bytes().to_vec();
        for _ in 0..random() % 6 {
            let at = random() % (bytes.len() + 1);
            match random() % 5 {
                0 => bytes.insert(at, random() as u8),
                1 if at < bytes.len() => drop(bytes.remove(at)),
                2 if at < bytes.len() => bytes[at] = SIGNS[random() % SIGNS.len()],
                3 => {
                    let other = TABLE[random() % TABLE.len()].0.as_bytes();
                    let from = random() % (other.len() + 1);
                    let part = other[from..].iter().take(random() % 12).copied();
                    bytes.splice(at..at, part);
                }
                _ => bytes.truncate(at),
            }
        }
        exercise_shell(&bytes);
    }
}

#[test]
fn deep_nesting_needs_little_stack_and_time() {
    for (open, inside, close) in [
        ("(", "a", ")"),
        ("((", "a", "))"),
        ("( ", "a", " )"),
        ("$(", "a", ")"),
        ("\"$(", "a", ")\""),
        ("$((", "1", "))"),
        ("${a:-", "b", "}"),
        ("\"${a:-", "b", "}\""),
        ("`", "a", "`"),
        ("{ ", "a", ";}"),
        ("{a,", "b", "}"),
        ("if a; then ", "b", "; fi"),
        ("while a; do ", "b", "; done"),
        ("for i in a; do ", "b", "; done"),
        ("case a in a) ", "b", ";; esac"),
        ("f() { ", "a", ";}"),
        ("[[ ", "a", " ]]"),
        ("[[ ( ", "a", " ) ]]"),
        ("a=(", "b", ")"),
        ("@(", "a", ")"),
        ("<(", "a", ")"),
        ("coproc { ", "a", ";}"),
        ("a[", "1", "]=2"),
        ("eval ", "a", ""),
        ("$x ", "a", ""),
        ("! ", "a", ""),
        ("time ", "a", ""),
        ("cat <<E\n", "a", "E\n"),
        ("a | ", "b", ""),
        ("x=1; ", "a", ""),
        ("x=1; $(a);", "a", ""),
        ("\\\n", "a", ""),
        ("cd a;", "b", ""),
        ("x=$x$x;", "b", ""),
        ("for i in a b; do $i", "a", ""),
    ] {
        for count in [40, 10_000] {
            exercise_shell(open.repeat(count).as_bytes());
            exercise_shell(format!("{}{inside}{}", open.repeat(count), close.repeat(count)).as_bytes());
        }
    }
}

/// Nested scripts, each with the maximum number of nested substitutions.
#[test]
fn nested_scripts_need_little_stack() {
    let mut text = "a0='true'; ".to_owned();
    for n in 1..20 {
        text.push_str(&format!("a{n}='{}eval \"$a{}\"{}'; ", "$(".repeat(30), n - 1, ")".repeat(30)));
    }
    text.push_str("eval \"$a19\"");
    exercise_shell(text.as_bytes());
}

/// Texts that fuzzing has found.
#[test]
fn words_of_aliases_have_no_position() {
    for text in ["alias zz='a <(echo b c)'; zz d", "hash -p 'x <(echo m1 a)' zz; zz a", "alias a='b $(c)'; a"] {
        exercise_shell(text.as_bytes());
    }
}
