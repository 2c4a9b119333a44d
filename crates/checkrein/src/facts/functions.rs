//! Functions of rules. They depend on their arguments only.

use std::net::IpAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use checkrein_dialects::config::parse_duration;
use checkrein_expression::{FailureKind, Function, Type, Value};

use super::versions;
use crate::builtins::secrets::has_secret;
use crate::builtins::shell::quoted;
use crate::hash::{hex, sha256};

/// Environment variables that rules can read. None of them usually holds a secret.
pub(super) const VARIABLES: &[&str] = &[
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
    "AWS_REGION",
    "BUILDKITE",
    "CI",
    "CIRCLECI",
    "CODESPACES",
    "CONDA_DEFAULT_ENV",
    "DISPLAY",
    "DJANGO_SETTINGS_MODULE",
    "EDITOR",
    "FLASK_ENV",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "HOSTNAME",
    "JENKINS_URL",
    "KUBECONFIG",
    "LANG",
    "LOGNAME",
    "NODE_ENV",
    "RAILS_ENV",
    "SHELL",
    "SSH_CONNECTION",
    "TERM",
    "TERM_PROGRAM",
    "TZ",
    "USER",
    "VIRTUAL_ENV",
    "WSL_DISTRO_NAME",
    "XDG_SESSION_TYPE",
];

pub(super) static ALL: &[Function] = &[
    Function {
        name: "quote",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The text as one word of a shell command: `a b` gives `'a b'`. Needed in a `rewrite` of a command.",
        run: |values| text(values, 0).map(|own| shell_word(own).into()),
    },
    Function {
        name: "contains_secret",
        is_method: true,
        parameters: &[Type::String],
        result: Type::Bool,
        doc: "`true` if the text contains a secret in a known format, such as an API key or a private key.",
        run: |values| text(values, 0).map(|own| has_secret(own).into()),
    },
    Function {
        name: "semver",
        is_method: true,
        parameters: &[Type::String, Type::String],
        result: Type::Bool,
        doc: "`true` if a version fits a requirement, such as `\"1.2.3\".semver(\">=1.2, <2\")`. `false` for a text that is no version.",
        run: |values| {
            let requirement = versions::Requirement::parse(text(values, 1)?).map_err(FailureKind::Function)?;
            Ok(requirement.accepts(text(values, 0)?).into())
        },
    },
    Function {
        name: "cidr",
        is_method: true,
        parameters: &[Type::String, Type::String],
        result: Type::Bool,
        doc: "`true` if an IP address is in a network, such as `\"10.1.2.3\".cidr(\"10.0.0.0/8\")`. `false` for a text that is no IP address.",
        run: |values| {
            let network = network(text(values, 1)?).map_err(FailureKind::Function)?;
            let address = text(values, 0)?.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
            Ok(address.is_ok_and(|address| is_inside(address, network)).into())
        },
    },
    Function {
        name: "base64_decode",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The text that a Base64 text encodes; \"\" for another text. Bytes that are no text are replaced.",
        run: |values| {
            let own: String = text(values, 0)?.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            let forms = [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD];
            let decoded = forms.iter().find_map(|form| form.decode(&own).ok()).unwrap_or_default();
            Ok(String::from_utf8_lossy(&decoded).as_ref().into())
        },
    },
    Function {
        name: "sha256",
        is_method: true,
        parameters: &[Type::String],
        result: Type::String,
        doc: "The SHA-256 digest of the text, in hexadecimal.",
        run: |values| text(values, 0).map(|own| hex(&sha256(own.as_bytes())).into()),
    },
];

fn text(values: &[Value], index: usize) -> Result<&str, FailureKind> {
    match values.get(index) {
        Some(Value::String(own)) => Ok(own),
        other => {
            let found = other.map_or("nothing", Value::type_name);
            Err(FailureKind::WrongType { expected: "a string".to_owned(), found })
        }
    }
}

/// Returns a text as one word of a shell command.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+,./:@%".contains(c);
    // `A=1` in front of a command is a variable.
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Checks arguments that a rule gives as literals.
pub(super) fn check_literals(name: &str, arguments: &[Option<&Value>]) -> Result<(), String> {
    let Some(Some(Value::String(literal))) = arguments.first() else { return Ok(()) };
    match name {
        "env" => check_variable(literal),
        "since" => duration(literal).map(drop),
        "cidr" => network(literal).map(drop),
        "semver" => versions::Requirement::parse(literal).map(drop),
        _ => Ok(()),
    }
}

