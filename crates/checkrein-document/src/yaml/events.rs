//! Conversion of YAML text to a flat list of items.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Marker, Parser, ScalarStyle, ScanError, Tag};

use super::super::error::{DocumentProblem, ParseError};
use super::super::node::{Span, Value};
use super::super::{MAX_DEPTH, too_deep, without_mark};
use super::scalar::resolve;

/// A piece of a document, in the order of the text. The items between a sequence or mapping and its end are its content.
pub(super) struct Item<'a> {
    pub span: Span,
    pub kind: Kind<'a>,
}

pub(super) enum Kind<'a> {
    Scalar {
        text: Cow<'a, str>,
        /// `true` if the scalar is always a string.
        quoted: bool,
        /// The value if it is no string. Computed once for all copies of the scalar.
        typed: Option<Value<'a>>,
    },
    Sequence,
    Mapping,
    End,
    /// A reference to the item at this index, which is complete at that point.
    Alias(usize),
}

pub(super) fn read<'a>(text: &'a str, problems: &mut Vec<DocumentProblem>) -> Result<Vec<Item<'a>>, ParseError> {
    let (rest, skipped) = without_mark(text);
    // The limits of the parser apply when it scans ahead of its events.
    let mut options = granit_parser::options! { flow_nesting_limit: MAX_DEPTH, block_nesting_limit: MAX_DEPTH };
    options.set_emit_comments(false);
    let mut reader = EventReader {
        text,
        skipped,
        items: Vec::new(),
        open: Vec::new(),
        anchors: HashMap::new(),
        last_end: skipped,
        problems,
    };
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(rest, options) {
        let (event, span) = event.map_err(|error| reader.parse_error(&error))?;
        if let Event::DocumentStart(..) = event {
            documents += 1;
            if documents > 1 {
                let message = "a second YAML document is not supported; remove the `---`";
                return Err(ParseError::limit(reader.span(&span), message));
            }
        }
        reader.event(event, &span)?;
    }
    Ok(reader.items)
}

/// State of an anchor.
#[derive(Clone, Copy)]
enum Anchor {
    /// The item has not ended yet.
    Open,
    Complete(usize),
}

struct EventReader<'a, 'p> {
    text: &'a str,
    /// Length of the byte order mark.
    skipped: usize,
    items: Vec<Item<'a>>,
    /// Open sequences and mappings: item and anchor.
    open: Vec<(usize, usize)>,
    anchors: HashMap<usize, Anchor>,
    /// End of the last visible item. Blocks end there, but the parser reports their end later.
    last_end: usize,
    problems: &'p mut Vec<DocumentProblem>,
}

