//! Drawing of the terminal view. Everything that agents wrote is drawn without control characters.

use checkrein_tools::decision_log::local_time;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{
    Block, Borders, Cell, Clear, List, ListItem, ListState, Paragraph, Row, Table, TableState, Wrap,
};

use super::keys::HELP;
use super::model::{Model, Overlay, Pane};

/// Maximum height of the questions, in lines.
const MAX_PENDING: u16 = 12;

/// Width of the names of events. Longer names are rare.
const EVENT_WIDTH: usize = 14;

/// Width of the events with all columns.
const FULL_WIDTH: u16 = 80;

/// Draws the whole view.
pub(super) fn draw(frame: &mut Frame<'_>, model: &Model) {
    let pending = pending_height(model);
    let [title, questions, body, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(pending),
        Constraint::Min(3),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_title(frame, title, model);
    if pending > 0 {
        draw_pending(frame, questions, model);
    }
    let [left, right] =
        Layout::horizontal([Constraint::Length((body.width / 3).clamp(16, 44)), Constraint::Min(10)]).areas(body);
    draw_sessions(frame, left, model);
    if model.pane == Pane::Hooks {
        draw_hooks(frame, right, model);
    } else {
        draw_events(frame, right, model);
    }
    let keys = "a approve  d deny  Tab next part  Enter open  / filter  4 hooks  ? keys  q quit";
    let foot_text = model.notice.as_deref().unwrap_or(keys);
    frame.render_widget(Paragraph::new(clean(foot_text)).style(Style::new().add_modifier(Modifier::DIM)), foot);
    if let Some(overlay) = &model.overlay {
        draw_overlay(frame, model, overlay);
    }
}

fn pending_height(model: &Model) -> u16 {
    let Some(pending) = model.selected_pending() else { return 0 };
    let lines = model.data.pending.len() + pending.call.len() + pending.reasons.len() + 2;
    u16::try_from(lines).unwrap_or(MAX_PENDING).min(MAX_PENDING)
}

fn draw_title(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let state = if model.is_connected {
        Span::raw("connected")
    } else {
        Span::styled("disconnected", Style::new().fg(Color::Red))
    };
    let waiting = model.data.pending.len();
    let mut spans = vec![Span::styled("checkrein live  ", Style::new().add_modifier(Modifier::BOLD)), state];
    spans.push(Span::raw(format!("  {} sessions  {} events", model.data.sessions.len(), model.data.total)));
    if waiting > 0 {
        let text = if waiting == 1 { "  1 question waits".to_owned() } else { format!("  {waiting} questions wait") };
        spans.push(Span::styled(text, Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD)));
    }
    if let Some((agent, session)) = &model.session {
        spans.push(Span::raw(format!("  only {} {}", clean(agent), clean(session))));
    }
    if !model.filter.is_empty() {
        spans.push(Span::raw(format!("  containing `{}`", clean(&model.filter))));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn block(title: &str, is_active: bool) -> Block<'_> {
    let style = if is_active { Style::new().fg(Color::Cyan) } else { Style::new().add_modifier(Modifier::DIM) };
    Block::new().borders(Borders::ALL).border_style(style).title(title)
}

fn selection() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

fn draw_pending(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let selected = model.index(Pane::Pending);
    let mut lines = Vec::new();
    for (index, pending) in model.data.pending.iter().enumerate() {
        let waits = pending.waits.map(|left| format!("agent waits {}, ", time_left(left))).unwrap_or_default();
        let left = time_left(pending.left);
        let text = format!("{}  {}  {waits}{left} left", clean(&pending.id), clean(&pending.title));
        let style = if index == selected { selection() } else { Style::new() };
        lines.push(Line::styled(text, style));
        if index == selected {
            lines.extend(pending.call.iter().map(|line| Line::raw(format!("    {}", clean(line)))));
            lines.extend(
                pending
                    .reasons
                    .iter()
                    .map(|line| Line::styled(format!("    {}", clean(line)), Style::new().fg(Color::Yellow))),
            );
        }
    }
    let inner = usize::from(area.height.saturating_sub(2));
    // The selected question stays visible.
    let scroll = selected.saturating_sub(inner.saturating_sub(2));
    let text = Paragraph::new(lines).block(block(" [1] questions ", model.pane == Pane::Pending));
    frame.render_widget(text.scroll((u16::try_from(scroll).unwrap_or_default(), 0)), area);
}

fn draw_sessions(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let mut items = vec![ListItem::new("all sessions")];
    items.extend(model.data.sessions.iter().map(|session| {
        let project = session.project.as_deref().unwrap_or("-");
        let name = project.rsplit('/').next().unwrap_or(project);
        let branch = session.branch.as_deref().map(|branch| format!(" ({branch})")).unwrap_or_default();
        let agents = if session.subagents == 0 { String::new() } else { format!("  {} sub-agents", session.subagents) };
        let counts = format!("  {} events  {} denied{agents}", session.events, session.denials);
        let style = state_style(&session.state);
        ListItem::new(vec![
            Line::from(vec![
                Span::styled(format!("{:8}", clean(&session.state)), style),
                Span::raw(clean(&format!("{} {name}{branch}", session.agent))),
            ]),
            Line::styled(clean(&counts), Style::new().add_modifier(Modifier::DIM)),
        ])
    }));
    let list =
        List::new(items).block(block(" [2] sessions ", model.pane == Pane::Sessions)).highlight_style(selection());
    let mut state = ListState::default().with_selected(Some(model.index(Pane::Sessions)));
    frame.render_stateful_widget(list, area, &mut state);
}

fn state_style(state: &str) -> Style {
    match state {
        "waiting" => Style::new().fg(Color::Yellow),
        "working" => Style::new().fg(Color::Green),
        _ => Style::new().add_modifier(Modifier::DIM),
    }
}

fn draw_events(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    // A table that is too narrow for all columns would cut each of them.
    let columns = if area.width < FULL_WIDTH { 4 } else { 6 };
    let rows = model.data.events.iter().map(|event| {
        let lane = event.subagent.as_deref().map(|id| format!("{id}: ")).unwrap_or_default();
        let call = format!(
            "{lane}{} {}",
            event.tool.as_deref().unwrap_or_default(),
            event.command.as_deref().unwrap_or_default()
        );
        let time = local_time(&event.time);
        let time = time.get(11..19).unwrap_or(&time);
        let cells = [
            Cell::new(clean(time)),
            Cell::new(clean(&event.answer().replace('_', " "))).style(decision_style(event.answer())),
            Cell::new(shortened(&clean(&event.event), EVENT_WIDTH)),
            Cell::new(clean(call.trim())),
            Cell::new(clean(event.by.as_deref().unwrap_or_default())),
            Cell::new(duration(event.us)),
        ];
        Row::new(cells.into_iter().take(columns))
    });
    let widths = [
        Constraint::Length(8),
        Constraint::Length(10),
        Constraint::Length(u16::try_from(EVENT_WIDTH).unwrap_or(u16::MAX)),
        Constraint::Min(16),
        Constraint::Length(16),
        Constraint::Length(8),
    ];
    let names = ["time", "answer", "event", "call", "decided by", "took"];
    let header = Row::new(names.into_iter().take(columns)).style(Style::new().add_modifier(Modifier::BOLD));
    let table = Table::new(rows, widths.into_iter().take(columns))
        .header(header)
        .block(block(" [3] events ", model.pane == Pane::Events))
        .row_highlight_style(selection());
    let mut state = TableState::default().with_selected(Some(model.index(Pane::Events)));
    frame.render_stateful_widget(table, area, &mut state);
}

fn draw_hooks(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let millis = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value} ms"));
    let rows = model.data.hooks.iter().map(|hook| {
        let style = if hook.failures > 0 { Style::new().fg(Color::Red) } else { Style::new() };
        Row::new(vec![
            Cell::new(clean(&hook.id)),
            Cell::new((hook.runs + hook.only_logged).to_string()),
            Cell::new(millis(hook.p50_ms)),
            Cell::new(millis(hook.p95_ms)),
            Cell::new(hook.denials.to_string()),
            Cell::new(hook.failures.to_string()).style(style),
            Cell::new(clean(hook.last_error.as_deref().unwrap_or(&hook.source))),
        ])
    });
    let widths = [
        Constraint::Min(16),
        Constraint::Length(7),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(7),
        Constraint::Length(7),
        Constraint::Min(16),
    ];
    let header = Row::new(["hook", "events", "p50", "p95", "denied", "failed", "last error or place"])
        .style(Style::new().add_modifier(Modifier::BOLD));
    let table =
        Table::new(rows, widths).header(header).block(block(" [4] hooks ", true)).row_highlight_style(selection());
    let mut state = TableState::default().with_selected(Some(model.index(Pane::Hooks)));
    frame.render_stateful_widget(table, area, &mut state);
}

