//! Answers of chat bots: `POST /callback/ID`, signed with the secret of the webhook.
//!
//! The signature is the only authority. It covers the id of the message, a time, and the body, which names the approval. A message
//! counts once, and only for five minutes.

#[cfg(feature = "http")]
mod route {
    use std::collections::HashMap;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::{SystemTime, UNIX_EPOCH};

    use axum::body::Bytes;
    use axum::extract::{DefaultBodyLimit, Path, State};
    use axum::http::{HeaderMap, StatusCode};
    use axum::routing::post;
    use axum::{Json, Router};
    use checkrein::hook_files::Locations;
    use checkrein::internal::webhooks::{Signed, verify};
    use checkrein_tools::approvals::{Answer, ApprovalError, ApprovalId, ApprovalStore, Via, decide};
    use serde::Deserialize;
    use serde_json::{Value, json};

    /// Time for which the id of a message is kept, in seconds. A signature is valid for 5 minutes before and after its time.
    const ID_LIFETIME_SECS: u64 = 2 * 5 * 60 + 1;

    /// Number of ids. If so many messages arrive, further ones are refused.
    const MAX_IDS: usize = 10_000;

    /// Maximum size of a message, in bytes.
    const MAX_BODY: usize = 16 << 10;

    /// Everything that the route needs.
    #[derive(Clone)]
    struct Callbacks {
        secret: Arc<str>,
        approvals: ApprovalStore,
        locations: Locations,
        /// Ids of messages with the time of their arrival.
        seen: Arc<Mutex<HashMap<String, u64>>>,
    }

    /// Message of a bot.
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Message {
        /// Id of the approval. The signature does not cover the address.
        id: String,
        decision: Word,
        #[serde(default)]
        reason: Option<String>,
        /// Name of the person.
        #[serde(default)]
        by: Option<String>,
    }

    #[derive(Debug, Clone, Copy, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Word {
        Approve,
        Deny,
    }

    /// Route for answers that are signed with this secret.
    pub fn router(secret: &str, approvals: ApprovalStore, locations: Locations) -> Router {
        let state = Callbacks { secret: secret.into(), approvals, locations, seen: Arc::default() };
        Router::new().route("/callback/{id}", post(answer)).layer(DefaultBodyLimit::max(MAX_BODY)).with_state(state)
    }

    type Reply = (StatusCode, Json<Value>);

    fn refused(status: StatusCode, why: impl std::fmt::Display) -> Reply {
        (status, Json(json!({ "error": why.to_string() })))
    }

    async fn answer(
        State(callbacks): State<Callbacks>,
        Path(id): Path<String>,
        headers: HeaderMap,
        body: Bytes,
    ) -> Reply {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let message = match callbacks.verified(&headers, &body, now) {
            Ok(message) => message,
            Err(reply) => return reply,
        };
        let (Ok(id), Ok(named)) = (id.parse::<ApprovalId>(), message.id.parse::<ApprovalId>()) else {
            return refused(StatusCode::BAD_REQUEST, "the id of the approval is invalid");
        };
        if id != named {
            return refused(StatusCode::BAD_REQUEST, "the message is for another approval");
        }
        let by = message.by.unwrap_or_else(|| "webhook".to_owned());
        let answer = match message.decision {
            Word::Approve => Answer::approve(Via::Webhook, by),
            Word::Deny => Answer::deny(Via::Webhook, by, message.reason),
        };
        let decided =
            tokio::task::spawn_blocking(move || decide(&callbacks.approvals, &callbacks.locations, &id, answer));
        match decided.await {
            Ok(Ok(approval)) => {
                (StatusCode::OK, Json(json!({ "state": approval.state, "outcome": approval.outcome() })))
            }
            Ok(Err(error @ (ApprovalError::Answered(_) | ApprovalError::Expired(_)))) => {
                refused(StatusCode::CONFLICT, error)
            }
            Ok(Err(error @ ApprovalError::Unknown(_))) => refused(StatusCode::NOT_FOUND, error),
            // The bot may try again.
            Ok(Err(error)) => refused(StatusCode::INTERNAL_SERVER_ERROR, error),
            Err(_) => refused(StatusCode::INTERNAL_SERVER_ERROR, "the answer was not stored"),
        }
    }

    impl Callbacks {
        /// Returns a message with a valid signature that has not arrived before.
        fn verified(&self, headers: &HeaderMap, body: &[u8], now: u64) -> Result<Message, Reply> {
            let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
            let signed = Signed {
                id: text("webhook-id"),
                timestamp: text("webhook-timestamp"),
                signatures: text("webhook-signature"),
            };
            verify(&self.secret, &signed, body, now)
                .map_err(|why| refused(StatusCode::UNAUTHORIZED, format!("the message is refused: {why}")))?;
            let message = serde_json::from_slice(body).map_err(|error| refused(StatusCode::BAD_REQUEST, error))?;
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            // A clock that was set back keeps ids longer.
            seen.retain(|_, arrival| now < arrival.saturating_add(ID_LIFETIME_SECS));
            if seen.len() >= MAX_IDS {
                return Err(refused(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many messages in ten minutes; try again later",
                ));
            }
            if seen.insert(signed.id.unwrap_or_default().to_owned(), now).is_some() {
                return Err(refused(StatusCode::CONFLICT, "the message has arrived before"));
            }
            Ok(message)
        }
    }
}

#[cfg(feature = "http")]
pub use route::router;
