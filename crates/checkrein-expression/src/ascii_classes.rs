//! Classes such as `\w` in regular expressions, limited to ASCII.
//!
//! CEL defines `matches` by RE2, where `\d`, `\s`, `\w` and `\b` are ASCII. The Unicode classes of the crate `regex` also make
//! patterns expensive to build: a pattern with one `\w` costs about two million instructions, and every start of the program builds
//! the patterns that it uses.

use std::convert::Infallible;

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{self, AssertionKind, Ast, ClassPerl, ClassPerlKind, ClassSetItem, Span, Visitor, visit};

/// Returns the pattern with ASCII classes, or the message of a syntax error.
pub(crate) fn with_ascii_classes(pattern: &str) -> Result<String, String> {
    // All of these classes start with a backslash.
    if !pattern.contains('\\') {
        return Ok(pattern.to_owned());
    }
    let ast = Parser::new().parse(pattern).map_err(|error| error.to_string())?;
    let Ok(replacements) = visit(&ast, Replacements::default());
    let mut result = String::with_capacity(pattern.len() * 2);
    let mut end = 0;
    for (span, text) in replacements {
        result.push_str(&pattern[end..span.start.offset]);
        result.push_str(&text);
        end = span.end.offset;
    }
    result.push_str(&pattern[end..]);
    Ok(result)
}

/// Places of a pattern with their new text, in order.
#[derive(Default)]
struct Replacements(Vec<(Span, String)>);

impl Visitor for Replacements {
    type Output = Vec<(Span, String)>;
    type Err = Infallible;

    fn finish(self) -> Result<Self::Output, Infallible> {
        Ok(self.0)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        match ast {
            Ast::ClassPerl(class) => self.0.push((class.span, format!("[{}]", posix(class)))),
            Ast::Assertion(assertion) => {
                if let Some(text) = boundary(assertion) {
                    self.0.push((assertion.span, text.to_owned()));
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if let ClassSetItem::Perl(class) = item {
            self.0.push((class.span, posix(class)));
        }
        Ok(())
    }
}

/// Returns the name of a class between brackets: `[:word:]` for `\w`, `[:^word:]` for `\W`.
fn posix(class: &ClassPerl) -> String {
    let name = match class.kind {
        ClassPerlKind::Digit => "digit",
        ClassPerlKind::Space => "space",
        ClassPerlKind::Word => "word",
    };
    let negation = if class.negated { "^" } else { "" };
    format!("[:{negation}{name}:]")
}

fn boundary(assertion: &ast::Assertion) -> Option<&'static str> {
    match assertion.kind {
        AssertionKind::WordBoundary => Some(r"(?-u:\b)"),
        AssertionKind::NotWordBoundary => Some(r"(?-u:\B)"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::with_ascii_classes;

    #[test]
    fn classes_are_ascii_and_all_else_is_kept() {
        for (pattern, expected) in [
            (r"^--[a-z]+$", r"^--[a-z]+$"),
            (r"\w+\.\d", r"[[:word:]]+\.[[:digit:]]"),
            (r"[\w.-]\S[^\s/]", r"[[:word:].-][[:^space:]][^[:space:]/]"),
            (r"\\w\b", r"\\w(?-u:\b)"),
            (r"a\B[\W&&[^\D]]", r"a(?-u:\B)[[:^word:]&&[^[:^digit:]]]"),
            (r"\p{Greek}é\d", r"\p{Greek}é[[:digit:]]"),
        ] {
            let ascii = with_ascii_classes(pattern).unwrap();
            assert_eq!(ascii, expected);
            regex::Regex::new(&ascii).unwrap();
        }
        assert!(with_ascii_classes(r"\d(").is_err());
    }

    #[test]
    fn texts_in_ascii_match_as_before() {
        let texts = ["", "a", "_", "1", " ", "-x", "a b", "a.b-c", "\t", "x\u{b}y", "1a"];
        for pattern in [r"^\w$", r"\s", r"\d\b", r"^\S+$", r"[\w.-]{3}", r"\W", r"\Ba", r"^[^\s]$"] {
            let (own, plain) = (with_ascii_classes(pattern).unwrap(), regex::Regex::new(pattern).unwrap());
            let own = regex::Regex::new(&own).unwrap();
            for text in texts {
                assert_eq!(own.is_match(text), plain.is_match(text), "{pattern} {text:?}");
            }
        }
        let word = regex::Regex::new(&with_ascii_classes(r"^\w$").unwrap()).unwrap();
        assert!(!word.is_match("é"));
    }
}
