//! The terminal view: the data of the live page, for connections without a browser.
//!
//! `checkrein live --tui` runs it. Events come from the API of the page. Questions come from the store of approvals, and answers go there, as
//! with `checkrein approve`. The view must never answer a question without a confirmation, and it never changes anything else.

mod client;
mod keys;
mod model;
mod view;

use std::io;
use std::time::Duration;

use checkrein::hook_files::Locations;
use checkrein_tools::approvals::{self, Answer, Approval, ApprovalState, ApprovalStore, Via};
use ratatui::crossterm::event::{self, Event};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::{Terminal, backend::CrosstermBackend};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::{self, Receiver, Sender};

use self::client::{Api, ApiError};
use self::keys::Key;
use self::model::{Command, Hook, Model, Overlay, Pending, Row, Session};

/// Maximum number of events in the view.
const MAX_EVENTS: usize = 500;

/// Time after which the ages and the questions are read again.
const TICK: Duration = Duration::from_secs(1);

/// Time between two attempts to connect.
const RETRY: Duration = Duration::from_secs(2);

/// Settings of the view.
pub struct TuiOptions {
    /// Returns an address with a one-time token. It is called at the start, and after a restart of the resident process.
    pub login: Box<dyn Fn() -> Result<String, String> + Send + Sync>,
    /// Questions.
    pub approvals: ApprovalStore,
    /// Places of hook files, for the audit log.
    pub locations: Locations,
    /// Name of the user, for the record of an answer.
    pub user: String,
}

impl std::fmt::Debug for TuiOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TuiOptions").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Runs the view on the terminal of the process, until the user quits. It must run inside of a tokio runtime.
///
/// # Errors
/// The terminal cannot be used.
pub async fn run(options: TuiOptions) -> io::Result<()> {
    let screen = Screen::enter()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
    let result = show(&options, &mut terminal).await;
    drop(screen);
    result
}

/// The terminal in raw mode. It is restored when this is dropped.
struct Screen;

