//! The key `audit` of a file: settings of the audit log.
//!
//! An invalid value must never turn the log off: it is written, and gates close if it cannot be written.

use std::time::Duration;

use super::{AuditSettings, Decoder, duration};
use checkrein_document::Node;

/// Keys of `audit`.
const KEYS: &[&str] = &["path", "on_failure", "max_size", "max_age"];

/// Units of sizes.
const SIZES: &[(&str, u64)] =
    &[("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("KB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000)];

/// Reads `true`, `false` or an object. An invalid value has the stricter meaning.
pub(super) fn read(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Option<AuditSettings> {
    if let Some(on) = node.as_bool() {
        return on.then(AuditSettings::default);
    }
    let mut settings = AuditSettings::default();
    let Ok(members) = decoder.object(node, "audit") else {
        return Some(AuditSettings { closed: true, ..settings });
    };
    decoder.check_keys(members, KEYS);
    settings.closed = members.iter().any(|member| !KEYS.contains(&&*member.key));
    for member in members {
        let node = &member.value;
        match &*member.key {
            "path" => settings.path = decoder.text(node, "path").ok().filter(|path| !path.trim().is_empty()),
            "on_failure" => match decoder.text(node, "on_failure").as_deref() {
                Ok("open") => {}
                Ok("closed") | Err(_) => settings.closed = true,
                Ok(other) => {
                    decoder.unknown("unknown-value", node.span, "value", other, &["open", "closed"]);
                    settings.closed = true;
                }
            },
            "max_size" => settings.max_size = size(decoder, node),
            "max_age" => settings.max_age = age(decoder, node),
            _ => {}
        }
    }
    Some(settings)
}

fn size(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Option<u64> {
    let bytes = match (node.as_number(), node.as_str()) {
        (Some(number), _) => number.parse().ok(),
        (None, Some(text)) => SIZES.iter().find_map(|(unit, bytes)| {
            let count: u64 = text.trim().strip_suffix(unit)?.trim_end().parse().ok()?;
            count.checked_mul(*bytes)
        }),
        (None, None) => None,
    };
    let bytes = bytes.filter(|bytes| *bytes > 0);
    if bytes.is_none() {
        decoder.error(
            "bad-size",
            node.span,
            "`max_size` should be a number of bytes above 0, or a size such as `64MiB`",
        );
    }
    bytes
}

fn age(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Option<Duration> {
    const DAY: u64 = 24 * 3600;
    let text = node.as_str().map(str::trim);
    let days = text.and_then(|text| text.strip_suffix('d')?.parse::<u64>().ok()?.checked_mul(DAY));
    let age = days.map(Duration::from_secs).or_else(|| duration::parse(text?).ok()?);
    let age = age.filter(|age| !age.is_zero());
    if age.is_none() {
        decoder.error("bad-time", node.span, "`max_age` should be a duration above 0, such as `30d` or `12h`");
    }
    age
}
