//! Tests of the grammars and of the required literals.

use super::*;
use proptest::prelude::*;

fn matches(grammar: &Grammar, pattern: &str, subject: &str) -> bool {
    Matcher::compile(grammar, Some(pattern)).unwrap().matches(subject)
}

#[test]
fn everything_is_absent_empty_or_a_wildcard() {
    for grammar in [Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::EXACT] {
        for pattern in [None, Some(""), Some("*")] {
            let matcher = Matcher::compile(&grammar, pattern).unwrap();
            assert!(matcher.is_everything() && matcher.matches("anything") && matcher.matches(""));
        }
    }
    assert!(Matcher::compile(&Grammar::GLOB, None).unwrap().matches("a/b"));
}

#[test]
fn names_can_be_added_to_a_matcher() {
    for pattern in ["run_shell", "run_.*", "^(?!x)run"] {
        let matcher = Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some(pattern)).unwrap().also(["Bash"]);
        assert!(matcher.matches("Bash") && matcher.matches("run_shell") && !matcher.matches("BashOutput"), "{pattern}");
        assert_eq!(matcher.pattern(), pattern);
    }
    assert!(Matcher::everything().also(["Bash"]).is_everything());
}

#[test]
fn grammars_match_as_their_agents_do() {
    let names = Grammar::NAMES_OR_SEARCH;
    let (whole, search, glob, exact) = (Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT);
    for (grammar, pattern, subject, expected) in [
        (names, "Bash", "Bash", true),
        (names, "Bash", "BashOutput", false),
        (names, "Edit|Write", "Write", true),
        (names, "Edit, Write", "Write", true),
        (names, "Edit | Write", "Edit", true),
        (names, "Edit|", "Edit", true),
        (names, "Edit|", "", false),
        (names, "mcp__memory", "mcp__memory__read", false),
        (names, "mcp__memory__.*", "mcp__memory__read", true),
        (names, "my-tool", "my-tool", true),
        (names, "^Bash", "BashOutput", true),
        (names, "bash", "Bash", false),
        (whole, "shell|edit", "edit", true),
        (whole, "shell|edit", "edit_file", false),
        (whole, "mcp__.*", "mcp__a", true),
        (whole, "a|b", "ab", false),
        (whole, "a||b", "", true),
        (search, "edit", "edit_config", true),
        (search, "write_.*|edit", "no", false),
        (search, "x*", "", true),
        (glob, "write|edit", "edit", false),
        (glob, "{write,edit}", "edit", true),
        (glob, "{write,edit}{,_file}", "write", true),
        (glob, "{write,edit}{,_file}", "edit_file", true),
        (glob, "{write,edit}{,_file}", "write_", false),
        (glob, "{,x}", "", true),
        (glob, "mcp_*", "mcp_db", true),
        (glob, "*", "a/b", false),
        (glob, "**", "a/b", true),
        (glob, "src/**/*.rs", "src/a/b/c.rs", true),
        (glob, "src/*.rs", "src/a/b.rs", false),
        (glob, "file[0-9]?", "file7x", true),
        (whole, "mcp__\\w+", "mcp__größe", true),
        (whole, "mcp__\\w+|é", "mcp__größe", true),
        (whole, "(?x)Bash # the shell", "Bash", true),
        (glob, "a\u{0}*", "a\u{0}\n", true),
        (exact, "a.c", "abc", false),
        (exact, "a.c", "a.c", true),
    ] {
        assert_eq!(matches(&grammar, pattern, subject), expected, "{pattern} {subject}");
    }
    assert!(Matcher::names(["a", "b"]).matches("b") && !Matcher::names(["a"]).matches("b"));
    assert!(Matcher::names(Vec::<String>::new()).is_everything());
}