impl Screen {
    fn enter() -> io::Result<Self> {
        enable_raw_mode()?;
        let screen = Self;
        execute!(io::stdout(), EnterAlternateScreen)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = execute!(io::stdout(), LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

async fn show(options: &TuiOptions, terminal: &mut Terminal<CrosstermBackend<io::Stdout>>) -> io::Result<()> {
    let (key_sender, mut keys) = mpsc::channel(64);
    let (change_sender, mut changes) = mpsc::channel(1);
    // The thread ends with the process: reading the terminal cannot be interrupted.
    std::thread::spawn(move || read_keys(&key_sender));
    let mut link = Link { api: None, follower: None, changes: change_sender };
    let mut model = Model::new();
    let mut tick = tokio::time::interval(TICK);
    let mut next_try = tokio::time::Instant::now();
    loop {
        if link.api.is_none() && tokio::time::Instant::now() >= next_try {
            next_try = tokio::time::Instant::now() + RETRY;
            if let Err(why) = link.connect(options).await {
                model.notice = Some(why);
            }
        }
        refresh(options, &mut link, &mut model).await;
        draw(terminal, &mut model)?;
        if !wait(options, &mut link, &mut model, &mut keys, &mut changes, &mut tick, terminal).await? {
            return Ok(());
        }
    }
}

/// Waits for the next reason to read everything again. Returns `false` if the user quits.
async fn wait(
    options: &TuiOptions,
    link: &mut Link,
    model: &mut Model,
    keys: &mut Receiver<Event>,
    changes: &mut Receiver<()>,
    tick: &mut tokio::time::Interval,
    terminal: &mut Terminal<CrosstermBackend<io::Stdout>>,
) -> io::Result<bool> {
    loop {
        tokio::select! {
            _ = changes.recv() => return Ok(true),
            _ = tick.tick() => return Ok(true),
            key = keys.recv() => {
                // The terminal has gone.
                let Some(event) = key else { return Ok(false) };
                let key = match event { Event::Key(key) => Key::of(key), _ => None };
                match key.and_then(|key| model.press(key)) {
                    Some(Command::Quit) => return Ok(false),
                    Some(Command::Refresh) => return Ok(true),
                    Some(Command::Open(id)) => open(link, model, &id).await,
                    Some(Command::Decide { id, approve }) => {
                        model.notice = Some(decide(options, &id, approve));
                        return Ok(true);
                    }
                    None => {}
                }
                draw(terminal, model)?;
            }
        }
    }
}

/// Draws the view. Keys apply to the screen that the user sees, so the model has its size.
fn draw(terminal: &mut Terminal<CrosstermBackend<io::Stdout>>, model: &mut Model) -> io::Result<()> {
    terminal.draw(|frame| {
        model.screen = (frame.area().width, frame.area().height);
        view::draw(frame, model);
    })?;
    Ok(())
}

fn read_keys(keys: &Sender<Event>) {
    while let Ok(event) = event::read() {
        if keys.blocking_send(event).is_err() {
            return;
        }
    }
}

/// Connection to the resident process.
struct Link {
    api: Option<Api>,
    follower: Option<tokio::task::JoinHandle<()>>,
    changes: Sender<()>,
}

impl Link {
    async fn connect(&mut self, options: &TuiOptions) -> Result<(), String> {
        let url = (options.login)()?;
        let api = Api::login(&url).await.map_err(|error| error.to_string())?;
        let (own, changes) = (api.clone(), self.changes.clone());
        if let Some(old) = self.follower.take() {
            old.abort();
        }
        self.follower = Some(tokio::spawn(async move {
            // The next read of the data reports the end of the connection.
            let _ = own.follow(&changes).await;
            let _ = changes.try_send(());
        }));
        self.api = Some(api);
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(follower) = &self.follower {
            follower.abort();
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Overview {
    sessions: Vec<Session>,
    hooks: Vec<Hook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Page {
    total: usize,
    events: Vec<Row>,
}

/// Reads everything. Without a connection, the events stay as they are, and the view says so.
async fn refresh(options: &TuiOptions, link: &mut Link, model: &mut Model) {
    let mut data = model.data.clone();
    match options.approvals.list() {
        Ok(all) => {
            data.pending = all.iter().filter(|found| found.state == ApprovalState::Pending).map(pending).collect();
            // An agent waits for the answer to one of these.
            data.pending.sort_by_key(|pending| pending.waits.is_none());
        }
        Err(error) => model.notice = Some(error.to_string()),
    }
    if let Some(api) = &link.api {
        let read = async {
            let overview: Overview = api.get("/api/overview").await?;
            let page: Page = api.get(&events_path(model)).await?;
            Ok::<_, ApiError>((overview, page))
        };
        match read.await {
            Ok((overview, page)) => {
                (data.sessions, data.hooks) = (overview.sessions, overview.hooks);
                (data.events, data.total) = (page.events, page.total);
            }
            Err(error) => {
                link.api = None;
                model.notice = Some(error.to_string());
            }
        }
    }
    model.is_connected = link.api.is_some();
    model.update(data);
}

fn events_path(model: &Model) -> String {
    let mut path = format!("/api/events?limit={MAX_EVENTS}");
    if !model.filter.is_empty() {
        path.push_str(&format!("&text={}", encoded(&model.filter)));
    }
    if let Some((agent, session)) = &model.session {
        path.push_str(&format!("&agent={}&session={}", encoded(agent), encoded(session)));
    }
    path
}

fn encoded(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

fn pending(approval: &Approval) -> Pending {
    let field = |shown: &approvals::Shown| {
        let lines = shown.fields.iter().flat_map(|field| {
            let mut lines = field.text.lines();
            let first = format!("{}: {}", field.name, lines.next().unwrap_or_default());
            std::iter::once(first).chain(lines.map(|line| format!("  {line}"))).collect::<Vec<_>>()
        });
        lines.collect::<Vec<_>>()
    };
    let mut call = field(&approval.shown);
    if let Some(rewritten) = &approval.rewritten {
        call.push("a hook changes the input to:".to_owned());
        call.extend(field(rewritten));
    }
    let programs = &approval.shown.commands;
    if programs.len() > 1 {
        call.extend(programs.iter().map(|program| format!("runs: {}", program.words.join(" "))));
    }
    if approval.shown.more_commands > 0 {
        call.push(format!("… and {} more programs", approval.shown.more_commands));
    }
    if approval.shown.is_partial {
        call.push(format!(
            "parts of the call are truncated or redacted; `checkrein approve {}` shows more",
            approval.id
        ));
    }
    let reasons = approval.reasons.iter().map(|reason| format!("{} ({}): {}", reason.hook, reason.source, reason.text));
    Pending {
        id: approval.id.to_string(),
        title: format!("{} {} in {}", approval.agent, approval.tool, approval.project),
        call,
        reasons: reasons.collect(),
        left: approval.left().as_secs(),
        waits: approval.waits().map(|left| left.as_secs()),
    }
}

/// Answers a question. Returns the result for the user.
fn decide(options: &TuiOptions, id: &str, approve: bool) -> String {
    let Ok(id) = id.parse() else { return format!("`{id}` is not the id of a question") };
    let answer = if approve {
        Answer::approve(Via::Terminal, &options.user)
    } else {
        Answer::deny(Via::Terminal, &options.user, None)
    };
    match approvals::decide(&options.approvals, &options.locations, &id, answer) {
        Ok(_) if approve => format!("{id} is approved for one call"),
        Ok(_) => format!("{id} is denied"),
        Err(error) => error.to_string(),
    }
}

/// Shows an event in full.
async fn open(link: &Link, model: &mut Model, id: &str) {
    let Some(api) = &link.api else {
        model.notice = Some("cannot open an event while disconnected; wait for the connection".to_owned());
        return;
    };
    match api.get::<Value>(&format!("/api/events/{}", encoded(id))).await {
        Ok(event) => {
            let lines = match event.get("record") {
                Some(record) if !record.is_null() => lines_of(record),
                _ => {
                    let mut lines = vec![
                        "only the decision log has this event, so its record is unknown".to_owned(),
                        String::new(),
                    ];
                    lines.extend(lines_of(&event));
                    lines
                }
            };
            model.overlay = Some(Overlay::Event { title: format!("event {id}, Esc closes"), lines, scroll: 0 });
        }
        Err(error) => model.notice = Some(error.to_string()),
    }
}

fn lines_of(json: &Value) -> Vec<String> {
    let text = serde_json::to_string_pretty(json).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}
