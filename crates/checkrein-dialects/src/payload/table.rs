//! What payloads have, as rows.

/// What the payload of every event has.
#[derive(Debug, Clone, Copy)]
pub struct PayloadTable {
    /// The field that names the event; dots lead into objects. Empty: payloads do not say which event they are, but for
    /// those whose row says how.
    pub event: &'static str,
    /// What all events have. Fields of one object stand together.
    pub fields: &'static [FieldRow],
    /// Whether all else that checkrein knows of the event follows, under its own names.
    pub all_fields: bool,
    /// Whether what was rewritten is there a second time, as `original_input` and so on.
    pub includes_original: bool,
}

/// One field.
#[derive(Debug, Clone, Copy)]
pub struct FieldRow {
    /// The dialect's name for it; dots lead into objects.
    pub name: &'static str,
    /// checkrein's name for it. With dots, a part of it, which is read only where nothing else has the whole.
    pub from: &'static str,
    /// What form it has.
    pub form: FieldEncoding,
    /// What stands there if the event does not have it.
    pub absent: Absent,
}

/// The form that a field has in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldEncoding {
    /// As it is.
    Same,
    /// A string that holds the JSON text.
    JsonText,
    /// As it is. Older versions of the agent send an object as a string that holds the JSON text.
    OrJsonText,
    /// A string: text as it is, all else as JSON text.
    Text,
    /// An object: JSON that is none is put into one, under this name.
    Object(&'static str),
    /// An object whose values are strings that hold JSON text.
    TextValues,
    /// An array, whose first element it is.
    First,
}

/// What stands in a payload if the event does not have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Nothing.
    Omitted,
    /// Nothing, also if it is empty: `""`, `0`, `false`, `null`.
    OmittedIfEmpty,
    /// Nothing, also if it is empty or has nothing in it: `{}`, `[]`.
    OmittedIfVoid,
    /// This JSON.
    Json(&'static str),
    /// Nothing, ever: it is always this JSON, and the agent does not say so.
    Implied(&'static str),
}

impl FieldRow {
    /// A field that has the same name everywhere, and stands there if the event has it.
    pub const fn same(name: &'static str) -> Self {
        Self::named(name, name)
    }

    /// A field that the dialect has another name for.
    pub const fn named(name: &'static str, from: &'static str) -> Self {
        Self { name, from, form: FieldEncoding::Same, absent: Absent::Omitted }
    }

    /// A field that the dialect's payloads do not have, because it is always this JSON.
    pub const fn implied(from: &'static str, json: &'static str) -> Self {
        Self { name: "", from, form: FieldEncoding::Same, absent: Absent::Implied(json) }
    }

    /// In another form.
    #[must_use]
    pub const fn form(mut self, form: FieldEncoding) -> Self {
        self.form = form;
        self
    }

    /// Always there: with this JSON if the event does not have it.
    #[must_use]
    pub const fn or(mut self, json: &'static str) -> Self {
        self.absent = Absent::Json(json);
        self
    }

    /// Not there if it is empty.
    #[must_use]
    pub const fn unless_empty(mut self) -> Self {
        self.absent = Absent::OmittedIfEmpty;
        self
    }

    /// Not there if it is empty or has nothing in it.
    #[must_use]
    pub const fn unless_void(mut self) -> Self {
        self.absent = Absent::OmittedIfVoid;
        self
    }
}
