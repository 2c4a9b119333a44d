//! Live view of running hooks on a terminal: one line with a spinner for each.
//!
//! A thread draws the lines below the output, and erases them before other output. Hooks that finish within one frame are
//! never drawn.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use checkrein::Observer;
use checkrein::hook::Source;
use checkrein::observer::HookRun;
use checkrein::record::HookRecord;

use super::super::colours;
use super::super::terminal::size;
use super::line::{cut, sanitize};

/// Time between two frames.
const FRAME: Duration = Duration::from_millis(80);
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// Lines with wide characters, such as Chinese, can exceed the width and must not take two rows.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_LINE: &str = "\x1b[2K";

/// The live view. Dropping it restores the terminal.
pub struct Live {
    shared: Arc<Shared>,
    drawer: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    rows: Vec<Row>,
    /// Number of lines on the screen.
    drawn: usize,
    frame: usize,
    is_stopped: bool,
}

struct Row {
    number: u64,
    id: String,
    source: Source,
    begun: Instant,
    /// Label and duration, after the hook has finished.
    done: Option<(&'static str, Duration)>,
}

impl Live {
    /// Starts the thread. `None` if standard output cannot erase lines.
    pub fn start() -> Option<Self> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if dumb || !io::stdout().is_terminal() {
            return None;
        }
        let shared = Arc::new(Shared::default());
        let drawn = Arc::clone(&shared);
        let drawer =
            std::thread::Builder::new().name("live".to_owned()).spawn(move || drawn.draw_until_stopped()).ok()?;
        Some(Self { shared, drawer: Some(drawer) })
    }

    /// The observer that reports hooks to this view.
    pub fn observer(&self) -> impl Observer + use<> {
        LiveObserver(Arc::clone(&self.shared))
    }

    /// Erases all lines, before other output.
    pub fn clear(&self) {
        let mut state = self.shared.lock();
        state.rows.clear();
        state.erase();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.lock().is_stopped = true;
        self.shared.changed.notify_all();
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
        self.clear();
    }
}

struct LiveObserver(Arc<Shared>);

impl Observer for LiveObserver {
    fn started(&self, run: &HookRun) {
        if !run.background {
            let (id, source) = (sanitize(&run.hook.id), run.hook.source.clone());
            let row = Row { number: run.number, id, source, begun: Instant::now(), done: None };
            let mut state = self.0.lock();
            state.rows.push(row);
            // Hooks that start at the same time report in random order.
            state.rows.sort_by_key(|row| (row.source.file.clone(), row.source.line, row.source.column));
            self.0.changed.notify_all();
        }
    }

    fn finished(&self, run: &HookRun, record: &HookRecord, took: Duration) {
        let mut state = self.0.lock();
        if let Some(row) = state.rows.iter_mut().find(|row| row.number == run.number) {
            row.done = Some((colours::label(record).0, took));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw_until_stopped(&self) {
        let mut state = self.lock();
        while !state.is_stopped {
            state = if state.rows.is_empty() {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                // Hooks that finish within the first frame are never drawn.
                let woken = self.changed.wait_timeout(state, FRAME).unwrap_or_else(PoisonError::into_inner);
                let mut state = woken.0;
                if woken.1.timed_out() && !state.is_stopped {
                    state.draw();
                }
                state
            };
        }
    }
}

impl State {
    fn draw(&mut self) {
        // The rows may have been cleared during the wait.
        if self.rows.is_empty() {
            return;
        }
        self.frame = (self.frame + 1) % SPINNER.len();
        let (columns, rows) = size();
        let (width, height) = (usize::from(columns), usize::from(rows).saturating_sub(1).max(1));
        let lines = self.lines(width, height);
        let up = self.drawn;
        self.drawn = lines.len();
        let mut text = String::from(HIDE_CURSOR) + NO_WRAP;
        if up > 0 {
            text += &format!("\x1b[{up}A");
        }
        for line in lines {
            text += &format!("\r{CLEAR_LINE}{line}\n");
        }
        print(&(text + CLEAR_BELOW + WRAP));
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            print(&format!("\x1b[{}A\r{CLEAR_BELOW}{SHOW_CURSOR}", self.drawn));
            self.drawn = 0;
        }
    }

    /// The lines of a frame, at most `height`: the cursor cannot move up beyond the top of the screen to erase more.
    fn lines(&self, width: usize, height: usize) -> Vec<String> {
        let spinner = SPINNER.get(self.frame).copied().unwrap_or(' ');
        let line = |row: &Row| {
            let text = match row.done {
                None => format!("  {spinner} {:<20} {:.1} s", row.id, row.begun.elapsed().as_secs_f64()),
                Some((label, took)) => format!("    {:<20} {label}  ({} ms)", row.id, took.as_millis()),
            };
            cut(&text, width)
        };
        if self.rows.len() <= height {
            return self.rows.iter().map(line).collect();
        }
        let shown = height.saturating_sub(1);
        let more = format!("    … and {} more", self.rows.len() - shown);
        self.rows.iter().take(shown).map(line).chain([cut(&more, width)]).collect()
    }
}

/// Writes to standard output. Errors are ignored: a closed terminal shows nothing.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_fit_the_terminal() {
        let row = |number| Row {
            number,
            id: format!("hook-{number}"),
            source: Source::for_scope(checkrein::Scope::User),
            begun: Instant::now(),
            done: None,
        };
        let state = State { rows: (0..10).map(row).collect(), ..State::default() };
        let lines = state.lines(20, 4);
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.chars().count() <= 20), "{lines:?}");
        assert_eq!(lines[3], "    … and 7 more");
        assert_eq!(state.lines(80, 10).len(), 10);
    }
}
