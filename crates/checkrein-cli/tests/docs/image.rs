//! SVG image of a terminal, generated from the output of a command.
//!
//! The image has no scripts and no fonts of its own. A media query selects light or dark colors.

use std::fmt::Write;

use crate::times;

/// Events of the simulated session that the image shows: a rewrite, a denial, a question, a refused stop.
const SHOWN_EVENTS: &[u32] = &[2, 7, 12, 16];

const COLUMNS: usize = 100;
const COLUMN_WIDTH: f64 = 8.4;
const LINE_HEIGHT: usize = 20;
const MARGIN: usize = 16;
const TITLE_BAR: usize = 32;

const STYLE: &str = "
    .window { fill: #ffffff; stroke: #d0d7de; }
    .button { fill: #d0d7de; }
    text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; font-size: 14px; }
    text { white-space: pre; fill: #1f2328; }
    .bold { font-weight: bold; }
    .dim { fill: #6e7781; }
    .red { fill: #cf222e; }
    .green { fill: #116329; }
    .yellow { fill: #7d4e00; }
    .blue { fill: #0550ae; }
    .magenta { fill: #8250df; }
    .cyan { fill: #1b7c83; }
    @media (prefers-color-scheme: dark) {
      .window { fill: #0d1117; stroke: #30363d; }
      .button { fill: #30363d; }
      text { fill: #e6edf3; }
      .dim { fill: #8b949e; }
      .red { fill: #ff7b72; }
      .green { fill: #7ee787; }
      .yellow { fill: #e3b341; }
      .blue { fill: #79c0ff; }
      .magenta { fill: #d2a8ff; }
      .cyan { fill: #76e3ea; }
    }
";

/// Text with one style. `class` is a space-separated list of classes of [`STYLE`].
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    class: String,
    text: String,
}

impl Run {
    fn new(class: &str, text: &str) -> Self {
        Self { class: class.to_owned(), text: text.to_owned() }
    }
}

/// One line of output. The image wraps it if it is longer than [`COLUMNS`].
pub type Line = Vec<Run>;

/// Selects lines of `checkrein simulate` for one screen: [`SHOWN_EVENTS`] and the summary.
///
/// The output has one block for each event, which starts with the number of the event. The summary follows the last one.
pub fn screen(output: &str) -> Vec<Line> {
    let omitted = || vec![Run::new("dim", "…")];
    let mut lines = vec![vec![Run::new("dim", "$ "), Run::new("bold", "checkrein simulate")]];
    let mut number = 0;
    for block in output.split("\n\n") {
        let block: Vec<Line> = block.trim_matches('\n').lines().map(styled).collect();
        let first_line = block.first().map(text_of).unwrap_or_default();
        let is_event = first_line.split_whitespace().next() == Some(&(number + 1).to_string());
        let is_summary = !is_event && number > 0;
        if is_event {
            number += 1;
        }
        if is_summary || SHOWN_EVENTS.contains(&number) {
            lines.push(omitted());
            lines.extend(block);
        }
        if is_summary {
            break;
        }
    }
    assert!(SHOWN_EVENTS.iter().all(|event| *event <= number), "the output has only {number} events:\n{output}");
    lines
}

fn text_of(line: &Line) -> String {
    line.iter().map(|run| run.text.as_str()).collect()
}

/// Reads the escape sequences for styles (`ESC [ … m`) in a line of output.
fn styled(line: &str) -> Line {
    let mut runs = Vec::new();
    let mut class: Vec<&str> = Vec::new();
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let mut text = part;
        if index > 0 {
            let (codes, rest) = part.split_once('m').unwrap();
            for code in codes.split(';') {
                match code {
                    "1" => class.push("bold"),
                    "2" => class.push("dim"),
                    "31" | "91" => class.push("red"),
                    "32" | "92" => class.push("green"),
                    "33" | "93" => class.push("yellow"),
                    "34" | "94" => class.push("blue"),
                    "35" | "95" => class.push("magenta"),
                    "36" | "96" => class.push("cyan"),
                    "0" | "" => class.clear(),
                    _ => {}
                }
            }
            text = rest;
        }
        if !text.is_empty() {
            runs.push(Run::new(&class.join(" "), text));
        }
    }
    runs
}

/// Draws the lines. Each line is one `text` element, each run one or more `tspan` elements.
pub fn render(lines: &[Line]) -> String {
    let mut body = String::new();
    let mut row = 0;
    for line in lines {
        let mut spans = String::new();
        let mut column = 0;
        for run in line {
            let mut rest = run.text.as_str();
            while !rest.is_empty() {
                if column == COLUMNS {
                    (row, column) = (row + 1, 0);
                }
                let end = rest.char_indices().nth(COLUMNS - column).map_or(rest.len(), |(end, _)| end);
                let (part, after) = rest.split_at(end);
                let x = MARGIN as f64 + column as f64 * COLUMN_WIDTH;
                let y = TITLE_BAR + MARGIN + row * LINE_HEIGHT;
                let class = if run.class.is_empty() { String::new() } else { format!(" class=\"{}\"", run.class) };
                // `textLength` keeps the columns aligned in a font of another width.
                let (count, text) = (part.chars().count(), escaped(part));
                let length = count as f64 * COLUMN_WIDTH;
                write!(spans, "<tspan x=\"{x:.1}\" y=\"{y}\" textLength=\"{length:.1}\"{class}>{text}</tspan>")
                    .unwrap();
                column += count;
                rest = after;
            }
        }
        writeln!(body, "  <text xml:space=\"preserve\">{spans}</text>").unwrap();
        row += 1;
    }
    let width = 2 * MARGIN + (COLUMNS as f64 * COLUMN_WIDTH).ceil() as usize;
    let height = TITLE_BAR + MARGIN + row * LINE_HEIGHT;
    let (window_width, window_height) = (width - 1, height - 1);
    let buttons = [20, 40, 60].map(|x| format!("<circle class=\"button\" cx=\"{x}\" cy=\"18\" r=\"6\"/>")).concat();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">
  <!-- Generated from real output by crates/checkrein-cli/tests/docs. -->
  <title>Output of checkrein simulate</title>
  <style>{STYLE}  </style>
  <rect class=\"window\" x=\"0.5\" y=\"0.5\" width=\"{window_width}\" height=\"{window_height}\" rx=\"8\"/>
  {buttons}
{body}</svg>
"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Reads the lines of an image that [`render`] has drawn. `None` if the text is not well-formed XML.
pub fn parse(image: &str) -> Option<Vec<Line>> {
    let document = roxmltree::Document::parse(image).ok()?;
    let lines = document.descendants().filter(|node| node.has_tag_name("text")).map(|line| {
        let mut runs: Line = Vec::new();
        for span in line.children().filter(roxmltree::Node::is_element) {
            let (class, text) = (span.attribute("class").unwrap_or_default(), span.text().unwrap_or_default());
            match runs.last_mut() {
                Some(run) if run.class == class => run.text += text,
                _ => runs.push(Run::new(class, text)),
            }
        }
        runs
    });
    Some(lines.collect())
}

/// Returns the text and the styles without measured times.
pub fn without_times(lines: &[Line]) -> Vec<(String, Vec<&str>)> {
    let mut compared = Vec::new();
    for line in lines {
        let classes = line.iter().map(|run| run.class.as_str()).collect();
        compared.push((times::removed(&text_of(line)), classes));
    }
    compared
}

#[test]
fn an_image_keeps_its_text() {
    let long = "<&\">'é…".repeat(40);
    let lines = vec![styled(&format!("a \u{1b}[1;31mb{long}\u{1b}[0m c")), vec![], styled("  d  ")];
    assert_eq!(lines[0][1].class, "bold red");
    let image = render(&lines);
    assert_eq!(parse(&image).unwrap(), lines);
    assert_eq!(parse("<svg>"), None);
}
