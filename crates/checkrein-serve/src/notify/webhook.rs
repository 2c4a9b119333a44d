//! Delivery to the webhook: an event of its own kind, for one HTTP hook of the engine.
//!
//! The HTTP hook signs the request, refuses addresses of cloud metadata, and follows no redirect.

use std::time::Duration;

use checkrein::{Engine, Event, EventKind, HookSpec, RawJson};
use checkrein_core::payload::CustomPayload;
use checkrein_core::{Contract, CustomKind, FailureKind};
use checkrein_tools::approvals::{Approval, ApprovalState, ApprovalStore};

use super::{Problems, Webhook};

/// Name of the event.
const EVENT: &str = "approval_pending";

/// Waits before the attempts.
const ATTEMPTS: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// Longest wait for the endpoint.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends a question, a few times if the endpoint does not take it. Stops when the question is answered.
pub(super) async fn deliver(webhook: Webhook, approval: Approval, store: ApprovalStore, problems: Problems) {
    let (engine, event) = match prepare(&webhook, &approval) {
        Ok(prepared) => prepared,
        Err(why) => return problems.set(Some(format!("cannot use `approval_webhook`: {why}"))),
    };
    for pause in ATTEMPTS {
        tokio::time::sleep(pause).await;
        if !store.find(&approval.id).is_ok_and(|found| found.state == ApprovalState::Pending) {
            return;
        }
        let (_, record) = engine.fire_recorded(event.clone()).await;
        let failure = record.hooks.iter().find_map(|hook| Some((hook.failure?, hook.detail.clone())));
        match failure {
            Some((FailureKind::HttpNet | FailureKind::HttpStatus | FailureKind::Timeout, why)) => {
                problems.set(Some(format!("the approval webhook failed: {}", why.unwrap_or_default())));
            }
            // An answer that is no verdict, such as `ok`, has arrived too.
            _ => return problems.set(None),
        }
    }
}

fn prepare(webhook: &Webhook, approval: &Approval) -> Result<(Engine, Event), String> {
    let kind = CustomKind::new(EVENT, Contract::observe()).map_err(|error| error.to_string())?;
    // The secret is complete, so a `$` in it is no variable.
    let secret = webhook.secret.as_ref().map(|secret| secret.replace('$', "$$"));
    let hook = HookSpec::http("approval-webhook", EventKind::Custom(kind.clone()), &webhook.url).timeout(TIMEOUT);
    // An endpoint recognises a message that it got before.
    let message = format!("{} {} {}", approval.id, approval.created, approval.digest);
    let hook = hook.request(|request| {
        let mut request = request.message(message);
        if let Some(secret) = secret {
            request = request.secret(secret);
        }
        if let Some(file) = &webhook.ca_file {
            request = request.ca_file(file);
        }
        request
    });
    let engine = Engine::builder().hook(hook).build();
    if let Some(problem) = engine.problems().first() {
        return Err(problem.to_string());
    }
    let shown = RawJson::from_serialize(approval).map_err(|error| error.to_string())?;
    let callback = RawJson::string(&format!("/callback/{}", approval.id));
    let payload = CustomPayload::new(kind).field("approval", shown).field("callback", callback);
    Ok((engine, Event::custom(payload)))
}
