//! Shell commands inside of code for other languages: `python3 -c "os.system('rm -rf /')"`.
//!
//! Only literal texts behind functions that start programs are followed. Code that builds its commands is not.

use super::{Context, Interpreter};
use crate::builtins::shell::ParseError;
use crate::builtins::shell::expanded::Expanded;
use crate::builtins::shell::quoted_words;

/// Programs whose code may start programs, without their version.
const LANGUAGES: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "osascript",
];

/// Options whose value is code.
const OPTIONS: &[&str] = &["-c", "-e", "-E", "-r", "-p", "--eval", "--print", "-pe", "-ne", "eval"];

/// Functions that start a program. The text behind them is a command, or a list with a program and its arguments.
const FUNCTIONS: &[&str] = &[
    "system",
    "popen",
    "exec",
    "execSync",
    "execFileSync",
    "execFile",
    "spawn",
    "spawnSync",
    "shell_exec",
    "passthru",
    "call",
    "check_call",
    "check_output",
    "run",
    "Popen",
    "getoutput",
    "execute",
    "do shell script",
    "capture2",
    "capture3",
    "execvp",
    "qx",
];

/// Maximum number of commands in one code.
const MOST: usize = 16;

impl Interpreter<'_> {
    /// Follows the commands in the code of a program in another language.
    pub(super) fn code(&mut self, name: &str, args: &[Expanded], context: &Context) -> Result<(), ParseError> {
        let language = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !LANGUAGES.contains(&language) {
            return Ok(());
        }
        let is_awk = language.ends_with("awk");
        let mut codes: Vec<String> = Vec::new();
        for (index, arg) in args.iter().enumerate() {
            let is_code =
                index > 0 && OPTIONS.contains(&args[index - 1].text.as_str()) || is_awk && arg.text.contains('{');
            if is_code && arg.known {
                codes.push(arg.text.clone());
            }
        }
        // A program without a file reads its code from the standard input.
        let has_file = args.iter().any(|arg| !arg.text.starts_with('-'));
        if let Some(text) = context.input.text.as_deref()
            && !has_file
            && !is_awk
        {
            codes.push(text.to_owned());
        }
        for code in codes {
            self.work.spend(4 * code.len())?;
            for command in commands(&code).into_iter().take(MOST) {
                // A text that is no command may be any text of the other language.
                let state = self.state.clone();
                self.script_if_valid(&command)?;
                self.state = state;
            }
        }
        Ok(())
    }
}

/// Returns the literal commands behind functions that start programs.
fn commands(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for function in FUNCTIONS {
        for (at, _) in code.match_indices(function) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            if let Some(command) = argument(&code[at + function.len()..]) {
                found.push(command);
            }
        }
    }
    // Perl, Ruby and PHP run the text between backticks.
    let mut ticks = code.split('`');
    ticks.next();
    while let (Some(inside), Some(_)) = (ticks.next(), ticks.next()) {
        found.push(inside.to_owned());
    }
    found
}

/// Returns the first argument of a call: a text, or the texts of a list as quoted words.
fn argument(behind: &str) -> Option<String> {
    let behind = behind.trim_start().trim_start_matches('(').trim_start();
    if let Some(list) = behind.strip_prefix('[') {
        let words = texts(list.split(']').next().unwrap_or_default());
        return if words.is_empty() { None } else { Some(quoted_words(&words)) };
    }
    let (first, rest) = text(behind)?;
    // `spawn("rm", ["-rf", "/"])` and `system("rm", "-rf", "/")`.
    match rest.trim_start().strip_prefix(',') {
        Some(rest) if !first.contains(' ') => {
            let rest = rest.trim_start().trim_start_matches('[');
            let end = rest.find([']', ')', ';', '{']).unwrap_or(rest.len());
            let words: Vec<_> = std::iter::once(first).chain(texts(&rest[..end])).collect();
            Some(quoted_words(&words))
        }
        _ => Some(first),
    }
}

/// Returns the text at the start, without its quotes, and what is behind it.
fn text(from: &str) -> Option<(String, &str)> {
    let quote = from.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let mut value = String::new();
    let mut escaped = false;
    for (at, c) in from.char_indices().skip(1) {
        match c {
            _ if escaped => {
                value.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            c if c == quote => return Some((value, &from[at + c.len_utf8()..])),
            c => value.push(c),
        }
    }
    None
}

fn texts(mut list: &str) -> Vec<String> {
    let mut words = Vec::new();
    while let Some(start) = list.find(['"', '\'']) {
        let Some((word, rest)) = text(&list[start..]) else { break };
        words.push(word);
        list = rest;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::commands;

    #[test]
    fn commands_behind_functions_are_found() {
        for (code, command) in [
            ("import os; os.system('rm -rf /')", "rm -rf /"),
            ("subprocess.run([\"rm\", \"-rf\", \"/\"])", "'rm' '-rf' '/'"),
            ("system(\"rm\", \"-rf\", \"/\");", "'rm' '-rf' '/'"),
            ("require('child_process').execSync('rm -rf ~/')", "rm -rf ~/"),
            ("spawn('rm', ['-rf', '/'])", "'rm' '-rf' '/'"),
            ("puts `rm -rf x`", "rm -rf x"),
            ("BEGIN{system(\"rm -rf /\")}", "rm -rf /"),
        ] {
            assert!(commands(code).iter().any(|found| found == command), "{code}: {:?}", commands(code));
        }
        for code in ["print('rm -rf /')", "x = ecosystem('a')", "", "system(", "run(f'rm", "`"] {
            assert!(commands(code).is_empty(), "{code}: {:?}", commands(code));
        }
    }
}
