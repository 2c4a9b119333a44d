//! Comparison and formatting of JSON values.

use checkrein_core::RawJson;

/// Returns `true` if `value` contains `wanted`: objects must have all its fields, other values must be equal.
pub(super) fn has(value: &RawJson, wanted: &RawJson) -> bool {
    match wanted.entries() {
        None => value.semantically_eq(wanted),
        Some(entries) if value.entries().is_some() => entries.into_iter().all(|entry| {
            let wanted = RawJson::parse(entry.value());
            wanted.is_ok_and(|wanted| value.field(&entry.key()).is_some_and(|value| has(&value, &wanted)))
        }),
        Some(_) => false,
    }
}

/// Sorts the fields of a value like those of another, so that a diff shows only real differences. Fields that the other lacks
/// come last, or are omitted.
pub(super) fn arranged(value: &RawJson, like: &RawJson, keep_others: bool) -> RawJson {
    let (Some(entries), Some(wanted)) = (value.entries(), like.entries()) else { return value.clone() };
    let mut fields = Vec::new();
    let wanted: Vec<_> = wanted.collect();
    for entry in &wanted {
        if let (Some(value), Ok(like)) = (value.field(&entry.key()), RawJson::parse(entry.value())) {
            fields.push(format!("{}:{}", RawJson::string(&entry.key()), arranged(&value, &like, keep_others)));
        }
    }
    for entry in entries.filter(|entry| keep_others && !wanted.iter().any(|wanted| wanted.key() == entry.key())) {
        fields.push(format!("{}:{}", RawJson::string(&entry.key()), entry.value()));
    }
    RawJson::parse(format!("{{{}}}", fields.join(","))).unwrap_or_else(|_| value.clone())
}

/// Formats JSON with one line per value. Numbers and strings keep their text.
pub(super) fn pretty(json: &RawJson) -> String {
    let mut out = String::new();
    write(json, 0, &mut out);
    out
}

fn write(json: &RawJson, depth: usize, out: &mut String) {
    let parts: Vec<(Option<String>, &str)> = match (json.entries(), json.items()) {
        (Some(entries), _) => {
            entries.map(|entry| (Some(RawJson::string(&entry.key()).as_str().to_owned()), entry.value())).collect()
        }
        (_, Some(items)) => items.map(|item| (None, item)).collect(),
        _ => Vec::new(),
    };
    if parts.is_empty() {
        out.push_str(json.as_str().trim());
        return;
    }
    let (open, close) = if json.entries().is_some() { ('{', '}') } else { ('[', ']') };
    out.push(open);
    for (at, (key, value)) in parts.iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&format!("{key}: "));
        }
        match RawJson::parse(*value) {
            Ok(value) => write(&value, depth + 1, out),
            Err(_) => out.push_str(value),
        }
    }
    out.push('\n');
    out.push_str(&"  ".repeat(depth));
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> RawJson {
        RawJson::parse(text).unwrap()
    }

    #[test]
    fn objects_may_have_more_fields_and_other_values_are_equal() {
        for (value, wanted, fits) in [
            (r#"{"a":1,"b":2}"#, r#"{"a":1}"#, true),
            (r#"{"a":{"b":[1],"c":2}}"#, r#"{"a":{"b":[1]}}"#, true),
            (r#"{"a":[1,2]}"#, r#"{"a":[1]}"#, false),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
            ("[]", "{}", false),
            (r#""\u0061""#, r#""a""#, true),
        ] {
            assert_eq!(has(&json(value), &json(wanted)), fits, "{value} {wanted}");
        }
    }

    #[test]
    fn fields_are_arranged_like_the_expected_value() {
        let (value, wanted) = (json(r#"{"c":3,"b":{"y":1,"x":2},"a":1}"#), json(r#"{"a":1,"b":{"x":9}}"#));
        assert_eq!(arranged(&value, &wanted, false).as_str(), r#"{"a":1,"b":{"x":2}}"#);
        assert_eq!(arranged(&value, &wanted, true).as_str(), r#"{"a":1,"b":{"x":2,"y":1},"c":3}"#);
        let big = pretty(&json(r#"{"n":12345678901234567890.10,"l":[],"o":{"k":[1]}}"#));
        assert_eq!(
            big,
            "{\n  \"n\": 12345678901234567890.10,\n  \"l\": [],\n  \"o\": {\n    \"k\": [\n      1\n    ]\n  }\n}"
        );
    }
}
