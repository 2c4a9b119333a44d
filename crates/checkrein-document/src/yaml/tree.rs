//! Conversion of the list of items to a tree.
//!
//! Aliases of aliases can expand to more than fits into memory, so copies are counted and limited.

use std::borrow::Cow;

use super::super::error::{DocumentProblem, ParseError};
use super::super::members::{DuplicatePolicy, remove_duplicates, report_duplicates};
use super::super::node::{Member, Node, Span, Value};
use super::super::{MAX_COPIES, MAX_DEPTH, MAX_SIZE, too_deep};
use super::events::{Item, Kind};

/// Builds the tree. The root of an empty document is null.
pub(super) fn build<'a>(items: &[Item<'a>], problems: &mut Vec<DocumentProblem>) -> Result<Node<'a>, ParseError> {
    Builder { items, at: 0, alias: None, copies: 0, copied_text: 0, problems }.node(0)
}

struct Builder<'a, 'i> {
    items: &'i [Item<'a>],
    at: usize,
    /// The outermost alias whose value is being copied.
    alias: Option<Span>,
    copies: usize,
    /// Bytes of strings in the copies. Borrowed strings are included, since consumers may copy them.
    copied_text: usize,
    problems: &'i mut Vec<DocumentProblem>,
}

impl<'a, 'i> Builder<'a, 'i> {
    fn next(&mut self) -> Option<&'i Item<'a>> {
        let item = self.items.get(self.at);
        self.at += 1;
        item
    }

    /// The next node with its content. Limited to [`MAX_DEPTH`].
    fn node(&mut self, depth: usize) -> Result<Node<'a>, ParseError> {
        let Some(item) = self.next() else {
            return Ok(Node { span: Span::default(), value: Value::Null });
        };
        self.count(item)?;
        let value = match &item.kind {
            Kind::Scalar { typed: Some(value), .. } => value.clone(),
            Kind::Scalar { text, typed: None, .. } => Value::String(text.clone()),
            Kind::Sequence => Value::Array(self.sequence(self.deeper(depth, item)?)?),
            Kind::Mapping => Value::Object(self.mapping(self.deeper(depth, item)?)?),
            Kind::Alias(target) => return self.expand(item.span, *target, |this| this.node(depth)),
            // The end of a sequence or mapping is consumed there.
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

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node<'a>>, ParseError> {
        let mut nodes = Vec::new();
        while !self.at_end() {
            nodes.push(self.node(depth)?);
        }
        self.at += 1;
        Ok(nodes)
    }

    fn mapping(&mut self, depth: usize) -> Result<Vec<Member<'a>>, ParseError> {
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
            // Duplicates of the original are already reported.
            remove_duplicates(&mut members, DuplicatePolicy::Last, |_, _, _| {});
        }
        if !merged.is_empty() {
            members.append(&mut merged);
            remove_duplicates(&mut members, DuplicatePolicy::First, |_, _, _| {});
        }
        Ok(members)
    }

    /// Adds the members of a merge key: those of one mapping or of several. The first mapping has priority.
    fn merge(&mut self, depth: usize, merged: &mut Vec<Member<'a>>) -> Result<(), ParseError> {
        let place = self.items.get(self.at).map(|item| item.span).unwrap_or_default();
        let wrong = |node: &Node<'_>| {
            let message = format!("`<<` needs an object or an array of objects, found {}", node.type_name());
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
                return self.expand(item.span, *target, |this| match this.next() {
                    Some(target) => this.key(target).map(|(key, _)| (key, item.span)),
                    None => Ok((Cow::Borrowed(""), item.span)),
                });
            }
            Kind::Sequence => "an array",
            Kind::Mapping | Kind::End => "an object",
        };
        Err(ParseError::new(self.alias.unwrap_or(item.span), format!("{what} cannot be a key; use a string")))
    }

    /// Reads at the anchor, then continues after the alias.
    fn expand<T>(
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

    /// Counts a copied item and checks the limits.
    fn count(&mut self, item: &Item<'_>) -> Result<(), ParseError> {
        let Some(alias) = self.alias else { return Ok(()) };
        match &item.kind {
            // The value of the alias is counted.
            Kind::Alias(_) => return Ok(()),
            Kind::Scalar { text, .. } => self.copied_text += text.len(),
            _ => {}
        }
        self.copies += 1;
        if self.copies > MAX_COPIES {
            let message = format!("aliases expand to more than {MAX_COPIES} values, which is the limit");
            return Err(ParseError::limit(alias, message));
        }
        if self.copied_text > MAX_SIZE {
            let message = format!("aliases expand to more than {MAX_SIZE} bytes of text, which is the limit");
            return Err(ParseError::limit(alias, message));
        }
        Ok(())
    }
}
