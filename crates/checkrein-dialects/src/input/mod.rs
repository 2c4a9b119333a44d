//! Translation of tool inputs between the field names of agents.
//!
//! The canonical names are Claude Code's, as for the names of tools. The row of a tool lists the fields with other names in its
//! agent. An event keeps the input as its agent sent it. A hook of another dialect gets the input
//! [as its own agent would send it](Dialect::native_input), and its rewrites are
//! [translated back](Dialect::rewritten_input).

mod mcp;
pub mod patch;
mod translate;

use std::borrow::Cow;

use checkrein_core::{Event, RawJson};

use crate::table::{Dialect, ToolRow};
pub use mcp::McpNames;
use patch::PatchLine;
use translate::Derived;
pub use translate::Untranslatable;

/// Canonical names of a patch whose first file is new.
const NEW_FILE: &[&str] = &["Write", "Edit"];

/// One field of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputRow {
    /// The agent's name. Several rows for one field are the agent's names over time. The first is written, unless the agent sent
    /// another.
    pub own: &'static str,
    /// Canonical name.
    pub common: &'static str,
    /// Form of the value.
    pub form: InputForm,
}

/// Form of a field of a tool's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputForm {
    /// Canonical form.
    Same,
    /// A list of texts. The canonical form is one text with one line per item.
    Lines,
    /// A list of objects with these fields.
    Each(&'static [InputRow]),
    /// Derived from the list of objects in `own`: the values of this field, one per line. Hooks cannot change it.
    SeenInEach(&'static str),
    /// Derived from the patch in `own`. Hooks cannot change it.
    SeenInPatch(PatchLine),
}

impl InputRow {
    /// A field with its canonical name. Needed only before other rows of the same field.
    pub const fn same(name: &'static str) -> Self {
        Self::named(name, name)
    }

    /// A field with another name in the agent.
    pub const fn named(own: &'static str, common: &'static str) -> Self {
        Self { own, common, form: InputForm::Same }
    }

    /// Sets the form.
    #[must_use]
    pub const fn form(mut self, form: InputForm) -> Self {
        self.form = form;
        self
    }

    /// A field that is derived from the objects of a list.
    pub const fn seen_in(list: &'static str, field: &'static str, common: &'static str) -> Self {
        Self { own: list, common, form: InputForm::SeenInEach(field) }
    }

    /// A field that is derived from a patch.
    pub const fn patched(own: &'static str, part: PatchLine, common: &'static str) -> Self {
        Self { own, common, form: InputForm::SeenInPatch(part) }
    }

    /// `true` if the field is derived, so that hooks cannot change it.
    pub const fn is_seen(&self) -> bool {
        matches!(self.form, InputForm::SeenInEach(_) | InputForm::SeenInPatch(_))
    }
}

impl ToolRow {
    /// Lists its canonical names.
    pub fn shared_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        std::iter::once(self.name).chain(self.common.iter().copied()).filter(|name| is_common_tool(name))
    }

    /// Returns its canonical names for a call with this input. If the input is a patch, the first name is that for its first
    /// file: `Write` for a new file, `Edit` for all others.
    pub(crate) fn common_for(&self, input: Option<&RawJson>) -> &'static [&'static str] {
        let mut patches = self.inputs.iter().filter(|row| row.form == InputForm::SeenInPatch(PatchLine::Files));
        let is_new = patches.any(|row| {
            let patch = input.and_then(|input| input.field(row.own));
            patch.and_then(|patch| Some(patch::starts_with_new_file(&patch.as_text()?))).unwrap_or(false)
        });
        if is_new && NEW_FILE.iter().all(|name| self.common.contains(name)) { NEW_FILE } else { self.common }
    }

    /// `true` if an input of this tool can be built from a canonical input.
    fn can_be_made(&self) -> bool {
        !self.inputs.iter().any(InputRow::is_seen)
    }
}

/// `true` for a common name of tools: `Bash`, `Write`, …
pub fn is_common_tool(name: &str) -> bool {
    // Claude Code has removed `LS`; other agents still have it.
    name == "LS" || crate::agents::claude::DIALECT.tools.iter().any(|tool| tool.name == name)
}

/// Returns the tool input of an event with canonical field names.
pub fn canonical_input(event: &Event) -> Option<Cow<'_, RawJson>> {
    let input = event.tool_input()?;
    let derive = Derived::Added(event.envelope.cwd.as_deref());
    let common = sent_as(event).and_then(|tool| translate::to_common(tool.inputs, input, derive));
    Some(common.map_or(Cow::Borrowed(input), Cow::Owned))
}

