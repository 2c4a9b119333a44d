//! The live page: an HTTP server on the loopback interface, and the page itself.
//!
//! The page shows what agents do and takes answers to questions. Its files are embedded. It must never be reachable from another
//! machine, from another page in the browser, or without a login that was shown on the user's terminal.

mod api;
mod changes;
mod connections;
mod guard;
mod logins;
mod panels;
mod questions;
mod what_if;

pub use logins::{Login, NoRandom};

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header;
use axum::response::IntoResponse as _;
use axum::routing::{get, post};
use checkrein::hook_files::Locations;
use checkrein::internal::{line_file, regular_file};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::logins::Logins;
use self::panels::Panels;
use self::questions::Questions;
use crate::store::{Store, lock};

/// Maximum size of a request, in bytes.
const MAX_BODY: usize = 256 << 10;

/// Name of the file with the port, in the runtime directory. Guards read it to deny tools that contact the page.
pub const PORT_FILE: &str = "page.port";

/// Files of the page: path, type, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", include_str!("assets/index.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("assets/page.css")),
    ("/dom.js", "text/javascript; charset=utf-8", include_str!("assets/dom.js")),
    ("/link.js", "text/javascript; charset=utf-8", include_str!("assets/link.js")),
    ("/questions.js", "text/javascript; charset=utf-8", include_str!("assets/questions.js")),
    ("/timeline.js", "text/javascript; charset=utf-8", include_str!("assets/timeline.js")),
    ("/detail.js", "text/javascript; charset=utf-8", include_str!("assets/detail.js")),
    ("/panels.js", "text/javascript; charset=utf-8", include_str!("assets/panels.js")),
    ("/page.js", "text/javascript; charset=utf-8", include_str!("assets/page.js")),
    ("/icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
];

/// Parts that the page shows.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebOptions {
    /// Events.
    pub store: Store,
    /// State directory of the user.
    pub state_dir: PathBuf,
    /// Directory for the port and the sessions of browsers. Only the user can read it.
    pub runtime_dir: PathBuf,
    /// Places of hook files.
    pub locations: Locations,
    /// Route for signed answers. Its requests need no login: the signature is their authority.
    pub callback: Option<Router>,
}

impl WebOptions {
    /// Options with the default places of hook files.
    pub fn new(store: Store, state_dir: impl Into<PathBuf>, runtime_dir: impl Into<PathBuf>) -> Self {
        Self {
            store,
            state_dir: state_dir.into(),
            runtime_dir: runtime_dir.into(),
            locations: Locations::default(),
            callback: None,
        }
    }
}

/// Reason why the page cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebError {
    /// The address.
    #[error("cannot listen on 127.0.0.1: {0}")]
    Listen(io::Error),
    /// The file with the port.
    #[error("cannot write `{}`: {error}", path.display())]
    PortFile {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The directory of questions, or the thread that watches it.
    #[error("cannot read the questions that wait for an answer: {0}")]
    Questions(io::Error),
}

/// State that all requests share.
#[derive(Debug, Clone)]
struct App {
    port: u16,
    options: Arc<WebOptions>,
    logins: Arc<Mutex<Logins>>,
    panels: Arc<Panels>,
    questions: Arc<Questions>,
    /// Ends when the server ends.
    alive: watch::Receiver<()>,
}

/// The running server. It ends when this is dropped.
#[derive(Debug)]
pub struct Web {
    address: SocketAddr,
    logins: Arc<Mutex<Logins>>,
    /// Its end is that of the server and of all connections.
    _alive: watch::Sender<()>,
}

impl Web {
    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Writes the file with the port again, after its directory was removed.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_port_file(&self, runtime_dir: &Path) -> Result<(), WebError> {
        let path = runtime_dir.join(PORT_FILE);
        write_private(&path, &format!("{}\n", self.address.port())).map_err(|error| WebError::PortFile { path, error })
    }

    /// Creates a login that can be used once, for a short time. It must only be shown on the user's terminal.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn login(&self) -> Result<Login, NoRandom> {
        lock(&self.logins).create()
    }
}

/// Starts the server in the current tokio runtime.
///
/// # Errors
/// The server cannot listen, or the file with its port cannot be written.
pub async fn start(mut options: WebOptions) -> Result<Web, WebError> {
    let port_file = options.runtime_dir.join(PORT_FILE);
    let listener = listen(&port_file).await.map_err(WebError::Listen)?;
    let address = listener.local_addr().map_err(WebError::Listen)?;
    let port = address.port();
    let written = line_file::make_private_directory(&options.runtime_dir)
        .and_then(|()| write_private(&port_file, &format!("{port}\n")));
    written.map_err(|error| WebError::PortFile { path: port_file, error })?;
    let callback = options.callback.take().unwrap_or_default();
    let logins = Arc::new(Mutex::new(Logins::open(&options.runtime_dir, port)));
    let questions = Arc::new(Questions::start(&options).map_err(WebError::Questions)?);
    let (alive, app_alive) = watch::channel(());
    let app = App {
        port,
        alive: app_alive.clone(),
        panels: Arc::new(Panels::new(&options)),
        options: Arc::new(options),
        logins: Arc::clone(&logins),
        questions,
    };
    let router = router(app, callback);
    tokio::spawn(connections::serve(listener, router, app_alive, connections::Limits::default()));
    Ok(Web { address, logins, _alive: alive })
}

/// Listens on the port of the last run, so that open pages can reconnect, or else on a random one.
async fn listen(port_file: &Path) -> io::Result<TcpListener> {
    let text = regular_file::open_no_link(port_file).ok().and_then(|file| io::read_to_string(file).ok());
    let last: Option<u16> = text.and_then(|text| text.trim().parse().ok()).filter(|port| *port >= 1024);
    if let Some(port) = last
        && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await
    {
        return Ok(listener);
    }
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await
}

fn router(app: App, callback: Router) -> Router {
    let mut router = Router::new()
        .route("/login", post(api::login))
        .route("/logout", post(api::logout))
        .route("/api/overview", get(api::overview))
        .route("/api/events", get(api::events))
        .route("/api/events/{id}", get(api::event))
        .route("/api/events/{id}/plan", get(api::plan))
        .route("/api/approvals", get(api::approvals))
        .route("/api/approvals/{id}", post(api::answer))
        .route("/api/approvals/{id}/input", get(api::input))
        .route("/api/changes", get(changes::stream))
        .route("/api/trust", get(api::trust))
        .route("/api/coverage", get(api::coverage))
        .route("/api/what-if", post(api::what_if));
    for (path, kind, content) in ASSETS {
        let serve = move || async move { ([(header::CONTENT_TYPE, *kind)], *content).into_response() };
        router = router.route(path, get(serve));
    }
    router
        .fallback(guard::unknown)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(axum::middleware::from_fn_with_state(app.clone(), guard::check))
        .with_state(app)
        // Outside of the checks for browsers.
        .merge(callback)
}

/// Writes a file that only the user can read, in one step.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    let directory = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    // New temporary files are private.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
