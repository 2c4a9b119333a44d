//! Tests of the tokenizer.

use super::*;
use proptest::prelude::*;

/// Returns the tokens as text, each with a prefix for its kind.
fn tokens(text: &str, mut lexer: Lexer<'_>) -> Result<Vec<String>, LexError> {
    let mut found = Vec::new();
    while let Some(token) = lexer.next_token()? {
        let letter = match token.kind {
            TokenKind::Key { escaped: true } => "k\\",
            TokenKind::Key { .. } => "k",
            TokenKind::String { escaped: true } => "s\\",
            TokenKind::String { .. } => "s",
            TokenKind::Number => "n",
            TokenKind::True | TokenKind::False | TokenKind::Null => "w",
            TokenKind::ObjectStart | TokenKind::ObjectEnd | TokenKind::ArrayStart | TokenKind::ArrayEnd => "",
        };
        found.push(format!("{letter}{}", &text[token.start..token.end]));
    }
    assert_eq!(lexer.depth(), 0);
    assert_eq!(lexer.next_token(), Ok(None));
    Ok(found)
}

#[test]
fn tokens_have_kinds_and_spans() {
    let text = " {\"a\" : [1, -2.5e+3,{ }, []] , \"\\u0062\":\"x\\n\", \"c\":{\"d\":true}, \"e\":[null,false]}\n";
    let expected = [
        "{",
        "k\"a\"",
        "[",
        "n1",
        "n-2.5e+3",
        "{",
        "}",
        "[",
        "]",
        "]",
        "k\\\"\\u0062\"",
        "s\\\"x\\n\"",
        "k\"c\"",
        "{",
        "k\"d\"",
        "wtrue",
        "}",
        "k\"e\"",
        "[",
        "wnull",
        "wfalse",
        "]",
        "}",
    ];
    assert_eq!(tokens(text, Lexer::new(text)).unwrap(), expected);
    assert_eq!(tokens(text, Lexer::new(text).with_extensions()).unwrap(), expected);
    assert_eq!(tokens("\u{feff}1", Lexer::new("\u{feff}1").starting_at(3)).unwrap(), ["n1"]);
}

#[test]
fn extensions_are_comments_and_trailing_commas() {
    let text = "// a\n{/**/\"x\"/* * / */:/***/[1,]/* ,*/,}// c";
    assert_eq!(tokens(text, Lexer::new(text).with_extensions()).unwrap(), ["{", "k\"x\"", "[", "n1", "]", "}"]);
    for (text, kind, offset) in [
        ("// a\n1", LexErrorKind::ExpectedValue, 0),
        ("[1, ]", LexErrorKind::TrailingComma, 4),
        ("{\"a\":1 /**/}", LexErrorKind::ExpectedCommaOrBrace, 7),
    ] {
        assert_eq!(tokens(text, Lexer::new(text)), Err(LexError { kind, offset }), "{text}");
        assert!(tokens(text, Lexer::new(text).with_extensions()).is_ok(), "{text}");
    }
    for (text, kind, offset) in [
        ("[1, /* x", LexErrorKind::UnclosedComment, 4),
        ("/*/", LexErrorKind::UnclosedComment, 0),
        ("[,]", LexErrorKind::ExpectedValue, 1),
        ("1 / 2", LexErrorKind::TrailingText, 2),
    ] {
        assert_eq!(tokens(text, Lexer::new(text).with_extensions()), Err(LexError { kind, offset }), "{text}");
    }
}

#[test]
fn values_are_skipped_as_a_whole() {
    let text = r#"[{"a": [1, {}]}, "]", 2]"#;
    let mut lexer = Lexer::new(text);
    lexer.next_token().unwrap();
    let mut values = Vec::new();
    while let Some(value) = lexer.next_value().unwrap() {
        values.push((value.kind, &text[value.start..value.end]));
    }
    assert_eq!(
        values,
        [
            (TokenKind::ObjectStart, r#"{"a": [1, {}]}"#),
            (TokenKind::String { escaped: false }, r#""]""#),
            (TokenKind::Number, "2"),
        ]
    );
}

#[test]
fn deep_nesting_keeps_the_kind_of_each_level() {
    let text = "[{\"a\":".repeat(MAX_DEPTH / 2) + "1" + &"}]".repeat(MAX_DEPTH / 2);
    assert_eq!(tokens(&text, Lexer::new(&text)).unwrap().len(), MAX_DEPTH * 5 / 2 + 1);
    let wrong = text.replacen("}]}]", "}]]}", 1);
    assert!(tokens(&wrong, Lexer::new(&wrong)).is_err());
}

proptest! {
    #[test]
    fn plain_runs_end_at_the_first_special_byte(
        bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x18_u8..0x24, Just(b'\\'), Just(0x80), Just(b'a')], 0..40),
        at in 0_usize..40,
    ) {
        let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
        let run = bytes.get(at..).unwrap_or_default().iter().take_while(|byte| !special(byte)).count();
        prop_assert_eq!(plain_run(&bytes, at), at + run);
    }

    #[test]
    fn extensions_accept_more_and_never_less(text in "[\\[\\]{}:,\"\\\\ntrue0-9eE+. /*\n]{0,24}") {
        if let Ok(found) = tokens(&text, Lexer::new(&text)) {
            prop_assert_eq!(tokens(&text, Lexer::new(&text).with_extensions()), Ok(found));
        }
    }
}
