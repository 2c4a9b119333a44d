//! Expansion of variables in the words of a command.
//!
//! A value is inserted into a finished word, so it cannot become another word or another command. Only variables that the hook
//! gets are expanded: arguments must not bypass the allow-list.

use super::CommandSpec;

/// Variables that words may contain without being in the allow-list.
const ALWAYS: &[&str] = &["PATH", "HOME"];

/// A part of a word.
#[derive(Debug, PartialEq, Eq)]
enum Segment<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

impl CommandSpec {
    /// Expands the variables of a word, if the command has variables. Unset variables are empty.
    pub fn expanded(&self, word: &str, value: impl Fn(&str) -> Option<String>) -> String {
        if !self.expands {
            return word.to_owned();
        }
        parts(word)
            .into_iter()
            .map(|part| match part {
                Segment::Text(text) => text.to_owned(),
                Segment::Variable { name, default } => {
                    let value = if self.may_use(name) { value(name) } else { None };
                    value.filter(|value| !value.is_empty()).or(default.map(str::to_owned)).unwrap_or_default()
                }
            })
            .collect()
    }

    /// Returns a variable in these words that the command does not get.
    pub(crate) fn foreign_variable(&self, words: &[String]) -> Option<String> {
        words.iter().flat_map(|word| parts(word)).find_map(|part| match part {
            Segment::Variable { name, .. } if !self.may_use(name) => Some(name.to_owned()),
            _ => None,
        })
    }

    fn may_use(&self, name: &str) -> bool {
        ALWAYS.contains(&name) || self.env_allow.iter().any(|own| own == name)
    }
}

/// `true` if the word contains a variable.
pub(crate) fn has_variables(word: &str) -> bool {
    parts(word).iter().any(|part| matches!(part, Segment::Variable { .. }))
}

/// Replaces `$$` by `$` in a word without variables.
pub(crate) fn plain(word: &str) -> String {
    word.replace("$$", "$")
}

/// Replaces `$` by `$$`: the reverse of [`plain`].
pub(crate) fn escaped(word: &str) -> String {
    word.replace('$', "$$")
}

/// Quotes words as one text for a shell.
pub(crate) fn shell_text(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = |word: &String| match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.clone(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Splits a word into text and variables. Names are in capitals; a dollar before anything else is text.
fn parts(word: &str) -> Vec<Segment<'_>> {
    let mut parts = Vec::new();
    let mut rest = word;
    while let Some(at) = rest.find('$') {
        let (before, dollar) = rest.split_at(at);
        parts.push(Segment::Text(before));
        if let Some(after) = dollar.strip_prefix("$$") {
            parts.push(Segment::Text("$"));
            rest = after;
        } else if let Some((variable, after)) = variable(dollar) {
            parts.push(variable);
            rest = after;
        } else {
            let (sign, after) = dollar.split_at(1);
            parts.push(Segment::Text(sign));
            rest = after;
        }
    }
    parts.push(Segment::Text(rest));
    parts
}

fn variable(text: &str) -> Option<(Segment<'_>, &str)> {
    let (inside, after) = text.strip_prefix("${")?.split_once('}')?;
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    is_name.then_some((Segment::Variable { name, default }, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_allowed_variables_are_expanded() {
        let mut spec = CommandSpec::argv(["x"]).allow_env("TOKEN");
        spec.expands = true;
        let host = |name: &str| match name {
            "TOKEN" => Some("a b; rm \"$HOME\"\n- x".to_owned()),
            "HOME" => Some("/home/ann".to_owned()),
            "SECRET" => Some("hidden".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        for (word, expected) in [
            ("plain", "plain"),
            ("${HOME}/bin", "/home/ann/bin"),
            ("-t=${TOKEN}", "-t=a b; rm \"$HOME\"\n- x"),
            ("${SECRET}", ""),
            ("${SECRET:-none}", "none"),
            ("${PATH:-/bin}", "/bin"),
            ("$${HOME} $$", "${HOME} $"),
            ("$HOME ${home} ${} ${1} $", "$HOME ${home} ${} ${1} $"),
            ("${HOME", "${HOME"),
            ("ä$", "ä$"),
        ] {
            assert_eq!(spec.expanded(word, host), expected, "{word}");
        }
        spec.expands = false;
        assert_eq!(spec.expanded("${HOME}", host), "${HOME}");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["./x", "a b", "it's", "", "$HOME", "--n=1"].map(str::to_owned);
        assert_eq!(shell_text(&words), r"./x 'a b' 'it'\''s' '' '$HOME' --n=1");
    }

    #[test]
    fn escaped_dollars_round_trip() {
        for word in ["a$b", "$$", "${X}", "plain"] {
            assert_eq!(plain(&escaped(word)), word);
            assert!(!has_variables(&escaped(word)));
        }
    }
}
