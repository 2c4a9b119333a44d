//! Test report as JUnit XML, for CI systems.

use std::fmt::Write as _;
use std::path::Path;

use checkrein_tools::hook_tests::{CaseOutcome, CaseReport, HookProbes, TestReport};

use super::show::relative;

/// The whole document.
pub(super) fn write(report: &TestReport) -> String {
    let mut suites = String::new();
    let (mut tests, mut failures, mut errors) = (0, 0, 0);
    for suite in report
        .cases
        .chunk_by(|one, other| one.file == other.file)
        .map(file_suite)
        .chain(report.contract.iter().map(hook_suite))
    {
        (tests, failures, errors) = (tests + suite.tests, failures + suite.failures, errors + suite.errors);
        suites.push_str(&suite.text);
    }
    if !report.problems.is_empty() {
        let suite = problem_suite(&report.problems);
        (tests, errors) = (tests + suite.tests, errors + suite.errors);
        suites.push_str(&suite.text);
    }
    let time = seconds(report.duration_ms);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"checkrein\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\">\n{suites}</testsuites>\n"
    )
}

/// One `testsuite` element with its counts.
struct Suite {
    tests: usize,
    failures: usize,
    errors: usize,
    text: String,
}

fn file_suite(cases: &[CaseReport]) -> Suite {
    let name = cases.first().map(|case| relative(Path::new(&case.file))).unwrap_or_default();
    let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
    let (failures, errors, skipped) =
        (count(CaseOutcome::Failed), count(CaseOutcome::Error), count(CaseOutcome::Skipped));
    let time: u64 = cases.iter().map(|case| case.duration_ms).sum();
    let mut text = open(&name, cases.len(), failures, errors, skipped, time);
    for case in cases {
        case_element(&mut text, &name, case);
    }
    text.push_str("  </testsuite>\n");
    Suite { tests: cases.len(), failures, errors, text }
}

/// Suite with one error per problem of the case files.
fn problem_suite(problems: &[String]) -> Suite {
    let count = problems.len();
    let mut text = open("files with cases", count, 0, count, 0, 0);
    for problem in problems {
        let first = problem.lines().next().unwrap_or_default();
        let _ = writeln!(
            text,
            "    <testcase name=\"{}\" classname=\"files with cases\"><error message=\"{}\">{}</error></testcase>",
            attribute(first),
            attribute(first),
            content(problem),
        );
    }
    text.push_str("  </testsuite>\n");
    Suite { tests: count, failures: 0, errors: count, text }
}

fn open(name: &str, tests: usize, failures: usize, errors: usize, skipped: usize, ms: u64) -> String {
    format!(
        "  <testsuite name=\"{}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{}\">\n",
        attribute(name),
        seconds(ms),
    )
}

fn case_element(out: &mut String, file: &str, case: &CaseReport) {
    let _ = write!(
        out,
        "    <testcase name=\"{}\" classname=\"{}\" file=\"{}\" line=\"{}\" time=\"{}\">",
        attribute(&case.name),
        attribute(file),
        attribute(file),
        case.line,
        seconds(case.duration_ms),
    );
    match case.outcome {
        CaseOutcome::Skipped => out.push_str("<skipped/>"),
        CaseOutcome::Error => {
            let why = case.error.as_deref().unwrap_or_default();
            let _ = write!(out, "<error message=\"{}\"/>", attribute(why));
        }
        CaseOutcome::Passed => {}
        _ => {
            let fields: Vec<_> = case.mismatches.iter().map(|mismatch| mismatch.field.as_str()).collect();
            let diff: Vec<_> = case
                .mismatches
                .iter()
                .map(|mismatch| format!("{} ({file}:{})\n{}", mismatch.field, mismatch.line, mismatch.diff.join("\n")))
                .collect();
            let _ = write!(
                out,
                "<failure type=\"mismatch\" message=\"{}\">{}</failure>",
                attribute(&fields.join(", ")),
                content(&diff.join("\n")),
            );
        }
    }
    let hooks = || case.record.iter().flat_map(|record| &record.hooks);
    let stdout = hooks().filter_map(|hook| Some((hook.id.as_str(), hook.stdout.as_deref()?)));
    let stderr = hooks().filter_map(|hook| Some((hook.id.as_str(), hook.stderr.as_deref()?)));
    streams(out, "system-out", stdout);
    streams(out, "system-err", stderr);
    out.push_str("</testcase>\n");
}

fn streams<'a>(out: &mut String, element: &str, texts: impl Iterator<Item = (&'a str, &'a str)>) {
    let all: Vec<_> = texts.filter(|(_, text)| !text.is_empty()).map(|(id, text)| format!("{id}:\n{text}")).collect();
    if !all.is_empty() {
        let _ = write!(out, "<{element}>{}</{element}>", content(&all.join("\n")));
    }
}

fn hook_suite(hook: &HookProbes) -> Suite {
    let name = format!("contract {}", hook.id);
    let failures = hook.probes.iter().filter(|probe| probe.finding.is_some()).count();
    let skipped = usize::from(hook.not_probed.is_some());
    let tests = hook.probes.len() + skipped;
    let time: u64 = hook.probes.iter().map(|probe| probe.duration_ms).sum();
    let mut text = open(&name, tests, failures, 0, skipped, time);
    if let Some(why) = &hook.not_probed {
        let _ = writeln!(
            text,
            "    <testcase name=\"probes\" classname=\"{}\"><skipped message=\"{}\"/></testcase>",
            attribute(&name),
            attribute(why),
        );
    }
    for probe in &hook.probes {
        let _ = write!(
            text,
            "    <testcase name=\"{}\" classname=\"{}\" time=\"{}\">",
            attribute(&probe.probe),
            attribute(&name),
            seconds(probe.duration_ms),
        );
        if let Some(finding) = probe.finding {
            let detail = probe.detail.as_deref().unwrap_or_default();
            let _ = write!(text, "<failure type=\"{}\" message=\"{}\"/>", finding.name(), attribute(detail));
            streams(&mut text, "system-out", [(hook.id.as_str(), probe.stdout.as_str())].into_iter());
            streams(&mut text, "system-err", [(hook.id.as_str(), probe.stderr.as_str())].into_iter());
        }
        text.push_str("</testcase>\n");
    }
    text.push_str("  </testsuite>\n");
    Suite { tests, failures, errors: 0, text }
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03}", ms / 1000, ms % 1000)
}

/// Escapes text between tags. Characters that XML does not allow are replaced.
fn content(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML parsers turn a literal carriage return into a line feed.
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out
}

/// Escapes the text of an attribute.
fn attribute(text: &str) -> String {
    content(text).replace('"', "&quot;").replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_special_characters_are_escaped() {
        assert_eq!(
            content("a<b>&\"'\u{0}\u{1b}\u{ffff}\r\n\t\u{1f600}"),
            "a&lt;b&gt;&amp;\"'\u{fffd}\u{fffd}\u{fffd}&#13;\n\t\u{1f600}"
        );
        assert_eq!(attribute("\"a\"\n\tb"), "&quot;a&quot;&#10;&#9;b");
        assert_eq!(seconds(1_234_567), "1234.567");
    }
}
