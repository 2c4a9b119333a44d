//! Posts a fixed body to a URL.
//!
//! It tells somebody that something happened; it decides nothing. What the endpoint answers is read and dropped, and an
//! endpoint that cannot be reached, may not be called or answers with anything but a success is a message for the user,
//! never a failure; only one that keeps it waiting until the hook's time is over fails it, as any hook. Redirects are
//! not followed. Addresses of private networks and of this machine are refused, unless `--allow-private` is given; a
//! URL with such an address, or one that cannot be read, is told when the hook is loaded.
//!
//! - **Arguments**: the URL (`http` or `https`), the body, and `--allow-private`.
//! - **Events**: any.
//!
//! Example: `args: ["https://example.com/hook", "{\"text\": \"the agent has stopped\"}"]` at `stop`, in the background.
//!
//! Without the feature `http` of this crate loading it fails, and says what to use instead.

use crate::handler::{Builtin, BuiltinDoc};

/// Switches off the refusal of private addresses.
const ALLOW_PRIVATE: &str = "--allow-private";

pub(super) fn builtin() -> Builtin {
    Builtin::prepared(|args| {
        let request = read(args)?;
        Ok(prepare(request)?)
    })
    .described(
        BuiltinDoc::new("Posts a fixed body to a URL. The answer is dropped; a failure is a message for the user.")
            .args("the URL, the body, `--allow-private`")
            .events("any"),
    )
}

#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only checked then"))]
struct Request {
    url: String,
    body: String,
    allow_private: bool,
}

fn read(args: &[String]) -> Result<Request, String> {
    let (url, body, allow_private) = match args {
        [url, body] => (url, body, false),
        [url, body, flag] if flag == ALLOW_PRIVATE => (url, body, true),
        _ => return Err(format!("takes two arguments, the URL and the body, and may take `{ALLOW_PRIVATE}`")),
    };
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
        // The URL is not repeated: it may hold a password.
        return Err("has something else than an `http://` or `https://` URL as its first argument".to_owned());
    }
    Ok(Request { url: url.clone(), body: body.clone(), allow_private })
}

#[cfg(not(feature = "http"))]
fn prepare(_: Request) -> Result<Builtin, String> {
    Err("needs an HTTP client, which this build of checkrein does not have (feature `http`); use a command hook that \
         calls `curl -fsS -X POST -d BODY URL`"
        .to_owned())
}

#[cfg(feature = "http")]
fn prepare(request: Request) -> Result<Builtin, String> {
    post::check(&request)?;
    let request = std::sync::Arc::new(request);
    Ok(Builtin::new(move |call| Box::pin(post::send(std::sync::Arc::clone(&request), call))))
}

#[cfg(feature = "http")]
mod post {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use checkrein_core::payload::JsonPiece;
    use checkrein_core::{Failure, FailureKind, Opinion, Reply};

    use super::{ALLOW_PRIVATE, Request};
    use crate::handler::{BuiltinCall, Call, EventView, HttpFactory};
    use checkrein_dialects::{HookSpec, HttpSpec};

    /// The handler does not look at the clock; it is told of a deadline all the same.
    const DEADLINE: Duration = Duration::from_secs(3600);

    /// What is wrong with the URL, as far as that can be known before anything is posted.
    pub(super) fn check(request: &Request) -> Result<(), String> {
        HttpFactory::check_url(&request.url, request.allow_private).map_err(|why| {
            let would_do = !request.allow_private && HttpFactory::check_url(&request.url, true).is_ok();
            let hint = if would_do { format!("; `{ALLOW_PRIVATE}` allows it") } else { String::new() };
            format!("cannot post to its first argument: {why}{hint}")
        })
    }

    pub(super) async fn send(request: Arc<Request>, call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
        let problem = match reply(&request, call).await {
            Ok(Reply::Http(reply)) if !(200..300).contains(&reply.status) => {
                format!("was answered with status {}", reply.status)
            }
            Ok(_) => return Ok(Opinion::none()),
            // It has arrived, and nobody reads the answer.
            Err(failure) if failure.kind == FailureKind::OutputCap => return Ok(Opinion::none()),
            Err(failure) => format!("could not post: {}", failure.message),
        };
        Ok(Opinion::none().with_message(problem))
    }

    async fn reply(request: &Request, call: BuiltinCall<'_>) -> Result<Reply, Failure> {
        let factory = call.env.registry.handler("http").ok_or_else(|| {
            Failure::new(FailureKind::UnknownHandler, "this engine's registry has no handlers of the kind `http`")
        })?;
        let kind = call.event.kind();
        let spec = HookSpec::http(call.hook.id.clone(), kind, request.url.clone());
        let spec = if request.allow_private { spec } else { spec.request(HttpSpec::public_only) };
        let handler = factory.build(&spec, call.env)?;
        let moment =
            EventView::with_payload(call.event.clone(), spec.dialect, vec![JsonPiece::Text(request.body.clone())]);
        let post = Call {
            hook: Arc::new(call.hook.clone()),
            deadline: Instant::now() + DEADLINE,
            dialect: spec.dialect,
            stdout_closed: false,
            moment: Arc::new(moment),
        };
        handler.call(&post).await
    }
}
