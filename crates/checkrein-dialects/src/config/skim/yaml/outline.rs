//! What a text is taken for, for tests.

use super::{Stands, Yaml};
use crate::config::skim::Reader;

#[derive(Debug)]
pub(in crate::config::skim) enum Outline<'a> {
    List(Vec<Outline<'a>>),
    Object(Vec<(&'a [u8], Outline<'a>)>),
    Text(&'a [u8]),
    /// What is skipped.
    Other,
}

impl<'a> Yaml<'a> {
    pub(in crate::config::skim) fn outline(&mut self) -> Option<Outline<'a>> {
        if self.is_list() {
            let mut items = Vec::new();
            self.items(|yaml| {
                items.push(yaml.outline()?);
                Some(())
            })?;
            return Some(Outline::List(items));
        }
        if self.stands != Stands::Nowhere && (self.peek() == Some(b'{') || self.is_object()) {
            let mut members = Vec::new();
            self.members(|yaml, key| {
                members.push((key, yaml.outline()?));
                Some(())
            })?;
            return Some(Outline::Object(members));
        }
        let mut ahead = Self { ..*self };
        // As text, and as anything: both must come to the same end.
        let text = ahead.text();
        self.value()?;
        assert!(text.is_none() || ahead.at == self.at, "a text ends elsewhere");
        Some(text.map_or(Outline::Other, Outline::Text))
    }
}
