//! Answers to requests of the page.

use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query as Parameters, State};
use axum::http::header::{HeaderMap, SET_COOKIE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use checkrein_core::Decision;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::questions::{self, Refusal};
use super::{App, guard, panels, what_if};
use crate::store::{EventId, Query, lock};

/// Maximum number of events of one answer.
const MAX_EVENTS: usize = 1000;

/// Wait before the answer to a wrong code. With 256 connections, two minutes suffice for 31,000 of 10^12 codes.
const WRONG_CODE_DELAY: Duration = Duration::from_secs(1);

/// Response with an error.
pub(super) fn error(status: StatusCode, text: &str) -> Response {
    (status, Json(json!({ "error": text }))).into_response()
}

fn internal(text: &impl ToString) -> Response {
    error(StatusCode::INTERNAL_SERVER_ERROR, &text.to_string())
}

/// Runs work that reads files.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    tokio::task::spawn_blocking(work).await.map_err(|error| internal(&error))
}

#[derive(Debug, Deserialize)]
pub(super) struct LoginRequest {
    token: String,
}

/// Exchanges a one-time token or a code for a session.
pub(super) async fn login(State(app): State<App>, Json(request): Json<LoginRequest>) -> Response {
    let exchanged = lock(&app.logins).exchange(&request.token);
    let session = match exchanged {
        Ok(Some(session)) => session,
        Ok(None) => {
            // Guesses are slow, and they change nothing: another user of the machine must not prevent a login.
            tokio::time::sleep(WRONG_CODE_DELAY).await;
            let text = "the code is wrong, used or too old; run `checkrein live` again";
            return error(StatusCode::FORBIDDEN, text);
        }
        Err(failed) => return internal(&failed),
    };
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}",
        guard::cookie_name(app.port),
        session.cookie,
        session.life.as_secs()
    );
    let mut response = Json(json!({ "page": session.page })).into_response();
    match HeaderValue::from_str(&cookie) {
        Ok(cookie) => response.headers_mut().insert(SET_COOKIE, cookie),
        Err(failed) => return internal(&failed),
    };
    response
}

/// Ends the session.
pub(super) async fn logout(State(app): State<App>, headers: HeaderMap) -> StatusCode {
    if let Some(cookie) = guard::cookie(app.port, &headers) {
        lock(&app.logins).end(cookie);
    }
    StatusCode::NO_CONTENT
}

/// Sessions, hooks and the state of the store.
pub(super) async fn overview(State(app): State<App>) -> Result<Response, Response> {
    let store = app.options.store.clone();
    let pending = app.questions.list().by_session();
    let answer = blocking(move || {
        Json(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "sessions": store.sessions(&pending),
            "hooks": store.hooks(),
            "status": store.status(),
        }))
        .into_response()
    });
    answer.await
}

#[derive(Debug, Deserialize)]
pub(super) struct EventParameters {
    agent: Option<String>,
    session: Option<String>,
    subagent: Option<String>,
    hook: Option<String>,
    event: Option<String>,
    answer: Option<Decision>,
    text: Option<String>,
    until: Option<u64>,
    skip: Option<usize>,
    limit: Option<usize>,
}

/// Events, the newest first.
pub(super) async fn events(State(app): State<App>, Parameters(wanted): Parameters<EventParameters>) -> Response {
    let query = Query {
        agent: wanted.agent,
        session: wanted.session,
        subagent: wanted.subagent,
        hook: wanted.hook,
        event: wanted.event,
        answer: wanted.answer,
        text: wanted.text.filter(|text| !text.is_empty()),
        until: wanted.until,
        skip: wanted.skip.unwrap_or_default(),
        limit: wanted.limit.unwrap_or(200).min(MAX_EVENTS),
    };
    Json(app.options.store.page(&query)).into_response()
}

fn unknown_event() -> Response {
    error(StatusCode::NOT_FOUND, "there is no event with this id")
}

/// One event in full.
pub(super) async fn event(State(app): State<App>, Path(text): Path<String>) -> Result<Response, Response> {
    let id: EventId = text.parse().map_err(|_| unknown_event())?;
    let store = app.options.store.clone();
    match blocking(move || store.record(id)).await? {
        Ok(Some(event)) => Ok(Json(event).into_response()),
        Ok(None) => Err(error(StatusCode::NOT_FOUND, "the event is unknown, or too old")),
        Err(failed) => Err(internal(&failed)),
    }
}

/// Plan of an event with the hooks of today.
pub(super) async fn plan(State(app): State<App>, Path(text): Path<String>) -> Result<Response, Response> {
    let id: EventId = text.parse().map_err(|_| unknown_event())?;
    let options = app.options.clone();
    match blocking(move || panels::plan(&options, id)).await? {
        Ok(plan) => Ok(Json(plan).into_response()),
        Err(why) => Err(error(StatusCode::NOT_FOUND, &why)),
    }
}

/// Hooks that wait for approval, per project.
pub(super) async fn trust(State(app): State<App>) -> Result<Response, Response> {
    let options = app.options.clone();
    Ok(Json(blocking(move || panels::trust(&options)).await?).into_response())
}

#[derive(Debug, Deserialize)]
pub(super) struct CoverageParameters {
    #[serde(default)]
    fresh: bool,
}

/// Coverage of the last day.
pub(super) async fn coverage(
    State(app): State<App>,
    Parameters(wanted): Parameters<CoverageParameters>,
) -> Result<Response, Response> {
    let panels = app.panels.clone();
    match blocking(move || panels.coverage(wanted.fresh)).await? {
        Ok(report) => Ok(Json(report).into_response()),
        Err(why) => Err(internal(&why)),
    }
}

/// Result of rules for past calls.
pub(super) async fn what_if(
    State(app): State<App>,
    Json(request): Json<what_if::Request>,
) -> Result<Response, Response> {
    let store = app.options.store.clone();
    match blocking(move || what_if::evaluate(&store, &request)).await? {
        Ok(report) => Ok(Json(report).into_response()),
        Err(problems) => Err((StatusCode::UNPROCESSABLE_ENTITY, Json(Problems { problems })).into_response()),
    }
}

#[derive(Serialize)]
struct Problems {
    problems: Vec<String>,
}

/// Questions that wait, and those that have just ended.
pub(super) async fn approvals(State(app): State<App>) -> Response {
    Json(app.questions.list().json()).into_response()
}

/// Answers a question.
pub(super) async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    Json(request): Json<questions::Request>,
) -> Result<Response, Response> {
    let questions = app.questions.clone();
    let answered = blocking(move || questions.answer(&id, request)).await?;
    Ok(Json(answered.map_err(refused)?).into_response())
}

/// Whole input of a question, to edit it.
pub(super) async fn input(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let questions = app.questions.clone();
    let input = blocking(move || questions.input(&id)).await?.map_err(refused)?;
    Ok(Json(json!({ "input": input })).into_response())
}

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::Unknown(text) => error(StatusCode::NOT_FOUND, &text),
        Refusal::Invalid(text) => error(StatusCode::UNPROCESSABLE_ENTITY, &text),
        Refusal::Failed(text) => internal(&text),
        Refusal::TooLate(text, question) => {
            let body = json!({ "error": text, "approval": question.approval });
            (StatusCode::CONFLICT, Json(body)).into_response()
        }
    }
}
