//! Rows of the fields in payloads.

/// Fields of all payloads of a dialect.
#[derive(Debug, Clone, Copy)]
pub struct PayloadTable {
    /// Field with the name of the event. Dots lead into objects. Empty: only events with a field in their own row have the name.
    pub event: &'static str,
    /// Fields of all events. Fields of one object must be adjacent.
    pub fields: &'static [FieldRow],
    /// `true` if all other fields of the event follow, under checkrein's names.
    pub all_fields: bool,
    /// `true` if payloads also have the values before rewrites, as `original_input` and so on.
    pub includes_original: bool,
    /// Field that is `true` if `tool_input` is only the start of the input. Hooks cannot judge such a call. `None`: there is no such
    /// field.
    pub cut_input: Option<&'static str>,
}

/// A field of a payload.
#[derive(Debug, Clone, Copy)]
pub struct FieldRow {
    /// The dialect's name. Dots lead into objects.
    pub name: &'static str,
    /// checkrein's name. A name with dots is a part of a field, which is read only if no other row has the whole field.
    pub from: &'static str,
    /// Encoding of the value.
    pub form: FieldEncoding,
    /// Value if the event does not have the field.
    pub absent: Absent,
}

/// Encoding of a field in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldEncoding {
    /// Unchanged.
    Same,
    /// A string with the JSON text.
    JsonText,
    /// Unchanged. Older versions of the agent send an object as a string with the JSON text.
    OrJsonText,
    /// A string. Other values become JSON text.
    Text,
    /// Unchanged. Text is put into an object, under this name.
    TextIn(&'static str),
    /// An object whose values are strings with JSON text.
    TextValues,
    /// An array with the value as its first element.
    First,
}

/// Treatment of a field that the event does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// Omitted.
    Omitted,
    /// Omitted, also if the value is `""`, `0`, `false` or `null`.
    OmittedIfEmpty,
    /// Omitted, also if the value is `""`, `0`, `false`, `null`, `{}` or `[]`.
    OmittedIfVoid,
    /// This JSON.
    Json(&'static str),
    /// Always omitted, because the value is always this JSON.
    Implied(&'static str),
}

impl FieldRow {
    /// A field with checkrein's name, omitted if the event does not have it.
    pub const fn same(name: &'static str) -> Self {
        Self::named(name, name)
    }

    /// A field with another name in the dialect.
    pub const fn named(name: &'static str, from: &'static str) -> Self {
        Self { name, from, form: FieldEncoding::Same, absent: Absent::Omitted }
    }

    /// A field that payloads omit, because it is always this JSON.
    pub const fn implied(from: &'static str, json: &'static str) -> Self {
        Self { name: "", from, form: FieldEncoding::Same, absent: Absent::Implied(json) }
    }

    /// Sets the encoding.
    #[must_use]
    pub const fn form(mut self, form: FieldEncoding) -> Self {
        self.form = form;
        self
    }

    /// Sets the JSON for events that do not have the field.
    #[must_use]
    pub const fn or(mut self, json: &'static str) -> Self {
        self.absent = Absent::Json(json);
        self
    }

    /// Omits an empty value.
    #[must_use]
    pub const fn unless_empty(mut self) -> Self {
        self.absent = Absent::OmittedIfEmpty;
        self
    }

    /// Omits an empty value, also an empty object or array.
    #[must_use]
    pub const fn unless_void(mut self) -> Self {
        self.absent = Absent::OmittedIfVoid;
        self
    }
}
