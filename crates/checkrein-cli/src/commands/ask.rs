//! Questions to the user, on standard error.

use std::io::{BufRead as _, Write as _};

use anyhow::Result;

/// Asks a question, and returns `true` for `y` and `yes`.
///
/// # Errors
/// The question cannot be written, or the answer cannot be read.
pub fn confirm(question: &str) -> Result<bool> {
    Ok(matches!(choice(question, "y/N")?.as_str(), "y" | "yes"))
}

/// Asks a question with these choices, and returns the answer in lower case.
///
/// # Errors
/// The question cannot be written, or the answer cannot be read.
pub fn choice(question: &str, choices: &str) -> Result<String> {
    write!(anstream::stderr(), "checkrein: {question}? [{choices}] ")?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer.trim().to_ascii_lowercase())
}
