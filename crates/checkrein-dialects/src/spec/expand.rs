//! Variables in the words of a command.
//!
//! What stands for them is put into a word that is a word already, so nothing in a value can become another word or
//! another command. And only variables count that the hook gets anyway: an allow-list that arguments go around is none.

use super::CommandSpec;

/// Names that may stand in words whether the hook asks for them or not.
const ALWAYS: &[&str] = &["PATH", "HOME"];

/// A part of a word.
#[derive(Debug, PartialEq, Eq)]
enum Segment<'a> {
    Text(&'a str),
    Variable { name: &'a str, default: Option<&'a str> },
}

impl CommandSpec {
    /// A word with its variables filled in, if the command has such. What is not set is empty.
    pub fn expanded(&self, word: &str, value: impl Fn(&str) -> Option<String>) -> String {
        if !self.expands {
            return word.to_owned();
        }
        parts(word)
            .into_iter()
            .map(|part| match part {
                Segment::Text(text) => text.to_owned(),
                Segment::Variable { name, default } => {
                    let value = Some(name).filter(|name| self.may_use(name)).and_then(&value);
                    value.filter(|value| !value.is_empty()).or(default.map(str::to_owned)).unwrap_or_default()
                }
            })
            .collect()
    }

    /// A variable in its words that it does not get.
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

/// Whether a variable stands in the word.
pub(crate) fn has_variables(word: &str) -> bool {
    parts(word).iter().any(|part| matches!(part, Segment::Variable { .. }))
}

/// A word without variables as it is meant: `$$` is a dollar.
pub(crate) fn plain(word: &str) -> String {
    word.replace("$$", "$")
}

/// The other way round.
pub(crate) fn escaped(word: &str) -> String {
    word.replace('$', "$$")
}

/// A text for a shell that stands for these words.
pub(crate) fn shell_text(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = |word: &String| match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.clone(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Names are in capitals; whatever else follows a dollar is text.
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
    fn only_what_the_hook_gets_is_filled_in() {
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
    fn words_survive_a_shell() {
        let words = ["./x", "a b", "it's", "", "$HOME", "--n=1"].map(str::to_owned);
        assert_eq!(shell_text(&words), r"./x 'a b' 'it'\''s' '' '$HOME' --n=1");
    }

    #[test]
    fn dollars_survive() {
        for word in ["a$b", "$$", "${X}", "plain"] {
            assert_eq!(plain(&escaped(word)), word);
            assert!(!has_variables(&escaped(word)));
        }
    }
}
