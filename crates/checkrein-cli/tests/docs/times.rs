//! Removal of measured values, which differ from run to run.

const UNITS: &[&str] = &["ns", "µs", "ms", "s"];

/// Replaces times, fractions, percentages and ids of `approve` by `N`, and runs of spaces inside a line by one space.
pub fn removed(text: &str) -> String {
    let mut removed = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let mut words = Vec::new();
        let mut after_number = false;
        for word in line.split_whitespace() {
            let bare = word.trim_matches(['(', ')', ',', '.', ':']);
            if after_number && UNITS.contains(&bare) {
                words.pop();
            }
            after_number = is_number(bare);
            let unit = bare.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let code = bare.trim_matches('`');
            if words.last().is_some_and(|last: &String| last.ends_with("approve")) && code.len() == 11 {
                words.push(word.replace(code, "N"));
                continue;
            }
            let is_measured = UNITS.contains(&unit) || (after_number && bare.contains(['.', '%']));
            words.push(if is_measured { word.replace(bare, "N") } else { word.to_owned() });
        }
        removed += &format!("{:indent$}{}\n", "", words.join(" "));
    }
    removed
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && word.trim_end_matches('%').parse::<f64>().is_ok()
}

#[test]
fn only_measured_values_are_removed() {
    assert_eq!(
        removed("  a (exit 0, 11 ms)\n  b   4.05 ms  900 µs 63 %  0.7%"),
        removed("  a (exit 0, 9 ms)\n  b 1.2 ms 1 µs 63 % 99.5%")
    );
    assert_eq!(removed("done in 0.03s."), removed("done in 12s."));
    assert_eq!(removed("`checkrein approve 7KQ2M-9XDTR` in"), removed("`checkrein approve 01234-ABCDE` in"));
    assert_ne!(removed("exit 0, 11 ms"), removed("exit 2, 11 ms"));
    assert_ne!(removed("  2 hooks"), removed("  3 hooks"));
    assert_ne!(removed("  2 hooks"), removed("2 hooks"));
}