impl<'a> EventReader<'a, '_> {
    fn event(&mut self, event: Event<'a>, span: &granit_parser::Span) -> Result<(), ParseError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.as_deref(), span)?,
            Event::SequenceStart(_, anchor, tag) => self.enter(Kind::Sequence, anchor, tag.as_deref(), span)?,
            Event::MappingStart(_, anchor, tag) => self.enter(Kind::Mapping, anchor, tag.as_deref(), span)?,
            Event::SequenceEnd | Event::MappingEnd => self.leave(span),
            Event::Alias(anchor) => {
                let span = self.span(span);
                match self.anchors.get(&anchor) {
                    Some(Anchor::Complete(item)) => self.push(span, Kind::Alias(*item)),
                    Some(Anchor::Open) => {
                        let message = format!("alias `{}` refers to a value that contains it", span.slice(self.text));
                        return Err(ParseError::new(span, message));
                    }
                    None => return Err(ParseError::new(span, format!("unknown alias `{}`", span.slice(self.text)))),
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn scalar(
        &mut self,
        text: Cow<'a, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        span: &granit_parser::Span,
    ) -> Result<(), ParseError> {
        let place = self.span(span);
        let is_absent = place.start == place.end && tag.is_none();
        // The parser reports a text even for a missing value.
        let text = if is_absent { Cow::Borrowed("") } else { text };
        let typed = resolve(&text);
        let (quoted, matches_tag) = match tag.and_then(Tag::core_suffix) {
            // `!` alone marks a string.
            None if tag.is_some_and(|tag| tag.original() == "!") => (true, true),
            None => {
                self.unknown_tag(tag, span);
                (style != ScalarStyle::Plain, true)
            }
            Some("str") => (true, true),
            Some("null") => (false, typed == Some(Value::Null)),
            Some("bool") => (false, matches!(typed, Some(Value::Bool(_)))),
            Some("int" | "float") => (false, matches!(typed, Some(Value::Number(_)))),
            Some(_) => (true, false),
        };
        if let (false, Some(tag)) = (matches_tag, tag) {
            return Err(ParseError::new(place, format!("the value does not match its tag `{}`", tag.original())));
        }
        self.complete(anchor, self.items.len());
        let typed = if quoted { None } else { typed };
        self.push(place, Kind::Scalar { text, quoted, typed });
        Ok(())
    }

    fn enter(
        &mut self,
        kind: Kind<'a>,
        anchor: usize,
        tag: Option<&Tag>,
        span: &granit_parser::Span,
    ) -> Result<(), ParseError> {
        let place = self.span(span);
        if self.open.len() == MAX_DEPTH {
            return Err(too_deep(place, MAX_DEPTH));
        }
        match tag.map(|tag| (tag, tag.core_suffix())) {
            None => {}
            Some((tag, None)) => self.unknown_tag(Some(tag), span),
            Some((_, Some("seq"))) if matches!(kind, Kind::Sequence) => {}
            Some((_, Some("map"))) if matches!(kind, Kind::Mapping) => {}
            Some((tag, Some(_))) => {
                return Err(ParseError::new(place, format!("the value does not match its tag `{}`", tag.original())));
            }
        }
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Open);
        }
        self.open.push((self.items.len(), anchor));
        self.push(place, kind);
        Ok(())
    }

    fn leave(&mut self, span: &granit_parser::Span) {
        let place = self.span(span);
        self.push(place, Kind::End);
        let Some((start, anchor)) = self.open.pop() else { return };
        self.complete(anchor, start);
        let end = self.last_end;
        if let Some(item) = self.items.get_mut(start) {
            item.span = Span::new(item.span.start as usize, end);
        }
    }

    fn complete(&mut self, anchor: usize, item: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor::Complete(item));
        }
    }

    fn push(&mut self, span: Span, kind: Kind<'a>) {
        if span.end > span.start {
            self.last_end = self.last_end.max(span.end as usize);
        }
        self.items.push(Item { span, kind });
    }

    fn unknown_tag(&mut self, tag: Option<&Tag>, span: &granit_parser::Span) {
        if let Some(tag) = tag {
            let span = self.span(&span.tag_span().unwrap_or(*span));
            self.problems.push(DocumentProblem::UnknownTag { tag: tag.original(), span });
        }
    }

    /// The span without the white space that the parser adds to block scalars.
    fn span(&self, span: &granit_parser::Span) -> Span {
        let (start, end) = (self.offset(&span.start), self.offset(&span.end));
        let text = self.text.get(start..end).unwrap_or_default();
        Span::new(start, start + text.trim_end_matches([' ', '\t', '\n', '\r']).len())
    }

    fn offset(&self, marker: &Marker) -> usize {
        // Markers in strings have byte offsets. The count of characters is a fallback.
        let rest = self.text.get(self.skipped..).unwrap_or_default();
        let counted = || rest.char_indices().nth(marker.index()).map_or(rest.len(), |(at, _)| at);
        self.skipped + marker.byte_offset().unwrap_or_else(counted).min(rest.len())
    }

    /// Converts an error of the parser. Messages about the state of the parser are replaced.
    fn parse_error(&self, error: &ScanError) -> ParseError {
        let at = self.offset(error.marker());
        let span = Span::new(at, at);
        let message = match error.kind() {
            ErrorKind::RecursionLimitExceeded => return too_deep(span, MAX_DEPTH),
            ErrorKind::TabInIndentation | ErrorKind::TabInBlockIndentation | ErrorKind::TabInPlainScalar => {
                return ParseError::new(self.tab_near(at), "tab in the indentation; use spaces");
            }
            ErrorKind::UnknownAnchor => "unknown alias; define its anchor (`&name`) before it",
            ErrorKind::ExpectedBlockMappingKey => "expected a key with the indentation of the keys before it",
            ErrorKind::ExpectedBlockSequenceEntry => "expected `-` with the indentation of the items before it",
            ErrorKind::MappingValueNotAllowed => "unexpected `:`; check the indentation, or quote the text",
            kind => return ParseError::new(span, kind.to_string()),
        };
        ParseError::new(span, message)
    }

    /// The first tab of the line or after it. The parser reports the text after the tab, or the scalar before it.
    fn tab_near(&self, at: usize) -> Span {
        let start = self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        match self.text.get(start..).and_then(|rest| rest.find('\t')) {
            Some(tab) => Span::new(start + tab, start + tab + 1),
            None => Span::new(at, at),
        }
    }
}
