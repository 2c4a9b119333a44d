//! Generator of JSON hook files in common styles, with and without typing errors.

use checkrein_core::{EventFilter, EventKind, RawJson};

/// A deterministic generator: equal seeds create equal files.
pub(super) struct Dice(u64);

/// A value in a file.
enum Value {
    /// Text.
    Text(String),
    /// A number or a word.
    Bare(&'static str),
    List(Vec<Value>),
    Object(Vec<(&'static str, Value)>),
    /// Text of several lines.
    Lines(&'static [&'static str]),
}

const EVENTS: &[&str] = &["PreToolUse", "PostToolUse", "Stop", "SessionStart", "UserPromptSubmit", "pre_tool_use"];
const MATCHERS: &[&str] =
    &["Bash", "Edit|Write", "mcp__.*", "^(Read|Glob)$", "*", "", "Ba.*", "[", "1", "true", "a: b"];
const TEXTS: &[&str] = &[
    "./x.sh",
    "npx prettier --check \"$FILE\"",
    "it's",
    "a:b",
    "a #b",
    "a#b",
    "-x",
    "--all",
    "- x",
    "https://x.org/?a=b,c",
    "{a}",
    "[ -f x ]",
    "jq -e '.a | not'",
    "äöü — 「」",
    "x: y",
    "",
    " x ",
    "\\d+\t",
    "null",
    "08",
    "---",
    "& x",
    "echo % @ ` !",
];

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Copy>(&mut self, choice: &[T]) -> T {
        choice[self.below(choice.len())]
    }

    /// Creates a filter for an event.
    pub(super) fn filter(&mut self) -> EventFilter {
        let tool = self.one_of(&["Bash", "Edit", "Grep", "mcp__a__b", ""]);
        match self.below(4) {
            0 => EventFilter::new(EventKind::Stop, Vec::new()),
            1 => EventFilter::new(EventKind::PostToolUse, vec![tool.to_owned()]),
            _ => EventFilter::new(EventKind::PreToolUse, vec![tool.to_owned()]),
        }
    }

    /// Creates the members of a file.
    fn members(&mut self) -> Vec<(&'static str, Value)> {
        let mut members = Vec::new();
        if self.once_in(4) {
            members.push(("version", Value::Bare("1")));
        }
        if self.once_in(6) {
            members.push(("trusted_paths", Value::List(vec![self.text(TEXTS)])));
        }
        if self.once_in(20) {
            let key = self.one_of(&["dry_run", "disableAllHooks", "allow_skip", "unknown"]);
            members.push((key, Value::Bare("true")));
        }
        members.push(("hooks", self.hooks()));
        if self.once_in(6) {
            members.push(("description", self.text(TEXTS)));
        }
        members
    }

    /// Creates a file, with or without comments.
    pub(super) fn config(&mut self) -> String {
        let members = self.members();
        let mut out = String::new();
        self.json(&mut out, &Value::Object(members));
        out
    }

    fn json(&mut self, out: &mut String, value: &Value) {
        let comma = if self.once_in(30) { "," } else { "" };
        match value {
            Value::Text(text) => out.push_str(RawJson::string(text).as_str()),
            Value::Bare(text) => out.push_str(text),
            Value::Lines(lines) => out.push_str(RawJson::string(&lines.join("\n")).as_str()),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    self.json_gap(out, at);
                    self.json(out, item);
                }
                out.push_str(&format!("{comma}\n]"));
            }
            Value::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    self.json_gap(out, at);
                    out.push_str(&format!("\"{key}\":"));
                    out.push_str(self.one_of(&[" ", "", "  ", "\n"]));
                    self.json(out, value);
                }
                out.push_str(&format!("{comma} }}"));
            }
        }
    }

    fn json_gap(&mut self, out: &mut String, at: usize) {
        out.push_str(if at > 0 { "," } else { "" });
        out.push_str(self.one_of(&["", " ", "\n  ", "\n          ", "\t", "\r\n"]));
        if self.once_in(20) {
            out.push_str(self.one_of(&["// {\"matcher\": 1\n", "/* ]} */"]));
        }
    }

    fn hooks(&mut self) -> Value {
        let count = self.below(5);
        if self.once_in(2) {
            return Value::List((0..count).map(|_| self.hook(true)).collect());
        }
        let events = (0..count).map(|_| {
            let groups = (0..1 + self.below(2)).map(|_| match self.once_in(3) {
                true => self.hook(false),
                false => {
                    let hooks = (0..1 + self.below(2)).map(|_| self.hook(false)).collect();
                    let matcher = self.text(MATCHERS);
                    Value::Object(vec![("matcher", matcher), ("hooks", Value::List(hooks))])
                }
            });
            let groups = groups.collect();
            (self.event(), Value::List(groups))
        });
        Value::Object(events.collect())
    }

    fn event(&mut self) -> &'static str {
        if self.once_in(30) { "PreTolUse" } else { self.one_of(EVENTS) }
    }

    fn hook(&mut self, flat: bool) -> Value {
        let mut members = Vec::new();
        if flat && self.once_in(3) {
            let events = (0..1 + self.below(2)).map(|_| Value::Text(self.event().to_owned())).collect();
            members.push(("events", Value::List(events)));
        } else if flat {
            members.push(("event", Value::Text(self.event().to_owned())));
        }
        if self.below(3) > 0 {
            members.push(("matcher", self.text(MATCHERS)));
        }
        let command = match self.below(6) {
            0 => Value::Lines(self.one_of(&[
                &["set -e", "", "x: y # z"][..],
                &["case a in", "  a) - b;;", "", "", "esac"],
                &["# x", "- y"],
                &["", "x"],
            ])),
            1 => Value::List((0..self.below(3)).map(|_| self.text(TEXTS)).collect()),
            _ => self.text(TEXTS),
        };
        members.push(("command", command));
        for key in ["timeout", "env", "if", "settings", "id", "enabled"] {
            if self.once_in(6) {
                let value = match key {
                    "timeout" => Value::Bare(self.one_of(&["10", "1.5", "-1", "1e3", "null"])),
                    "enabled" => Value::Bare(self.one_of(&["true", "false", "0"])),
                    "env" => Value::Object(vec![("A_B", self.text(TEXTS)), ("matcher", self.text(MATCHERS))]),
                    "settings" => self.settings(3),
                    _ => self.text(TEXTS),
                };
                members.push((key, value));
            }
        }
        let at = self.below(members.len());
        members.swap(0, at);
        Value::Object(members)
    }

    fn settings(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 2 } else { 4 }) {
            0 => self.text(TEXTS),
            1 => Value::Bare(self.one_of(&["1", "true", "null", "1E+3"])),
            2 => Value::List((0..self.below(3)).map(|_| self.settings(depth - 1)).collect()),
            _ => {
                let keys = ["event", "b-c", "hooks"].into_iter().take(self.below(4));
                Value::Object(keys.map(|key| (key, self.settings(depth - 1))).collect())
            }
        }
    }

    fn text(&mut self, choice: &[&str]) -> Value {
        Value::Text(self.one_of(choice).to_owned())
    }

    /// Changes, removes or repeats a part of a file.
    pub(super) fn changed(&mut self, text: &str) -> String {
        const BYTES: &[u8] = b"{}[]\",:'\\0 \n-/*\t\r.eEu1a";
        const PIECES: &[&str] = &[
            ": ",
            ", ",
            "\n",
            "\n    ",
            "//",
            "/*",
            "*/",
            "// x\n",
            "/* ] */",
            "\t",
            "\r\n",
            "\u{feff}",
            "\u{85}",
            "\u{2028}",
            "é",
            "\"event\": \"PreToolUse\",",
            "\"matcher\": \"Bash\",",
            "\"matcher\": \"Bash\"",
            "\"hooks\": [],",
            "\"",
            "\\u0041",
            "\\ud83d\\ude00",
            "\\ud800",
            "{\"a\": 1}",
            "[1, ",
            "}",
            "null",
            "-1.5e3",
            "  ",
        ];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + self.below(3) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] = self.one_of(BYTES),
                2 if at < bytes.len() => drop(bytes.remove(at)),
                3 => {
                    let piece = self.one_of(PIECES).bytes();
                    bytes.splice(at..at, piece);
                }
                // Moves or repeats a line.
                4 => {
                    let line =
                        String::from_utf8_lossy(&bytes).lines().nth(self.below(20)).unwrap_or_default().to_owned();
                    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                    bytes.splice(start..start, format!("{}{line}\n", " ".repeat(self.below(3))).bytes());
                }
                _ => {
                    let end = (at + self.below(12)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = self.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