fn draw_overlay(frame: &mut Frame<'_>, model: &Model, overlay: &Overlay) {
    let area = frame.area();
    match overlay {
        Overlay::Help => {
            let lines: Vec<_> = HELP.iter().map(|(key, text)| Line::raw(format!("{key:14}{text}"))).collect();
            popup(frame, centred(area, 64, 12), " keys ", lines, 0);
        }
        Overlay::Filter(text) => {
            popup(
                frame,
                centred(area, 60, 3),
                " show events that contain ",
                vec![Line::raw(format!("{}_", clean(text)))],
                0,
            );
        }
        Overlay::Event { title, lines, scroll } => {
            let area = centred(area, area.width.saturating_sub(4), area.height.saturating_sub(2));
            let lines = lines.iter().map(|line| Line::raw(clean(line))).collect();
            popup(frame, area, &format!(" {} ", clean(title)), lines, *scroll);
        }
        Overlay::Confirm { id, approve, scroll } => draw_confirmation(frame, model, id, *approve, *scroll),
    }
}

fn draw_confirmation(frame: &mut Frame<'_>, model: &Model, id: &str, approve: bool, scroll: usize) {
    let confirmation = model.confirmation(id, approve);
    let verb = if approve { "approve" } else { "deny" };
    let (width, height) = confirmation.size;
    let shown = confirmation.call.iter().skip(scroll).take(confirmation.visible());
    let mut lines: Vec<_> = shown.map(|line| Line::raw(line.clone())).collect();
    lines.push(Line::styled(confirmation.note(scroll), Style::new().fg(Color::Yellow)));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    lines.extend(confirmation.question.iter().map(|line| Line::styled(line.clone(), bold)));
    let area = centred(frame.area(), width, height);
    frame.render_widget(Clear, area);
    let title = format!(" {verb} {id} ");
    frame.render_widget(Paragraph::new(lines).block(block(&title, true)), area);
}

