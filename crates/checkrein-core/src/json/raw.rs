//! [`RawJson`] and its conversions.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::equal::{Items, equal};
use super::error::{JsonError, JsonErrorKind};
use super::lexer::{Lexer, skip_space};
use super::object::Entries;
use super::text::{decode_string, write_string};
use super::validate::validate;
use super::{MAX_DEPTH, MAX_EVENT_DEPTH};

/// Validated JSON value that keeps its text. Cheap to clone.
///
/// ```
/// use checkrein_core::RawJson;
///
/// let input: RawJson = r#"{"id": 9007199254740993, "ratio": 1.50}"#.parse()?;
/// assert_eq!(input.field("id").unwrap().as_str(), "9007199254740993");
/// assert_eq!(input.as_str(), r#"{"id": 9007199254740993, "ratio": 1.50}"#);
///
/// // Two parsers can read this differently, so it is rejected.
/// let error = r#"{"path": "a", "path": "b"}"#.parse::<RawJson>().unwrap_err();
/// assert_eq!(error.to_string(), r#"duplicate key "path" at line 1 column 15"#);
/// # Ok::<(), checkrein_core::JsonError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

/// Type of a JSON value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the six types of JSON")]
pub enum JsonType {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        })
    }
}

impl RawJson {
    /// Validates the text and keeps it.
    ///
    /// # Errors
    /// Text that is not one JSON value, is nested deeper than [`MAX_DEPTH`](super::MAX_DEPTH), or has an object with
    /// duplicate keys.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, JsonError> {
        let text = text.into();
        validate(&text, MAX_DEPTH)?;
        Ok(Self(text))
    }

    /// As [`parse`](Self::parse), for the text of an event, which can be nested deeper.
    pub(crate) fn parse_event(text: &str) -> Result<Self, JsonError> {
        validate(text, MAX_EVENT_DEPTH)?;
        Ok(Self(text.into()))
    }

    /// As [`parse`](Self::parse), from bytes that may not be UTF-8.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), and bytes that are not UTF-8.
    pub fn parse_bytes(bytes: &[u8]) -> Result<Self, JsonError> {
        Self::parse(utf8(bytes)?)
    }

    /// Serializes a Rust value.
    ///
    /// # Errors
    /// A value that cannot be serialized, such as a map whose keys are not strings.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<Self, JsonError> {
        let text = serde_json::to_string(value).map_err(|error| {
            let reason = error.to_string();
            JsonError::new(JsonErrorKind::Unwritable { reason }, b"", 0)
        })?;
        Self::parse(text)
    }

    /// Creates a JSON string. `text` is escaped.
    pub fn string(text: &str) -> Self {
        let mut quoted = String::with_capacity(text.len() + 2);
        write_string(&mut quoted, text);
        Self(quoted.into())
    }

    /// Appends a JSON string to `out`. `text` is escaped.
    pub fn push_string(out: &mut String, text: &str) {
        write_string(out, text);
    }

    /// Creates a value from text that was validated before.
    pub(crate) fn from_checked(text: &str) -> Self {
        debug_assert!(validate(text, MAX_EVENT_DEPTH).is_ok(), "not JSON: {text}");
        Self(text.into())
    }

    /// Returns the original text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the type of the value.
    pub fn json_type(&self) -> JsonType {
        type_of(&self.0)
    }

    /// Returns the fields of an object. `None` for other values.
    pub fn entries(&self) -> Option<Entries<'_>> {
        Entries::new(&self.0)
    }

    /// Returns the items of an array. `None` for other values.
    pub fn items(&self) -> Option<Items<'_>> {
        if self.json_type() == JsonType::Array { Some(Items::new(&self.0)) } else { None }
    }

    /// Returns the tokens of the text.
    #[doc(hidden)]
    pub fn tokens(&self) -> Lexer<'_> {
        Lexer::for_valid(&self.0)
    }

    /// Returns the value of a boolean. `None` for other values.
    pub fn as_bool(&self) -> Option<bool> {
        self.0.trim_ascii().parse().ok()
    }

    /// Returns one field of an object. `None` for other values and if the field is missing.
    pub fn field(&self, key: &str) -> Option<RawJson> {
        self.entries()?.find(|entry| entry.is_named(key)).map(|entry| entry.to_json())
    }

    /// Returns the decoded text of a string. `None` for other values.
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        (self.json_type() == JsonType::String).then(|| decode_string(self.0.trim_ascii()))
    }

    /// Returns the decoded text of a JSON string. `None` for other values. `json` must be valid JSON.
    #[doc(hidden)]
    pub fn text_of(json: &str) -> Option<Cow<'_, str>> {
        (type_of(json) == JsonType::String).then(|| decode_string(json.trim_ascii()))
    }

    /// Deserializes the value into a Rust type. The text is not affected. The Rust type can lose information:
    /// `serde_json::Value` converts integers beyond 64 bits to floats.
    ///
    /// # Errors
    /// The error of `serde_json` if the value does not have the form of the type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.0)
    }

    /// `true` if both values have the same meaning. White space, the order of keys and escapes in strings are ignored; the
    /// text of numbers is not. `==` compares the texts.
    pub fn semantically_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || equal(&self.0, &other.0)
    }
}

pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, JsonError> {
    str::from_utf8(bytes).map_err(|error| JsonError::new(JsonErrorKind::NotUtf8, bytes, error.valid_up_to()))
}

pub(crate) fn type_of(text: &str) -> JsonType {
    match text.as_bytes().get(skip_space(text.as_bytes(), 0)) {
        Some(b'{') => JsonType::Object,
        Some(b'[') => JsonType::Array,
        Some(b'"') => JsonType::String,
        Some(b't' | b'f') => JsonType::Boolean,
        Some(b'n') | None => JsonType::Null,
        Some(_) => JsonType::Number,
    }
}

/// JSON's `null`.
impl Default for RawJson {
    fn default() -> Self {
        Self::from_checked("null")
    }
}

impl FromStr for RawJson {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        Self::parse(text)
    }
}

/// The text.
impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writes the text unchanged. Only for `serde_json`'s serializers.
impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Schema that accepts any JSON.
#[cfg(feature = "schema")]
impl schemars::JsonSchema for RawJson {
    fn schema_name() -> Cow<'static, str> {
        "AnyJson".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Keeps the text. Only for `serde_json`'s deserializers.
impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{changes_between, merge_shallow, with_changes};
    use proptest::prelude::*;

    fn json(text: &str) -> RawJson {
        text.parse().unwrap()
    }

    fn kind_of(text: &str) -> JsonErrorKind {
        text.parse::<RawJson>().unwrap_err().kind().clone()
    }

    #[test]
    fn text_is_kept_unchanged() {
        for text in [
            "12345678901234567890123",
            "-0.0",
            "1E400",
            "1.500",
            " {\"b\" : 1,\"a\":\t2 }\n",
            r#"{"z":{"y":[1,2,{"x":18446744073709551616}]},"a":"\u00e9\/"}"#,
            r#""\ud800""#,
        ] {
            let value = json(text);
            assert_eq!(value.as_str(), text);
            let serialized = serde_json::to_string(&value).unwrap();
            assert_eq!(serialized, text.trim_ascii());
            assert_eq!(serde_json::from_str::<RawJson>(&serialized).unwrap().as_str(), text.trim_ascii());
        }
    }

