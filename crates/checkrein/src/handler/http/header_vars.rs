//! Environment variables in values of headers.

/// Expands `$NAME`, `${NAME}` and `$$`. A name without a value becomes empty. Any other dollar sign stays.
pub fn fill(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(dollar) = rest.find('$') {
        filled.push_str(&rest[..dollar]);
        let after = &rest[dollar + 1..];
        if let Some(after) = after.strip_prefix('$') {
            filled.push('$');
            rest = after;
        } else if let Some((name, after)) = after.strip_prefix('{').and_then(|after| after.split_once('}')) {
            filled.push_str(&value(name).unwrap_or_default());
            rest = after;
        } else {
            let name = name_at_start(after);
            if name.is_empty() {
                filled.push('$');
            } else {
                filled.push_str(&value(name).unwrap_or_default());
            }
            rest = &after[name.len()..];
        }
    }
    filled.push_str(rest);
    filled
}

fn name_at_start(text: &str) -> &str {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let end = text.bytes().position(|byte| !is_part(byte)).unwrap_or(text.len());
    if text.starts_with(|first: char| first.is_ascii_digit()) { "" } else { &text[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_expanded() {
        let value = |name: &str| (name == "TOKEN").then(|| "a$TOKEN".to_owned());
        for (text, expected) in [
            ("", ""),
            ("plain", "plain"),
            ("Bearer $TOKEN", "Bearer a$TOKEN"),
            ("Bearer ${TOKEN}!", "Bearer a$TOKEN!"),
            ("$TOKEN-$TOKEN", "a$TOKEN-a$TOKEN"),
            ("$TOKENS|${TOKENS}|$_", "||"),
            ("$$TOKEN $$$TOKEN", "$TOKEN $a$TOKEN"),
            ("5$ $5 ${TOKEN $", "5$ $5 ${TOKEN $"),
            ("${}${a b}ü$ü", "ü$ü"),
        ] {
            assert_eq!(fill(text, value), expected, "{text}");
        }
    }
}
