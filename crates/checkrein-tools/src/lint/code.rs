//! A script, as lints look at it: line by line, with no more understanding than they need.

use checkrein_core::RawJson;

/// A script.
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) is_shell: bool,
}

/// Text that a shell script has inside, from `<<` to its last line.
pub(super) struct HereDocument<'a> {
    /// The line that asks for it.
    pub(super) command: &'a str,
    pub(super) line: u32,
    /// Whether `$` means nothing in it.
    pub(super) is_quoted: bool,
    pub(super) body: String,
}

/// JSON that a shell script prints, written out in it.
pub(super) struct Literal {
    pub(super) json: RawJson,
    /// The first line of it and the one behind it.
    pub(super) line: u32,
    pub(super) end: u32,
    pub(super) to_stderr: bool,
}

impl<'a> Code<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        let is_shell = match first.strip_prefix("#!") {
            None => true,
            // `sh`, `bash`, `zsh`, but not `fish`, whose words are others.
            Some(interpreter) => interpreter.contains("sh") && !interpreter.contains("fish"),
        };
        Self { text, is_shell }
    }

    /// Lines that are no comments, with their numbers.
    pub(super) fn lines(&self) -> impl Iterator<Item = (&'a str, u32)> {
        self.text.lines().zip(1_u32..).filter(|(line, _)| !line.trim_start().starts_with('#'))
    }

    pub(super) fn here_documents(&self) -> Vec<HereDocument<'a>> {
        let mut found = Vec::new();
        let mut lines = self.text.lines().zip(1_u32..);
        while let Some((command, line)) = lines.next() {
            let Some((_, mark)) = command.split_once("<<").filter(|(_, mark)| !mark.starts_with('<')) else { continue };
            let mark = mark.trim_start_matches('-').trim_start();
            let is_quoted = mark.starts_with(['\'', '"', '\\']);
            let word: String = mark
                .trim_start_matches(['\'', '"', '\\'])
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            if word.is_empty() || command.trim_start().starts_with('#') {
                continue;
            }
            let inside = lines.by_ref().map(|(text, _)| text).take_while(|text| text.trim() != word);
            let body = inside.collect::<Vec<_>>().join("\n");
            found.push(HereDocument { command, line, is_quoted, body });
        }
        found
    }

    /// JSON objects that a shell script prints with `echo`, `printf` or `cat`, and not into a file or another program.
    pub(super) fn literals(&self) -> Vec<Literal> {
        let mut found = Vec::new();
        if !self.is_shell {
            return found;
        }
        for (line, number) in self.lines() {
            for command in ["echo ", "printf "] {
                for (at, _) in line.match_indices(command).filter(|(at, _)| is_start_of_word(line, *at)) {
                    let Some((json, rest)) = quoted_json(&line[at + command.len()..]) else { continue };
                    let rest = rest.split([';', '}', ')']).next().unwrap_or_default();
                    let to_stderr = rest.contains(">&2") || line[..at].contains(">&2");
                    let elsewhere = rest.contains('|') && !rest.contains("||");
                    let to_file = rest.contains('>') && !to_stderr && !rest.contains(">&1");
                    if !elsewhere && !to_file {
                        found.push(Literal { json, line: number, end: number, to_stderr });
                    }
                }
            }
        }
        for document in self.here_documents() {
            let command = document.command.trim_start();
            let to_stderr = command.contains(">&2");
            let prints = command.starts_with("cat") && (to_stderr || !command.contains(['>', '|']));
            if let Some(json) =
                RawJson::parse(document.body.as_str()).ok().filter(|json| prints && json.entries().is_some())
            {
                let lines = u32::try_from(document.body.lines().count()).unwrap_or(u32::MAX);
                let end = document.line.saturating_add(lines).saturating_add(1);
                found.push(Literal { json, line: document.line, end, to_stderr });
            }
        }
        found.sort_by_key(|literal| literal.line);
        found
    }

    /// The exit code with which the script ends in this line, or in one of the two behind it.
    pub(super) fn exit_behind(&self, line: u32) -> Option<u8> {
        let near = self.lines().filter(|(_, number)| (line..=line.saturating_add(2)).contains(number));
        near.map(|(text, _)| exits(text)).find_map(|mut exits| exits.next())
    }
}

fn is_start_of_word(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$'))
}

/// JSON in quotes at the start of a shell's words, and what is behind it.
fn quoted_json(words: &str) -> Option<(RawJson, &str)> {
    let words = words.trim_start();
    // Options, and the format of `printf`.
    let words = ["-e ", "-n ", "'%s' ", "'%s\\n' ", "\"%s\" ", "\"%s\\n\" "]
        .iter()
        .fold(words, |words, option| words.strip_prefix(option).unwrap_or(words));
    let (text, rest) = if let Some(inside) = words.strip_prefix('\'') {
        let (text, rest) = inside.split_once('\'')?;
        (text.to_owned(), rest)
    } else {
        let inside = words.strip_prefix('"')?;
        let mut text = String::new();
        let mut chars = inside.char_indices();
        let end = loop {
            match chars.next()? {
                (_, '\\') => text.push(chars.next()?.1),
                (at, '"') => break at,
                (_, c) => text.push(c),
            }
        };
        (text, &inside[end + 1..])
    };
    let json = RawJson::parse(text.trim_end_matches("\\n")).ok()?;
    json.entries().is_some().then_some((json, rest))
}

/// The codes that a line exits with.
pub(super) fn exits(line: &str) -> impl Iterator<Item = u8> {
    let words: Vec<_> = line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '}' | ')')).collect();
    let codes: Vec<u8> =
        words.windows(2).filter(|pair| pair[0] == "exit").filter_map(|pair| pair[1].parse().ok()).collect();
    codes.into_iter()
}

/// Whether a text has this name and no longer one.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}