/// Returns the field of an event's tool input that holds a patch, by the table of the agent that sent it.
pub fn patch_field(event: &Event) -> Option<&'static str> {
    let is_patch = |row: &&InputRow| matches!(row.form, InputForm::SeenInPatch(_));
    sent_as(event)?.inputs.iter().find(is_patch).map(|row| row.own)
}

/// Lists the fields of an event's tool input that have this canonical name, by the table of the agent that sent it.
pub fn own_fields(event: &Event, common: &str) -> impl Iterator<Item = &'static str> {
    let rows = sent_as(event).map_or(&[][..], |tool| tool.inputs);
    rows.iter().filter(move |row| row.common == common && row.form == InputForm::Same).map(|row| row.own)
}

/// Returns the tool of an event from the table of the agent that sent it.
fn sent_as(event: &Event) -> Option<&'static ToolRow> {
    event.dialect()?.table::<Dialect>()?.tool(event.tool_name()?)
}

impl Dialect {
    /// Returns a tool of its agent.
    pub fn tool(&self, name: &str) -> Option<&'static ToolRow> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Lists the names that its agent compares matchers with for a tool.
    pub fn matched_names<'n>(&self, tool: &'n str) -> impl Iterator<Item = &'n str> + use<'n> {
        let aliases = self.tool(tool).map_or(&[][..], |row| row.aliases);
        std::iter::once(tool).chain(aliases.iter().copied())
    }

    /// `true` if the tool and its input have this dialect's names.
    pub fn has_sent(&self, event: &Event) -> bool {
        event.dialect().is_some_and(|sender| sender.name() == self.name)
    }

    /// Returns the tool of this dialect's agent that corresponds to the tool of another agent's event. `None`: there is none, it is
    /// unknown, or the event is this agent's own.
    pub fn native_tool_name(&self, event: &Event) -> Option<&'static ToolRow> {
        if self.tools.is_empty() || self.has_sent(event) {
            return None;
        }
        let name = event.tool_name()?;
        let names = || std::iter::once(name).chain(event.tool_aliases()).filter(|name| is_common_tool(name));
        let tools = || self.tools.iter().filter(|tool| tool.can_be_made());
        let is_equivalent = |tool: &&'static ToolRow| tool.shared_names().any(|own| names().any(|name| name == own));
        let same_name = || tools().filter(is_equivalent).find(|tool| tool.name == name);
        let canonical_name = || names().find_map(|name| tools().find(|tool| tool.name == name));
        let alias = || names().find_map(|name| tools().find(|tool| tool.common.contains(&name)));
        same_name().or_else(canonical_name).or_else(alias)
    }

    /// Returns the tool input of an event as this dialect's agent would send it.
    pub fn native_input<'e>(&self, event: &'e Event) -> Option<Cow<'e, RawJson>> {
        if self.has_sent(event) {
            return event.tool_input().map(Cow::Borrowed);
        }
        let common = canonical_input(event)?;
        let own = self
            .native_tool_name(event)
            .and_then(|tool| translate::from_common(tool.inputs, &common, None, None).ok().flatten());
        Some(own.map_or(common, Cow::Owned))
    }

    /// Translates a tool input that a hook of this dialect rewrote to the names of the event's agent.
    ///
    /// # Errors
    /// The hook has changed a derived field.
    pub fn rewritten_input<'v>(&self, event: &Event, value: &'v RawJson) -> Result<Cow<'v, RawJson>, Untranslatable> {
        if self.has_sent(event) {
            return Ok(Cow::Borrowed(value));
        }
        let common =
            self.native_tool_name(event).and_then(|tool| translate::to_common(tool.inputs, value, Derived::Omitted));
        let common = common.map_or(Cow::Borrowed(value), Cow::Owned);
        let Some(tool) = sent_as(event) else { return Ok(common) };
        let own = translate::from_common(tool.inputs, &common, event.tool_input(), event.envelope.cwd.as_deref())?;
        Ok(own.map_or(common, Cow::Owned))
    }

    /// Lists the names of tools in this dialect for these canonical names.
    pub(crate) fn own_names<'n>(&'n self, names: &'n [String]) -> impl Iterator<Item = &'static str> + use<'n> {
        let is_one = |tool: &&'static ToolRow| tool.shared_names().any(|own| names.iter().any(|name| name == own));
        self.tools.iter().filter(is_one).map(|tool| tool.name)
    }
}
