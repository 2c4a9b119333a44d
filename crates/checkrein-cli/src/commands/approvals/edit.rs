//! `--edit`: the user changes the input of a call in an editor.

use std::io::Write as _;
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail};
use checkrein::RawJson;

/// Opens the input in the user's editor. Returns the changed input, or `None` if it is the same.
pub fn edited(input: &RawJson) -> Result<Option<RawJson>> {
    let editor = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|text| !text.is_empty()));
    let editor = editor.ok_or_else(|| anyhow!("no editor; set VISUAL or EDITOR, such as `EDITOR=nano`"))?;
    // The directory and the file are readable only by the user. Both are removed afterwards.
    let directory = tempfile::Builder::new().prefix("checkrein-edit-").tempdir().context("cannot create a file")?;
    let path = directory.path().join("input.json");
    let value: serde_json::Value = serde_json::from_str(input.as_str())?;
    // Reformatting could change the spelling of a number. Then the text stays as it is.
    let pretty = serde_json::to_string_pretty(&value)?;
    let text = match RawJson::parse(pretty.as_str()) {
        Ok(json) if without_space(json.as_str()) == without_space(input.as_str()) => pretty,
        _ => input.as_str().to_owned(),
    };
    let mut file = tempfile_private(&path)?;
    writeln!(file, "{text}")?;
    drop(file);
    // The variable is a command line, such as `code --wait`.
    let status = if cfg!(windows) {
        let mut words = editor.split_whitespace();
        let program = words.next().ok_or_else(|| anyhow!("EDITOR is empty"))?;
        Command::new(program).args(words).arg(&path).status()
    } else {
        Command::new("sh").args(["-c", &format!("{editor} \"$1\""), "sh"]).arg(&path).status()
    };
    let status = status.with_context(|| format!("cannot start the editor `{editor}`"))?;
    if !status.success() {
        bail!("the editor failed: {status}");
    }
    let new = super::super::read_text(&path)?;
    let new = RawJson::parse(new.trim()).context("the edited input is not valid JSON")?;
    if new.entries().is_none() {
        bail!("the edited input is not a JSON object");
    }
    if without_space(new.as_str()) == without_space(input.as_str()) { Ok(None) } else { Ok(Some(new)) }
}

/// JSON without the white space between its tokens.
fn without_space(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let mut kept = String::with_capacity(json.len());
    for c in json.chars() {
        if in_text {
            kept.push(c);
            in_text = c != '"' || is_escaped;
            is_escaped = c == '\\' && !is_escaped;
        } else if !c.is_ascii_whitespace() {
            kept.push(c);
            in_text = c == '"';
        }
    }
    kept
}

fn tempfile_private(path: &std::path::Path) -> Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).with_context(|| format!("cannot create {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::without_space;

    #[test]
    fn space_between_tokens_is_removed() {
        assert_eq!(without_space("{ \"a b\" : [ 1.0 , \"\\\" x\" ] }\n"), r#"{"a b":[1.0,"\" x"]}"#);
    }
}
