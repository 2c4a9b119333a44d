//! TOML files as trees.
//!
//! The `toml` crate parses the text and reports the spans of keys and values. This module restores the order of the text
//! and limits the depth before the tree is built.

use std::borrow::Cow;
use std::ops::Range;

use ::toml::de::{DeTable, DeValue};
use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, Source};

use super::node::{Member, Node, Span, Value};
use super::number::{decimal, integer};
use super::{Tree, too_deep, without_mark};
use crate::error::ParseError;

/// Limit of the `toml` crate. The feature that removes it would apply to the whole build of the host.
const MAX_DEPTH: usize = 80;

pub(super) fn read(text: &str) -> Result<Tree<'_>, ParseError> {
    let (rest, skipped) = without_mark(text);
    let reader = TomlReader { text, skipped };
    if let Some(span) = Depth::excess(rest) {
        return Err(too_deep(reader.span(span), MAX_DEPTH));
    }
    let table = DeTable::parse(rest).map_err(|error| reader.parse_error(&error))?;
    let members = reader.members(table.into_inner(), 1)?;
    Ok((Node { span: Span::new(skipped, text.len()), value: Value::Object(members) }, Vec::new()))
}

struct TomlReader<'a> {
    text: &'a str,
    /// Length of the byte order mark.
    skipped: usize,
}

impl<'a> TomlReader<'a> {
    fn span(&self, range: Range<usize>) -> Span {
        let within = |at: usize| (at + self.skipped).min(self.text.len());
        Span::new(within(range.start), within(range.end))
    }

    fn parse_error(&self, error: &::toml::de::Error) -> ParseError {
        ParseError::new(self.span(error.span().unwrap_or_default()), error.message())
    }

    /// The members in the order of the text. The parser sorts them by key.
    fn members(&self, table: DeTable<'a>, depth: usize) -> Result<Vec<Member<'a>>, ParseError> {
        let mut members = table
            .into_iter()
            .map(|(key, value)| {
                let key_span = self.span(key.span());
                let value = self.node(self.span(value.span()), value.into_inner(), depth)?;
                Ok(Member { key: key.into_inner(), key_span, value })
            })
            .collect::<Result<Vec<_>, ParseError>>()?;
        members.sort_by_key(|member| member.key_span);
        Ok(members)
    }

    fn node(&self, span: Span, value: DeValue<'a>, depth: usize) -> Result<Node<'a>, ParseError> {
        if depth == MAX_DEPTH && matches!(value, DeValue::Array(_) | DeValue::Table(_)) {
            return Err(too_deep(span, MAX_DEPTH));
        }
        let as_written = || Value::String(Cow::Borrowed(span.slice(self.text)));
        let value = match value {
            DeValue::String(text) => Value::String(text),
            DeValue::Boolean(value) => Value::Bool(value),
            DeValue::Datetime(_) => as_written(),
            DeValue::Integer(number) if number.radix() != 10 => match integer(number.as_str(), number.radix()) {
                Some(number) => Value::Number(Cow::Owned(number)),
                None => return Err(ParseError::new(span, "integer with more than 128 bits; write it as a string")),
            },
            DeValue::Integer(number) => Value::Number(owned_decimal(number.as_str(), span)?),
            // Infinities and not-a-numbers.
            DeValue::Float(number) if number.as_str().ends_with(['f', 'n']) => as_written(),
            DeValue::Float(number) => Value::Number(owned_decimal(number.as_str(), span)?),
            DeValue::Array(nodes) => {
                let nodes = nodes.into_iter();
                let nodes = nodes.map(|node| self.node(self.span(node.span()), node.into_inner(), depth + 1));
                Value::Array(nodes.collect::<Result<_, ParseError>>()?)
            }
            DeValue::Table(table) => Value::Object(self.members(table, depth + 1)?),
        };
        Ok(Node { span, value })
    }
}

fn owned_decimal(text: &str, span: Span) -> Result<Cow<'static, str>, ParseError> {
    let number = decimal(text).ok_or_else(|| ParseError::new(span, "invalid number"))?;
    Ok(Cow::Owned(number.into_owned()))
}

/// Counts levels before the tree is built. The `toml` crate limits the parts of a key and the nesting of values separately.
/// Together they can build a tree so deep that dropping it overflows the stack. Its error for a too long key also has no
/// position.
#[derive(Default)]
struct Depth {
    /// Current levels below the root.
    levels: usize,
    /// Levels of the last header.
    header: usize,
    in_header: bool,
    /// Levels of the dots of the last key at the top level. `open` has those of each open array or inline table.
    dots: usize,
    open: Vec<usize>,
    excess: Option<Range<usize>>,
}

impl Depth {
    /// The first position that is too deep.
    fn excess(text: &str) -> Option<Range<usize>> {
        let tokens = Source::new(text).lex().into_vec();
        let mut depth = Self::default();
        parse_document(&tokens, &mut depth, &mut ());
        depth.excess
    }

