//! The configuration of a repository: `.git/config`.
//!
//! Included files are read only below `.git`. Files of the user and of the system are not read.

use std::collections::BTreeMap;
use std::path::Path;

use super::place::Place;
use crate::builtins::shell::lexical;
use crate::regular_file;

/// Maximum size of a file, in bytes.
const SIZE: u64 = 1 << 20;

/// Maximum depth of included files.
const DEPTH: usize = 4;

/// Settings in the order of the files.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Config(Vec<Setting>);

#[derive(Debug, PartialEq, Eq)]
struct Setting {
    /// In lower case.
    section: String,
    subsection: String,
    /// In lower case.
    name: String,
    value: String,
}

impl Config {
    /// Reads the configuration. `None` if it cannot be read. A missing file is empty.
    pub(super) fn read(place: &Place) -> Option<Self> {
        let mut config = Self::default();
        config.add(&place.common_dir.join("config"), &place.common_dir, DEPTH)?;
        Some(config)
    }

    /// Returns a configuration with these remotes.
    pub(super) fn from_remotes(remotes: &BTreeMap<String, String>) -> Self {
        let setting = |(name, url): (&String, &String)| Setting {
            section: "remote".to_owned(),
            subsection: name.clone(),
            name: "url".to_owned(),
            value: url.clone(),
        };
        Self(remotes.iter().map(setting).collect())
    }

    fn add(&mut self, file: &Path, git_dir: &Path, depth: usize) -> Option<()> {
        let bytes = match regular_file::read(file, SIZE) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Some(()),
            Err(_) => return None,
        };
        for setting in parse(&String::from_utf8_lossy(&bytes))? {
            let is_include = setting.section == "include" && setting.name == "path";
            let included = lexical(&file.parent()?.join(&setting.value));
            self.0.push(setting);
            if is_include && depth > 0 && included.starts_with(git_dir) {
                self.add(&included, git_dir, depth - 1)?;
            }
        }
        Some(())
    }

    /// Returns the last value of a setting.
    pub(super) fn last(&self, section: &str, subsection: &str, name: &str) -> Option<&str> {
        self.values(section, subsection, name).pop()
    }

    fn values(&self, section: &str, subsection: &str, name: &str) -> Vec<&str> {
        let is_named = |own: &&Setting| own.section == section && own.subsection == subsection && own.name == name;
        self.0.iter().filter(is_named).map(|setting| setting.value.as_str()).collect()
    }

    /// Lists the remotes and their first URL, as written.
    pub(super) fn remotes(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_url = |own: &&Setting| own.section == "remote" && !own.subsection.is_empty() && own.name == "url";
        // The caller keeps the last one of each name.
        self.0.iter().rev().filter(is_url).map(|setting| (setting.subsection.as_str(), setting.value.as_str()))
    }

    /// Returns the URL of a remote for a fetch or a push, after rewriting.
    pub(super) fn remote_url(&self, remote: &str, is_push: bool) -> Option<String> {
        let push = if is_push { self.values("remote", remote, "pushurl").first().copied() } else { None };
        match push {
            Some(url) => Some(self.rewritten(url, false)),
            None => self.values("remote", remote, "url").first().map(|url| self.rewritten(url, is_push)),
        }
    }

    /// Returns the remote of a branch.
    pub(super) fn branch_remote(&self, branch: &str) -> Option<String> {
        self.last("branch", branch, "remote").map(str::to_owned)
    }

    /// Returns a URL after the rewriting of `url.BASE.insteadOf`. The longest start applies.
    pub(super) fn rewritten(&self, url: &str, is_push: bool) -> String {
        let longest = |name: &str| {
            let rules = self.0.iter().filter(|own| own.section == "url" && own.name == name);
            let matching = rules.filter(|own| !own.value.is_empty() && url.starts_with(own.value.as_str()));
            matching.max_by_key(|own| own.value.len())
        };
        let push = if is_push { longest("pushinsteadof") } else { None };
        match push.or_else(|| longest("insteadof")) {
            Some(rule) => format!("{}{}", rule.subsection, &url[rule.value.len()..]),
            None => url.to_owned(),
        }
    }
}