pub(super) fn check_variable(name: &str) -> Result<(), String> {
    if VARIABLES.contains(&name) {
        return Ok(());
    }
    let help = match checkrein_core::closest_match(name, VARIABLES.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("rules can read {}", VARIABLES.join(", ")),
    };
    Err(format!("`env` does not read `{name}`, because variables may hold secrets; {help}"))
}

pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(Some(age)) => Ok(age),
        Ok(None) => Err(format!("`{text}` is not a time span; write one such as \"10m\"")),
        Err(why) => Err(format!("`{text}` {why}")),
    }
}

/// Address and length of the prefix.
type Network = (IpAddr, u32);

fn network(text: &str) -> Result<Network, String> {
    let invalid = || format!("`{text}` is not a network; write one such as \"10.0.0.0/8\"");
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().map_err(|_| invalid())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = if text.contains('/') { bits.parse().map_err(|_| invalid())? } else { most };
    if bits > most { Err(invalid()) } else { Ok((address, bits)) }
}

fn is_inside(address: IpAddr, (network, bits): Network) -> bool {
    let address = match (address, network) {
        (IpAddr::V6(own), IpAddr::V4(_)) => own.to_ipv4_mapped().map_or(address, IpAddr::V4),
        _ => address,
    };
    match (address, network) {
        (IpAddr::V4(own), IpAddr::V4(network)) => (own.to_bits() ^ network.to_bits()).leading_zeros() >= bits,
        (IpAddr::V6(own), IpAddr::V6(network)) => (own.to_bits() ^ network.to_bits()).leading_zeros() >= bits,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::{FactContext, Facts, environment};
    use checkrein_core::{Event, EventKind};
    use checkrein_expression::Expression;

    fn shown(text: &str) -> String {
        let event = Event::from_json(r#"{"event":"pre_tool_use","tool_name":"Bash","tool_input":{}}"#).unwrap();
        let mut context = FactContext::new("/project");
        context.vars = [("CI".into(), "1".into())].into();
        let facts = Facts::new(event, context);
        match Expression::compile(text, &environment(&[EventKind::PreToolUse])) {
            Ok(expression) => match expression.evaluate(&facts) {
                Ok(value) => value.to_string(),
                Err(failure) => format!("failure: {failure}"),
            },
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn functions_have_these_values() {
        for (text, value) in [
            (r#""1.2.3".semver(">=1.2")"#, "true"),
            (r#""v1.10".semver(">=1.2, <1.10")"#, "false"),
            (r#""main".semver(">=1")"#, "false"),
            (r#""1".semver("x")"#, "error: `x` is not a version requirement; write one such as \">=1.2, <2\""),
            (r#""10.1.2.3".cidr("10.0.0.0/8") && !"11.1.2.3".cidr("10.0.0.0/8")"#, "true"),
            (r#""::ffff:10.0.0.1".cidr("10.0.0.0/8") && "[fe80::1]".cidr("fe80::/10")"#, "true"),
            (r#""host".cidr("0.0.0.0/0")"#, "false"),
            (
                r#""1.1.1.1".cidr("10.0.0.0/33")"#,
                "error: `10.0.0.0/33` is not a network; write one such as \"10.0.0.0/8\"",
            ),
            (
                r#""cm0gLXJmIC8=".base64_decode() + "|" + "cm0gLXJmIC8".base64_decode() + "|" + "!".base64_decode()"#,
                "rm -rf /|rm -rf /|",
            ),
            (
                r#"["a-b/c.d", "a b", "~", "A=1", "$X", "it's", ""].map(x, x.quote()).join(" ")"#,
                r"a-b/c.d 'a b' '~' 'A=1' '$X' 'it'\''s' ''",
            ),
            (r#""a".sha256().startsWith("ca978112")"#, "true"),
            (r#"("AKIA" + "IOSFODNN7EXAMPLQ").contains_secret() || !"plain text".contains_secret()"#, "true"),
            (r#"env("CI") + env("TERM")"#, "1"),
            (
                r#"env("AWS_SECRET_ACCESS_KEY")"#,
                "error: `env` does not read `AWS_SECRET_ACCESS_KEY`, because variables may hold secrets",
            ),
            (
                r#"env("NODE_EVN")"#,
                "error: `env` does not read `NODE_EVN`, because variables may hold secrets; did you mean `NODE_ENV`?",
            ),
            (r#"history.since("10x").denials"#, "error: `10x` has the unknown unit `x`; use h, m, s or ms"),
            (r#"history.since("10m").count("Bash") + history.repeats"#, "0"),
            ("prompt", "error: `prompt` is not available at all events of the rule; events with it: "),
        ] {
            let found = shown(text);
            assert!(found.starts_with(value), "{text}: {found}");
        }
    }
}
