//! Posts a fixed body to a URL.
//!
//! The builtin notifies an endpoint and decides nothing. The response is discarded. An unreachable or forbidden endpoint
//! and a response without a success status are messages for the user, not failures. A timeout is a failure, as for every
//! hook. Redirects are not followed. Addresses of private networks and of this machine are rejected without
//! `--allow-private`. An invalid URL and a URL with such an address are reported when the hook is loaded.
//!
//! - **Arguments**: the URL (`http` or `https`), the body, and `--allow-private`.
//! - **Events**: any.
//!
//! Example: `args: ["https://example.com/hook", "{\"text\": \"the agent has stopped\"}"]` at `stop`, in the background.
//!
//! Without the feature `http` of this crate, the hook cannot be loaded; the message names an alternative.

use crate::handler::{Builtin, BuiltinDoc};

/// Argument that allows private addresses.
const ALLOW_PRIVATE: &str = "--allow-private";

pub(super) fn builtin() -> Builtin {
    Builtin::prepared(|args| {
        let request = read(args)?;
        Ok(prepare(request)?)
    })
    .described(
        BuiltinDoc::new("Posts a fixed body to a URL. Discards the response; a failure is a message for the user.")
            .args("the URL, the body, `--allow-private`")
            .events("any"),
    )
}

#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "without HTTP the fields are only checked"))]
struct Request {
    url: String,
    body: String,
    allow_private: bool,
}

fn read(args: &[String]) -> Result<Request, String> {
    let (url, body, allow_private) = match args {
        [url, body] => (url, body, false),
        [url, body, flag] if flag == ALLOW_PRIVATE => (url, body, true),
        _ => return Err(format!("takes two arguments, the URL and the body, and optionally `{ALLOW_PRIVATE}`")),
    };
    let host = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if host.is_none_or(|host| host.is_empty() || host.starts_with('/')) {
        // The message omits the URL, which may contain a password.
        return Err("has an invalid first argument; use a URL that starts with `http://` or `https://`".to_owned());
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

    /// Deadline of the call, which requires one. The engine ends the call earlier, at the hook's timeout.
    const DEADLINE: Duration = Duration::from_secs(3600);

    /// Checks the URL without a connection.
    pub(super) fn check(request: &Request) -> Result<(), String> {
        HttpFactory::check_url(&request.url, request.allow_private).map_err(|why| {
            let is_private = !request.allow_private && HttpFactory::check_url(&request.url, true).is_ok();
            let hint = if is_private { format!("; `{ALLOW_PRIVATE}` allows it") } else { String::new() };
            format!("cannot post to its first argument: {why}{hint}")
        })
    }

    pub(super) async fn send(request: Arc<Request>, call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
        let problem = match reply(&request, call).await {
            Ok(Reply::Http(reply)) if !(200..300).contains(&reply.status) => {
                format!("the endpoint responded with status {}", reply.status)
            }
            Ok(_) => return Ok(Opinion::none()),
            // The request has arrived. The response is discarded anyway.
            Err(failure) if failure.kind == FailureKind::OutputCap => return Ok(Opinion::none()),
            Err(failure) => format!("cannot post: {}", failure.message),
        };
        Ok(Opinion::none().with_message(problem))
    }

    async fn reply(request: &Request, call: BuiltinCall<'_>) -> Result<Reply, Failure> {
        let factory = call.env.registry.handler("http").ok_or_else(|| {
            Failure::new(FailureKind::UnknownHandler, "this engine's registry has no handler of type `http`")
        })?;
        let kind = call.event.kind();
        let spec = HookSpec::http(call.hook.id.clone(), kind, request.url.clone());
        let spec = if request.allow_private { spec } else { spec.request(HttpSpec::public_only) };
        let handler = factory.build(&spec, call.env)?;
        let view =
            EventView::with_payload(call.event.clone(), spec.dialect, vec![JsonPiece::Text(request.body.clone())]);
        let post = Call {
            hook: Arc::new(call.hook.clone()),
            deadline: Instant::now() + DEADLINE,
            dialect: spec.dialect,
            stdout_closed: false,
            view: Arc::new(view),
        };
        handler.call(&post).await
    }
}
