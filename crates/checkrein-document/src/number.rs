//! Conversion of YAML and TOML numbers to JSON syntax, as text.
//!
//! The YAML and TOML parsers use it. A number is never converted to a float, because that can change its value.

use std::borrow::Cow;

/// Converts a decimal number in YAML syntax: with a plus sign, leading zeros, or no digits on one side of the point. `None`
/// if the text is no number.
pub(super) fn decimal(text: &str) -> Option<Cow<'_, str>> {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => unsigned.split_at(at),
        None => (unsigned, ""),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let power = exponent.get(1..).unwrap_or_default();
    let power = power.strip_prefix(['+', '-']).unwrap_or(power);
    let has_digits = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !has_digits || !digits(whole) || !digits(fraction.unwrap_or_default()) || !digits(power) {
        return None;
    }
    if !exponent.is_empty() && power.is_empty() {
        return None;
    }
    let trimmed = whole.trim_start_matches('0');
    let trimmed = if trimmed.is_empty() { "0" } else { trimmed };
    if trimmed == whole && fraction != Some("") && !text.starts_with('+') {
        return Some(Cow::Borrowed(text));
    }
    let sign = if negative { "-" } else { "" };
    let (point, fraction) = match fraction {
        None => ("", ""),
        Some("") => (".", "0"),
        Some(fraction) => (".", fraction),
    };
    Some(Cow::Owned([sign, trimmed, point, fraction, exponent].concat()))
}

/// Converts an integer in another base. `None` if it is invalid or has more than 128 bits.
pub(super) fn integer(digits: &str, radix: u32) -> Option<String> {
    // `from_str_radix` would accept a sign.
    digits.starts_with(|first: char| first.is_digit(radix)).then_some(())?;
    u128::from_str_radix(digits, radix).ok().map(|number| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_converted_to_json() {
        for (text, json) in [
            ("0", "0"),
            ("-0", "-0"),
            ("+7", "7"),
            ("007", "7"),
            ("-007", "-7"),
            ("000", "0"),
            ("12345678901234567890", "12345678901234567890"),
            ("1e400", "1e400"),
            ("1.0", "1.0"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("5.", "5.0"),
            ("5.e+3", "5.0e+3"),
            ("00.50E-07", "0.50E-07"),
        ] {
            assert_eq!(decimal(text).as_deref(), Some(json), "{text}");
            assert!(serde_json::from_str::<&serde_json::value::RawValue>(json).is_ok());
        }
        for text in
            ["", "+", "-", ".", "-.", "e5", ".e5", "1e", "1e+", "1_000", "1.2.3", "--1", "+-1", "٣", "1e5e5", "1é"]
        {
            assert_eq!(decimal(text), None, "{text}");
        }
    }

    #[test]
    fn other_bases_are_converted_to_decimal() {
        for (digits, radix, json) in [
            ("ff", 16, Some("255")),
            ("FFFFFFFFFFFFFFFF", 16, Some("18446744073709551615")),
            ("017", 8, Some("15")),
            ("101", 2, Some("5")),
            ("", 16, None),
            ("+f", 16, None),
            ("8", 8, None),
            ("100000000000000000000000000000000", 16, None),
        ] {
            assert_eq!(integer(digits, radix).as_deref(), json, "{digits}");
        }
    }
}