#[test]
fn invalid_patterns_are_errors_with_a_cause() {
    for (grammar, pattern, message) in [
        (Grammar::REGEX_WHOLE, "(", r#"invalid matcher "(": unclosed group"#),
        (Grammar::REGEX_WHOLE, "a)(b", r#"invalid matcher "a)(b": unopened group"#),
        (Grammar::NAMES_OR_SEARCH, "*.rs", r#"invalid matcher "*.rs": repetition operator missing expression"#),
        (
            Grammar::NAMES_OR_SEARCH,
            "(?=Bash)",
            r#"invalid matcher "(?=Bash)": look-around, including look-ahead and look-behind, is not supported"#,
        ),
        (Grammar::NAMES_OR_SEARCH, "|", r#"invalid matcher "|": the list contains no names"#),
        (
            Grammar::GLOB,
            "{a",
            r#"invalid matcher "{a": unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)"#,
        ),
        (Grammar::GLOB, "[", r#"invalid matcher "[": unclosed character class; missing ']'"#),
    ] {
        assert_eq!(Matcher::compile(&grammar, Some(pattern)).unwrap_err().to_string(), message);
    }
    let long = "a".repeat(MAX_PATTERN + 1);
    let error = Matcher::compile(&Grammar::REGEX_SEARCH, Some(&long)).unwrap_err();
    assert!(error.to_string().ends_with("the pattern has 16385 bytes; at most 16384 are allowed"));
    let braces = "{".repeat(250) + "a" + &"}".repeat(250);
    assert!(Matcher::compile(&Grammar::GLOB, Some(&braces)).is_err());
    let huge = "(?:a{1000}){1000}";
    assert!(Matcher::compile(&Grammar::REGEX_SEARCH, Some(huge)).is_err());
}

#[test]
fn negative_lookahead_at_the_start_is_supported() {
    for (pattern, subject, expected) in [
        ("^(?!Bash)", "Bash", false),
        ("^(?!Bash)", "BashOutput", false),
        ("^(?!Bash$)", "BashOutput", true),
        ("^(?!Bash$|Read$).*", "Read", false),
        ("^(?!Bash$|Read$).*", "Write", true),
        ("^(?!.*secret)mcp__", "mcp__db", true),
        ("^(?!.*secret)mcp__", "mcp__secret", false),
        ("^(?!.*secret)mcp__", "x_mcp__db", false),
        (r"^(?!a\)[)]b)", "a))b", false),
        (r"^(?!a\)[)]b)", "ab", true),
    ] {
        let matcher = Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some(pattern)).unwrap();
        assert_eq!(matcher.matches(subject), expected, "{pattern} {subject}");
    }
    for pattern in ["(?!x)", "a(?=b)", "(?<!a)b", "^(?!x"] {
        assert!(Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some(pattern)).is_err(), "{pattern}");
    }
}

#[test]
fn required_literals_are_in_every_match() {
    for (pattern, whole, text, is_prefix) in [
        ("mcp__db__.*", true, "mcp__db__", true),
        ("mcp__db__.*", false, "mcp__db__", false),
        ("^Bash", false, "Bash", true),
        ("Bash$", false, "Bash", false),
        ("ab*", true, "a", true),
        ("ab?c", true, "a", true),
        ("ab+c", true, "a", true),
        ("ab+*", true, "a", true),
        ("ab+{0}", true, "a", true),
        ("0+??", true, "", false),
        ("ab{0}c", true, "a", true),
        ("abc|xyz", true, "", false),
        ("ab(c|d)", true, "ab", true),
        ("ab(c|d)|x", true, "", false),
        (r"ab\(c|d", true, "", false),
        ("ab[|]c", true, "", false),
        ("(?i)abc", true, "", false),
        (".*", true, "", false),
    ] {
        let literal = regex_literal(pattern, whole);
        assert_eq!((literal.text.as_str(), literal.is_prefix), (text, is_prefix), "{pattern}");
    }
}

proptest! {
    #[test]
    fn never_panics(pattern in any::<String>(), subject in any::<String>()) {
        for grammar in [
            Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT,
        ] {
            if let Ok(matcher) = Matcher::compile(&grammar, Some(&pattern)) {
                matcher.matches(&subject);
            }
        }
    }

    #[test]
    fn a_required_literal_never_hides_a_match(
        pattern in "[\\^ab(|)*+?{}0-2\\[\\].$\\\\-]{0,8}",
        subject in "[ab|0-2(-]{0,6}",
    ) {
        for grammar in [Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB] {
            let Ok(matcher) = Matcher::compile(&grammar, Some(&pattern)) else { continue };
            let MatcherKind::Pattern(literal) = matcher.kind() else { continue };
            if matcher.matches(&subject) {
                let has_literal = if literal.is_prefix {
                    subject.starts_with(&literal.text)
                } else {
                    subject.contains(&literal.text)
                };
                prop_assert!(has_literal, "{pattern} {subject} {literal:?}");
            }
        }
    }

    #[test]
    fn a_pattern_that_is_ruled_out_does_not_match(
        pattern in "(\\^|)(\\(|\\(\\?:|)([ab|^$.*+?{}()\\[\\]\\\\ ,-]{0,7})(\\)|)(\\$|)",
        subject in "[ab|\n -]{0,5}",
    ) {
        for grammar in [
            Grammar::NAMES_OR_SEARCH, Grammar::REGEX_WHOLE, Grammar::REGEX_SEARCH, Grammar::GLOB, Grammar::EXACT,
        ] {
            if grammar.rules_out(&pattern, &subject) {
                let matcher = Matcher::compile(&grammar, Some(&pattern));
                prop_assert!(matcher.is_ok_and(|matcher| !matcher.matches(&subject)), "{grammar:?} {pattern} {subject}");
            }
        }
    }
}

#[test]
fn common_patterns_are_ruled_out_without_compiling() {
    let grammar = Grammar::NAMES_OR_SEARCH;
    for pattern in
        ["Edit|Write", "^Edit$|^Write$", "^(Edit|Write)$", "mcp__.*", "mcp__.*__write.*", "Edit.*", "(Read|Edit)"]
    {
        assert!(grammar.rules_out(pattern, "Bash"), "{pattern}");
    }
    for pattern in
        ["", "*", "Bash", "Bash|Edit", ".*", "^(Bash|Edit)$", "B.*h", "[", "(", "Bas[h]", "Ba?sh", "a{99999}"]
    {
        assert!(!grammar.rules_out(pattern, "Bash"), "{pattern}");
    }
}
