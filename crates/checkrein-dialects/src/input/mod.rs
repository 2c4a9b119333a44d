//! What tools are called with, in the words of each agent and in those that all share.
//!
//! The words that all share are Claude Code's, as for the names of tools. A tool's row says what its agent calls the fields of its
//! input; what has no row is called the same everywhere. An event keeps the input as its agent sent it. A hook of another
//! dialect is [given](Dialect::own_input) what its own agent would have sent, and what it makes of that is
//! [told back](Dialect::rewritten_input) in the words of the agent that asked.

pub mod patch;
mod translate;

use std::borrow::Cow;

use checkrein_core::{Event, RawJson};

use crate::table::{Dialect, ToolRow};
use patch::PatchLine;
pub use translate::Untranslatable;

/// One field of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputRow {
    /// What the agent calls it. Of several rows for one field the agent has used different names over time: the first is what is
    /// written, unless the agent itself used another.
    pub own: &'static str,
    /// What it is called in the vocabulary that all share.
    pub common: &'static str,
    /// What form it has.
    pub form: InputForm,
}

/// The form that a field of a tool's input has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputForm {
    /// The same as everywhere.
    Same,
    /// A list of texts, where others have one text: a line for each.
    Lines,
    /// A list of objects with these fields.
    Each(&'static [InputRow]),
    /// Not there at all: what the objects of the list that `own` names have in this field, a line for each. It can be seen,
    /// not changed.
    SeenInEach(&'static str),
    /// Not there at all: what the patch that `own` names says. It can be seen, not changed.
    SeenInPatch(PatchLine),
}

impl InputRow {
    /// A field that has the same name everywhere. Needed only in front of others for the same field.
    pub const fn same(name: &'static str) -> Self {
        Self::named(name, name)
    }

    /// A field that the agent has another name for.
    pub const fn named(own: &'static str, common: &'static str) -> Self {
        Self { own, common, form: InputForm::Same }
    }

    /// In another form.
    #[must_use]
    pub const fn form(mut self, form: InputForm) -> Self {
        self.form = form;
        self
    }

    /// A field that is read out of the objects of a list.
    pub const fn seen_in(list: &'static str, field: &'static str, common: &'static str) -> Self {
        Self { own: list, common, form: InputForm::SeenInEach(field) }
    }

    /// A field that is read out of a patch.
    pub const fn patched(own: &'static str, part: PatchLine, common: &'static str) -> Self {
        Self { own, common, form: InputForm::SeenInPatch(part) }
    }

    /// Whether it can only be seen.
    pub const fn is_seen(&self) -> bool {
        matches!(self.form, InputForm::SeenInEach(_) | InputForm::SeenInPatch(_))
    }
}

impl ToolRow {
    /// Its names in the vocabulary that all share.
    pub fn shared_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.common.iter().copied()).filter(|name| is_shared(name))
    }

    /// Whether an input of this tool can be made of one that is in the words that all share.
    fn can_be_made(&self) -> bool {
        !self.inputs.iter().any(InputRow::is_seen)
    }
}

fn is_shared(name: &str) -> bool {
    // Claude Code has no `LS` any more; others still do.
    name == "LS" || crate::agents::claude::DIALECT.tools.iter().any(|tool| tool.name == name)
}

/// What the tool of an event is called with, in the words that all share.
pub fn canonical_input(event: &Event) -> Option<Cow<'_, RawJson>> {
    let input = event.tool_input()?;
    let common = sent_as(event).and_then(|tool| translate::to_common(tool.inputs, input, true));
    Some(common.map_or(Cow::Borrowed(input), Cow::Owned))
}

/// The tool of an event in the table of the agent that sent it.
fn sent_as(event: &Event) -> Option<&'static ToolRow> {
    event.dialect()?.table::<Dialect>()?.tool(event.tool_name()?)
}

impl Dialect {
    /// A tool of its agent.
    pub fn tool(&self, name: &str) -> Option<&'static ToolRow> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// `true` if an event's tool and its input are in the words of this dialect.
    pub fn has_sent(&self, event: &Event) -> bool {
        event.dialect().is_some_and(|sender| sender.name() == self.name)
    }

    /// The tool of this dialect's agent that does the same as the one of another agent's event. `None`: there is none, nobody
    /// knows, or the event is its own.
    pub fn native_tool_name(&self, event: &Event) -> Option<&'static ToolRow> {
        if self.tools.is_empty() || self.has_sent(event) {
            return None;
        }
        let name = event.tool_name()?;
        let names = || std::iter::once(name).chain(event.tool_aliases().iter().copied()).filter(|name| is_shared(name));
        let tools = || self.tools.iter().filter(|tool| tool.can_be_made());
        let does_the_same = |tool: &&'static ToolRow| tool.shared_names().any(|own| names().any(|name| name == own));
        let called_the_same = || tools().filter(does_the_same).find(|tool| tool.name == name);
        let called_so = || names().find_map(|name| tools().find(|tool| tool.name == name));
        let known_as = || names().find_map(|name| tools().find(|tool| tool.common.contains(&name)));
        called_the_same().or_else(called_so).or_else(known_as)
    }

    /// What the tool of an event is called with, as this dialect's agent would have sent it.
    pub fn native_input<'e>(&self, event: &'e Event) -> Option<Cow<'e, RawJson>> {
        if self.has_sent(event) {
            return event.tool_input().map(Cow::Borrowed);
        }
        let common = canonical_input(event)?;
        let own = self
            .native_tool_name(event)
            .and_then(|tool| translate::from_common(tool.inputs, &common, None).ok().flatten());
        Some(own.map_or(common, Cow::Owned))
    }

    /// What a hook of this dialect wants the tool of an event to be called with, in the words of the event.
    ///
    /// # Errors
    /// It has changed what can only be seen.
    pub fn rewritten_input<'v>(&self, event: &Event, value: &'v RawJson) -> Result<Cow<'v, RawJson>, Untranslatable> {
        if self.has_sent(event) {
            return Ok(Cow::Borrowed(value));
        }
        let common = self.native_tool_name(event).and_then(|tool| translate::to_common(tool.inputs, value, false));
        let common = common.map_or(Cow::Borrowed(value), Cow::Owned);
        let Some(tool) = sent_as(event) else { return Ok(common) };
        let own = translate::from_common(tool.inputs, &common, event.tool_input())?;
        Ok(own.map_or(common, Cow::Owned))
    }

    /// The names that tools of these names, which may be shared ones, have in this dialect.
    pub(crate) fn own_names<'n>(&'n self, names: &'n [String]) -> impl Iterator<Item = &'static str> + use<'n> {
        let is_one = |tool: &&'static ToolRow| tool.shared_names().any(|own| names.iter().any(|name| name == own));
        self.tools.iter().filter(is_one).map(|tool| tool.name)
    }
}
