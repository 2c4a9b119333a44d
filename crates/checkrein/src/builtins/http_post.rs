//! Posts a fixed body to a URL. Not in this build: it needs an HTTP client, and checkrein has none yet.
//!
//! The name is known, so that a config written for docker-agent is told what is missing instead of "no such builtin".
//! What can be wrong with the arguments is told as well.
//!
//! - **Arguments**: the URL (`http` or `https`) and the body.
//! - **Events**: any.
//!
//! Example of what to use meanwhile: a command hook with `curl -fsS -X POST -d '{"text":"done"}' https://example.com/hook`

use crate::handler::{Builtin, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    Builtin::prepared(|args| {
        check(args)?;
        Err("needs an HTTP client, which this build of checkrein does not have; use a command hook that calls \
             `curl -fsS -X POST -d BODY URL`"
            .to_owned())
    })
    .described(
        BuiltinDoc::new(
            "Posts a fixed body to a URL. Not in this build: loading it fails and says what to use instead.",
        )
        .args("the URL, the body")
        .events("any"),
    )
}

fn check(args: &[String]) -> Result<(), String> {
    let [url, _body] = args else {
        return Err("takes two arguments, the URL and the body".to_owned());
    };
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
        // The URL is not repeated: it may hold a password.
        return Err("has something else than an `http://` or `https://` URL as its first argument".to_owned());
    }
    Ok(())
}
