//! Parsing of kind names, and custom kinds.
//!
//! Hosts, dialects and the CLI parse names here. A custom kind must never have the name of a kind in the table.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use super::EventKind;
use crate::contract::Contract;
use crate::did_you_mean::closest_match;

/// Maximum length of a kind's name, in bytes.
const MAX_NAME: usize = 128;

/// Kind of event that a host adds, with its contract.
#[derive(Debug, Clone)]
pub struct CustomKind(Arc<Declared>);

#[derive(Debug)]
struct Declared {
    name: String,
    contract: Contract,
}

impl CustomKind {
    /// Declares a kind.
    ///
    /// ```
    /// use checkrein_core::{BlockEffect, Contract, CustomKind, EventKind};
    ///
    /// let deploy = CustomKind::new("pre_deploy", Contract::observe().block(BlockEffect::Refuse))?;
    /// assert_eq!(EventKind::Custom(deploy).to_string(), "pre_deploy");
    /// # Ok::<(), checkrein_core::KindNameError>(())
    /// ```
    ///
    /// # Errors
    /// A name that is empty, too long, has white space or control characters, or is in the table.
    pub fn new(name: impl Into<String>, contract: Contract) -> Result<Self, KindNameError> {
        let name = name.into();
        check_name(&name)?;
        if find(&name).is_some() {
            return Err(KindNameError::Taken { name });
        }
        Ok(Self(Arc::new(Declared { name, contract })))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the contract.
    pub fn contract(&self) -> &Contract {
        &self.0.contract
    }
}

/// Compares by name, because a host declares each kind once.
impl PartialEq for CustomKind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for CustomKind {}

impl Hash for CustomKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// Error: a name is not valid for a kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KindNameError {
    /// Empty, or white space only.
    #[error("the event name is empty")]
    Empty,
    /// Longer than 128 bytes.
    #[error("the event name has {length} bytes; at most {MAX_NAME} are allowed")]
    TooLong {
        /// Length in bytes.
        length: usize,
    },
    /// White space or a control character.
    #[error("the event name {name:?} has {found:?} at byte {at}; white space and control characters are not allowed")]
    BadCharacter {
        /// Name.
        name: String,
        /// Character.
        found: char,
        /// Offset in bytes.
        at: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("the event name is not valid UTF-8 at byte {at}")]
    NotUtf8 {
        /// Offset of the first invalid byte.
        at: usize,
    },
    /// Name of a kind in the table.
    #[error("`{name}` is a built-in event; choose another name for the custom kind")]
    Taken {
        /// Name.
        name: String,
    },
}

/// Error: no kind has this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKind {
    name: String,
    suggestion: Option<&'static str>,
    problem: Option<KindNameError>,
}

impl UnknownKind {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name of a kind that is similar.
    pub fn suggestion(&self) -> Option<&'static str> {
        self.suggestion
    }
}

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(problem) = &self.problem {
            return problem.fmt(f);
        }
        write!(f, "unknown event `{}`", self.name)?;
        match self.suggestion {
            Some(suggestion) => write!(f, ", did you mean `{suggestion}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownKind {}

/// Parses kinds of the table only. A host with custom kinds must look them up first.
impl FromStr for EventKind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Self, UnknownKind> {
        find(name).cloned().ok_or_else(|| UnknownKind {
            name: name.to_owned(),
            suggestion: closest_match(name, Self::ALL.iter().map(EventKind::name)),
            problem: check_name(name).err(),
        })
    }
}

impl EventKind {
    /// As [`FromStr`], from bytes that may not be UTF-8.
    ///
    /// # Errors
    /// An unknown name, or bytes that are not UTF-8.
    pub fn from_bytes(name: &[u8]) -> Result<Self, UnknownKind> {
        match str::from_utf8(name) {
            Ok(name) => name.parse(),
            Err(error) => Err(UnknownKind {
                name: String::from_utf8_lossy(name).into_owned(),
                suggestion: None,
                problem: Some(KindNameError::NotUtf8 { at: error.valid_up_to() }),
            }),
        }
    }

    /// Returns the kind with this name, or else a custom kind that hooks can only observe.
    ///
    /// # Errors
    /// An unknown name that is not valid.
    pub fn named_or_custom(name: &str) -> Result<Self, KindNameError> {
        match find(name) {
            Some(kind) => Ok(kind.clone()),
            None => CustomKind::new(name, Contract::observe()).map(Self::Custom),
        }
    }
}

fn find(name: &str) -> Option<&'static EventKind> {
    EventKind::ALL.iter().find(|kind| kind.name() == name)
}

fn check_name(name: &str) -> Result<(), KindNameError> {
    if name.trim().is_empty() {
        return Err(KindNameError::Empty);
    }
    if name.len() > MAX_NAME {
        return Err(KindNameError::TooLong { length: name.len() });
    }
    let bad = name.char_indices().find(|(_, character)| character.is_control() || character.is_whitespace());
    match bad {
        None => Ok(()),
        Some((at, found)) => Err(KindNameError::BadCharacter { name: name.to_owned(), found, at }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_parse_and_print_in_canonical_form() {
        let mut seen = BTreeSet::new();
        for kind in EventKind::ALL {
            assert_eq!(kind.to_string().parse::<EventKind>().as_ref(), Ok(kind));
            assert!(seen.insert(kind.name()), "{kind} twice");
            assert!(kind.name().chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{kind}");
            assert!(kind.description().ends_with('.'), "{kind}");
        }
    }

    #[test]
    fn unknown_names_are_errors_with_a_suggestion() {
        for (name, message) in [
            ("preToolUse", "unknown event `preToolUse`, did you mean `pre_tool_use`?"),
            ("stopp", "unknown event `stopp`, did you mean `stop`?"),
            ("zebra_crossing", "unknown event `zebra_crossing`"),
            ("", "the event name is empty"),
            ("a\0b", r#"the event name "a\0b" has '\0' at byte 1; white space and control characters are not allowed"#),
            (
                "pre tool",
                r#"the event name "pre tool" has ' ' at byte 3; white space and control characters are not allowed"#,
            ),
        ] {
            assert_eq!(name.parse::<EventKind>().unwrap_err().to_string(), message);
        }
        let long = "x".repeat(100_000).parse::<EventKind>().unwrap_err();
        assert_eq!(long.to_string(), "the event name has 100000 bytes; at most 128 are allowed");
        let bytes = EventKind::from_bytes(b"st\xffop").unwrap_err();
        assert_eq!(bytes.to_string(), "the event name is not valid UTF-8 at byte 2");
    }

    #[test]
    fn an_unknown_name_becomes_an_observed_custom_kind() {
        let kind = EventKind::named_or_custom("pre_deploy").unwrap();
        assert_eq!(kind.to_string(), "pre_deploy");
        assert_eq!(kind.contract(), &Contract::observe());
        assert_eq!(EventKind::named_or_custom("stop").unwrap(), EventKind::Stop);
        assert!(matches!(CustomKind::new("stop", Contract::observe()), Err(KindNameError::Taken { .. })));
    }
}
