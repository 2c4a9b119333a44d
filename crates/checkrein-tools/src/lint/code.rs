//! Text of a script, as the lints read it: line by line, with here-documents and printed JSON, but without a full shell parser.

use checkrein_core::RawJson;

/// Text of a script and its language.
pub(super) struct Code<'a> {
    pub(super) text: &'a str,
    pub(super) is_shell: bool,
}

/// Here-document of a shell script.
pub(super) struct HereDocument<'a> {
    /// Line with the `<<`.
    pub(super) command: &'a str,
    pub(super) line: u32,
    /// `true` if its delimiter is quoted, so that the shell does not expand variables in it.
    pub(super) is_quoted: bool,
    pub(super) body: String,
}

/// JSON literal that a shell script prints.
pub(super) struct Literal {
    pub(super) json: RawJson,
    /// First line.
    pub(super) line: u32,
    /// Last line.
    pub(super) end: u32,
    pub(super) to_stderr: bool,
}

impl<'a> Code<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let first = text.lines().next().unwrap_or_default();
        let is_shell = match first.strip_prefix("#!") {
            None => true,
            // `sh`, `bash`, `zsh`, but not `fish`, which has another syntax.
            Some(interpreter) => interpreter.contains("sh") && !interpreter.contains("fish"),
        };
        Self { text, is_shell }
    }

    /// Lines without comment lines, with their numbers.
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

    /// JSON objects that a shell script prints with `echo`, `printf` or `cat`, but not those that it writes to a file or pipes
    /// into a program.
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
                    let to_pipe = rest.contains('|') && !rest.contains("||");
                    let to_file = rest.contains('>') && !to_stderr && !rest.contains(">&1");
                    if !to_pipe && !to_file {
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

    /// Exit code of an `exit` in this line or in one of the next two.
    pub(super) fn exit_after(&self, line: u32) -> Option<u8> {
        let near = self.lines().filter(|(_, number)| (line..=line.saturating_add(2)).contains(number));
        near.map(|(text, _)| exits(text)).find_map(|mut exits| exits.next())
    }
}

fn is_start_of_word(line: &str, at: usize) -> bool {
    !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.' | '$'))
}

/// Quoted JSON at the start of shell words, and the text after it.
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

/// Exit codes of the `exit` commands in a line.
pub(super) fn exits(line: &str) -> impl Iterator<Item = u8> {
    let words: Vec<_> = line.split(|c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '}' | ')')).collect();
    let codes: Vec<u8> =
        words.windows(2).filter(|pair| pair[0] == "exit").filter_map(|pair| pair[1].parse().ok()).collect();
    codes.into_iter()
}

/// Returns `true` if the text contains `name` as a whole word.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}
