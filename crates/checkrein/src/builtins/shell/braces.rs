//! Brace expansion: `{a,b}` and `{1..3}`.

use std::borrow::Cow;

use super::word::{Word, WordPart};

/// Maximum number of words that one word expands to.
const ALTERNATIVES: usize = 256;

/// Maximum number of opening braces in a word.
const MOST_BRACES: usize = 64;

/// A character that may be part of braces, or another part of the word.
#[derive(Clone, Copy)]
enum Atom<'a> {
    Bare(char),
    Other(&'a WordPart),
}

/// Expands `a{b,c}d` to `abd` and `acd`. Returns `None` if there are too many.
pub(super) fn braces(parts: &[WordPart]) -> Option<Vec<Cow<'_, [WordPart]>>> {
    let opening = |part: &WordPart| match part {
        WordPart::Bare(text) => text.matches('{').count(),
        _ => 0,
    };
    match parts.iter().map(opening).sum::<usize>() {
        0 => return Some(vec![Cow::Borrowed(parts)]),
        count if count > MOST_BRACES => return None,
        _ => {}
    }
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            WordPart::Bare(text) => atoms.extend(text.chars().map(Atom::Bare)),
            part => atoms.push(Atom::Other(part)),
        }
    }
    let words = alternatives(&atoms)?;
    let word = |atoms: Vec<Atom<'_>>| {
        let mut word = Word::default();
        for atom in atoms {
            match atom {
                Atom::Bare(c) => word.push_bare(c),
                Atom::Other(part) => word.parts.push(part.clone()),
            }
        }
        Cow::Owned(word.parts)
    };
    Some(words.into_iter().map(word).collect())
}

fn alternatives<'a>(atoms: &[Atom<'a>]) -> Option<Vec<Vec<Atom<'a>>>> {
    for (start, atom) in atoms.iter().enumerate() {
        if !matches!(atom, Atom::Bare('{')) {
            continue;
        }
        // Each alternative is between two of these.
        let ends = ends(&atoms[start..]);
        let Some((last, others)) = ends.split_last() else { continue };
        if others.len() < 2 {
            let Some(items) = sequence(&atoms[start + 1..start + last])? else { continue };
            let rests = alternatives(&atoms[start + last + 1..])?;
            if items.len() * rests.len() > ALTERNATIVES {
                return None;
            }
            let word = |item: &String, rest: &Vec<Atom<'a>>| {
                let item: Vec<_> = item.chars().map(Atom::Bare).collect();
                [&atoms[..start], &item, rest].concat()
            };
            return Some(items.iter().flat_map(|item| rests.iter().map(move |rest| word(item, rest))).collect());
        }
        let rests = alternatives(&atoms[start + last + 1..])?;
        let mut words = Vec::new();
        for pair in ends.windows(2) {
            for inner in alternatives(&atoms[start + pair[0] + 1..start + pair[1]])? {
                for rest in &rests {
                    if words.len() == ALTERNATIVES {
                        return None;
                    }
                    words.push([&atoms[..start], &inner, rest].concat());
                }
            }
        }
        return Some(words);
    }
    Some(vec![atoms.to_vec()])
}

/// Returns the words of `a..c` and `1..9..2`. `Some(None)` if it is no sequence, `None` if it is too long.
fn sequence(atoms: &[Atom<'_>]) -> Option<Option<Vec<String>>> {
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Bare(c) => text.push(*c),
            Atom::Other(_) => return Some(None),
        }
    }
    let parts: Vec<&str> = text.split("..").collect();
    let (first, last, step) = match parts.as_slice() {
        [first, last] => (*first, *last, "1"),
        [first, last, step] => (*first, *last, *step),
        _ => return Some(None),
    };
    let Ok(step) = step.parse::<i64>() else { return Some(None) };
    let step = usize::try_from(step.unsigned_abs().max(1)).unwrap_or(usize::MAX);
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(i64::from(*letter)),
        _ => None,
    };
    let is_letters = letter(first).is_some() && letter(last).is_some();
    let bounds = match (letter(first), letter(last)) {
        (Some(from), Some(to)) => Some((from, to)),
        _ => first.parse::<i64>().ok().zip(last.parse::<i64>().ok()),
    };
    let Some((from, to)) = bounds else { return Some(None) };
    if from.abs_diff(to) / step as u64 >= ALTERNATIVES as u64 {
        return None;
    }
    let digits = |text: &str| text.trim_start_matches(['-', '+']).len();
    let is_padded = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    let pads = !is_letters && (is_padded(first) || is_padded(last));
    let width = if pads {
        [first, last].iter().map(|text| digits(text) + usize::from(text.starts_with('-'))).max().unwrap_or(0)
    } else {
        0
    };
    let item = |number: i64| match u8::try_from(number) {
        Ok(letter) if is_letters => char::from(letter).to_string(),
        _ => format!("{number:0width$}"),
    };
    let numbers: Vec<i64> = if from <= to { (from..=to).step_by(step).collect() } else { (to..=from).collect() };
    let mut items: Vec<String> = if from <= to {
        numbers.into_iter().map(item).collect()
    } else {
        numbers.into_iter().rev().step_by(step).map(item).collect()
    };
    // Between upper and lower case there are signs that a shell reads again.
    if items.iter().any(|item| item.contains(['\\', '`', '[', ']'])) {
        items.clear();
        return None;
    }
    Some(Some(items))
}

/// Returns the positions of an opening brace, its commas and its closing brace. Empty if the brace is not closed.
fn ends(atoms: &[Atom<'_>]) -> Vec<usize> {
    let mut ends = vec![0];
    let mut open = 0_usize;
    for (at, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Bare('{') => open += 1,
            Atom::Bare(',') if open == 1 => ends.push(at),
            Atom::Bare('}') if open == 1 => {
                ends.push(at);
                return ends;
            }
            Atom::Bare('}') => open -= 1,
            _ => {}
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Option<Vec<String>> {
        let text_of = |parts: Cow<'_, [WordPart]>| match parts.as_ref() {
            [WordPart::Bare(text)] => text.clone(),
            _ => String::new(),
        };
        Some(braces(&[WordPart::Bare(text.to_owned())])?.into_iter().map(text_of).collect())
    }

    #[test]
    fn braces_expand_in_order() {
        for (text, all) in [
            ("/{etc,usr}/x", &["/etc/x", "/usr/x"][..]),
            ("{}", &["{}"]),
            ("a{b", &["a{b"]),
            ("{a,b}{c,d}", &["ac", "ad", "bc", "bd"]),
            ("{a,b{c,d}}", &["a", "bc", "bd"]),
            ("{{a,b}", &["{a", "{b"]),
            ("{a,b}}", &["a}", "b}"]),
            ("{a,}", &["a", ""]),
            ("{a..c}", &["a", "b", "c"]),
            ("/et{c..c}", &["/etc"]),
            ("{3..1}", &["3", "2", "1"]),
            ("{1..9..4}x", &["1x", "5x", "9x"]),
            ("{08..10}", &["08", "09", "10"]),
            ("{a..3}", &["{a..3}"]),
            ("{a..c,d}", &["a..c", "d"]),
        ] {
            assert_eq!(expanded(text).unwrap(), all, "{text}");
        }
        for text in ["{a,b}".repeat(9), "{a,b}".repeat(4000), "{a,".repeat(4000) + &"}".repeat(4000)] {
            assert_eq!(expanded(&text), None);
        }
    }
}
