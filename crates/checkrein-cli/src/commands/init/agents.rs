//! The agents on this machine, and the question about which of them to guard.

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::Result;
use checkrein::dialects::{self, Dialect};
use checkrein_tools::install::Installer;

/// Returns the agents on this machine that `checkrein install` can change.
pub fn find(dir: &Path) -> Vec<&'static Dialect> {
    match super::super::install::installer(dir, None) {
        Ok(installer) => Installer::agents().filter(|agent| installer.found(agent).is_here()).collect(),
        // `install` reports the reason.
        Err(_) => Vec::new(),
    }
}

/// Names of agents for a sentence: `claude, codex and gemini`.
pub fn names(agents: &[&Dialect]) -> String {
    match agents {
        [] => String::new(),
        [one] => one.name.to_owned(),
        [others @ .., last] => {
            let others: Vec<_> = others.iter().map(|agent| agent.name).collect();
            format!("{} and {}", others.join(", "), last.name)
        }
    }
}

/// Asks which of these agents to guard. `None`: none of them, or no answer.
pub fn ask(found: &[&'static Dialect]) -> Result<Option<Vec<&'static Dialect>>> {
    loop {
        write!(anstream::stderr(), "checkrein: found {}; guard which of them? [all, names, none] ", names(found))?;
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(None);
        }
        match choice(&answer, found) {
            Ok(chosen) => return Ok(chosen),
            Err(word) => super::super::print_failure(&format!("`{word}` is not one of {}", names(found))),
        }
    }
}

/// Returns the agents that an answer names, or the word that names none.
fn choice<'w>(answer: &'w str, found: &[&'static Dialect]) -> Result<Option<Vec<&'static Dialect>>, &'w str> {
    let words: Vec<_> = answer.split([',', ' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()).collect();
    match words[..] {
        [] | ["all" | "y" | "yes"] => return Ok(Some(found.to_vec())),
        ["none" | "n" | "no"] => return Ok(None),
        _ => {}
    }
    let named = |word: &&'w str| {
        let meant = dialects::find(word).map(|dialect| dialect.name);
        found.iter().copied().find(|agent| Some(agent.name) == meant).ok_or(*word)
    };
    words.iter().map(named).collect::<Result<_, _>>().map(Some)
}

#[cfg(test)]
mod tests {
    use checkrein::dialects::agents::{claude, codex};

    use super::{choice, names};

    #[test]
    fn answers_name_agents() {
        let found = [&claude::DIALECT, &codex::DIALECT];
        let chosen = |answer| choice(answer, &found).map(|chosen| chosen.map(|agents| names(&agents)));
        for all in ["", "\n", "all\n", " yes \r\n", "codex, claude\n"] {
            assert!(chosen(all).is_ok_and(|chosen| chosen.is_some_and(|names| names.contains(" and "))), "{all:?}");
        }
        assert_eq!(chosen("codex\n"), Ok(Some("codex".to_owned())));
        assert_eq!(chosen("no\n"), Ok(None));
        assert_eq!(chosen("claude gemini"), Err("gemini"));
        assert_eq!(chosen("what"), Err("what"));
    }
}