fn popup(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'_>>, scroll: usize) {
    frame.render_widget(Clear, area);
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).block(block(title, true));
    frame.render_widget(text.scroll((u16::try_from(scroll).unwrap_or(u16::MAX), 0)), area);
}

fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

fn decision_style(decision: &str) -> Style {
    match decision {
        "deny" | "halt" => Style::new().fg(Color::Red),
        "ask" | "defer" => Style::new().fg(Color::Yellow),
        "allow" => Style::new().fg(Color::Green),
        _ => Style::new().add_modifier(Modifier::DIM),
    }
}

fn duration(us: u64) -> String {
    if us < 10_000 { format!("{}.{} ms", us / 1000, us % 1000 / 100) } else { format!("{} ms", us / 1000) }
}

fn time_left(seconds: u64) -> String {
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}

/// Cuts a text with a mark.
fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Replaces characters that a terminal acts on, or that are invisible.
pub(super) fn clean(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().map(|c| if is_hidden(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::super::model::{Data, Hook, Pending, Row, Session};
    use super::*;

    fn screen(model: &Model, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, model)).unwrap();
        let buffer = terminal.backend().buffer();
        let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y).trim_end().to_owned() + "\n").collect()
    }

    fn model() -> Model {
        let mut model = Model::new();
        model.is_connected = true;
        let event = Row {
            id: "e1".to_owned(),
            time: "2026-01-31T08:00:00.250Z".to_owned(),
            agent: "codex".to_owned(),
            event: "pre_tool_use".to_owned(),
            tool: Some("Bash".to_owned()),
            command: Some("git push \u{1b}[2J\u{202e}".to_owned()),
            verdict: "ask".to_owned(),
            told: Some("deny".to_owned()),
            by: Some("git.push-any".to_owned()),
            us: 4_200,
            ..Row::default()
        };
        let session = Session {
            agent: "codex".to_owned(),
            session: "s1".to_owned(),
            project: Some("/home/ann/shop".to_owned()),
            branch: Some("main".to_owned()),
            state: "waiting".to_owned(),
            events: 7,
            denials: 1,
            ..Session::default()
        };
        let pending = Pending {
            id: "7KQ2M-9XDTR".to_owned(),
            title: "codex Bash".to_owned(),
            call: vec!["git push origin main".to_owned()],
            reasons: vec!["git.push-any (hooks.yaml:14): this pushes".to_owned()],
            left: 95,
            waits: None,
        };
        let hook = Hook {
            id: "git.push-any".to_owned(),
            runs: 3,
            failures: 1,
            last_error: Some("timeout".to_owned()),
            ..Hook::default()
        };
        model.update(Data {
            pending: vec![pending],
            sessions: vec![session],
            hooks: vec![hook],
            events: vec![event],
            total: 1,
        });
        model
    }

    #[test]
    fn questions_sessions_and_events_are_shown() {
        let text = screen(&model(), 120, 20);
        for expected in [
            "1 question waits",
            "7KQ2M-9XDTR  codex Bash  1 min 35 s left",
            "git push origin main",
            "git.push-any (hooks.yaml:14): this pushes",
            "waiting codex shop (main)",
            &format!("{} deny", &local_time("2026-01-31T08:00:00.250Z")[11..19]),
            "4.2 ms",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }

    #[test]
    fn waiting_agent_has_its_own_time() {
        let mut model = model();
        model.data.pending[0].waits = Some(61);
        let text = screen(&model, 120, 20);
        assert!(text.contains("codex Bash  agent waits 1 min 1 s, 1 min 35 s left"), "{text}");
    }

    #[test]
    fn names_in_a_narrow_table_are_whole() {
        let mut model = model();
        let mut longer = model.data.events[0].clone();
        (longer.told, longer.verdict) = (None, "no_opinion".to_owned());
        longer.event = "post_tool_use_failure".to_owned();
        model.data.events.push(longer);
        for width in [80, 120] {
            let text = screen(&model, width, 20);
            for expected in
                ["pre_tool_use ", "post_tool_use…", "no opinion ", "[1] questions", "[2] sessions", "[3] events"]
            {
                assert!(text.contains(expected), "{expected}\n{text}");
            }
            assert!(!text.contains("no_opinion"), "{text}");
        }
    }

    #[test]
    fn confirmation_shows_the_call() {
        let mut model = model();
        model.screen = (100, 24);
        model.press(super::super::keys::Key::Char('a'));
        let text = screen(&model, 100, 24);
        assert!(text.contains("approve this call? y: approve, any other key: cancel"), "{text}");
        assert!(text.matches("git push origin main").count() >= 1, "{text}");
    }

    #[test]
    fn question_below_a_long_call_is_visible() {
        use super::super::keys::Key;
        let mut model = model();
        model.screen = (80, 24);
        model.data.pending[0].call = vec![format!("command: git push; {} rm -rf /important", "echo a; ".repeat(900))];
        model.press(Key::Char('a'));
        let text = screen(&model, 80, 24);
        assert!(text.contains("approve this call? y: approve, any other key: cancel"), "{text}");
        assert!(text.contains("more lines: Down shows them") && !text.contains("rm -rf"), "{text}");
        while !model.confirmation("7KQ2M-9XDTR", true).is_end(scroll(&model)) {
            model.press(Key::PageDown);
        }
        let text = screen(&model, 80, 24);
        assert!(text.contains("/important") && text.contains("approve this call?"), "{text}");
        assert!(!text.contains("more lines"), "{text}");
    }

    fn scroll(model: &Model) -> usize {
        match model.overlay {
            Some(Overlay::Confirm { scroll, .. }) => scroll,
            _ => panic!("the window is closed"),
        }
    }

    #[test]
    fn hooks_have_a_table() {
        let mut model = model();
        model.pane = Pane::Hooks;
        let text = screen(&model, 140, 16);
        assert!(text.contains("last error or place") && text.contains("timeout"), "{text}");
    }

    #[test]
    fn every_size_can_be_drawn() {
        let mut model = model();
        let overlays = [
            None,
            Some(Overlay::Help),
            Some(Overlay::Filter("x".repeat(500))),
            Some(Overlay::Event { title: "e".to_owned(), lines: vec!["x".repeat(1000); 100], scroll: 99 }),
            Some(Overlay::Confirm { id: "7KQ2M-9XDTR".to_owned(), approve: true, scroll: 3 }),
        ];
        for overlay in overlays {
            model.overlay = overlay;
            for (width, height) in [(1, 1), (2, 3), (10, 5), (40, 10), (300, 100)] {
                model.screen = (width, height);
                let _ = screen(&model, width, height);
            }
        }
    }
}