    #[test]
    fn errors_have_cause_and_location() {
        for (text, expected) in [
            ("", "the JSON text ends too early, expected a value at line 1 column 1"),
            ("{\"a\":1", "the JSON text ends too early, expected `,` or `}` at line 1 column 7"),
            ("[1,]", "expected a value, found ']' at line 1 column 4"),
            ("{\"a\" 1}", "expected `:`, found '1' at line 1 column 6"),
            ("{a:1}", "expected a key in double quotes, found 'a' at line 1 column 2"),
            ("{\"a\":1,}", "expected a key in double quotes, found '}' at line 1 column 8"),
            ("\"a\u{1}\"", "unescaped control character 0x01 in a string at line 1 column 3"),
            (r#""\x""#, "invalid escape sequence in a string at line 1 column 2"),
            (r#""\u12g4""#, "invalid escape sequence in a string at line 1 column 2"),
            ("[\n 01]", "invalid number at line 2 column 2"),
            ("1.", "invalid number at line 1 column 1"),
            ("-", "invalid number at line 1 column 1"),
            ("1e+", "invalid number at line 1 column 1"),
            ("{} {}", "text after the end of the JSON value at line 1 column 4"),
            ("[\"é\", nul]", "expected a value, found 'n' at line 1 column 7"),
            (r#"{"a":{"k":1,"\u006b":2}}"#, r#"duplicate key "k" at line 1 column 13"#),
        ] {
            assert_eq!(text.parse::<RawJson>().unwrap_err().to_string(), expected, "{text}");
        }
        let error = RawJson::parse_bytes(b"\"\xff\"").unwrap_err();
        assert_eq!(error.to_string(), "not valid UTF-8 at line 1 column 2");
    }

    #[test]
    fn different_halves_of_surrogate_pairs_are_different_keys() {
        assert!(r#"{"\ud800":1,"\udbff":2}"#.parse::<RawJson>().is_ok());
        assert!(matches!(kind_of(r#"{"\ud800":1,"\uD800":2}"#), JsonErrorKind::DuplicateKey { .. }));
    }

    #[test]
    fn depth_is_limited() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(nested(MAX_DEPTH).parse::<RawJson>().is_ok());
        assert_eq!(kind_of(&nested(MAX_DEPTH + 1)), JsonErrorKind::TooDeep);
        assert_eq!(kind_of(&"[".repeat(10_000_000)), JsonErrorKind::TooDeep);
        assert_eq!(kind_of(&r#"{"a":"#.repeat(1_000_000)), JsonErrorKind::TooDeep);
    }

    #[test]
    fn large_texts_are_parsed() {
        let long = format!(r#"{{"content":"{}"}}"#, "x\\n".repeat(4 << 20));
        assert_eq!(json(&long).as_str(), long);
        let wide = (0..200_000).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
        assert!(format!("{{{wide}}}").parse::<RawJson>().is_ok());
        assert!(matches!(
            kind_of(&format!("{{{wide},\"k7\":0}}")),
            JsonErrorKind::DuplicateKey { key } if key == "k7"
        ));
    }

    #[test]
    fn fields_are_found_by_decoded_key() {
        let value = json(r#" {"a": [1, {"b": "}"}], "\u0062" : "q\"\ud83d\ude00", "":null} "#);
        assert_eq!(value.field("a").unwrap().as_str(), r#"[1, {"b": "}"}]"#);
        assert_eq!(value.field("b").unwrap().as_text().unwrap(), "q\"😀");
        assert_eq!(value.field("").unwrap().json_type(), JsonType::Null);
        assert!(value.field("c").is_none());
        assert!(json("[1]").field("0").is_none());
        let items: Vec<_> = json(" [1, [2], {\"a\": 3}] ").items().unwrap().map(str::to_owned).collect();
        assert_eq!(items, ["1", "[2]", "{\"a\": 3}"]);
        assert_eq!((json(" true ").as_bool(), json("1").as_bool()), (Some(true), None));
        assert_eq!(json(r#""\ud800x""#).as_text().unwrap(), "\u{fffd}x");
    }

    #[test]
    fn merge_changes_only_fields_of_the_patch() {
        let base = json(r#"{"big": 9007199254740993, "b": 1.50, "c": {"x": 1}}"#);
        let patch = json(r#"{"b":2, "new key":"\u0041", "c":{"y":2}}"#);
        assert_eq!(
            merge_shallow(&base, &patch).unwrap().as_str(),
            r#"{"big":9007199254740993,"b":2,"c":{"y":2},"new key":"\u0041"}"#
        );
        assert!(merge_shallow(&base, &json("[]")).is_none());
        assert!(merge_shallow(&json("1"), &patch).is_none());
    }

    #[test]
    fn semantic_equality_ignores_spelling_except_of_numbers() {
        for (left, right, same) in [
            (r#"{"a":1,"b":[1,2]}"#, r#"{ "b": [1, 2], "a": 1 }"#, true),
            (r#""\u0041""#, r#""A""#, true),
            ("1", "1.0", false),
            ("9007199254740993", "9007199254740992", false),
            ("[1,2]", "[2,1]", false),
            ("[1]", "[1,1]", false),
            (r#"{"a":1}"#, r#"{"a":1,"b":2}"#, false),
            ("null", "false", false),
            (r#""\ud800""#, r#""\udfff""#, false),
            (r#"{"\ud800":1}"#, r#"{"\udbff":1}"#, false),
        ] {
            assert_eq!(json(left).semantically_eq(&json(right)), same, "{left} {right}");
        }
    }

    fn any_json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            any::<i64>().prop_map(|n| n.to_string()),
            any::<u128>().prop_map(|n| n.to_string()),
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
            any::<String>().prop_map(|s| serde_json::to_string(&s).unwrap()),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(" , "))),
                prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(|fields| {
                    let fields: Vec<_> = fields
                        .iter()
                        .map(|(key, value)| format!("{}:{value}", serde_json::to_string(key).unwrap()))
                        .collect();
                    format!("{{{}}}", fields.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn accepts_the_same_texts_as_serde_json(text in "[\\[\\]{}:,\"\\\\ntrue0-9eE+. ]{0,24}") {
            let ours = text.parse::<RawJson>();
            let theirs = serde_json::from_str::<Box<RawValue>>(&text);
            match &ours {
                Ok(_) => prop_assert!(theirs.is_ok()),
                Err(error) if matches!(error.kind(), JsonErrorKind::DuplicateKey { .. }) => {}
                Err(_) => prop_assert!(theirs.is_err()),
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RawJson::parse_bytes(&bytes);
        }

        #[test]
        fn valid_text_is_kept(text in any_json()) {
            let value = json(&text);
            prop_assert_eq!(value.as_str(), &text);
            let spaced = json(&format!(" {text}\n"));
            prop_assert!(value.semantically_eq(&spaced));
        }

        #[test]
        fn the_first_duplicate_key_is_reported(keys in prop::collection::vec("[a-d]?[a-h]", 0..20)) {
            let mut seen = std::collections::BTreeSet::new();
            let first = keys.iter().find(|key| !seen.insert(*key));
            let fields: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
            let reported = match format!("{{{}}}", fields.join(",")).parse::<RawJson>() {
                Ok(_) => None,
                Err(error) => Some((error.kind().clone(), error.location().offset)),
            };
            let expected = first.map(|key| {
                let second = keys.iter().enumerate().filter(|(_, other)| *other == key).nth(1).unwrap().0;
                let before: usize = fields[..second].iter().map(|field| field.len() + 1).sum();
                (JsonErrorKind::DuplicateKey { key: key.clone() }, before + 1)
            });
            prop_assert_eq!(reported, expected);
        }

        #[test]
        fn strings_round_trip(text in any::<String>()) {
            let value = RawJson::string(&text);
            prop_assert_eq!(value.as_text().unwrap(), text.as_str());
            prop_assert_eq!(serde_json::from_str::<String>(value.as_str()).unwrap(), text);
        }

        #[test]
        fn changes_convert_one_object_into_the_other(before in any_json(), after in any_json()) {
            let (before, after) = (json(&before), json(&after));
            if let Some(changes) = changes_between(&before, &after) {
                let result = with_changes(&before, &changes).unwrap();
                prop_assert!(result.semantically_eq(&after), "{} is not {}", result, after);
                prop_assert!(validate(result.as_str(), MAX_DEPTH).is_ok());
            }
        }
    }
}
