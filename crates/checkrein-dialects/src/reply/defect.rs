//! [`Defect`]: a deviation of an answer from JSON.
//!
//! Tables of dialects list the defects that their agents accept. The reader of replies finds them.

/// Deviation of an answer from JSON.
///
/// checkrein reads such an answer even if the agent does not. A deny, ask or halt in it then applies, with a warning. An allow,
/// a rewrite or context in it is used only if the agent accepts the deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defect {
    /// Bytes that are not UTF-8. They are replaced by U+FFFD.
    InvalidUtf8,
    /// A byte order mark at the start.
    ByteOrderMark,
    /// A duplicate key. The last value is used. If one of the values is a stronger decision, that one applies.
    DuplicateKey,
    /// A key in another case.
    KeyCase,
    /// A JSON string that contains the answer.
    JsonString,
    /// Lines before the answer.
    LeadingLines,
}

impl Defect {
    /// Defects that `JSON.parse` of JavaScript and the reading of its input accept.
    pub const JAVASCRIPT: &'static [Self] = &[Self::InvalidUtf8, Self::ByteOrderMark, Self::DuplicateKey];

    /// Defects that Go accepts when it decodes an answer into a struct.
    pub const GO_STRUCT: &'static [Self] = &[Self::InvalidUtf8, Self::DuplicateKey, Self::KeyCase];

    /// Describes the defect for a warning.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::InvalidUtf8 => "not valid UTF-8",
            Self::ByteOrderMark => "a byte order mark before the JSON object",
            Self::DuplicateKey => "a duplicate key",
            Self::KeyCase => "a key in another case",
            Self::JsonString => "a JSON string instead of an object",
            Self::LeadingLines => "text before the JSON object",
        }
    }
}