/// Parses a configuration file. `None` if a line is invalid.
fn parse(text: &str) -> Option<Vec<Setting>> {
    let mut settings = Vec::new();
    let mut section = (String::new(), String::new());
    let mut chars = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    loop {
        while chars.next_if(|c| c.is_whitespace()).is_some() {}
        match chars.peek() {
            None => return Some(settings),
            Some('#' | ';') => while chars.next_if(|c| *c != '\n').is_some() {},
            Some('[') => {
                chars.next();
                section = header(&mut chars)?;
            }
            Some(_) => {
                let mut name = String::new();
                while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '-') {
                    name.push(c.to_ascii_lowercase());
                }
                while chars.next_if(|c| matches!(c, ' ' | '\t' | '\r')).is_some() {}
                if name.is_empty() {
                    return None;
                }
                let value = match chars.next_if(|c| *c == '=') {
                    Some(_) => value(&mut chars)?,
                    None => match chars.peek() {
                        None | Some('\n' | '#' | ';') => "true".to_owned(),
                        Some(_) => return None,
                    },
                };
                let (section, subsection) = section.clone();
                settings.push(Setting { section, subsection, name, value });
            }
        }
    }
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Parses `section]`, `section "subsection"]` and the old form `section.subsection]`.
fn header(chars: &mut Chars<'_>) -> Option<(String, String)> {
    let (mut section, mut subsection) = (String::new(), String::new());
    loop {
        match chars.next()? {
            ']' => break,
            ' ' | '\t' => {
                while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                if chars.next()? != '"' {
                    return None;
                }
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\n' => return None,
                        '\\' => subsection.push(chars.next()?),
                        c => subsection.push(c),
                    }
                }
                if chars.next()? != ']' {
                    return None;
                }
                break;
            }
            c if c.is_ascii_alphanumeric() || matches!(c, '-' | '.') => section.push(c.to_ascii_lowercase()),
            _ => return None,
        }
    }
    if let Some((first, rest)) = section.clone().split_once('.')
        && subsection.is_empty()
    {
        (section, subsection) = (first.to_owned(), rest.to_owned());
    }
    Some((section, subsection))
}

/// Parses the value behind `=`.
fn value(chars: &mut Chars<'_>) -> Option<String> {
    let mut value = String::new();
    // Blanks count if text or a quote follows.
    let mut kept = 0;
    let mut is_quoted = false;
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    while let Some(c) = chars.next() {
        match c {
            '\n' if is_quoted => return None,
            '\n' => break,
            '"' => {
                is_quoted = !is_quoted;
                kept = value.len();
            }
            '\\' => {
                match chars.next()? {
                    '\n' => {}
                    '\r' if chars.next_if(|c| *c == '\n').is_some() => {}
                    'n' => value.push('\n'),
                    't' => value.push('\t'),
                    'b' => value.push('\u{8}'),
                    c @ ('"' | '\\') => value.push(c),
                    _ => return None,
                }
                kept = value.len();
            }
            '#' | ';' if !is_quoted => while chars.next_if(|c| *c != '\n').is_some() {},
            c => {
                value.push(c);
                if is_quoted || !c.is_whitespace() {
                    kept = value.len();
                }
            }
        }
    }
    if is_quoted {
        return None;
    }
    value.truncate(kept);
    Some(value)
}

/// Parses any bytes, for tests.
#[cfg(test)]
pub(super) fn exercise(bytes: &[u8]) {
    let _ = parse(&String::from_utf8_lossy(bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_parsed_as_git_parses_them() {
        for (text, expected) in [
            ("[remote \"a b\"]\n\turl = x y ; comment\n", Some("remote|a b|url|x y")),
            ("[Remote \"A\"] URL=\"x # y\"  \n", Some("remote|A|url|x # y")),
            ("[remote.old]\nurl = a\\\nb\n", Some("remote|old|url|ab")),
            ("# c\n[core]\nbare\n", Some("core||bare|true")),
            ("[a \"q\\\"q\"]\nx = \"\\t\\\\\"\n", Some("a|q\"q|x|\t\\")),
            ("[a]\nx = \n", Some("a||x|")),
            ("[a]\nx = \"open\n", None),
            ("[a\n", None),
            ("[a]\n= x\n", None),
            ("", Some("")),
        ] {
            let show = |own: Setting| format!("{}|{}|{}|{}", own.section, own.subsection, own.name, own.value);
            let found = parse(text).map(|all| all.into_iter().map(show).collect::<Vec<_>>().join("\n"));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn urls_are_rewritten_by_the_longest_start() {
        let text = "[url \"git@h:\"]\ninsteadOf = https://h/\n[url \"ssh://x/\"]\ninsteadOf = https://h/x/\n\
                    [url \"git@p:\"]\npushInsteadOf = https://h/\n[remote \"o\"]\nurl = https://h/x/r\nurl = other\n";
        let config = Config(parse(text).unwrap());
        assert_eq!(config.remote_url("o", false).as_deref(), Some("ssh://x/r"));
        assert_eq!(config.remote_url("o", true).as_deref(), Some("git@p:x/r"));
        assert_eq!(config.rewritten("https://h/y", false), "git@h:y");
        assert_eq!(config.remotes().last(), Some(("o", "https://h/x/r")));
    }
}