    fn add(&mut self, span: toml_parser::Span) -> bool {
        self.levels += 1;
        let fits = self.levels < MAX_DEPTH;
        if !fits && self.excess.is_none() {
            self.excess = Some(span.start()..span.end());
        }
        fits
    }

    fn end_key(&mut self) {
        let dots = std::mem::take(self.open.last_mut().unwrap_or(&mut self.dots));
        self.levels = self.levels.saturating_sub(dots);
    }

    fn open_header(&mut self) {
        self.end_key();
        self.levels = self.levels.saturating_sub(std::mem::take(&mut self.header));
        self.in_header = true;
    }

    fn open_value(&mut self, span: toml_parser::Span) -> bool {
        self.open.push(0);
        self.add(span)
    }

    fn close_value(&mut self) {
        self.end_key();
        if self.open.pop().is_some() {
            self.levels = self.levels.saturating_sub(1);
        }
    }
}

impl EventReceiver for Depth {
    fn std_table_open(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.open_header();
    }

    fn array_table_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.open_header();
        self.header += 1;
        self.add(span);
    }

    fn std_table_close(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
    }

    fn array_table_close(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.in_header = false;
    }

    fn inline_table_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) -> bool {
        self.open_value(span)
    }

    fn inline_table_close(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.close_value();
    }

    fn array_open(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) -> bool {
        self.open_value(span)
    }

    fn array_close(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.close_value();
    }

    fn simple_key(&mut self, span: toml_parser::Span, _: Option<Encoding>, _: &mut dyn ErrorSink) {
        if self.in_header {
            self.header += 1;
            self.add(span);
        }
    }

    fn key_sep(&mut self, span: toml_parser::Span, _: &mut dyn ErrorSink) {
        if !self.in_header {
            *self.open.last_mut().unwrap_or(&mut self.dots) += 1;
            self.add(span);
        }
    }

    fn value_sep(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        self.end_key();
    }

    fn newline(&mut self, _: toml_parser::Span, _: &mut dyn ErrorSink) {
        // A broken header ends with its line as well.
        if self.open.is_empty() {
            self.end_key();
            self.in_header = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Node, parse};

    fn toml(text: &str) -> Result<Node<'_>, String> {
        parse(text, Format::Toml).map(|parsed| parsed.root).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_converted_to_json() {
        for (text, written) in [
            ("", "{}"),
            ("z = 1\na = 'x'\n", r#"{"z":1,"a":"x"}"#),
            ("\u{feff}a = \"\\u00e4\\n\"\r\nb = '''\nx'''", r#"{"a":"ä\n","b":"x"}"#),
            ("a = [1, +2, 1_000, -0, 0xFF, 0o17, 0b11]", r#"{"a":[1,2,1000,-0,255,15,3]}"#),
            ("a = [1.0, +1.50, 1e400, 6.6E-3]", r#"{"a":[1.0,1.50,1e400,6.6E-3]}"#),
            ("a = [12345678901234567890, inf, -nan, true]", r#"{"a":[12345678901234567890,"inf","-nan",true]}"#),
            (
                "a = [1979-05-27T07:32:00Z, 1979-05-27 07:32:00, 07:32:00]",
                r#"{"a":["1979-05-27T07:32:00Z","1979-05-27 07:32:00","07:32:00"]}"#,
            ),
            ("[b.c]\nx = 1\n[a]\n[[d]]\n[d.e]\ny = 2\n[[d]]", r#"{"b":{"c":{"x":1}},"a":{},"d":[{"e":{"y":2}},{}]}"#),
            ("b.a = {d.c = []}\nb.0 = 1", r#"{"b":{"a":{"d":{"c":[]}},"0":1}}"#),
        ] {
            assert_eq!(toml(text).map(|root| root.to_json()).as_deref(), Ok(written), "{text}");
        }
    }

    #[test]
    fn nodes_have_their_spans() {
        let text = "\u{feff}\"ä\" = [1, 'ü']\n[hooks.pre] # x\ncommand = \"c\"\n[[list]]\n";
        let root = toml(text).unwrap();
        let places: Vec<_> = root
            .as_object()
            .unwrap()
            .iter()
            .map(|member| (member.key_span.slice(text), member.value.span.slice(text)))
            .collect();
        assert_eq!(places, [("\"ä\"", "[1, 'ü']"), ("hooks", "hooks"), ("list", "[[list]]")]);
        assert_eq!(root.get("ä").unwrap().as_array().unwrap()[1].span.slice(text), "'ü'");
        let pre = root.get("hooks").unwrap().get("pre").unwrap();
        assert_eq!(pre.span.slice(text), "[hooks.pre]");
        assert_eq!(pre.get("command").unwrap().span.slice(text), "\"c\"");
        assert_eq!(root.span.slice(text), text.trim_start_matches('\u{feff}'));
    }

    #[test]
    fn errors_have_their_position() {
        for (text, place, message) in [
            ("a = 1\na = 2", "line 2 column 1", "duplicate key"),
            ("\u{feff}é = 1", "line 1 column 1", "invalid unquoted key, expected letters, numbers, `-`, `_`"),
            ("x = \"ü", "line 1 column 7", "invalid basic string, expected `\"`"),
            ("[a\nb=1", "line 1 column 3", "unclosed table, expected `]`"),
            ("a = 1\r\nb = 007", "line 2 column 5", "unexpected leading zero, expected nothing"),
            (
                "a = 0x100000000000000000000000000000000",
                "line 1 column 5",
                "integer with more than 128 bits; write it as a string",
            ),
        ] {
            let expected = format!("{place}: invalid TOML: {message}");
            assert_eq!(toml(text).map(|root| root.to_json()), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn depth_is_limited_for_keys_headers_and_values() {
        let dotted = |parts: usize| vec!["a"; parts].join(".");
        let array = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        for fits in [
            format!("{} = 1", dotted(80)),
            format!("[{}]", dotted(79)),
            format!("[[{}]]", dotted(78)),
            format!("a = {}", array(79)),
            format!("[{}]\n{} = {{a.a = 1, b.b = [1, 2]}}\nb.b.b = 1\n[b.b.b]", dotted(50), dotted(27)),
        ] {
            assert_eq!(toml(&fits).map(|_| ()), Ok(()), "{fits}");
        }
        let both = format!("{} = {{", dotted(40)).repeat(40);
        for (text, place) in [
            (format!("{} = 1", dotted(81)), "line 1 column 160"),
            (format!("{} = 1", dotted(1_000_000)), "line 1 column 160"),
            (format!("[{}]", dotted(80)), "line 1 column 160"),
            (format!("[[{}]]", dotted(79)), "line 1 column 159"),
            (format!("[{}]\nb.c = {{a.a = {{}}}}", dotted(76)), "line 2 column 14"),
            (format!("a = {}", array(80)), "line 1 column 84"),
            (format!("a = {}", array(100_000)), "line 1 column 84"),
            (both, "line 1 column 166"),
            // Each part of these headers is an array and a table.
            ((1..50).map(|parts| format!("[[{}]]\n", dotted(parts))).collect(), "line 40 column 1"),
        ] {
            let expected = format!("{place}: nested more than 80 levels deep, which is the limit");
            assert_eq!(toml(&text).unwrap_err(), expected);
        }
    }
}
