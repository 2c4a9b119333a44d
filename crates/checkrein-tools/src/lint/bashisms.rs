//! Lint for syntax of bash in texts that run under `sh`.
//!
//! `sh` is dash on Debian and Ubuntu, and bash on some other systems. Such a text works only where `sh` is bash.

use super::script::Report;

/// Builtins of bash that `sh` does not have.
const BUILTINS: &[&str] = &["source", "declare", "typeset", "mapfile", "readarray", "shopt", "pushd", "popd"];

/// Reports the first construct of each kind.
pub(super) fn lint(text: &str, report: &mut Report<'_>) -> bool {
    let mut found: Vec<&str> = Vec::new();
    for (line, number) in plain(text).lines().zip(1_u32..) {
        for (construct, instead) in constructs(line) {
            if found.contains(&construct) {
                continue;
            }
            found.push(construct);
            let text = format!("`{construct}` is syntax of bash, but the text runs under `sh`; {instead}");
            report("bashism", Some(number), text);
        }
    }
    !found.is_empty()
}

fn constructs(line: &str) -> Vec<(&'static str, &'static str)> {
    let mut found = Vec::new();
    let words: Vec<&str> =
        line.split([' ', '\t', ';', '&', '|', '(', ')', '{', '}']).filter(|word| !word.is_empty()).collect();
    if words.contains(&"[[") {
        found.push(("[[", "use `[ … ]` or `case`"));
    }
    if line.contains("<<<") {
        found.push(("<<<", "use `printf '%s\\n' \"$x\" |`"));
    }
    if line.contains("<(") || line.contains(">(") {
        found.push(("<(…)", "use a pipe or a temporary file"));
    }
    if line.contains("&>") {
        found.push(("&>", "use `>FILE 2>&1`"));
    }
    let commands = || {
        let starts = line.split([';', '&', '|', '(', '{']).map(str::trim_start);
        starts.map(|start| {
            ["then ", "do ", "else ", "if ", "elif ", "while ", "until ", "! "]
                .iter()
                .fold(start, |text, word| text.strip_prefix(word).unwrap_or(text))
        })
    };
    if commands().any(|command| command.starts_with("function ")) {
        found.push(("function", "write `NAME() { … }`"));
    }
    for builtin in BUILTINS {
        if commands().any(|command| command.split_whitespace().next() == Some(*builtin)) {
            let instead = if *builtin == "source" { "use `.`" } else { "remove it, or run the text under bash" };
            found.push((builtin, instead));
        }
    }
    if commands().any(is_array) {
        found.push(("NAME=(…)", "`sh` has no arrays"));
    }
    if commands().any(|command| command.starts_with("[ ") && command.contains(" == ")) {
        found.push(("==", "use `=` in `[ … ]`"));
    }
    if words.windows(2).any(|pair| pair == ["set", "-o"] || pair[0].starts_with('-') && pair[1] == "pipefail")
        && words.contains(&"pipefail")
    {
        found.push(("pipefail", "remove it, or run the text under bash"));
    }
    found
}

/// `NAME=` at the end of a piece: the parenthesis behind it ended the piece.
fn is_array(command: &str) -> bool {
    let Some(name) = command.strip_suffix('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name)
}

/// Replaces comments, quoted texts and here-documents by blanks. Line breaks stay.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = '\n';
    let mut documents: Vec<(String, bool)> = Vec::new();
    while let Some(c) = chars.next() {
        match c {
            '\'' | '"' => {
                out.push(c);
                while let Some(inside) = chars.next() {
                    if inside == c {
                        break;
                    }
                    if inside == '\\' && c == '"' {
                        chars.next();
                    }
                    out.push(if inside == '\n' { '\n' } else { ' ' });
                }
                out.push(c);
            }
            '\\' => {
                out.push(' ');
                out.push(if chars.next() == Some('\n') { '\n' } else { ' ' });
            }
            '#' if before.is_whitespace() || before == ';' => {
                while chars.peek().is_some_and(|next| *next != '\n') {
                    chars.next();
                }
            }
            '<' if chars.peek() == Some(&'<') => {
                chars.next();
                out.push_str("<<");
                if chars.peek() == Some(&'<') {
                    chars.next();
                    out.push('<');
                } else {
                    let indented = chars.next_if_eq(&'-').is_some();
                    while chars.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
                    let mut word = String::new();
                    while let Some(next) = chars.next_if(|next| !next.is_whitespace() && !";&|<>()".contains(*next)) {
                        if !matches!(next, '\'' | '"' | '\\') {
                            word.push(next);
                        }
                    }
                    documents.push((word, indented));
                }
            }
            '\n' => {
                out.push('\n');
                for (word, indented) in documents.drain(..) {
                    loop {
                        let mut line = String::new();
                        while let Some(next) = chars.next_if(|next| *next != '\n') {
                            line.push(next);
                        }
                        let is_end = chars.next().is_none();
                        out.push('\n');
                        let line = if indented { line.trim_start_matches('\t') } else { &line };
                        if is_end || line == word {
                            break;
                        }
                    }
                }
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        lint(text, &mut |_, line, text: String| {
            all.push(format!("{}:{}", line.unwrap_or(0), text.split('`').nth(1).unwrap_or_default()));
        });
        all
    }

    #[test]
    fn syntax_of_bash_is_found_outside_of_quotes() {
        for (text, expected) in [
            ("if [[ $x == y ]]; then :; fi", &["1:[["][..]),
            ("true\njq . <<<\"$x\"", &["2:<<<"]),
            ("function f { :; }", &["1:function"]),
            ("a=(1 2)", &["1:NAME=(…)"]),
            ("a+=(1)", &["1:NAME=(…)"]),
            ("diff <(a) b", &["1:<(…)"]),
            ("a &>/dev/null", &["1:&>"]),
            ("source ./lib.sh", &["1:source"]),
            ("if [ \"$a\" == b ]; then :; fi", &["1:=="]),
            ("set -euo pipefail", &["1:pipefail"]),
            ("set -o pipefail", &["1:pipefail"]),
            ("echo '[[ a ]]' \"<<< source $x\" # [[", &[]),
            ("cat <<EOF\n[[ a ]]\nsource x\nEOF\necho", &[]),
            ("cat <<-'EOF'\n[[ a ]]\n\tEOF\n[ a = b ]", &[]),
            ("case $x in [[:alpha:]]*) :;; esac", &[]),
            ("x=$(cat); y=$((1 + 2)); f() { :; }; . ./lib.sh 2>&1", &[]),
            ("grep -E '^source ' x | grep \"function\"", &[]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
