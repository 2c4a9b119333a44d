//! From the list of items to a tree.

use std::borrow::Cow;

use super::super::error::{DocumentProblem, ParseError};
use super::super::members::{DuplicatePolicy, make_distinct, report_duplicates};
use super::super::node::{Member, Node, Span, Value};
use super::super::{MAX_COPIES, MAX_DEPTH, MAX_SIZE, too_deep};
use super::events::{Item, Kind};

/// The root is null if there is none.
pub(super) fn build<'a>(items: &[Item<'a>], problems: &mut Vec<DocumentProblem>) -> Result<Node<'a>, ParseError> {
    Builder { items, at: 0, alias: None, copies: 0, copied_text: 0, problems }.node(0)
}

struct Builder<'a, 'i> {
    items: &'i [Item<'a>],
    at: usize,
    /// The outermost alias that is being replaced.
    alias: Option<Span>,
    copies: usize,
    /// Bytes of the strings among the copies. They may be borrowed here, but are not where they are compared or written.
    copied_text: usize,
    problems: &'i mut Vec<DocumentProblem>,
}

impl<'a, 'i> Builder<'a, 'i> {
    fn next(&mut self) -> Option<&'i Item<'a>> {
        let item = self.items.get(self.at);
        self.at += 1;
        item
    }

    /// The node at this point, with all that is in it. Goes no deeper than [`MAX_DEPTH`].
    fn node(&mut self, depth: usize) -> Result<Node<'a>, ParseError> {
        let Some(item) = self.next() else {
            return Ok(Node { span: Span::default(), value: Value::Null });
        };
        self.count(item)?;
        let value = match &item.kind {
            Kind::Scalar { typed: Some(value), .. } => value.clone(),
            Kind::Scalar { text, typed: None, .. } => Value::String(text.clone()),
            Kind::Sequence => Value::Array(self.items_of(self.deeper(depth, item)?)?),
            Kind::Mapping => Value::Object(self.members_of(self.deeper(depth, item)?)?),
            Kind::Alias(target) => return self.replaced(item.span, *target, |this| this.node(depth)),
            // An end is seen by those whose end it is.
            Kind::End => Value::Null,
        };
        Ok(Node { span: item.span, value })
    }

    fn deeper(&self, depth: usize, item: &Item<'_>) -> Result<usize, ParseError> {
        if depth == MAX_DEPTH { Err(too_deep(self.alias.unwrap_or(item.span), MAX_DEPTH)) } else { Ok(depth + 1) }
    }

    fn at_end(&self) -> bool {
        matches!(self.items.get(self.at), None | Some(Item { kind: Kind::End, .. }))
    }

    fn items_of(&mut self, depth: usize) -> Result<Vec<Node<'a>>, ParseError> {
        let mut nodes = Vec::new();
        while !self.at_end() {
            nodes.push(self.node(depth)?);
        }
        self.at += 1;
        Ok(nodes)
    }

    fn members_of(&mut self, depth: usize) -> Result<Vec<Member<'a>>, ParseError> {
        let mut members = Vec::new();
        let mut merged = Vec::new();
        while !self.at_end() {
            let Some(item) = self.next() else { break };
            if let Kind::Scalar { text, quoted: false, .. } = &item.kind
                && text == "<<"
            {
                self.merge(depth, &mut merged)?;
                continue;
            }
            let (key, key_span) = self.key(item)?;
            members.push(Member { key, key_span, value: self.node(depth)? });
        }
        self.at += 1;
        if self.alias.is_none() {
            report_duplicates(&mut members, self.problems);
        } else {
            // Told of where the original stands.
            make_distinct(&mut members, DuplicatePolicy::Last, |_, _, _| {});
        }
        if !merged.is_empty() {
            members.append(&mut merged);
            make_distinct(&mut members, DuplicatePolicy::First, |_, _, _| {});
        }
        Ok(members)
    }

    /// The members that a merge key brings in: those of a mapping, or of several, the first of which counts most.
    fn merge(&mut self, depth: usize, merged: &mut Vec<Member<'a>>) -> Result<(), ParseError> {
        let place = self.items.get(self.at).map(|item| item.span).unwrap_or_default();
        let wrong = |node: &Node<'_>| {
            let message = format!("`<<` takes an object or an array of objects, found {}", node.type_name());
            Err(ParseError::new(place, message))
        };
        let node = self.node(depth)?;
        match node.value {
            Value::Object(mut members) => merged.append(&mut members),
            Value::Array(nodes) => {
                for node in nodes {
                    match node.value {
                        Value::Object(mut members) => merged.append(&mut members),
                        _ => return wrong(&node),
                    }
                }
            }
            _ => return wrong(&node),
        }
        Ok(())
    }

    fn key(&mut self, item: &'i Item<'a>) -> Result<(Cow<'a, str>, Span), ParseError> {
        self.count(item)?;
        let what = match &item.kind {
            Kind::Scalar { text, .. } => return Ok((text.clone(), item.span)),
            Kind::Alias(target) => {
                return self.replaced(item.span, *target, |this| match this.next() {
                    Some(target) => this.key(target).map(|(key, _)| (key, item.span)),
                    None => Ok((Cow::Borrowed(""), item.span)),
                });
            }
            Kind::Sequence => "an array",
            Kind::Mapping | Kind::End => "an object",
        };
        Err(ParseError::new(self.alias.unwrap_or(item.span), format!("{what} cannot be a key")))
    }

    /// Reads at the anchor, then goes on behind the alias.
    fn replaced<T>(
        &mut self,
        alias: Span,
        target: usize,
        read: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        let (at, outer) = (self.at, self.alias);
        self.at = target;
        self.alias = outer.or(Some(alias));
        let value = read(self)?;
        (self.at, self.alias) = (at, outer);
        Ok(value)
    }

    /// A few aliases of aliases can stand for more than fits into memory.
    fn count(&mut self, item: &Item<'_>) -> Result<(), ParseError> {
        let Some(alias) = self.alias else { return Ok(()) };
        match &item.kind {
            // What it stands for is counted.
            Kind::Alias(_) => return Ok(()),
            Kind::Scalar { text, .. } => self.copied_text += text.len(),
            _ => {}
        }
        self.copies += 1;
        if self.copies > MAX_COPIES {
            return Err(ParseError::new(alias, format!("aliases stand for more than {MAX_COPIES} values")));
        }
        if self.copied_text > MAX_SIZE {
            return Err(ParseError::new(alias, format!("aliases stand for more than {MAX_SIZE} bytes of text")));
        }
        Ok(())
    }
}
