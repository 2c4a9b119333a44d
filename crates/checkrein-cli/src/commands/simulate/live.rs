//! Hooks while they run: one line each with a spinner, on a terminal.
//!
//! The lines stand below what has been printed and are taken away before anything else is. They are drawn by a thread of
//! their own, and only for hooks that take long enough to be seen.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use checkrein::Observer;
use checkrein::hook::Source;
use checkrein::observer::HookRun;
use checkrein::record::HookRecord;

use super::super::colours;
use super::line::{cut, size, tame};

/// How often the lines are drawn anew.
const FRAME: Duration = Duration::from_millis(80);
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

const HIDE_CURSOR: &str = "\x1b[?25l";
const SHOW_CURSOR: &str = "\x1b[?25h";
/// A line that is too wide all the same, as one of Chinese characters, must not take two.
const NO_WRAP: &str = "\x1b[?7l";
const WRAP: &str = "\x1b[?7h";
const CLEAR_BELOW: &str = "\x1b[J";
const CLEAR_LINE: &str = "\x1b[2K";

/// Draws hooks that run. When it is dropped, the terminal is as it was.
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
    /// Lines that are on the screen.
    drawn: usize,
    frame: usize,
    over: bool,
}

struct Row {
    number: u64,
    id: String,
    source: Source,
    begun: Instant,
    /// What it came to.
    done: Option<(&'static str, Duration)>,
}

impl Live {
    /// Nothing, where lines cannot be taken away again.
    pub fn start() -> Option<Self> {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if dumb || !io::stdout().is_terminal() {
            return None;
        }
        let shared = Arc::new(Shared::default());
        let drawn = Arc::clone(&shared);
        let drawer = std::thread::Builder::new().name("live".to_owned()).spawn(move || drawn.draw_until_over()).ok()?;
        Some(Self { shared, drawer: Some(drawer) })
    }

    /// What tells it of hooks.
    pub fn observer(&self) -> impl Observer + use<> {
        Told(Arc::clone(&self.shared))
    }

    /// Takes all lines away, before something is printed.
    pub fn clear(&self) {
        let mut state = self.shared.lock();
        state.rows.clear();
        state.erase();
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_all();
        if let Some(drawer) = self.drawer.take() {
            let _ = drawer.join();
        }
        self.clear();
    }
}

struct Told(Arc<Shared>);

impl Observer for Told {
    fn started(&self, run: &HookRun) {
        if !run.background {
            let (id, source) = (tame(&run.hook.id), run.hook.source.clone());
            let row = Row { number: run.number, id, source, begun: Instant::now(), done: None };
            let mut state = self.0.lock();
            state.rows.push(row);
            // Those that start at once would stand in another order each time.
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

    fn draw_until_over(&self) {
        let mut state = self.lock();
        while !state.over {
            state = if state.rows.is_empty() {
                self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                // What is over within the first frame is never drawn.
                let woken = self.changed.wait_timeout(state, FRAME).unwrap_or_else(PoisonError::into_inner);
                let mut state = woken.0;
                if woken.1.timed_out() && !state.over {
                    state.draw();
                }
                state
            };
        }
    }
}

impl State {
    fn draw(&mut self) {
        // They may have been taken away while the drawer waited.
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

    /// What cannot be reached by going up again must not be drawn, so there are never more than fit.
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

/// Nobody is left to see it if this fails.
fn print(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_more_lines_than_fit_nor_wider_ones() {
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
